"""Rates: 24 days per year, $40 an hour, 200/day."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from server.text.language import TimeUnit, load_language, shipped_names
from server.text.tokens import Span, Tokens, is_word

_MOST_THINGS: Final = 4
"""Words between a number and what it is per: 25 days of paid leave per year."""
_MOST_LOOSE: Final = 2
"""The same where an article stands for “per”: 50 calls a day."""


class _RateWords(NamedTuple):
    """The words of `RateWords` of some languages together, and their units of time."""

    leads: frozenset[str]
    loose: frozenset[str]
    recurring: frozenset[str]
    adverbs: dict[str, TimeUnit]
    units: dict[str, TimeUnit]
    moving: frozenset[str]
    small: frozenset[str]
    starters: frozenset[str]


def find_rates(tokens: Tokens, spans: Sequence[Span]) -> list[Span]:
    """Return the numbers that are per some time, as spans up to that unit, which is theirs."""
    words = _words_of(tuple(tokens.languages))
    if words.starters.isdisjoint(tokens.words):
        return []
    return list(_rates(tokens, spans, words))


def _rates(tokens: Tokens, spans: Sequence[Span], words: _RateWords) -> Iterator[Span]:
    for number in spans:
        if number.kind != "number" or number.weak:
            continue
        last = number.last
        while last - number.last <= _MOST_THINGS:
            found = _tail(tokens, number, last, words)
            if found is not None:
                unit, end = found
                place = number.start, tokens.ends[end - 1], number.first, end
                yield Span("rate", *place, number.value, unit)
                break
            word = tokens.word(last)
            if not is_word(word) or (word in words.small and last == number.last):
                break
            last += 1


def _tail(tokens: Tokens, number: Span, at: int, words: _RateWords) -> tuple[TimeUnit, int] | None:
    """What it is per and where that ends, if this begins at a place after the number."""
    word, things = tokens.word(at), at - number.last
    of_something = bool(things or number.unit)
    if adverb := words.adverbs.get(word):
        return (adverb, at + 1) if of_something else None
    loose = word in words.loose and things <= _MOST_LOOSE
    if not loose and word not in words.leads and not (of_something and word in words.recurring):
        return None
    unit = words.units.get(tokens.word(at + 1))
    moves = tokens.word(at + 2) in words.moving
    return None if unit is None or (loose and moves) else (unit, at + 2)


@cache
def _words_of(codes: tuple[str, ...]) -> _RateWords:
    languages = [load_language(c) for c in dict.fromkeys((*codes, "en")) if c in shipped_names()]
    rates = [language.rates for language in languages]
    adverbs = {w: unit for one in rates for unit, some in one.adverbs.items() for w in some}
    leads, loose, recurring, moving = (
        frozenset[str]().union(*(getattr(one, name) for one in rates))
        for name in ("leads", "loose", "recurring", "moving")
    )
    return _RateWords(
        leads=leads,
        loose=loose,
        recurring=recurring,
        adverbs=adverbs,
        units={w: unit for one in languages for unit, some in one.units.items() for w in some},
        moving=moving,
        small=frozenset[str]().union(*(one.function_words for one in languages)),
        starters=leads | loose | recurring | adverbs.keys(),
    )
