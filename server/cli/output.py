"""What people see: results on standard output, everything else on standard error."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import typer

from server.core.jsonable import to_json
from server.errors import ConfigurationInvalid, OrbitError


def print_json(data: Any) -> None:
    """`data` on standard output, for machines."""
    sys.stdout.write(to_json(data, indent=2) + "\n")


def print_text(text: str) -> None:
    """A result on standard output, for people."""
    typer.echo(text)


def say(text: str) -> None:
    """Progress or remarks, on standard error."""
    typer.echo(text, err=True)


def fail(message: str, *, exit_code: int = 1) -> NoReturn:
    """End the command with a message that says what was wrong."""
    # Off a terminal the colour is dropped anyway; NO_COLOR is for people on one.
    color = False if os.environ.get("NO_COLOR") else None
    typer.secho(f"error: {message}", err=True, fg=typer.colors.RED, color=color)
    raise typer.Exit(exit_code)


@contextmanager
def failures_as_messages() -> Iterator[None]:
    """Turn named failures into a message and exit code 1, never a traceback."""
    try:
        yield
    except ConfigurationInvalid as invalid:
        for problem in invalid.problems:
            say(str(problem))
        errors = sum(problem.severity == "error" for problem in invalid.problems)
        fail(f"{errors} problem{'s' if errors != 1 else ''} in the configuration")
    except OrbitError as failed:
        fail(str(failed))
    except BrokenPipeError:
        raise  # whoever read the output has seen enough; nothing to say
    except OSError as refused:
        if refused.filename is None:
            raise
        fail(f"{refused.filename}: {refused.strerror}")
    except KeyboardInterrupt:
        say("interrupted")
        raise typer.Exit(130) from None
