"""When an intent is meant: triggers, circumstances, rules."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from server.intents.phrases import PhraseHit
from server.intents.question_state import Fired, QuestionState

KEYWORDS: Final = "keyword"
"""Group of keywords among the phrases; their key is the trigger they belong to."""

NOWHERE: Final[frozenset[str]] = frozenset()
NOTHING: Final[Mapping[Any, Any]] = MappingProxyType({})


class Trigger:
    """Keywords under one `key`, openings under its negative, and patterns by number."""

    __slots__ = ("_opening", "empty", "key", "patterns", "yields_to")

    def __init__(
        self,
        key: int,
        *,
        has_keywords: bool = False,
        patterns: Mapping[int, str] = NOTHING,
        yields_to: frozenset[str] = NOWHERE,
    ) -> None:
        self.key, self._opening = key, -key
        self.patterns = {number: Fired("regex", source) for number, source in patterns.items()}
        self.yields_to = yields_to
        self.empty = not (has_keywords or patterns)

    def fire(self, reading: QuestionState) -> Fired | None:
        """By the longest keyword, else by the first pattern."""
        hits = reading.hits
        if self.key in hits or self._opening in hits:
            best = self._keyword(reading)
            if best is not None:
                return Fired("keyword", best.entry.text, best)
        patterns = self.patterns
        if patterns and not reading.matching.isdisjoint(patterns):
            for number, fired in patterns.items():
                if number in reading.matching:
                    return fired
        return None

    def _keyword(self, reading: QuestionState) -> PhraseHit | None:
        hits = reading.hits.get(self.key, [])
        if self._opening in reading.hits:
            # An opening is one only where a question begins.
            hits = hits + [hit for hit in reading.hits[self._opening] if not hit.first]
        if self.yields_to and reading.claims:
            hits = [hit for hit in hits if not reading.within(hit, self.yields_to)]
        if len(hits) == 1:
            return hits[0]
        return max(hits, key=weight, default=None)


def weight(hit: PhraseHit) -> tuple[int, int, int]:
    """What ranks a keyword: more words, then more letters, then fewer before it."""
    return hit.last - hit.first, hit.size, -hit.prefix


Condition = Callable[[QuestionState], bool]
"""Something that may be true of a question."""


class Conditions:
    """What must be true of a question. Each that is given is asked by itself."""

    def __init__(
        self,
        trigger: Trigger | None = None,
        *,
        any_entity: frozenset[str] = NOWHERE,
        all_entities: frozenset[str] = NOWHERE,
        out_of_range: frozenset[str] = NOWHERE,
        operations: frozenset[str] = NOWHERE,
        fewer_words_than: int | None = None,
        more_words_than: int | None = None,
    ) -> None:
        each: list[Condition] = []
        if trigger is not None:
            each.append(lambda reading: trigger.fire(reading) is not None)
        if any_entity:
            each.append(lambda reading: not any_entity.isdisjoint(reading.values))
        if all_entities:
            each.append(lambda reading: all_entities <= reading.values.keys())
        if out_of_range:
            each.append(lambda reading: any(map(reading.is_out_of_range, out_of_range)))
        if operations:
            each.append(lambda reading: reading.operation in operations)
        if fewer_words_than is not None:
            each.append(lambda reading: reading.text.count < fewer_words_than)
        if more_words_than is not None:
            each.append(lambda reading: reading.text.count > more_words_than)
        self._each = tuple(each)

    def all_hold(self, reading: QuestionState) -> bool:
        return all(holds(reading) for holds in self._each)

    def any_holds(self, reading: QuestionState) -> bool:
        return any(holds(reading) for holds in self._each)


_BY_ITSELF: Final = Fired("default", "")


@dataclass(frozen=True, slots=True)
class Rule:
    """One way in which an intent shows itself; `order` is its place among equals."""

    intent: str
    trigger: Trigger
    operations: frozenset[str] = NOWHERE
    when: Conditions | None = None
    unless: Conditions | None = None
    confidence: float | None = None
    priority: int = 0
    order: int = 0
    explanation: str = ""
    ask: str = ""

    def fire(self, reading: QuestionState) -> Fired | None:
        """What made the rule fire, or None."""
        trigger, when = self.trigger, self.when
        if trigger.empty:
            fired = None if self.operations else _BY_ITSELF
        else:
            fired = trigger.fire(reading)
        if fired is None and reading.operation in self.operations:
            fired = reading.by_operation
        if fired is None or (when is not None and not when.all_hold(reading)):
            return None
        return None if self.unless is not None and self.unless.any_holds(reading) else fired
