"""What people see: results on standard output, everything else on standard error."""

import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from shutil import get_terminal_size
from threading import Event, Thread
from typing import Any, Final, NoReturn, Self

import typer
from typer.core import TyperGroup

from server.core.json import to_json
from server.errors import ConfigurationInvalid, OrbitError


def print_json(data: Any) -> None:
    sys.stdout.write(to_json(data, indent=2) + "\n")


def print_text(text: str) -> None:
    typer.echo(text)


def print_result(data: Any, lines: Iterable[str], *, as_json: bool) -> None:
    """Print a result on standard output: `data` for machines, or `lines` for people."""
    if as_json:
        print_json(data)
        return
    for line in lines:
        print_text(line)


def say(text: str) -> None:
    typer.echo(text, err=True)


def fail(message: str, *, exit_code: int = 1) -> NoReturn:
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


class CommandGroup(TyperGroup):
    """Commands whose failures are messages, not tracebacks."""

    def invoke(self, ctx: Any) -> Any:
        with failures_as_messages():
            return super().invoke(ctx)


_REMIND_S: Final = 15.0
_QUICK_S: Final = 0.5
_REDRAW_S: Final = 0.2


class Progress:
    """Shows progress: on a terminal one line that is rewritten, otherwise a line now and then."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._begun = time.monotonic()
        self._shown_at: float | None = None
        self._width = 0
        self._live = sys.stderr.isatty()

    def __enter__(self) -> Self:
        self.show()
        return self

    def __exit__(self, *_failure: object) -> None:
        if self._live and self._width:
            _write_progress("\r" + " " * self._width + "\r")

    def show(self, doing: str = "") -> None:
        elapsed_s = time.monotonic() - self._begun
        text = f"{self._what}{f': {doing}' if doing else ''} …"
        if self._live:
            # A line that wraps could not be rewritten.
            text = f"{text} {elapsed_s:.0f} s"[: get_terminal_size().columns - 1]
            _write_progress("\r" + text.ljust(self._width))
            self._width = len(text)
        elif self._shown_at is None or elapsed_s - self._shown_at >= _REMIND_S:
            _write_progress(f"{text} {elapsed_s:.0f} s\n" if elapsed_s >= 1 else f"{text}\n")
            self._shown_at = elapsed_s


def _write_progress(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


@contextmanager
def show_progress(what: str) -> Iterator[None]:
    """Show that something is under way, when it takes long enough to be noticed."""
    done = Event()

    def show() -> None:
        if done.wait(_QUICK_S):
            return
        with Progress(what) as progress:
            while not done.wait(_REDRAW_S):
                progress.show()

    thread = Thread(target=show)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def notice_interruption() -> Iterator[list[int]]:
    """Add the usual signals to the list instead of ending; the caller has to look and act."""
    noted: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _: noted.append(number)) for number in _SIGNALS
    }
    try:
        yield noted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
