"""One line that says what is being waited for, and for how long already."""

import sys
import time
from shutil import get_terminal_size
from types import TracebackType
from typing import Final, Self

_REMIND_S: Final = 15.0


class Progress:
    """On a terminal one line that is rewritten; otherwise a line now and then."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._begun = time.monotonic()
        self._shown_at: float | None = None
        self._width = 0
        self._live = sys.stderr.isatty()

    def __enter__(self) -> Self:
        self.show()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live and self._width:
            self._write("\r" + " " * self._width + "\r")

    def show(self, doing: str = "") -> None:
        """Say that it still goes on, and what exactly."""
        elapsed_s = time.monotonic() - self._begun
        text = f"{self._what}{f': {doing}' if doing else ''} …"
        if self._live:
            # A line that wraps could not be rewritten.
            text = f"{text} {elapsed_s:.0f} s"[: get_terminal_size().columns - 1]
            self._write("\r" + text.ljust(self._width))
            self._width = len(text)
        elif self._shown_at is None or elapsed_s - self._shown_at >= _REMIND_S:
            self._write(f"{text} {elapsed_s:.0f} s\n" if elapsed_s >= 1 else f"{text}\n")
            self._shown_at = elapsed_s

    @staticmethod
    def _write(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()
