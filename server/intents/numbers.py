"""Number words to numbers, by the words and rules of a language file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from server.intents.phrases import PhraseHit
from server.text.normalizer import NUMBER_MARK, NormalizedText

GROUP: Final = "number"
"""Group of number words among the phrases; their key is (value, whether it multiplies)."""

_THOUSAND: Final = 1000

_MOST_DIGITS: Final = 15
"""Longer runs of digits are identifiers: no quantity of a question is that large."""


@dataclass(frozen=True, slots=True)
class NumberRules:
    """How a language builds numbers out of words.

    `words` maps phrases to values, `multipliers` those that multiply what stands before
    them (`hundred`). `joiner` is attached to the last part (Hebrew ו), `joining_words`
    stand before it (`and`); with `joined` the last part must have one of them.
    """

    words: Mapping[str, int] = field(default_factory=dict)
    multipliers: Mapping[str, int] = field(default_factory=dict)
    joiner: str = ""
    joining_words: frozenset[str] = frozenset()
    joined: bool = False


@dataclass(frozen=True, slots=True)
class Numeral:
    """Words `first` up to `last` say `value`, after letters that belong to the sentence."""

    first: int
    last: int
    prefix: int
    value: int


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
        taken, numeral = _compose(hits, at, words, rules)
        found.append(numeral)
        at += taken
    return found


def _compose(
    hits: Sequence[PhraseHit], at: int, words: Sequence[str], rules: NumberRules
) -> tuple[int, Numeral]:
    """The longest number that begins at hit `at`, and how many hits it takes."""
    first = hits[at]
    total, current = 0, first.entry.key[0]
    best = (1, first.last, current)
    for number in range(2, len(hits) - at + 1):
        before, hit = hits[at + number - 2], hits[at + number - 1]
        gap = words[before.last : hit.first]
        joined = bool(gap) and all(word in rules.joining_words for word in gap)
        letters = words[hit.first][: hit.prefix]
        if (gap and not joined) or letters not in {"", rules.joiner}:
            break
        value, multiplies = hit.entry.key
        if multiplies and not letters and not joined:
            if value <= current:
                break
            current *= value
            if value >= _THOUSAND:
                total, current = total + current, 0
        elif 0 < value < _place(current or total):
            current += value
        else:
            break
        if not rules.joined or letters or joined or multiplies:
            best = (number, hit.last, total + current)
    taken, last, value = best
    return taken, Numeral(first.first, last, first.prefix, value)


def _place(value: int) -> int:
    """What a part that is added must stay under: 100 after 300, 10 after 20, 1 after 10."""
    if value % 100 == 10:
        return 1
    place = 1
    while value and value % (place * 10) == 0:
        place *= 10
    return place


def as_digits(text: NormalizedText, found: Sequence[Numeral]) -> View:
    """`text`, folded, with each numeral as marked digits; its prefix letters stay."""
    parts: list[str] = []
    pieces: list[tuple[int, int, int, int]] = []
    done = length = 0
    for numeral in found:
        start, end = text.span(numeral.first, numeral.last)
        lead = text.folded[done : start + numeral.prefix] + ("-" if numeral.prefix else "")
        digits = f"{NUMBER_MARK}{numeral.value}"
        parts += (lead, digits)
        begin = length + len(lead)
        length = begin + len(digits)
        pieces.append((begin, start + numeral.prefix, length, end))
        done = end
    parts.append(text.folded[done:])
    return View("".join(parts), tuple(pieces))


def parse_int(digits: str) -> int | None:
    """The value of digits with or without commas; None for more than a quantity holds."""
    plain = digits.replace(",", "")
    return int(plain) if plain.isdigit() and len(plain) <= _MOST_DIGITS else None
