"""Tables that are pasted into a text as CSV or Markdown: found, and read as rows.

A table has a header and at least two rows below it with as many cells. Each line is looked at
once for each sign that may part its cells.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, NamedTuple

from server.text.decimals import read_plain

MAX_ROWS: Final = 10_000
MAX_COLUMNS: Final = 100
_LONGEST_CELL: Final = 1_000
_LONGEST_NAME: Final = 40
_LEAST_ROWS: Final = 2
_PLAIN_ENOUGH: Final = 3
"""Columns from which words alone make a table; with fewer, one has to hold numbers or the like."""
_MOST_WORDS: Final = 4
_LOOKS: Final = 3
_LEAST_LOOKS: Final = 2_000

_SEPARATORS: Final = ("|", "\t", ";", ",")
_RULE: Final = re.compile(r"\s*:?-+:?\s*")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d{0,60})(?:\.\d{1,60})?")
_DATED: Final = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ].{1,20})?")
_FENCE: Final = re.compile(r"\s*(?:```|~~~)\w*\s*")
_TRUTHS: Final = {"true": True, "false": False}


class Table(NamedTuple):
    """Rows, and where they stand; `problem` says why they cannot be read."""

    start: int
    end: int
    rows: list[dict[str, Any]]
    problem: str = ""


class _Line(NamedTuple):
    start: int
    end: int
    text: str


def may_hold_table(text: str) -> bool:
    """Whether a text has what every table has: several lines, and signs between cells."""
    return text.count("\n") >= _LEAST_ROWS and any(sign in text for sign in _SEPARATORS)


def find_tables(text: str) -> Iterator[Table]:
    """Yield the tables of a text, in order."""
    if not may_hold_table(text):
        return
    lines = list(_lines(text))
    at, looks = 0, _Looks(_LOOKS * len(lines) + _LEAST_LOOKS)
    while at + 1 < len(lines) and looks.left > 0:
        found = _table_at(lines, at, looks)
        if found is None:
            at += 1
            continue
        table, at = found
        yield table


@dataclass(slots=True)
class _Looks:
    """How many lines may still be looked at, however often each begins what is no table."""

    left: int


def _lines(text: str) -> Iterator[_Line]:
    start = 0
    for line in text.split("\n"):
        yield _Line(start, start + len(line), line.removesuffix("\r"))
        start += len(line) + 1


def _table_at(lines: Sequence[_Line], at: int, looks: _Looks) -> tuple[Table, int] | None:
    """The table whose header is the line at `at`, and the line after it."""
    for sign in _SEPARATORS:
        below = _cells(lines[at + 1].text, sign)
        if sign not in lines[at].text or below is None or len(below) < 2:
            continue
        ruled = sign == "|" and all(map(_RULE.fullmatch, below))
        width = len(below)
        header = _header(lines[at], sign, width)
        if header is None:
            continue
        start, names = header
        rows = _rows_from(lines, at + 1 + ruled, sign, width)
        looks.left -= len(rows) + 1
        columns = _columns(rows, width)
        if not ruled and sign != "\t" and not _is_told(columns):
            # A last line that happens to have as many commas.
            without = _columns(rows[:-1], width)
            if len(rows) > _LEAST_ROWS and _is_told(without):
                rows, columns = rows[:-1], without
            elif width < _PLAIN_ENOUGH or _is_prose(rows):
                continue
        if len(rows) < _LEAST_ROWS - ruled:
            continue
        last = at + 1 + ruled + len(rows)
        end = lines[last - 1].end
        if last < len(lines) and _FENCE.fullmatch(lines[last].text):
            end, last = lines[last].end, last + 1
        if at and start == lines[at].start and _FENCE.fullmatch(lines[at - 1].text):
            start = lines[at - 1].start
        if len(rows) > MAX_ROWS:
            return Table(start, end, [], f"the table has more than {MAX_ROWS} rows"), last
        values = zip(*(one.values for one in columns), strict=True)
        return Table(start, end, [dict(zip(names, row, strict=True)) for row in values]), last
    return None


def _rows_from(lines: Sequence[_Line], first: int, sign: str, width: int) -> list[list[str]]:
    rows: list[list[str]] = []
    for line in islice(lines, first, None):
        cells = _cells(line.text, sign) if sign in line.text else None
        if cells is None or len(cells) != width:
            break
        rows.append(cells)
    return rows


def _columns(rows: Sequence[Sequence[str]], width: int) -> list["_Column"]:
    return [_column([row[place] for row in rows]) for place in range(width)]


def _is_told(columns: Sequence["_Column"]) -> bool:
    return any(column.telling for column in columns)


def _header(line: _Line, sign: str, width: int) -> tuple[int, list[str]] | None:
    """Where the names of the columns begin in a line, and those; None where they are none.

    A question may stand before them, up to a colon.
    """
    for start in (0, line.text.find(":") + 1 if sign != "|" else 0):
        cells = _cells(line.text[start:], sign)
        if cells is None or len(cells) != width or width > MAX_COLUMNS:
            continue
        if len(set(cells)) == width and all(map(_is_name, cells)):
            blank = len(line.text[start:]) - len(line.text[start:].lstrip())
            return line.start + start + (blank if start else 0), cells
    return None


def _is_name(cell: str) -> bool:
    words = cell.split()
    named = bool(cell) and len(cell) <= _LONGEST_NAME and len(words) <= _MOST_WORDS
    return (
        named
        and (cell[0].isalpha() or cell[0] in "_#")
        and ":" not in cell
        and cell[-1] not in ".?!,"
    )


def _is_prose(rows: Sequence[Sequence[str]]) -> bool:
    return any(
        len(cell.split()) > _MOST_WORDS or cell[-1:] in tuple(".?!") for row in rows for cell in row
    )


class _Column(NamedTuple):
    values: list[Any]
    telling: bool
    """Whether its values are such as no sentence has in every line: numbers, dates, true, false."""


def _column(cells: Sequence[str]) -> _Column:
    filled = [cell for cell in cells if cell]
    if filled and all(map(_NUMBER.fullmatch, filled)):
        return _Column([read_plain(cell) if cell else None for cell in cells], telling=True)
    if filled and all(cell.lower() in _TRUTHS for cell in filled):
        return _Column([_TRUTHS.get(cell.lower()) for cell in cells], telling=True)
    dated = bool(filled) and all(map(_DATED.fullmatch, filled))
    return _Column([cell or None for cell in cells], telling=dated)


def _cells(line: str, sign: str) -> list[str] | None:
    """The cells of a line; None where it has none, or its quotes do not close."""
    if sign == "|":
        inner = line.strip()
        inner = inner[1:] if inner.startswith("|") else inner
        inner = inner[:-1] if inner.endswith("|") else inner
        cells = [cell.strip() for cell in inner.split("|")]
    elif '"' not in line:
        cells = [cell.strip() for cell in line.split(sign)]
    else:
        quoted = _quoted_cells(line, sign)
        if quoted is None:
            return None
        cells = quoted
    long = len(cells) > MAX_COLUMNS or any(len(cell) > _LONGEST_CELL for cell in cells)
    return None if long or not any(cells) else cells


def _quoted_cells(line: str, sign: str) -> list[str] | None:
    """Cells of which some stand in quotation marks, a mark inside being written twice."""
    cells: list[str] = []
    at = 0
    while True:
        while at < len(line) and line[at] in " \t" and line[at] != sign:
            at += 1
        if at < len(line) and line[at] == '"':
            parts: list[str] = []
            while True:
                close = line.find('"', at + 1)
                if close < 0:
                    return None
                parts.append(line[at + 1 : close])
                at = close
                if line[close + 1 : close + 2] != '"':
                    break
                at = close + 1
            cells.append('"'.join(parts))
            end = line.find(sign, at)
            if line[at + 1 : end if end >= 0 else len(line)].strip():
                return None
        else:
            end = line.find(sign, at)
            cells.append(line[at : end if end >= 0 else len(line)].strip())
        if end < 0:
            return cells
        at = end + 1
