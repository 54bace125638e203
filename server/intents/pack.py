"""A compiled pack: triggers, rules, intents and operations, the same for all questions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from zoneinfo import ZoneInfo

from server.errors import Problem
from server.intents.clauses import ClauseReader
from server.intents.entities import EntityExtractor
from server.intents.numbers import NumberRules
from server.intents.patterns import PatternSet
from server.intents.phrases import PhraseHit, PhraseIndex
from server.intents.question_state import Fired, QuestionState
from server.intents.spec import ConditionSpec, IntentSpec, OperationSpec, PackSpec, RuleSpec
from server.intents.spelling import Spelling
from server.intents.vocabulary import Vocabulary
from server.text.normalizer import Normalizer

_ALWAYS: Final = Fired("default", "")


@dataclass(frozen=True, slots=True)
class Trigger:
    """Keywords under one `key`, openings under its negative, and patterns by number."""

    key: int
    has_keywords: bool
    patterns: Mapping[int, Fired]
    yields_to: frozenset[str] = frozenset()

    @property
    def empty(self) -> bool:
        return not (self.has_keywords or self.patterns)

    def fire(self, question: QuestionState) -> Fired | None:
        """Fire by the longest keyword, else by the first pattern."""
        hits = self._keywords(question)
        if hits:
            best = max(hits, key=lambda hit: hit.weight)
            return Fired("keyword", best.entry.text, best)
        return next((f for number, f in self.patterns.items() if number in question.matching), None)

    def _keywords(self, question: QuestionState) -> list[PhraseHit]:
        openings = [hit for hit in question.hits.get(-self.key, ()) if not hit.first]
        hits = [*question.hits.get(self.key, ()), *openings]
        return [hit for hit in hits if not question.is_claimed_by(hit, self.yields_to)]


@dataclass(frozen=True, slots=True)
class Conditions:
    """What must be true of a question, each condition by itself."""

    spec: ConditionSpec
    trigger: Trigger

    def all_hold(self, question: QuestionState) -> bool:
        return all(self._results(question))

    def any_holds(self, question: QuestionState) -> bool:
        return any(self._results(question))

    def _results(self, question: QuestionState) -> Iterator[bool]:
        spec, values, words = self.spec, question.values, question.text.count
        if not self.trigger.empty:
            yield self.trigger.fire(question) is not None
        if spec.any_entity:
            yield any(name in values for name in spec.any_entity)
        if spec.all_entities:
            yield all(name in values for name in spec.all_entities)
        if spec.out_of_range:
            yield any(map(question.is_out_of_range, spec.out_of_range))
        if spec.ambiguous:
            yield any(map(question.is_ambiguous, spec.ambiguous))
        if spec.other_object is not None:
            yield (question.other_object is not None) is spec.other_object
        if spec.operations:
            yield question.operation in spec.operations
        if spec.fewer_words_than is not None:
            yield words < spec.fewer_words_than
        if spec.more_words_than is not None:
            yield words > spec.more_words_than


@dataclass(frozen=True, slots=True)
class Route:
    """Where a question goes on once what it refers to is known."""

    to: str
    trigger: Trigger


@dataclass(frozen=True, slots=True)
class PackIntent:
    """One intent. `entities` are those it carries, `flags` all of the pack."""

    spec: IntentSpec
    confidence: Mapping[str, float]
    entities: tuple[EntityExtractor, ...]
    flags: Mapping[str, bool]
    routes: tuple[Route, ...]

    @property
    def name(self) -> str:
        return self.spec.name

    def missing_entities(self, values: Mapping[str, Any]) -> str:
        """Return the entities that the intent requires and `values` lack; empty when none."""
        requires = self.spec.requires
        if requires.any_entity and not any(name in values for name in requires.any_entity):
            return " or ".join(sorted(set(requires.any_entity)))
        return " and ".join(sorted(set(requires.all_entities) - values.keys()))


@dataclass(frozen=True, slots=True)
class Rule:
    """One way in which an intent shows itself; `order` is its place among equals."""

    intent: PackIntent
    spec: RuleSpec
    trigger: Trigger
    when: Conditions
    unless: Conditions
    priority: int
    order: int
    explanation: str
    ask: str

    def fire(self, question: QuestionState) -> Fired | None:
        """Return what made the rule fire, or None."""
        fired, operations = self.trigger.fire(question), self.spec.operations
        if fired is None and question.operation in operations:
            fired = question.operation_fired
        elif fired is None and not operations and self.trigger.empty:
            fired = _ALWAYS
        if fired is None or not self.when.all_hold(question) or self.unless.any_holds(question):
            return None
        return fired


@dataclass(frozen=True, slots=True)
class PackOperation:
    spec: OperationSpec
    trigger: Trigger
    unless: Conditions


@dataclass(frozen=True, slots=True)
class PackOperations:
    """`entity` carries the operation in an answer; `flags` are those that each one sets."""

    entity: str
    options: tuple[PackOperation, ...]
    default: str | None
    flags: Mapping[str | None, Mapping[str, bool]]

    @property
    def names(self) -> list[str]:
        """Every operation that a question can ask for."""
        default = [] if self.default is None else [self.default]
        return list(dict.fromkeys([*(option.spec.name for option in self.options), *default]))


@dataclass(frozen=True, slots=True)
class Pack:
    """Everything that one detector needs; `rules` are in the order in which they are tried."""

    spec: PackSpec
    normalizer: Normalizer
    phrases: PhraseIndex
    patterns: PatternSet
    numbers: NumberRules
    zone: ZoneInfo
    intents: Mapping[str, PackIntent]
    entities: tuple[EntityExtractor, ...]
    rules: tuple[Rule, ...]
    operations: PackOperations | None
    spelling: Spelling
    clauses: ClauseReader
    vocabulary: Vocabulary


@dataclass(frozen=True, slots=True)
class LoadedPack:
    """A pack, or None when there are errors among the problems."""

    pack: Pack | None
    problems: tuple[Problem, ...] = ()
