"""Answers at a terminal: the Markdown that they are written in, as people read it.

Only what answers are made with is read: bold text, links and tables. Whatever else stands in an
answer may be a value (`2*3*4`, `# 12`), and stays as it is.
"""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from shutil import get_terminal_size
from textwrap import wrap
from typing import Final, Self

from rich.cells import cell_len

NO_CONTROLS: Final = {n: None for n in (*range(32), *range(127, 160)) if chr(n) not in "\n\t"}
"""What could move the cursor or recolour the terminal: answers hold what services say."""

_INLINE: Final = re.compile(
    r"(?P<fence>`+)(?!`).+?(?<!`)(?P=fence)(?!`)"
    r"|(?<![\w*])\*\*(?=[^\s*])(?P<bold>.+?)(?<=[^\s*])\*\*(?![\w*])"
    r"|\[(?P<text>[^\[\]]+)\]\((?P<url>https?://[^\s()]+)\)"
)
_OPEN: Final = re.compile(r"`|(?<![\w*])\*\*(?=\S|$)|\*$|\[[^\[\]]*(?:\](?:\([^\s()]*)?)?$")
"""What may become one of these once more of the line is there."""
_RULE: Final = re.compile(r"\|(?:\s*:?-+:?\s*\|)+\s*")
_BAR: Final = re.compile(r"(?<!\\)\|")
_GAP: Final = "  "


@dataclass(slots=True)
class MarkdownWriter:
    """Makes what is shown of an answer, which may come in pieces of any size.

    Without `colours` the signs of Markdown go, and nothing stands in their place. A table that is
    wider than `width` becomes a list of its rows.
    """

    colours: bool
    width: int
    _line: str = ""
    _shown: int = 0
    _table: list[str] = field(default_factory=list)

    @classmethod
    def at_terminal(cls) -> Self:
        return cls(not os.environ.get("NO_COLOR"), get_terminal_size().columns)

    def feed(self, words: str) -> str:
        """Return what can be shown, now that these words have come."""
        shown = ""
        *lines, rest = words.translate(NO_CONTROLS).split("\n")
        for line in lines:
            self._line += line
            shown += self._end_line("\n")
        self._line += rest
        if not self._line.startswith("|"):
            shown += self._end_table() if self._line else ""
            shown += self._show(self._ready())
        return shown

    def flush(self) -> str:
        """Return what is left at the end of an answer."""
        return self._end_line("") + self._end_table()

    def _ready(self) -> int:
        """How much of the line can be shown whatever follows."""
        place = self._shown
        for found in _INLINE.finditer(self._line, place):
            if found.end() < len(self._line):
                place = found.end()
        opens = _OPEN.search(self._line, place)
        return opens.start() if opens else len(self._line)

    def _show(self, end: int) -> str:
        # What stands before counts: in `2**3**4` nothing is bold.
        shown, place = "", self._shown
        for found in _INLINE.finditer(self._line, place, end):
            shown += self._line[place : found.start()] + self._styled(found)
            place = found.end()
        self._shown = max(end, self._shown)
        return shown + self._line[place:end]

    def _end_line(self, line_break: str) -> str:
        line = self._line
        if line.startswith("|"):
            self._table.append(line + line_break)
            shown = ""
        else:
            shown = self._end_table() + self._show(len(line)) + line_break
        self._line, self._shown = "", 0
        return shown

    def _end_table(self) -> str:
        lines, self._table = self._table, []
        if len(lines) < 3 or not _RULE.fullmatch(lines[1].strip()):
            return "".join(self._inline(line) for line in lines)
        names, _, *rows = (_cells_of(line) for line in lines)
        shown = [[self._inline(cell) for cell in row] for row in rows]
        heads = [self._marked("1", name) for name in names]
        ends = "\n" if lines[-1].endswith("\n") else ""
        return "\n".join(lay_out(heads, shown, self.width)) + ends

    def _inline(self, text: str) -> str:
        return _INLINE.sub(self._styled, text)

    def _styled(self, found: "re.Match[str]") -> str:
        if found["bold"]:
            return self._marked("1", self._inline(found["bold"]))
        if found["url"]:
            url = self._marked("4", found["url"])
            return url if found["text"] == found["url"] else f"{found['text']} ({url})"
        return found[0]

    def _marked(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colours else text


def shown_markdown(text: str, *, colours: bool, width: int) -> str:
    """Return a whole answer as a terminal shows it."""
    writer = MarkdownWriter(colours, width)
    return writer.feed(text) + writer.flush()


def print_answer(text: str) -> None:
    """Print an answer: styled at a terminal, and elsewhere exactly as it is."""
    if sys.stdout.isatty():
        writer = MarkdownWriter.at_terminal()
        text = writer.feed(text) + writer.flush()
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def lay_out(names: Sequence[str], rows: Sequence[Sequence[str]], width: int | None) -> list[str]:
    """Return the lines of a table, or of a list of its rows where the table would be too wide.

    No value is broken but between its words. Without a `width` any table fits.
    """
    filled = [[*row, *[""] * (len(names) - len(row))] for row in rows]
    widths = [max(map(_width, column)) for column in zip(names, *filled, strict=False)]
    if width is None or sum(widths) + len(_GAP) * (len(widths) - 1) <= width:
        return [_aligned(row, widths) for row in (names, *filled)]
    lines = []
    for number, row in enumerate(filled):
        lines += [""] if number else []
        for name, value in zip(names, row, strict=False):
            lines += wrapped(f"{name}: {value}", width) if value else []
    return lines


def wrapped(text: str, width: int | None, indent: str = "") -> Iterator[str]:
    """Yield the lines of a text, which breaks between words alone; further ones stand indented."""
    if width is None or _width(text) + len(indent) <= width:
        yield indent + text
        return
    yield from wrap(
        text,
        max(width, 20),
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _cells_of(line: str) -> list[str]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [cell.strip().replace("\\|", "|") for cell in _BAR.split(inner)]


_ESCAPE: Final = re.compile(r"\x1b\[\d*m")


def _width(text: str) -> int:
    return cell_len(_ESCAPE.sub("", text))


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=False))
    return _GAP.join(padded).rstrip()
