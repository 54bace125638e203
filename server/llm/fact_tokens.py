"""A text as the things in it that can be checked: numbers, dates, times, codes, words, signs."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any, Final, Literal, NamedTuple

from server.text.dates import MONTH_PATTERN, MONTHS, match_date, match_time
from server.text.language import shipped_languages
from server.text.span import DateOrder

_MOST_DIGITS: Final = 60

TokenKind = Literal["number", "date", "time", "code", "word", "sign", "stop"]
NAME_PART: Final = re.compile(r"[A-Z]?[^\W\dA-Z_]+|[A-Z]+")
"""A word in the name of a field: `unitPrice`, `unit_price`."""
_YearMonthDay = tuple[int | None, int, int | None]
VALUE_KINDS: Final = frozenset({"number", "date", "time", "code"})


class FactToken(NamedTuple):
    """One thing that a text says, at characters `start` to `end`.

    `value` is a Decimal, (year, month, day) with None for what is not said, a `time`, or
    text in lower case.
    """

    kind: TokenKind
    value: Any
    start: int
    end: int
    capital: bool = False


@dataclass(frozen=True, slots=True)
class AnswerWords:
    """Words of the shipped languages: `plain` ones claim nothing, `negating` ones turn a
    statement round, `counting` ones are numbers and days, and `percent` ones mean "%".
    """

    plain: frozenset[str]
    negating: frozenset[str]
    counting: frozenset[str]
    percent: frozenset[str]


@cache
def answer_words() -> AnswerWords:
    """Return the words of all languages that list any, read on first use."""
    spoken = [each for each in shipped_languages() if each.group("answer_words")]
    numbers = [words for each in spoken for words in (each.numbers.words, each.numbers.multipliers)]
    days = [words for each in spoken for words in (each.dates.words, each.dates.weekdays)]
    return AnswerWords(
        frozenset().union(*(each.group("answer_words") for each in spoken)),
        frozenset().union(*(each.group("answer_negations") for each in spoken)),
        frozenset().union(*numbers, *days),
        frozenset().union(*(each.group("percent_names") for each in spoken)),
    )


_YEAR: Final = r",?\ \d{4}(?!\w|[.,]\d)"
_TOKENS: Final = re.compile(
    rf"""
    (?P<iso>(?<![\w.-])\d{{4}}-\d{{2}}-\d{{2}}(?![\d]))
        (?:[T\ ](?P<isotime>\d{{1,2}}:\d{{2}}(?::\d{{2}})?)(?:\.\d+)?(?:Z|[+-]\d{{2}}:?\d{{2}})?)?
  | (?P<numeric>(?<![\w.])\d{{1,2}}([/.-])\d{{1,2}}\4\d{{4}}(?!\w))
  | (?P<named>(?<!\w)(?:
        (?:{MONTH_PATTERN})\b\.?\ (?:the\ )?\d{{1,2}}(?:st|nd|rd|th)?(?!\w|[.,]\d)(?:{_YEAR})?
      | \d{{1,2}}(?:st|nd|rd|th)?\ (?:of\ )?(?:{MONTH_PATTERN})\b\.?(?:{_YEAR})?
      | (?:{MONTH_PATTERN})\b\.?{_YEAR}))
  | (?P<time>(?<![\w.:])\d{{1,2}}:\d{{2}}(?::\d{{2}})?(?:\ ?[ap]\.?m\b\.?)?
        |(?<![\w.:])\d{{1,2}}\ ?[ap]\.?m\b\.?)
  | (?P<code>[^\W\d_]+(?:[-_#]\w*\d\w*)+|\d+(?:\.\d+){{2,}}|(?<![\w.,])0\d+(?![\w.,:]))
  | (?P<operator>(?<=\d)\ ?[-–*]\ ?(?=\d))
  | (?P<number>(?<![\w])(?<!\d[.,])[-+−]?(?:\d{{1,3}}(?:,\d{{3}})+|\d+)(?:\.\d+)?
        (?:[eE][-+]?\d{{1,3}})?(?![\w])(?!:\d))
  | (?P<mixed>\w*\d\w*(?:[-_.:/@]\w+)*)
  | (?P<word>[^\W\d_]+(?:['’׳״"](?=[^\W\d_])[^\W\d_]+)*)
  | (?P<stop>[.;:!?\n|,()•]+)
  | (?P<sign>[^\w\s])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_UNIT: Final = re.compile(r"([-+]?\d+(?:\.\d+)?)([^\W\d_]+)")
_DECORATION: Final = frozenset("*_`#\"'’‘“”«»=–—-[]{}~\\")
"""Signs that mark up text and say nothing."""


def read_tokens(text: str, order: DateOrder = "mdy") -> list[FactToken]:
    """Return everything that `text` says, in order; what only marks it up is left out."""
    text = unicodedata.normalize("NFKC", text) if not text.isascii() else text
    return [token for found in _TOKENS.finditer(text) for token in _tokens(found, order)]


def _tokens(found: re.Match[str], order: DateOrder) -> Iterator[FactToken]:
    piece, start, end = found[0], found.start(), found.end()
    match found.lastgroup:
        case "iso" | "isotime" | "numeric":
            written = found["iso"] or piece
            parts = match_date(written, 0, order)
            yield _date(written, parts[1:4] if parts else None, start, start + len(written))
            if found["isotime"]:
                yield _time(found["isotime"], *found.span("isotime"))
        case "named":
            yield _date(piece, _named_parts(piece.lower()), start, end)
        case "time":
            yield _time(piece, start, end)
        case "number" if len(piece) <= _MOST_DIGITS:
            number = Decimal(piece.replace(",", "").replace("−", "-"))
            yield FactToken("number", number, start, end)
        case "mixed" if (unit := _UNIT.fullmatch(piece)) and len(unit[1]) <= _MOST_DIGITS:
            # A number with its unit is both; anything else with digits and letters is one name.
            middle = start + unit.end(1)
            yield FactToken("number", Decimal(unit[1]), start, middle)
            if unit[2].lower() not in ("st", "nd", "rd", "th"):
                yield FactToken("word", unit[2].lower(), middle, end)
        case "word":
            yield FactToken("word", piece.lower().replace("’", "'"), start, end, piece[0].isupper())
        case "stop":
            yield FactToken("stop", piece, start, end)
        case "operator":
            yield FactToken("sign", piece.strip(), start, end)
        case "sign":
            if piece not in _DECORATION:
                yield FactToken("sign", piece, start, end)
        case _:
            yield FactToken("code", piece.lower(), start, end)


def _named_parts(named: str) -> _YearMonthDay:
    """Year, month and day of a date that names its month."""
    words = re.findall(r"[^\W\d_]+|\d+", named)
    figures = [word for word in words if word.isdigit()]
    year = next((int(each) for each in figures if len(each) == 4), None)
    day = next((int(each) for each in figures if len(each) <= 2), None)
    return year, next(MONTHS[word] for word in words if word in MONTHS), day


def _date(piece: str, parts: _YearMonthDay | None, start: int, end: int) -> FactToken:
    try:
        year, month, day = parts or (0, 0, 0)
        date(2000 if year is None else year, month, 1 if day is None else day)
    except ValueError:
        return FactToken("code", piece.lower(), start, end)
    return FactToken("date", parts, start, end)


def _time(piece: str, start: int, end: int) -> FactToken:
    parts = match_time(piece.lower(), 0)
    try:
        if parts is not None:
            return FactToken("time", parts.on_clock(), start, end)
    except ValueError:
        pass
    return FactToken("code", piece.lower(), start, end)
