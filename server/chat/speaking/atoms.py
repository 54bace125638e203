"""A text as the things that can be checked of it: numbers, dates, times, words and signs."""

import re
import unicodedata
from collections.abc import Iterator
from datetime import date, time
from decimal import Decimal
from typing import Any, Final, Literal, NamedTuple

from server.text.dates import MONTHS, WEEKDAYS, valid_date
from server.text.tokens import DateOrder

Kind = Literal["number", "date", "month", "time", "code", "word", "sign", "stop"]


class Atom(NamedTuple):
    """One thing that a text says, at characters `start` to `end`.

    `value` is a Decimal, a `date`, (year, month, day) with None for what is not said, a
    `time`, or text in lower case. A tuple because a streamed sentence makes many.
    """

    kind: Kind
    value: Any
    start: int
    end: int
    capital: bool = False


_MONTH: Final = "|".join(sorted(MONTHS, key=len, reverse=True))
_TOKENS: Final = re.compile(
    rf"""
    (?P<iso>(?<![\w.-])\d{{4}}-\d{{2}}-\d{{2}}(?![\d]))
        (?:[T\ ](?P<isotime>\d{{1,2}}:\d{{2}}(?::\d{{2}})?)(?:\.\d+)?(?:Z|[+-]\d{{2}}:?\d{{2}})?)?
  | (?P<numeric>(?<![\w.])\d{{1,2}}([/.-])\d{{1,2}}\4\d{{4}}(?!\w))
  | (?P<mdy>(?<!\w)(?:{_MONTH})\b\.?\ (?:the\ )?\d{{1,2}}(?:st|nd|rd|th)?(?!\w|[.,]\d)
        (?:,?\ \d{{4}}(?!\w|[.,]\d))?)
  | (?P<dmy>(?<!\w)\d{{1,2}}(?:st|nd|rd|th)?\ (?:of\ )?(?:{_MONTH})\b\.?
        (?:,?\ \d{{4}}(?!\w|[.,]\d))?)
  | (?P<my>(?<!\w)(?:{_MONTH})\b\.?,?\ \d{{4}}(?!\w|[.,]\d))
  | (?P<time>(?<![\w.:])\d{{1,2}}:\d{{2}}(?::\d{{2}})?(?:\ ?[ap]\.?m\b\.?)?
        |(?<![\w.:])\d{{1,2}}\ ?[ap]\.?m\b\.?)
  | (?P<name>[^\W\d_]+(?:[-_#]\w*\d\w*)+|\d+(?:\.\d+){{2,}}|(?<![\w.,])0\d+(?![\w.,:]))
  | (?P<number>(?<![\w])(?<!\d[.,])[-+−]?(?:\d{{1,3}}(?:,\d{{3}})+|\d+)(?:\.\d+)?
        (?:[eE][-+]?\d{{1,3}})?(?![\w])(?!:\d))
  | (?P<code>\w*\d\w*(?:[-_.:/@]\w+)*)
  | (?P<word>[^\W\d_]+(?:['’׳״"](?=[^\W\d_])[^\W\d_]+)*)
  | (?P<stop>[.;:!?\n|,()•]+)
  | (?P<sign>[^\w\s])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CODE_PARTS: Final = re.compile(r"([-+]?\d+(?:\.\d+)?)([^\W\d_]+)")
_ORDINAL: Final = frozenset({"st", "nd", "rd", "th"})
_DECORATION: Final = frozenset("*_`#\"'’‘“”«»=–—-[]{}~\\")
"""Signs that mark up text and say nothing. A `-` or `*` between numbers is a sign of its own."""

_MAX_DIGITS: Final = 60


def atoms_of(text: str, order: DateOrder = "mdy") -> list[Atom]:
    """Everything that `text` says, in order; what only marks it up is left out."""
    text = unicodedata.normalize("NFKC", text) if not text.isascii() else text
    return list(_atoms(text, order))


def _atoms(text: str, order: DateOrder) -> Iterator[Atom]:
    for found in _TOKENS.finditer(text):
        kind, start, end = found.lastgroup, found.start(), found.end()
        piece = found[0]
        match kind:
            case "iso" | "isotime":
                yield from _iso(found)
            case "numeric":
                yield _numeric(piece, order, start, end)
            case "mdy" | "dmy" | "my":
                yield _named(piece, start, end)
            case "time":
                yield _time(piece, start, end)
            case "number":
                yield from _number(piece, start, end)
            case "name":
                yield Atom("code", piece.lower(), start, end)
            case "code":
                yield from _code(piece, start, end)
            case "word":
                word = piece.lower().replace("’", "'")
                yield Atom("word", word, start, end, piece[0].isupper())
            case "stop":
                yield Atom("stop", piece, start, end)
            case _:
                if piece not in _DECORATION or _between_values(text, start, end):
                    yield Atom("sign", piece, start, end)


def _between_values(text: str, start: int, end: int) -> bool:
    """Whether a `-`, `*` or `=` stands between two numbers, as in `5 - 3`."""
    if text[start] not in "-–*":
        return False
    before, after = text[:start].rstrip(" *"), text[end:].lstrip(" *")
    return before[-1:].isdigit() and after[:1].isdigit()


def _iso(found: re.Match[str]) -> Iterator[Atom]:
    year, month, day = (int(part) for part in found["iso"].split("-"))
    value = valid_date(year, month, day)
    start, end = found.span("iso")
    if value is None:
        yield Atom("code", found["iso"], start, end)
    else:
        yield Atom("date", value, start, end)
    if found["isotime"]:
        yield _time(found["isotime"], *found.span("isotime"))


def _numeric(piece: str, order: DateOrder, start: int, end: int) -> Atom:
    first, second, year = (int(part) for part in re.split(r"[/.-]", piece))
    month, day = (first, second) if order == "mdy" else (second, first)
    value = valid_date(year, month, day) or valid_date(year, day, month)
    return Atom("date", value, start, end) if value else Atom("code", piece, start, end)


def _named(piece: str, start: int, end: int) -> Atom:
    words = re.findall(r"[^\W\d_]+|\d+", piece.lower())
    month = next(MONTHS[word] for word in words if word in MONTHS)
    figures = [word for word in words if word.isdigit()]
    year = next((int(each) for each in figures if len(each) == 4), None)
    day = next((int(each) for each in figures if len(each) <= 2), None)
    if year is not None and day is not None:
        value = valid_date(year, month, day)
        return Atom("date", value, start, end) if value else Atom("code", piece.lower(), start, end)
    return Atom("month", (year, month, day), start, end)


def _time(piece: str, start: int, end: int) -> Atom:
    figures = [int(each) for each in re.findall(r"\d+", piece)]
    half = piece.lower().rstrip(".").replace(".", "")
    hour = figures[0] % 12 + 12 * half.endswith("pm") if half.endswith("m") else figures[0]
    rest = [*figures[1:], 0, 0]
    try:
        return Atom("time", time(hour, rest[0], rest[1]), start, end)
    except ValueError:
        return Atom("code", piece.lower(), start, end)


def _number(piece: str, start: int, end: int) -> Iterator[Atom]:
    if len(piece) > _MAX_DIGITS:
        yield Atom("code", piece, start, end)
        return
    yield Atom("number", Decimal(piece.replace(",", "").replace("−", "-")), start, end)


def _code(piece: str, start: int, end: int) -> Iterator[Atom]:
    """A number with its unit is both; anything else that mixes digits and letters is one name."""
    parts = _CODE_PARTS.fullmatch(piece)
    if parts is None or len(parts[1]) > _MAX_DIGITS:
        yield Atom("code", piece.lower(), start, end)
        return
    middle = start + parts.end(1)
    yield Atom("number", Decimal(parts[1]), start, middle)
    if parts[2].lower() not in _ORDINAL:
        yield Atom("word", parts[2].lower(), middle, end)


def weekday_of(word: str) -> int | None:
    """The day of the week that a word names, Monday being 0."""
    return WEEKDAYS.get(word) if len(word) > 3 else None


def same_day(said: Any, day: date) -> bool:
    """Whether (year, month, day), with None for what is not said, means a part of `day`."""
    return all(
        part is None or part == of
        for part, of in zip(said, (day.year, day.month, day.day), strict=True)
    )
