"""The parts of a question: phrases with what they may mean, numbers, stretches of days."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final, Literal

from server.extraction.data_questions.lexicon import DataLexicon, Meanings
from server.text.durations import Duration
from server.text.parsed_text import ParsedText
from server.text.periods import SpokenPeriod, find_periods
from server.text.stems import without_accents
from server.text.tokens import Span

ItemKind = Literal["phrase", "number", "money", "duration", "period", "unknown"]

_EMPTY: Final = Meanings()
_RATED: Final = (["rated"], ["rating"])
"""After a letter that is a value: G rated."""
_FILLERS: Final = frozenset({"frames", "joins"})


@dataclass(slots=True)
class Item:
    """Some words of a question. `used` says that the query has them, `role` as what."""

    kind: ItemKind
    first: int
    last: int
    """Words from `first` up to `last`, counted without signs."""
    start: int
    end: int
    """Characters of the question."""
    said: str
    meanings: Meanings = field(default_factory=lambda: _EMPTY)
    value: Any = None
    capital: bool = False
    role: Literal["", "value", "frame", "operator"] = ""

    def has(self, *tags: str) -> bool:
        return not self.meanings.tags.isdisjoint(tags)

    @property
    def is_amount(self) -> bool:
        return self.kind in ("number", "money", "duration")

    @property
    def is_filler(self) -> bool:
        """Whether it says nothing of what is asked, whatever stands around it."""
        known = self.meanings
        return (
            self.kind == "phrase"
            and bool(known.tags)
            and known.tags <= _FILLERS
            and not (
                known.names_data
                or known.agents
                or known.done
                or known.dates
                or known.degrees
                or known.roles
            )
        )

    @property
    def may_be_filler(self) -> bool:
        return self.kind == "phrase" and self.has(*_FILLERS)


def items_of(reading: ParsedText, lexicon: DataLexicon) -> list[Item]:
    """Cut a question into its parts, the longest phrase first."""
    tokens = reading.tokens
    places = [at for at, word in enumerate(tokens.words) if any(map(str.isalnum, word))]
    words = [without_accents(tokens.words[at]) for at in places]
    at_token = {token: at for at, token in enumerate(places)}
    special = _special(reading, at_token)
    currencies = {at for span in reading.of("currency") for at in range(span.first, span.last)}
    items: list[Item] = []
    at = 0
    while at < len(words):
        size, item = _longest(reading, lexicon, words, places, at, special)
        if item.kind == "number" and _is_year(item, items, reading):
            item.kind, item.value = "period", _year(item)
        if item.kind == "unknown" and places[at] in currencies and items and items[-1].is_amount:
            items[-1].kind, items[-1].end, items[-1].last = "money", item.end, item.last
        else:
            items.append(item)
        at += size
    return items


def _longest(
    reading: ParsedText,
    lexicon: DataLexicon,
    words: Sequence[str],
    places: Sequence[int],
    at: int,
    special: Mapping[int, tuple[int, ItemKind, Any]],
) -> tuple[int, Item]:
    tokens = reading.tokens
    found = lexicon.at(words, at)
    end, kind, value = special.get(at, (at, "unknown", None))
    size, meanings = found if found is not None else (0, _EMPTY)
    if end - at >= size and end > at:
        size, meanings = end - at, _EMPTY
    else:
        kind, value = ("phrase" if size else "unknown"), None
    size = max(size, 1)
    first, last = places[at], places[at + size - 1]
    start, stop = tokens.starts[first], tokens.ends[last]
    said = reading.text[start:stop]
    capital = said[:1].isupper() and at > 0
    written = said.isupper() and (len(said) > 1 or words[at + 1 : at + 2] in _RATED)
    if meanings.values and meanings.tags and size == 1:
        # “us” is no country, and US is one.
        known = meanings
        if written:
            meanings = Meanings(values=known.values)
        elif "frames" in meanings.tags:
            meanings = Meanings(
                known.nouns, known.columns, [], known.degrees, known.done, known.dates,
                known.roles, known.agents, known.tags, known.plural,
            )  # fmt: skip
    if meanings.values and not (capital or written) and size == 1:
        meanings = _without_doubtful(meanings, words[at], words[at + 1 : at + 2])
        if not (meanings.tags or meanings.names_data or meanings.done or meanings.dates
                or meanings.degrees or meanings.roles or meanings.agents):  # fmt: skip
            kind = "unknown"
    return size, Item(kind, at, at + size, start, stop, said, meanings, value, capital)


def _without_doubtful(known: Meanings, word: str, after: Sequence[str]) -> Meanings:
    """The meanings without values that one small word is hardly meant as: a, go, best."""
    short = len(word) < 3 and list(after) not in _RATED
    other = bool(known.tags or known.nouns or known.columns or known.done or known.dates)
    values = [v for v in known.values if not v.part and not short and not other]
    kinds = [v for v in known.values if not v.part and not short and len(v.columns) == 1]
    if other and not known.tags:
        values = kinds
    return Meanings(
        known.nouns, known.columns, values, known.degrees, known.done, known.dates, known.roles,
        known.agents, known.tags, known.plural,
    )  # fmt: skip


def _special(
    reading: ParsedText, at_token: Mapping[int, int]
) -> dict[int, tuple[int, ItemKind, Any]]:
    """What reads as a number, a length of time or a stretch of days, by its first word."""
    found: dict[int, tuple[int, ItemKind, Any]] = {}

    def add(first: int, last: int, kind: ItemKind, value: Any) -> None:
        inside = [at_token[t] for t in range(first, last) if t in at_token]
        if inside and (inside[0] not in found or found[inside[0]][0] < inside[-1] + 1):
            found[inside[0]] = inside[-1] + 1, kind, value

    for span in _numbers(reading):
        add(span.first, span.last, "money" if span.unit else "number", span.value)
    for span in reading.of("duration"):
        if isinstance(span.value, Duration):
            add(span.first, span.last, "duration", span.value)
    for period in find_periods(reading):
        add(period.first, period.last, "period", period)
    return found


def _numbers(reading: ParsedText) -> Iterator[Span]:
    for span in reading.of("number"):
        if not span.weak or span.unit:
            yield span


_YEAR_LEADS: Final = frozenset({"in", "of", "during", "for", "from", "since", "until"})


def _is_year(item: Item, before: Sequence[Item], reading: ParsedText) -> bool:
    """Whether a number is a year that the stretches of days do not have: sales in 2025."""
    lead = before[-1].said.lower().split(" ")[-1] if before else ""
    year = item.value
    near = isinstance(year, int) and 1900 <= year <= reading.today.year + 1  # noqa: PLR2004
    if not near or len(item.said) != 4:  # noqa: PLR2004
        return False
    said = [i for i in before if not i.is_filler]
    counts = ("more", "less", "at_least", "at_most", "between", "tops", "or_more", "or_less")
    named = bool(said) and (bool(said[-1].meanings.nouns) or said[-1].has(*counts))
    return lead in _YEAR_LEADS or not named


def _year(item: Item) -> SpokenPeriod:
    first, last = date(item.value, 1, 1), date(item.value, 12, 31)
    return SpokenPeriod(item.first, item.last, first, last, "within", None, is_days=False)


def is_open(period: SpokenPeriod) -> bool:
    return period.start is None or period.end is None
