"""Every command, gathered. Each imports what it needs only when it runs."""

import os
import sys
from typing import Annotated

import typer

from server import __version__
from server.cli import (
    ask,
    audit,
    check,
    demo_services,
    detect,
    evaluate,
    guards,
    init,
    keys,
    processes,
    serve,
    talk,
)

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


for _module in (processes, serve, ask, talk, check, evaluate, init, demo_services, detect):
    _module.register(app)
app.add_typer(keys.keys_app, name="keys")
app.add_typer(audit.audit_app, name="audit")
app.add_typer(guards.guards_app, name="guards")


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
