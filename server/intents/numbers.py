"""Number words to numbers, by the words and rules of a language file."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from server.intents.phrases import PhraseHit
from server.text.normalizer import NUMBER_MARK, NormalizedText
from server.text.number_words import NumberPart, compose_number

GROUP: Final = "number"
"""Group of number words among the phrases; their key is (value, whether it multiplies)."""

_WHOLE: Final = re.compile(r"\d+|\d{1,3}(?:,\d{3})+")

_MOST_DIGITS: Final = 15
"""Longer runs of digits are identifiers: no quantity of a question is that large."""


@dataclass(frozen=True, slots=True)
class NumberRules:
    """How a language builds numbers out of words.

    `joiner` is attached to the last part (Hebrew ו), `joining_words` stand before it
    (`and`); with `joined` the last part must have one of them.
    """

    joiner: str = ""
    joining_words: frozenset[str] = frozenset()
    joined: bool = False


class Numeral(NamedTuple):
    """Words `first` up to `last` say `value`, after letters that belong to the sentence."""

    first: int
    last: int
    prefix: int
    value: int


_MAX_PARTS: Final = 64
"""Words that one number is made of at most: each has to be smaller than what stands before it."""


class View(NamedTuple):
    """Text with its number words as digits, and the way back.

    `pieces` are (start in view, start in text, end in view, end in text) of what was
    replaced, in order.
    """

    text: str
    pieces: tuple[tuple[int, int, int, int], ...] = ()

    def back(self, offset: int) -> int:
        """Where in the text an offset of the view lies; the nearest edge within a number."""
        shift = 0
        for start, origin, end, origin_end in self.pieces:
            if offset < end:
                return origin if offset > start else min(offset + shift, origin)
            shift = origin_end - end
        return offset + shift


def numerals(hits: Sequence[PhraseHit], words: Sequence[str], rules: NumberRules) -> list[Numeral]:
    """Put number words that stand together into numbers, from left to right."""
    found: list[Numeral] = []
    at = 0
    while at < len(hits):
        first = hits[at]
        parts = [NumberPart(*first.entry.key)]
        for before, hit in pairwise(hits[at : at + _MAX_PARTS]):
            gap = words[before.last : hit.first]
            attached = words[hit.first][: hit.prefix]
            joined = bool(gap) and all(word in rules.joining_words for word in gap)
            if (gap and not joined) or attached not in ("", rules.joiner):
                break
            value, multiplies = hit.entry.key
            parts.append(NumberPart(value, multiplies, joined or bool(attached)))
        count, value = compose_number(parts, last_is_joined=rules.joined)
        found.append(Numeral(first.first, hits[at + count - 1].last, first.prefix, value))
        at += count
    return found


def as_digits(text: NormalizedText, found: Sequence[Numeral]) -> View:
    """`text`, folded, with each numeral as marked digits; its prefix letters stay."""
    view, done = "", 0
    pieces: list[tuple[int, int, int, int]] = []
    for numeral in found:
        start, end = text.span(numeral.first, numeral.last)
        start += numeral.prefix
        view += text.folded[done:start] + ("-" if numeral.prefix else "")
        begin = len(view)
        view += f"{NUMBER_MARK}{numeral.value}"
        pieces.append((begin, start, len(view), end))
        done = end
    return View(view + text.folded[done:], tuple(pieces))


def parse_int(digits: str) -> int | None:
    """The value of digits, with commas between thousands; None for more than a quantity holds."""
    whole = digits.rstrip(",")
    if not _WHOLE.fullmatch(whole):
        return None  # 1,5 is one and a half
    plain = whole.replace(",", "")
    return int(plain) if len(plain) <= _MOST_DIGITS else None
