"""One question, one template: from the places that could be values to the arguments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from server.core.suggestions import join_words
from server.core.tools import Source
from server.extraction.assignment import NO_CONTEXT, ContextWords, Scored, assign, context_score
from server.extraction.booleans import find_boolean
from server.extraction.candidates import candidates, up_to_today
from server.extraction.domain_types import normalize_value
from server.extraction.example_slots import NO_LESSON, TextLesson
from server.extraction.fields import Keys, find_cell, find_data, find_field, find_fields, named_keys
from server.extraction.free_text import candidate_at, find_text
from server.extraction.lists import find_numbers, find_words
from server.extraction.pattern_values import captured_value
from server.extraction.plan import ParameterPlan, TemplatePlan
from server.extraction.types import HINT, SpanSet, ValueCandidate
from server.extraction.value_kinds import Group
from server.extraction.values import show_value
from server.text.parsed_text import ParsedText

_MOST_NAMED: Final = 4


@dataclass(frozen=True, slots=True)
class Lessons:
    """What a template's examples taught, by parameter."""

    contexts: Mapping[str, ContextWords] = field(default_factory=dict)
    texts: Mapping[str, TextLesson] = field(default_factory=dict)


class SlotFilling:
    """Fills the parameters of one template from one reading.

    `typed` fills everything but free text, for which see `fill_texts`; its two parts leave
    room between them for what others have read. `found` and `problems` hold the outcome by
    parameter, and `sources` where a value came from that was not found here. `sure` are
    parameters whose value nothing else in the question could be, and `refused` places that
    a template's own pattern read as a value that its parameter cannot have.
    """

    def __init__(
        self,
        plan: TemplatePlan,
        reading: ParsedText,
        lessons: Lessons,
        synonyms: Mapping[str, Sequence[str]],
    ) -> None:
        self.plan = plan
        self.reading = reading
        self.found: dict[str, ValueCandidate] = {}
        self.problems: dict[str, str] = {}
        self.sources: dict[str, Source] = {}
        self.sure: frozenset[str] = frozenset()
        self.taken = SpanSet()
        self.refused: list[tuple[int, int]] = []
        self.lessons = lessons
        self._synonyms = synonyms
        self._keys: Keys | None = None
        self._candidates: dict[str, list[ValueCandidate]] = {}

    def typed(self) -> None:
        """Fill everything but free text, the surest evidence first."""
        self.written()
        self.recognized()

    def written(self) -> None:
        """Fill what JSON in the question and the template's own patterns give."""
        self._data()
        for plan in self.plan.parameters:
            if plan.patterns and plan.key not in self.found:
                self._by_pattern(plan)

    def recognized(self) -> None:
        """Fill from what is recognised in the question."""
        self.group("claim")
        self.group("date")
        self._since_until()
        self.group("amount")
        self._number_lists()
        self.fields()
        self.booleans()

    def unfilled(self, group: Group) -> list[ParameterPlan]:
        """The parameters of a group that still have neither value nor problem."""
        return [
            plan
            for plan in self.plan.of(group)
            if plan.key not in self.found and plan.key not in self.problems
        ]

    def _take(self, plan: ParameterPlan, candidate: ValueCandidate) -> None:
        self.found[plan.key] = candidate
        self.taken.add(candidate.start, candidate.end)

    def _free(self, candidate: ValueCandidate) -> bool:
        return self.taken.free(candidate.start, candidate.end)

    def candidates_of(self, plan: ParameterPlan) -> Sequence[ValueCandidate]:
        """Every place that could be a value of the parameter."""
        return self._find(plan, self.reading)

    def _find(self, plan: ParameterPlan, reading: ParsedText) -> Sequence[ValueCandidate]:
        if reading is not self.reading:
            return candidates(plan, self.plan, reading)
        known = self._candidates.get(plan.alike)
        if known is None:
            known = self._candidates[plan.alike] = candidates(plan, self.plan, reading)
        return known

    def placed(self, plan: ParameterPlan, start: int, end: int) -> ValueCandidate | None:
        """What stands there as a value of the parameter, which may carry a problem."""
        return captured_value(plan, self._find, self.reading, start, end)

    # JSON first: everything inside it is none of the question's words.

    def _data(self) -> None:
        for plan in self.unfilled("data"):
            for candidate in find_data(plan, self.reading):
                if self._free(candidate):
                    self.keep(plan, candidate)
                if plan.key in self.found:
                    break

    @property
    def _data_keys(self) -> Keys | None:
        """The keys of the data that the question brings, if it brings any."""
        if self._keys is None:
            for plan in self.plan.of("data"):
                if plan.key in self.found:
                    self._keys = Keys(self.found[plan.key].value, self._synonyms)
                    break
        return self._keys

    # The template's own patterns

    def _by_pattern(self, plan: ParameterPlan) -> None:
        has_data = bool(self.plan.of("data"))
        text = self.reading.outside_json if has_data else self.reading.clean
        for pattern in plan.patterns:
            for start, end in pattern.captures(text):
                candidate = captured_value(plan, self._find, self.reading, start, end)
                if candidate is not None:
                    candidate = self._as_key(plan, candidate)
                if candidate is None or not self._free(candidate):
                    continue
                if not candidate.problem:
                    self.problems.pop(plan.key, None)
                    self._take(plan, candidate)
                    return
                self.problems.setdefault(plan.key, candidate.problem)
                self.refused.append((start, end))

    def _as_key(self, plan: ParameterPlan, candidate: ValueCandidate) -> ValueCandidate | None:
        """The key of the data that was captured; None when it is no key."""
        if plan.role not in ("field", "fields") or self._data_keys is None:
            return candidate
        if plan.role == "fields":
            inside = [
                key
                for key in named_keys(self._data_keys, self.reading, self.taken)
                if candidate.start <= key.start < candidate.end
            ]
            found = find_fields(inside, self.reading)
            return found._replace(kind="template_pattern") if found else None
        known, key = self._data_keys.table.lookup(str(candidate.value))
        return candidate._replace(value=key) if known else None

    # Values that were recognised

    def group(self, group: Group) -> None:
        plans = self.unfilled(group)
        if not plans:
            return
        self.hand_out(plans, {plan.key: self.scored(plan) for plan in plans})

    def hand_out(self, plans: Sequence[ParameterPlan], scored: Mapping[str, Scored]) -> None:
        """Give each of the parameters the value that is its own, or say what is unclear."""
        assignment = assign(plans, scored)
        self.sure |= assignment.sure
        for plan in plans:
            if plan.key in assignment.unclear:
                values = [
                    show_value(one.value) for one in assignment.unclear[plan.key][:_MOST_NAMED]
                ]
                self.problems[plan.key] = f"it could be {join_words(values)}"
            else:
                self.keep(plan, assignment.chosen.get(plan.key))

    def scored(self, plan: ParameterPlan) -> list[tuple[int, ValueCandidate]]:
        context = self.lessons.contexts.get(plan.key, NO_CONTEXT)
        tokens = self.reading.tokens
        scored = [
            (context_score(plan, candidate, tokens, context), candidate)
            for candidate in self._find(plan, self.reading)
            if self._free(candidate)
        ]
        if plan.role != "choice" or plan.required or not scored:
            return scored
        return [
            (points, candidate)
            for points, candidate in scored
            if points >= HINT or not self._part_of_sentence(candidate)
        ]

    def _part_of_sentence(self, candidate: ValueCandidate) -> bool:
        """Whether it is but a word of a free text, like the "low" of "buy low fat milk"."""
        inside = any(text.start <= candidate.start < text.end for text in self._sentences)
        return inside and self.reading.tokens.word(candidate.first - 1) != ","

    @cached_property
    def _sentences(self) -> list[ValueCandidate]:
        """Where free text stands that reads as a whole phrase, as far as can be told yet."""
        plans = self.unfilled("text")
        required = [plan for plan in plans if plan.required]
        found = (
            find_text(plan, lesson, self.reading, self.taken, alone=[plan] == required)
            for plan in plans
            if (lesson := self.lessons.texts.get(plan.key, NO_LESSON)).sentences
        )
        return [text for text in found if text is not None]

    def _since_until(self) -> None:
        plans = self.plan.of("date")
        filled = [plan for plan in plans if plan.key in self.found.keys() - self.sources.keys()]
        if len(plans) != 2 or len(filled) != 1 or not all(plan.required for plan in plans):
            return
        pair = up_to_today(self.found[filled[0].key], self.reading)
        if pair is not None:
            self.found |= zip((plan.key for plan in plans), pair, strict=True)
            self.taken.add(*min((one.start, one.end) for one in pair))

    def _number_lists(self) -> None:
        for plan in self.unfilled("numbers"):
            self.keep(plan, find_numbers(plan, self.reading, self.taken))

    def keep(self, plan: ParameterPlan, candidate: ValueCandidate | None) -> None:
        """Take the candidate as the value of `plan`, or its problem as the reason for none."""
        if candidate is None:
            return
        if candidate.problem:
            self.problems[plan.key] = candidate.problem
        else:
            self.problems.pop(plan.key, None)
            self._take(plan, candidate)

    def fields(self) -> None:
        keys = self._data_keys
        if keys is None:
            return
        claimed = {self.found[p.key].first for p in self.plan.of("claim") if p.key in self.found}
        for plan in self.unfilled("field"):
            named = named_keys(keys, self.reading, self.taken)
            context = self.lessons.contexts.get(plan.key, NO_CONTEXT)
            self.keep(plan, find_field(plan, named, self.reading, context, claimed))
        for plan in self.unfilled("fields"):
            self.keep(plan, find_fields(named_keys(keys, self.reading, self.taken), self.reading))
        for plan in self.unfilled("cell"):
            self.keep(plan, self._cell(keys))

    def _cell(self, keys: Keys) -> ValueCandidate | None:
        fields = [self.found[p.key] for p in self.plan.of("field") if p.key in self.found]
        column = keys.column(fields[0].value) if fields else None
        after = max((c.end for c in fields), default=0)
        choices = [self.found[p.key] for p in self.plan.of("claim") if p.key in self.found]
        after = max([after, *(c.end for c in choices if c.start >= after)])
        return find_cell(column, self.reading, self.taken, after)

    def booleans(self) -> None:
        plans = self.unfilled("boolean")
        for plan in plans:
            alone = len(plans) == 1
            self.keep(plan, find_boolean(plan, self.reading, self.taken, alone=alone))

    def source(self, key: str) -> Source:
        """Where the argument `key` came from."""
        if key in self.sources:
            return self.sources[key]
        candidate = self.found[key]
        text = self.reading.text[candidate.start : candidate.end]
        return Source(candidate.kind, (candidate.start, candidate.end), text)


def fill_texts(filling: SlotFilling) -> None:
    """Fill what reads as text from what no other argument has taken."""
    for plan in filling.unfilled("words"):
        filling.keep(plan, find_words(plan, filling.reading, filling.taken))
    _give_quotes_away(filling, filling.unfilled("text"))
    plans = filling.unfilled("text")
    required = [plan for plan in plans if plan.required]
    for plan in (*required, *(plan for plan in plans if not plan.required)):
        lesson = filling.lessons.texts.get(plan.key, NO_LESSON)
        alone = [plan] == required
        found = find_text(plan, lesson, filling.reading, filling.taken, alone=alone)
        if found is not None:
            filling.keep(plan, _judged(plan, filling, found))


def _give_quotes_away(filling: SlotFilling, plans: Sequence[ParameterPlan]) -> None:
    """Give quoted texts away, by the words around them and in order of mention."""
    reading = filling.reading
    quotes = [
        candidate_at(reading, (span.first, span.last))
        for span in reading.of("quoted")
        if filling.taken.free(span.start, span.end)
    ]
    if not quotes or not plans:
        return
    scored: dict[str, list[tuple[int, ValueCandidate]]] = {}
    for plan in plans:
        context = filling.lessons.contexts.get(plan.key, NO_CONTEXT)
        scored[plan.key] = [
            (context_score(plan, quote, reading.tokens, context), _judged(plan, filling, quote))
            for quote in quotes
        ]
    filling.hand_out(plans, scored)


def _judged(plan: ParameterPlan, filling: SlotFilling, candidate: ValueCandidate) -> ValueCandidate:
    """The candidate as the domain and the parameter's bounds see it."""
    try:
        value: Any = normalize_value(plan, candidate.value, filling.reading)
        plan.checker.check(value)
    except ValueError as refused:
        return candidate._replace(problem=str(refused))
    return candidate._replace(value=value)
