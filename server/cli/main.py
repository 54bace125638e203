"""Every command, gathered. Each imports what it needs only when it runs."""

import gc
import os
import sys
from typing import Annotated

import typer

from server import __version__

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


def _register(asked: str = "") -> None:
    """Gather the commands, or only the one asked for where starting must cost little."""
    if asked == "detect":
        from server.cli import detect

        detect.register(app)
        return
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

    for module in (processes, serve, ask, talk, check, evaluate, init, demo_services, detect):
        module.register(app)
    app.add_typer(keys.keys_app, name="keys")
    app.add_typer(audit.audit_app, name="audit")
    app.add_typer(guards.guards_app, name="guards")


def main() -> None:
    """Run the command line; the name people type is in the usage lines."""
    if sys.argv[1:2] != ["detect"]:  # which is over before there is garbage worth looking for
        gc.freeze()
        gc.enable()
    _register(*sys.argv[1:2])
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
