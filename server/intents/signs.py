"""What a question can set off at all, by the signs that it shows."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from server.intents.entities import Entity
    from server.intents.rules import Rule, Trigger

_REMEMBERED: Final = 1024
"""Selections that are kept: questions of one kind set off the same parts of a pack."""


class Signs(NamedTuple):
    """Numbers of patterns, and the names under which phrases are found."""

    patterns: Iterable[int] = ()
    phrases: Iterable[Hashable] = ()


class Shown(NamedTuple):
    """Entities that a question may name and rules that it may set off, in their order.

    `operation` says whether it may ask for another operation than the default.
    """

    entities: "tuple[Entity, ...]"
    rules: "tuple[Rule, ...]"
    operation: bool


class SignIndex:
    """Entities, rules and operations by their signs.

    What a sign can set off is a number with a bit for each of them: first the rules, then
    the entities, then the operations together. `asking` are the triggers of each operation,
    and `patterns` is how many patterns there are.
    """

    def __init__(
        self,
        rules: "Sequence[Rule]",
        entities: "Sequence[Entity]",
        asking: "Mapping[str, Sequence[Trigger]]",
        patterns: int,
    ) -> None:
        self._rules, self._entities = tuple(rules), tuple(entities)
        self._always = 0
        self._by_pattern = [0] * patterns
        self._by_phrase: dict[Hashable, int] = {}
        self._selected = lru_cache(_REMEMBERED)(self._select)
        for place, rule in enumerate(rules):
            self._add(place, rule.trigger.signs)
            for operation in rule.operations:
                for trigger in asking.get(operation, ()):
                    self._add(place, trigger.signs)
            if rule.trigger.empty and not rule.operations:
                self._always |= 1 << place
        for place, entity in enumerate(entities, len(rules)):
            self._add(place, entity.signs)
        for triggers in asking.values():
            for trigger in triggers:
                self._add(len(rules) + len(entities), trigger.signs)

    def shown(self, patterns: Iterable[int], phrases: Iterable[Hashable]) -> Shown:
        """What a question with these signs can set off."""
        bits = self._always
        by_pattern, by_phrase = self._by_pattern, self._by_phrase
        for number in patterns:
            bits |= by_pattern[number]
        for phrase in phrases:
            if phrase in by_phrase:
                bits |= by_phrase[phrase]
        return self._selected(bits)

    def _add(self, place: int, signs: Signs) -> None:
        bit = 1 << place
        for number in signs.patterns:
            self._by_pattern[number] |= bit
        for phrase in signs.phrases:
            self._by_phrase[phrase] = self._by_phrase.get(phrase, 0) | bit

    def _select(self, bits: int) -> Shown:
        rules, entities = self._rules, self._entities
        return Shown(
            tuple(e for place, e in enumerate(entities, len(rules)) if bits >> place & 1),
            tuple(rule for place, rule in enumerate(rules) if bits >> place & 1),
            bool(bits >> (len(rules) + len(entities))),
        )
