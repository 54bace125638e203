"""Every command, gathered. Each imports what it needs only when it runs."""

import os
import sys
from importlib import import_module
from typing import Annotated, Final

import typer

from server import __version__

COMMANDS: Final = (
    "processes",
    "serve",
    "ask",
    "talk",
    "check",
    "evaluate",
    "init",
    "demo_services",
    "detect",
    "keys",
    "audit",
    "guards",
)
"""The modules of `server.cli` that have a command, or several, in the order of the help."""

app = typer.Typer(
    name="orbit",
    help="Plain questions in, safe and exact tool calls out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"orbit {__version__}")
        raise typer.Exit


@app.callback(epilog="The launcher adds: test [PYTEST ARGUMENTS], and install [EXTRA…].")
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Plain questions in, safe and exact tool calls out."""


for _name in COMMANDS:
    import_module(f"server.cli.{_name}").register(app)


def main() -> None:
    """Run the command line; the name people type is in the usage lines."""
    try:
        app(prog_name="orbit.sh")
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
