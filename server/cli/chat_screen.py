"""What a person sees and types. Answers go to standard output, all else to standard error."""

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from server.cli.ask import print_stages
from server.cli.markdown import MarkdownWriter
from server.cli.output import say
from server.core.decision import Trace
from server.core.json import to_json

_MOST_REMEMBERED: Final = 1000
_PROMPT: Final = "› "


class Screen:
    """The terminal, or the pipes in its place. `history` is a file of what was typed."""

    def __init__(self, history: Path) -> None:
        self.reads_from_terminal = sys.stdin.isatty()
        self._terminal = sys.stdout.isatty()
        self._colours = self._terminal and not os.environ.get("NO_COLOR")
        self._history = history if self.reads_from_terminal else None
        self._midline = False
        self._unsent = ""
        self._writer: MarkdownWriter | None = None
        self._readline: Any = None
        if self._history is not None and self._terminal:
            self._readline = _readline(self._history)

    def read(self) -> str | None:
        """Return the next line that is typed; None when there are no more. Ctrl-C raises."""
        try:
            if self.reads_from_terminal and not self._terminal:
                sys.stderr.write(_PROMPT)
                sys.stderr.flush()
            shows = self.reads_from_terminal and self._terminal
            return input(self._prompt() if shows else "").strip()
        except EOFError:
            return None
        except UnicodeDecodeError:
            self.remark("That is no text in UTF-8, and was left out.")
            return ""

    def say(self, words: str) -> None:
        """Show words of an answer as they come; a pipe gets the whole answer at its end."""
        if not self._terminal:
            self._unsent += words
            return
        if self._writer is None:
            self._writer = MarkdownWriter.at_terminal()
        self._show(self._writer.feed(words))

    def _show(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()
        self._midline = not text.endswith("\n") if text else self._midline

    def take_back(self) -> None:
        """What was said does not count; what is said next stands in its place."""
        self._unsent, self._writer = "", None
        if self._midline:
            self._show(" … no:\n")

    def end_answer(self) -> None:
        if self._writer is not None:
            self._show(self._writer.flush())
            self._writer = None
        if self._unsent:
            sys.stdout.write(self._unsent + ("" if self._unsent.endswith("\n") else "\n"))
            sys.stdout.flush()
            self._unsent = ""
        if self._midline:
            self._show("\n")

    def choices(self) -> None:
        if self.reads_from_terminal:
            self.remark("[1] Yes  [2] No")

    def remark(self, text: str) -> None:
        self.end_answer()
        say(f"\x1b[2m{text}\x1b[0m" if self._colours else text)

    def fault(self, text: str) -> None:
        self.end_answer()
        say(f"\x1b[31merror: {text}\x1b[0m" if self._colours else f"error: {text}")

    def trace(self, trace: Trace) -> None:
        no_color = None if self._colours else True
        console = Console(stderr=True, highlight=False, soft_wrap=True, no_color=no_color)
        print_stages(console, trace)

    def metadata(self, metadata: Any) -> None:
        say(to_json(metadata, indent=2))

    def new_line(self) -> None:
        if self.reads_from_terminal:
            say("")

    def close(self) -> None:
        if self._readline is None or self._history is None:
            return
        try:
            self._history.touch(mode=0o600)
            self._readline.write_history_file(str(self._history))
            self._history.chmod(0o600)
        except OSError as refused:
            say(f"the history could not be kept: {refused.strerror}")

    def _prompt(self) -> str:
        # The marks tell readline which characters take no room.
        return f"\x01\x1b[1m\x02{_PROMPT}\x01\x1b[0m\x02" if self._colours else _PROMPT


def _readline(history: Path) -> Any:
    """Line editing with the history of earlier conversations; None where Python has none."""
    try:
        import readline
    except ImportError:
        return None
    readline.set_history_length(_MOST_REMEMBERED)
    with suppress(OSError):  # the first conversation has none
        readline.read_history_file(str(history))
    return readline
