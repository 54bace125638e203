"""The command line: a table of commands, each imported only when it is asked for."""

import gc
import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Annotated, Final

import typer

from server import __version__
from server.cli.output import CommandGroup
from server.core.installation import program_name

COMMANDS: Final[Mapping[str, str]] = {
    "start": "processes:start",
    "stop": "processes:stop",
    "restart": "processes:restart",
    "status": "processes:status",
    "logs": "processes:logs",
    "serve": "serve:serve",
    "install-service": "install_service:install_service",
    "console": "console:console",
    "ask": "ask:ask",
    "explain": "ask:explain",
    "talk": "talk:talk",
    "mcp": "mcp:mcp",
    "check": "check:check",
    "eval": "evaluate:eval_library",
    "lock": "lock:lock",
    "diff": "diff:diff",
    "inbox": "inbox:inbox_app",
    "new": "new:new",
    "init": "new:new",
    "schema": "schema:schema",
    "completion": "completion:completion",
    "demo-services": "demo_services:demo_services",
    "demo-databases": "demo_databases:demo_databases",
    "detect": "detect:detect",
    "keys": "keys:keys_app",
    "migrate": "migrate:migrate",
    "audit": "audit:audit_app",
    "usage": "usage:usage",
    "guards": "guards:guards_app",
}
"""The module and the function, or the group of commands, of each command."""


def command_line(*names: str) -> typer.Typer:
    app = typer.Typer(
        cls=CommandGroup,
        name="orbit",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    script = "The script adds: test [PYTEST ARGUMENTS], and install [EXTRA…]."
    app.callback(epilog=script if program_name() != "orbit" else None)(_root)
    for name in names or COMMANDS:
        module, _, attribute = COMMANDS[name].partition(":")
        command = getattr(import_module(f"server.cli.{module}"), attribute)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name)(command)
    return app


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"orbit {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Plain questions in, safe and exact tool calls out."""


def main() -> None:
    try:
        app = command_line(*(name for name in sys.argv[1:2] if name in COMMANDS))
        app(prog_name=program_name())
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as fault:
        # A fault of ours. People get a sentence; who wants to mend it gets the rest.
        if os.environ.get("ORBIT_DEBUG"):
            raise
        typer.echo(
            f"error: something went wrong inside Orbit ({type(fault).__name__}: {fault}); "
            "set ORBIT_DEBUG=1 to see where",
            err=True,
        )
        sys.exit(70)
    finally:
        # The end of a process would look through all that an encoder left, for half a second.
        # DuckDB calls leaked what is not looked through, and lists it.
        if "duckdb" not in sys.modules:
            gc.freeze()
