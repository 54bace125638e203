"""One question while it is being understood."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from server.core.turn import IntentMethod
from server.intents.numbers import View
from server.intents.phrases import PhraseHit
from server.text.normalizer import NormalizedText

Span = tuple[int, int]
"""Characters of the question."""


class Claim(NamedTuple):
    """Characters `start` to `end` of the question were read as `entity`."""

    entity: str
    start: int
    end: int


class Fired(NamedTuple):
    """What made a trigger fire: its `text`, and the `hit` of a keyword."""

    method: IntentMethod
    text: str
    hit: PhraseHit | None = None


@dataclass(slots=True)
class QuestionState:
    """What is known of a question so far; it was asked at `moment`.

    `respelt` leads from `text` back to the `written` one, where a word was put right. `data` is
    what patterns see, in UTF-8, and `matching` the numbers of those it matches; `numbers` maps it
    back to the text where number words were put into digits. `hits` are the phrases that were
    found, keywords by their trigger and others by their group. `operation` was shown by
    `operation_fired`, or is the default where that is None; `other_object` is what it should be
    done with, and cannot. `idle` are clauses that only tell something or refuse it, in front of
    one that asks.

    `values` and `spans` fill as entities are read. `out_of_range` has the places of values that
    an entity cannot be, `unlisted` of those that it does not know, and `ambiguous` the values
    that one name stands for; `free_texts` are the entities that were read as free text.
    """

    written: NormalizedText
    respelt: View | None
    text: NormalizedText
    numbers: View | None
    data: bytes
    matching: frozenset[int]
    hits: Mapping[int | str, list[PhraseHit]]
    moment: datetime
    zone: ZoneInfo
    operation: str | None = None
    operation_fired: Fired | None = None
    values: dict[str, Any] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)
    out_of_range: dict[str, Span] = field(default_factory=dict)
    unlisted: dict[str, Span] = field(default_factory=dict)
    ambiguous: dict[str, tuple[Span, Sequence[Any]]] = field(default_factory=dict)
    free_texts: set[str] = field(default_factory=set)
    other_object: Span | None = None
    idle: Sequence[Span] = ()
    claims: list[Claim] = field(default_factory=list)

    def today(self) -> date:
        """Return the day in the pack's time zone; of a naive moment, its own day."""
        moment = self.moment
        return (moment if moment.tzinfo is None else moment.astimezone(self.zone)).date()

    def characters(self, start: int, end: int) -> Span:
        """Return the characters of the question that bytes of `data` stand for."""
        first = len(self.data[:start].decode())
        last = first + len(self.data[start:end].decode())
        if self.numbers is None:
            return first, last
        return self.numbers.back(first), self.numbers.back(last)

    def as_written(self, start: int, end: int) -> Span:
        """Return where characters of `text` stand in `written`."""
        back = self.respelt
        return (start, end) if back is None else (back.back(start), back.back(end))

    def words_at(self, start: int, end: int) -> str:
        """Return characters of `text` as they were written."""
        start, end = self.as_written(start, end)
        return self.written.clean[start:end].strip()

    def read_spans(self) -> Iterator[Span]:
        """Yield the places of all that was read and is kept: claims, keywords, idle clauses."""
        yield from ((start, end) for _, start, end in self.claims)
        for key, hits in self.hits.items():
            if isinstance(key, int):
                yield from map(self.hit_span, hits)

    def hit_span(self, hit: PhraseHit) -> Span:
        return self.text.span(hit.first, hit.last)

    def add_entity(self, name: str, value: Any, spans: tuple[Span, ...], *, claim: bool) -> None:
        """Note the value of an entity and where it was read; a claim keeps others from it."""
        self.values[name] = value
        for start, end in spans:
            words = self.text.clean[start:end]
            end = start + len(words.rstrip(" "))
            start = min(end, start + len(words) - len(words.lstrip(" ")))
            self.spans.setdefault(name, (start, end))
            if claim:
                self.claims.append(Claim(name, start, end))

    def is_out_of_range(self, entity: str) -> bool:
        """Whether the question names only a value that the entity cannot have."""
        if entity in self.unlisted:
            return True
        span = self.out_of_range.get(entity)
        return span is not None and entity not in self.values and self.is_free(*span)

    def is_ambiguous(self, entity: str) -> bool:
        """Whether the question names several values of the entity by one name."""
        return entity in self.ambiguous and entity not in self.values

    def is_free(self, start: int, end: int) -> bool:
        """Whether no entity has claimed any of these characters."""
        return not any(claim.start < end and start < claim.end for claim in self.claims)

    def bytes_are_free(self, start: int, end: int) -> bool:
        return not self.claims or self.is_free(*self.characters(start, end))

    def free_hits(self, group: str) -> list[PhraseHit]:
        """Return the phrases of `group` that no entity has claimed."""
        return [hit for hit in self.hits.get(group, ()) if self.is_free(*self.hit_span(hit))]

    def is_claimed_by(self, hit: PhraseHit, entities: frozenset[str]) -> bool:
        """Whether a hit lies in what one of `entities` claimed."""
        start, end = self.hit_span(hit)
        claims = [claim for claim in self.claims if claim.entity in entities]
        return any(claim.start <= start + hit.prefix and end <= claim.end for claim in claims)
