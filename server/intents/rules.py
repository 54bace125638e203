"""When an intent is meant: triggers, circumstances, rules."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from server.intents.phrases import Hit
from server.intents.reading import Fired, Reading

KEYWORDS: Final = "keyword"
"""Group of keywords among the phrases; their key is the trigger they belong to."""

NOWHERE: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Trigger:
    """Keywords under one `key`, openings under its negative, and patterns by number."""

    key: int
    has_keywords: bool = False
    patterns: Mapping[int, str] = field(default_factory=dict)
    yields_to: frozenset[str] = NOWHERE

    @property
    def empty(self) -> bool:
        return not (self.has_keywords or self.patterns)

    def fire(self, reading: Reading) -> Fired | None:
        """By the longest keyword, else by the first pattern."""
        if self.key in reading.keywords or -self.key in reading.keywords:
            best = self._keyword(reading)
            if best is not None:
                return best
        if self.patterns and not reading.matching.isdisjoint(self.patterns):
            return next(
                Fired("regex", source)
                for number, source in self.patterns.items()
                if number in reading.matching
            )
        return None

    def _keyword(self, reading: Reading) -> Fired | None:
        best: Hit | None = None
        anywhere = reading.keywords.get(self.key, ())
        opening = reading.keywords.get(-self.key, ())
        for hit in (*anywhere, *(hit for hit in opening if hit.first == 0)):
            if reading.within(hit, self.yields_to):
                continue
            if best is None or weight(hit) > weight(best):
                best = hit
        return None if best is None else Fired("keyword", best.entry.text, weight(best))


def weight(hit: Hit) -> tuple[int, int, int]:
    return hit.last - hit.first, hit.size, -hit.prefix


@dataclass(frozen=True, slots=True)
class Conditions:
    """What must be true of a question. Each that is given is asked by itself."""

    trigger: Trigger | None = None
    any_entity: frozenset[str] = NOWHERE
    all_entities: frozenset[str] = NOWHERE
    out_of_range: frozenset[str] = NOWHERE
    operations: frozenset[str] = NOWHERE
    fewer_words_than: int | None = None
    more_words_than: int | None = None

    def hold(self, reading: Reading) -> list[bool]:
        """One answer for each condition that is given."""
        answers: list[bool] = []
        if self.trigger is not None:
            answers.append(self.trigger.fire(reading) is not None)
        if self.any_entity:
            answers.append(not self.any_entity.isdisjoint(reading.values))
        if self.all_entities:
            answers.append(self.all_entities <= reading.values.keys())
        if self.out_of_range:
            answers.append(any(map(reading.is_out_of_range, self.out_of_range)))
        if self.operations:
            answers.append(reading.operation in self.operations)
        if self.fewer_words_than is not None:
            answers.append(reading.text.clean.count(" ") + 1 < self.fewer_words_than)
        if self.more_words_than is not None:
            answers.append(reading.text.clean.count(" ") + 1 > self.more_words_than)
        return answers


class RuleIndex:
    """Rules by what can make them fire, so that a question tries only those."""

    def __init__(self, rules: Sequence["Rule"]) -> None:
        self.rules = tuple(rules)
        self._by_keyword: dict[int, list[int]] = {}
        self._by_pattern: dict[int, list[int]] = {}
        self._by_operation: dict[str, list[int]] = {}
        self._always: list[int] = []
        for place, rule in enumerate(self.rules):
            trigger = rule.trigger
            for key in (trigger.key, -trigger.key):
                self._by_keyword.setdefault(key, []).append(place)
            for number in trigger.patterns:
                self._by_pattern.setdefault(number, []).append(place)
            for operation in rule.operations:
                self._by_operation.setdefault(operation, []).append(place)
            if trigger.empty and not rule.operations:
                self._always.append(place)

    def candidates(self, reading: Reading) -> Iterator["Rule"]:
        """Rules that may fire, in their order."""
        places = set(self._always)
        for key in self._by_keyword.keys() & reading.keywords.keys():
            places.update(self._by_keyword[key])
        for number in self._by_pattern.keys() & reading.matching:
            places.update(self._by_pattern[number])
        if reading.by_operation is not None and reading.operation is not None:
            places.update(self._by_operation.get(reading.operation, ()))
        return (self.rules[place] for place in sorted(places))


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
    explanation: str | None = None
    ask: str | None = None

    def fire(self, reading: Reading) -> Fired | None:
        """What made the rule fire, or None."""
        fired = self.trigger.fire(reading)
        if fired is None:
            if self.operations and reading.operation in self.operations:
                fired = reading.by_operation
            elif self.trigger.empty and not self.operations:
                fired = _BY_ITSELF
        if fired is None or (self.when is not None and not all(self.when.hold(reading))):
            return None
        return None if self.unless is not None and any(self.unless.hold(reading)) else fired
