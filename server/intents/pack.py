"""A pack, compiled: ready to understand questions, the same for all of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any
from zoneinfo import ZoneInfo

from server.core.turn import Intent
from server.errors import Problem
from server.intents.entities import PackEntity
from server.intents.numbers import NumberRules
from server.intents.patterns import PatternSet
from server.intents.phrases import PhraseIndex
from server.intents.rules import Conditions, Rule, Trigger
from server.text.normalizer import Normalizer


@dataclass(frozen=True, slots=True)
class Route:
    """Where a question goes on once what it refers to is known."""

    to: str
    trigger: Trigger


@dataclass(frozen=True, slots=True)
class IntentKind:
    """One intent. `entities` are those it carries, `flags` all of the pack."""

    name: str
    confidence: Mapping[str, float]
    strict: bool = False
    any_entity: frozenset[str] = frozenset()
    all_entities: frozenset[str] = frozenset()
    entities: tuple[PackEntity, ...] = ()
    operation: bool = False
    flags: Mapping[str, bool] = field(default_factory=dict)
    routes: tuple[Route, ...] = ()
    examples: tuple[str, ...] = ()
    explanation: str = ""
    ask: str = ""

    def lacks(self, values: Mapping[str, Any]) -> str:
        """The entities that the intent requires and are not among `values`; empty when none."""
        if self.any_entity and self.any_entity.isdisjoint(values):
            return " or ".join(sorted(self.any_entity))
        if not self.all_entities:
            return ""
        return " and ".join(sorted(self.all_entities - values.keys()))


@dataclass(frozen=True, slots=True)
class PackOperation:
    name: str
    trigger: Trigger
    unless: Conditions | None
    flags: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PackOperations:
    """`entity` carries the operation in an answer; `flags` are those that each one sets."""

    entity: str
    options: tuple[PackOperation, ...]
    default: str | None = None
    flags: Mapping[str | None, Mapping[str, bool]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Every operation that a question can ask for."""
        default = [] if self.default is None else [self.default]
        return list(dict.fromkeys([*(option.name for option in self.options), *default]))


@dataclass(frozen=True, slots=True)
class Fallback:
    """`confidence` when nothing fires; `error` when detection itself fails."""

    intent: str
    confidence: float
    below: float
    explanation: str
    error_confidence: float
    error_explanation: str


class Shape:
    """An intent as the fields that a pack declares, each some part of it."""

    def __init__(self, parts: Mapping[str, str]) -> None:
        self._parts = {
            name: attrgetter("name" if part == "intent" else part) for name, part in parts.items()
        }

    def of(self, intent: Intent) -> dict[str, Any]:
        return {name: part(intent) for name, part in self._parts.items()}


@dataclass(frozen=True, slots=True)
class Pack:
    """Everything one detector needs; `rules` are in the order in which they are tried."""

    name: str
    description: str
    reader: Normalizer
    phrases: PhraseIndex
    patterns: PatternSet
    numbers: NumberRules
    zone: ZoneInfo
    by_layer: bool
    semantic_threshold: float
    intents: Mapping[str, IntentKind]
    entities: tuple[PackEntity, ...]
    rules: tuple[Rule, ...]
    operations: PackOperations | None
    fallback: Fallback
    flags: tuple[str, ...]
    result: Shape


@dataclass(frozen=True, slots=True)
class LoadedPack:
    """A pack, or None when there are errors among the problems."""

    pack: Pack | None
    problems: tuple[Problem, ...] = ()
