"""The conversation itself: a line is read, answered and shown, until somebody leaves."""

from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Any, Final

from server.cli.chat_backend import Answered, Hearer, Partner
from server.cli.chat_screen import Screen
from server.errors import OrbitError

_LEAVING: Final = frozenset({"quit", "exit", "/quit", "/exit", "/q"})
_HELP: Final = """\
Type a question and press Enter. What is proposed runs only after your yes: 1 or yes, 2 or no.
  /trace  how the last answer came about
  /clear  forget what was said in this conversation
  /help   this
  /quit   leave; quit, exit and Ctrl-D do the same"""

Start = Callable[..., "Future[Any]"]
"""Starts a coroutine function with its arguments on the event loop."""


class Conversation:
    """One person at a screen, and a partner on an event loop in another thread."""

    def __init__(self, screen: Screen, partner: Partner, start: Start, *, traces: bool) -> None:
        self._screen = screen
        self._partner = partner
        self._start = start
        self._traces = traces
        self._last: Answered | None = None

    def run(self) -> None:
        """Go on until there is nothing more to read, or Ctrl-C."""
        while True:
            try:
                line = self._screen.read()
            except KeyboardInterrupt:
                line = None
            if line is None:
                self._screen.new_line()
                return
            if line.lower() in _LEAVING:
                return
            if line.startswith("/"):
                self._command(line.lower())
            elif line:
                self._ask(line)

    def _ask(self, line: str) -> None:
        if self._last is not None and self._last.waits_for_yes:
            line = {"1": "yes", "2": "no"}.get(line, line)
        self._last = self._wait_for(self._partner.answer, line)
        if self._last is None:
            return
        self._screen.end_answer()
        if self._traces:
            self._trace()
        if self._last.waits_for_yes:
            self._screen.choices()

    def _command(self, command: str) -> None:
        match command:
            case "/help":
                self._screen.remark(_HELP)
            case "/trace":
                self._trace()
            case "/clear":
                self._clear()
            case _:
                self._screen.remark(f"There is no {command}; /help says what there is.")

    def _trace(self) -> None:
        if self._last is None:
            self._screen.remark("Nothing was answered yet.")
        elif self._last.trace is not None:
            self._screen.trace(self._last.trace)
        else:
            self._screen.remark("The server keeps the trace; this is what its answer says:")
            self._screen.metadata(self._last.metadata)

    def _clear(self) -> None:
        async def clear(_text: str, _hearer: Hearer) -> Answered:
            await self._partner.clear()
            return Answered()

        if self._wait_for(clear, "") is not None:
            self._last = None
            self._screen.remark("Forgotten.")

    def _wait_for(self, work: Callable[..., Any], text: str) -> Answered | None:
        """What came of it; None when it failed, or when Ctrl-C stopped it."""
        future = self._start(work, text, self._screen)
        try:
            answered: Answered = future.result()
        except OrbitError as failed:
            self._screen.fault(str(failed))
        except KeyboardInterrupt:
            future.cancel()
            self._screen.remark("Stopped.")
        except CancelledError:
            self._screen.remark("Stopped.")
        else:
            return answered
        return None
