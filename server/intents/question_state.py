"""One question while it is being understood."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from server.core.turn import IntentMethod
from server.intents.numbers import View
from server.intents.phrases import PhraseHit
from server.text.normalizer import NormalizedText


class Claim(NamedTuple):
    """Characters `start` to `end` of the question were read as `entity`."""

    entity: str
    start: int
    end: int


class Fired(NamedTuple):
    """A trigger that a question has; `hit` is where, when that is a keyword."""

    method: IntentMethod
    text: str
    hit: PhraseHit | None = None


@dataclass(slots=True)
class QuestionState:
    """What is known of a question so far. It was asked at `moment`, or else now, by the `clock`.

    `data` is what patterns see, in UTF-8, and `matching` the numbers of those it matches;
    `numbers` is the view of it when number words were put into digits. `hits` are the
    phrases that were found, keywords under the trigger they belong to and others under
    their group. `by_operation` is what showed the `operation`, None when nothing did and it
    is the default. `values` and `spans` fill as entities are read, and `out_of_range` says
    where a number stands that an entity cannot be.
    """

    text: NormalizedText
    numbers: View | None
    data: bytes
    matching: frozenset[int]
    hits: Mapping[int | str, list[PhraseHit]]
    moment: datetime | None
    clock: Callable[[], datetime]
    zone: ZoneInfo
    operation: str | None = None
    by_operation: Fired | None = None
    values: dict[str, Any] = field(default_factory=dict)
    out_of_range: dict[str, tuple[int, int]] = field(default_factory=dict)
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)
    _today: date | None = None

    def today(self) -> date:
        """The day it is where the pack is at home; of a naive moment, its own day."""
        if self._today is None:
            moment = self.clock() if self.moment is None else self.moment
            here = moment if moment.tzinfo is None else moment.astimezone(self.zone)
            self._today = here.date()
        return self._today

    def character(self, offset: int) -> int:
        """A byte of `data` to a character of the question."""
        at = len(self.data[:offset].decode())
        return at if self.numbers is None else self.numbers.back(at)

    def characters(self, start: int, end: int) -> tuple[int, int]:
        """Bytes of `data` to characters of the question."""
        data, numbers = self.data, self.numbers
        first = len(data[:start].decode())
        last = first + len(data[start:end].decode())
        return (first, last) if numbers is None else (numbers.back(first), numbers.back(last))

    def take(self, entity: str, start: int, end: int, *, claim: bool) -> None:
        """Note what an entity was read from, and keep it from others when it is claimed."""
        said = self.text.clean[start:end]
        end = start + len(said.rstrip(" "))
        start = min(end, start + len(said) - len(said.lstrip(" ")))
        self.spans.setdefault(entity, (start, end))
        if claim:
            self.claims.append(Claim(entity, start, end))

    def is_out_of_range(self, entity: str) -> bool:
        """Whether the question names a value the entity cannot have, and means nothing else."""
        span = self.out_of_range.get(entity)
        return span is not None and entity not in self.values and self.free(*span)

    def free(self, start: int, end: int) -> bool:
        """Whether no entity has claimed any of these characters."""
        return not any(claim.start < end and start < claim.end for claim in self.claims)

    def free_bytes(self, start: int, end: int) -> bool:
        return not self.claims or self.free(*self.characters(start, end))

    def free_hit(self, hit: PhraseHit) -> bool:
        return not self.claims or self.free(*self.text.span(hit.first, hit.last))

    def within(self, hit: PhraseHit, entities: frozenset[str]) -> bool:
        """Whether a hit lies in what one of `entities` claimed."""
        if not entities or not self.claims:
            return False
        start, end = self.text.span(hit.first, hit.last)
        start += hit.prefix
        return any(
            claim.start <= start and end <= claim.end
            for claim in self.claims
            if claim.entity in entities
        )
