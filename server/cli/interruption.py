"""Ctrl-C and its like, noticed when it suits: so that nothing is left half done."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interruption:
    """Holds the first signal that came, if any did."""

    def __init__(self) -> None:
        self.signal: int | None = None

    @property
    def exit_code(self) -> int:
        """What a shell expects of a command that a signal ended; 0 without one."""
        return 0 if self.signal is None else 128 + self.signal

    def note(self, number: int, _frame: FrameType | None) -> None:
        if self.signal is None:
            self.signal = number


@contextmanager
def noted() -> Iterator[Interruption]:
    """Within, the usual signals are only noted; whoever asks must look and act."""
    interruption = Interruption()
    before = {number: signal.signal(number, interruption.note) for number in _SIGNALS}
    try:
        yield interruption
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
