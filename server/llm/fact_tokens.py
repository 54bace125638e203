"""A text as the things in it that can be checked: numbers, dates, times, codes, words, signs."""

import re
import unicodedata
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any, Final, Literal, NamedTuple

from server.text.dates import MONTHS, match_date, match_time, read_time_after_date
from server.text.language import WordGroup, shipped_languages
from server.text.normalizer import lowered
from server.text.tokens import DateOrder

_MOST_DIGITS: Final = 60

TokenKind = Literal["number", "date", "time", "code", "word", "sign", "stop"]
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


class AnswerWords(NamedTuple):
    """Words of the shipped languages: `plain` ones claim nothing, `negating` ones turn a
    statement round, `counting` ones are numbers and days, and `percent` ones mean "%".
    """

    plain: frozenset[str]
    negating: frozenset[str]
    percent: frozenset[str]
    counting: frozenset[str]


@cache
def answer_words() -> AnswerWords:
    """Return the words of all languages that list any, read on first use."""
    spoken = [each for each in shipped_languages() if each.group("answer_words")]
    groups: tuple[WordGroup, ...] = ("answer_words", "answer_negations", "percent_names")
    plain, negating, percent = (
        frozenset().union(*(each.group(name) for each in spoken)) for name in groups
    )
    counting = [
        {*each.numbers.words, *each.numbers.multipliers, *each.dates.words, *each.dates.weekdays}
        for each in spoken
    ]
    return AnswerWords(plain, negating, percent, frozenset().union(*counting))


_TOKENS: Final = re.compile(
    r"""
    (?P<code>[^\W\d_]+(?:[-_#]\w*\d\w*)+|\d+(?:\.\d+){2,}|(?<![\w.,])0\d+(?![\w.,:]))
  | (?P<operator>(?<=\d)\ ?[-–*]\ ?(?=\d))
  | (?P<number>(?<![\w])(?<!\d[.,])[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?
        (?:[eE][-+]?\d{1,3})?(?![\w])(?!:\d))
  | (?P<mixed>\w*\d\w*(?:[-_.:/@]\w+)*)
  | (?P<word>[^\W\d_]+(?:['’׳״"](?=[^\W\d_])[^\W\d_]+)*)
  | (?P<stop>[.;:!?\n|,()•]+)
  | (?P<sign>[^\w\s])
    """,
    re.VERBOSE,
)
_UNIT: Final = re.compile(r"([-+]?\d+(?:\.\d+)?)([^\W\d_]+)")
_DECORATION: Final = frozenset("*_`#\"'’‘“”«»=–—-[]{}~\\")
"""Signs that mark up text and say nothing."""


def read_tokens(text: str, order: DateOrder = "mdy") -> list[FactToken]:
    """Return everything that `text` says, in order; what only marks it up is left out."""
    text = unicodedata.normalize("NFKC", text) if not text.isascii() else text
    folded = lowered(text)
    tokens: list[FactToken] = []
    position = 0
    while found := _TOKENS.search(text, position):
        may_be_moment = found[0][0].isdigit() or found[0].lower() in MONTHS
        moment = _moment(folded, found.start(), order) if may_be_moment else []
        tokens += moment or _tokens(found)
        position = moment[-1].end if moment else found.end()
    return tokens


def _moment(folded: str, start: int, order: DateOrder) -> list[FactToken]:
    """Return the date, the time, or the date and its time that begin at `start`."""
    parts, end = match_date(folded, start, order), start
    try:
        if parts is not None and not parts.doubtful:
            end = parts.end
            parts.on_calendar(date(2000, 1, 1))
            said = [FactToken("date", parts[1:4], start, end)]
            if after := read_time_after_date(folded, end):
                clock = after[0].replace(microsecond=0, tzinfo=None)
                said.append(FactToken("time", clock, end, after[1]))
            return said
        if clock_parts := match_time(folded, start):
            end = clock_parts.end
            return [FactToken("time", clock_parts.on_clock(), start, end)]
    except ValueError:  # no calendar or clock shows it
        return [FactToken("code", folded[start:end], start, end)]
    return []


def _tokens(found: re.Match[str]) -> Iterator[FactToken]:
    piece, start, end = found[0], found.start(), found.end()
    match found.lastgroup:
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
