"""One question, one template: from the places that could be values to the arguments."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from server.core.suggestions import join_words
from server.core.tools import Source
from server.extraction.arrangements import Arrangements, Shape, places_of, shape_of, unknowns
from server.extraction.assignment import (
    NO_CONTEXT,
    ContextWords,
    Place,
    Scored,
    assign,
    context_score,
    in_range_order,
)
from server.extraction.candidates import find_boolean, find_candidates, up_to_today
from server.extraction.fields import Keys, find_cell, find_data, find_field, find_fields, named_keys
from server.extraction.free_text import (
    NO_TEXT_CONTEXT,
    TextContext,
    bounded_name,
    find_text,
    says_nothing_new,
    text_at,
)
from server.extraction.library_words import LibraryWords
from server.extraction.lists import find_numbers, find_words
from server.extraction.pattern_values import captured_value, normalize_value
from server.extraction.periods import days_of_period
from server.extraction.plan import ParameterPlan, TemplatePlan
from server.extraction.rows_query import find_query
from server.extraction.small_words import small_words
from server.extraction.text_chains import find_chain
from server.extraction.text_edges import NO_EDGES, TextEdges
from server.extraction.value_kinds import Group
from server.extraction.values import HINT, Candidate, SpanSet, show_value
from server.text.codes import EXACT
from server.text.parsed_text import ParsedText
from server.text.senses import Clause
from server.text.tokens import is_word

_MOST_NAMED: Final = 4
_GIVEN: Final = frozenset({"email", "url", "code", "shaped"})


@dataclass(frozen=True, slots=True)
class ExampleContexts:
    """What surrounds the values in a template's examples, by parameter."""

    words: Mapping[str, ContextWords] = field(default_factory=dict)
    texts: Mapping[str, TextContext] = field(default_factory=dict)
    arrangements: Mapping[Group, Arrangements] = field(default_factory=dict)
    chain: Sequence[str] = ()
    """Texts that are told one after the other, with commas between them."""


@dataclass
class SlotFilling:
    """Fills the parameters of one template from one reading, the surest evidence first.

    Call `fill_from_patterns`, then `fill_recognized`. `sources` tells where a value came from
    that was not found here; `sure` are parameters whose value could be nothing else, `by_order`
    those that have one of several only because of the order of mention; `refused` are places that
    a pattern read as a value that its parameter cannot have.
    """

    plan: TemplatePlan
    reading: ParsedText
    contexts: ExampleContexts = ExampleContexts()
    synonyms: Mapping[str, Sequence[str]] = field(default_factory=dict)
    found: dict[str, Candidate] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)
    sure: frozenset[str] = frozenset()
    by_order: frozenset[str] = frozenset()
    taken: SpanSet = field(default_factory=SpanSet)
    refused: list[tuple[int, int]] = field(default_factory=list)
    asides: tuple[Clause, ...] = ()
    """Clauses that only tell something: no optional parameter takes its value there."""
    edges: TextEdges = NO_EDGES
    """What the words of the question are to its names."""
    is_example: bool = False
    """Whether it is the author's: where the data have values, none of them is a word by chance."""
    own_words: LibraryWords = field(default_factory=LibraryWords)
    """The words of the library, of which none is a slip for a value."""
    _candidates: dict[str, list[Candidate]] = field(default_factory=dict)
    _keys: Keys | None = None

    def fill_from_patterns(self) -> None:
        """Fill what JSON in the question and the template's own patterns give."""
        # JSON first: everything inside it is none of the question's words.
        data = self.plan.groups["data"]
        for plan in data:
            for candidate in find_data(plan, self.reading):
                if self.taken.is_free(candidate.start, candidate.end):
                    self.keep(plan, candidate)
                if plan.key in self.found:
                    break
        text = self.reading.outside_json if data else self.reading.clean
        for plan in self.plan.parameters:
            if plan.patterns and plan.key not in self.found:
                self._fill_by_pattern(plan, text)

    def fill_recognized(self, *, texts: bool = True) -> None:
        """Fill from what is recognised in the question; free `texts` last, if they are wanted."""
        for groups, fill in _STEPS if texts else _STEPS[:-1]:
            done = self.found.keys() | self.problems.keys()
            if any(plan.key not in done for group in groups for plan in self.plan.groups[group]):
                fill(self)

    def unfilled(self, group: Group) -> list[ParameterPlan]:
        done = self.found.keys() | self.problems.keys()
        return [plan for plan in self.plan.groups[group] if plan.key not in done]

    def keep(self, plan: ParameterPlan, candidate: Candidate | None) -> None:
        """Take the candidate as the value of `plan`, or its problem as the reason for none."""
        if candidate is None:
            return
        if candidate.problem:
            self.problems[plan.key] = candidate.problem
            if plan.required:
                self.refused.append((candidate.start, candidate.end))
            return
        self.problems.pop(plan.key, None)
        self.found[plan.key] = candidate
        self.taken.add(candidate.start, candidate.end)

    def candidates_of(
        self, plan: ParameterPlan, reading: ParsedText | None = None
    ) -> Sequence[Candidate]:
        """Every place that could be a value of the parameter, here or in another reading."""
        if reading is not None and reading is not self.reading:
            return find_candidates(plan, self.plan, reading)
        if plan.alike not in self._candidates:
            self._candidates[plan.alike] = find_candidates(plan, self.plan, self.reading)
        return self._candidates[plan.alike]

    def value_at(self, plan: ParameterPlan, start: int, end: int) -> Candidate | None:
        """What stands there as a value of the parameter, which may carry a problem."""
        return captured_value(plan, self.candidates_of, self.reading, start, end)

    def _fill_by_pattern(self, plan: ParameterPlan, text: str) -> None:
        for pattern in plan.patterns:
            for start, end in pattern.captures(text):
                candidate = captured_value(plan, self.candidates_of, self.reading, start, end)
                if candidate is not None and plan.role in ("field", "fields"):
                    candidate = self._as_key(plan, candidate)
                if candidate is not None and plan.role == "text":
                    candidate = self._bounded(plan, candidate)
                if candidate is None or not self.taken.is_free(candidate.start, candidate.end):
                    continue
                if not candidate.problem:
                    self.keep(plan, candidate)
                    return
                self.problems.setdefault(plan.key, candidate.problem)
                self.refused.append((start, end))

    def _bounded(self, plan: ParameterPlan, captured: Candidate) -> Candidate | None:
        """A text that a pattern captured, up to its known edges; None where it names nothing."""
        if self.edges is NO_EDGES or captured.problem:
            return captured
        context = self.contexts.texts.get(plan.key, NO_TEXT_CONTEXT)
        place = bounded_name(context, self.reading, (captured.first, captured.last), self.edges)
        if place is None:
            return None
        announced = self.reading.tokens.word(place[0] - 1) == ":"
        bounded = announced or (plan.required and context.plain)
        if not bounded or place == (captured.first, captured.last):
            nothing = plan.required and not context.sentences and bool(context.known)
            place = captured.first, captured.last
            doubtful = nothing and says_nothing_new(context, self.reading, place, self.edges)
            return captured._replace(doubtful=doubtful)
        tokens = self.reading.tokens
        start, end = tokens.starts[place[0]], tokens.ends[place[1] - 1]
        found = captured_value(plan, self.candidates_of, self.reading, start, end)
        return found and found._replace(doubtful=place[0] > captured.first and not announced)

    def assign_group(self, group: Group) -> None:
        """Give each parameter of the group the value that is its own."""
        plans = self.unfilled(group)
        if not plans:
            return
        scored = {plan.key: self.scored(plan) for plan in plans}
        arranged = self._arranged(group, scored)
        self.assign(plans, scored, *arranged)
        known = self.contexts.arrangements.get(group)
        if group == "amount" and unknowns(self.reading.tokens) - (known.asked if known else set()):
            self.by_order |= {plan.key for plan in self.plan.groups[group]} & self.found.keys()

    def places(self, group: Group, scored: Mapping[str, Scored]) -> list[Place]:
        """Where values of the group stand, given away or not."""
        given = [self.found[p.key] for p in self.plan.groups[group] if p.key in self.found]
        return places_of([*given, *(one for pairs in scored.values() for _, one in pairs)])

    def shape(self, group: Group, places: Sequence[Place], known: Set[str] | None) -> Shape:
        """The words around those values, without what other arguments took."""
        own = {plan.key for plan in self.plan.groups[group]}
        others = [(one.first, one.last) for key, one in self.found.items() if key not in own]
        return shape_of(self.reading, places, others, known)

    def _arranged(
        self, group: Group, scored: Mapping[str, Scored]
    ) -> tuple[dict[str, Place], list[Place]]:
        """Which values are whose by the examples' arrangement, and those that two fit."""
        known = self.contexts.arrangements.get(group)
        places = self.places(group, scored) if known else []
        if not known or len(places) < 2:
            return {}, []
        if group == "amount" and known.lacks_stretch(self.reading.tokens, places):
            return {}, places
        fitting = known.fit(self.shape(group, places, known.words))
        if fitting.unclear:
            return {}, places
        given = {key: one for key, one in self.found.items() if key in fitting.roles}
        arranged = {key: place for key, place in zip(fitting.roles, places, strict=False) if key}
        for key, one in given.items():
            first, last = arranged.pop(key)
            if last <= one.first or one.last <= first:
                return {}, []
        return arranged, []

    def assign(
        self,
        plans: Sequence[ParameterPlan],
        scored: Mapping[str, Scored],
        arranged: Mapping[str, Place] | None = None,
        contested: Sequence[Place] = (),
    ) -> None:
        """Give each of the parameters the value that is its own, or say what is unclear."""
        assignment = assign(plans, scored, arranged, contested)
        chosen = in_range_order(plans, assignment.chosen, self.reading.tokens)
        self.sure |= assignment.sure
        self.by_order |= {
            key for key in assignment.by_order if key not in self.plan.interchangeable
        }
        for plan in plans:
            if unclear := assignment.unclear.get(plan.key):
                values = [show_value(one.value) for one in unclear[:_MOST_NAMED]]
                self.problems[plan.key] = f"it could be {join_words(values)}"
            else:
                self.keep(plan, chosen.get(plan.key))

    def scored(self, plan: ParameterPlan) -> list[tuple[int, Candidate]]:
        """The free candidates of the parameter, each with what the words around it say."""
        scored = [
            (self._context_score(plan, candidate), candidate)
            for candidate in self.candidates_of(plan)
            if self.taken.is_free(candidate.start, candidate.end)
            and not (candidate.slip and self._is_own_word(candidate))
            and not (self.asides and not plan.required and self._is_aside(plan, candidate))
        ]
        if plan.role != "choice" or plan.required or not scored:
            return scored
        return [pair for pair in scored if pair[0] >= HINT or not self._is_part_of_text(pair[1])]

    def _context_score(self, plan: ParameterPlan, candidate: Candidate) -> int:
        context = self.contexts.words.get(plan.key, NO_CONTEXT)
        return context_score(plan, candidate, self.reading.tokens, context)

    def _is_own_word(self, candidate: Candidate) -> bool:
        """Whether what reads as a slip is spelt as it is meant; the author's words are."""
        word = self.reading.tokens.words[candidate.first]
        return self.is_example or self.own_words.is_about(word, self.reading.languages or ("en",))

    def _is_aside(self, plan: ParameterPlan, candidate: Candidate) -> bool:
        """Whether it stands in a clause that gives no other value, as £50 gives two.

        What nobody mentions but to give it, an address or a code, is a value wherever it stands,
        and so is what a clause says of a thing and nothing else: it's a van.
        """
        if plan.role in _GIVEN or (plan.role == "choice" and self._is_all_said(plan, candidate)):
            return False
        return any(
            one.first <= candidate.first < one.last
            and not any(one.first <= taken.first < one.last for taken in self.found.values())
            for one in self.asides
        )

    def _is_all_said(self, plan: ParameterPlan, candidate: Candidate) -> bool:
        """Whether all other words of its clause are small ones, or name what it is a value of.

        They may stand apart: I'll pick it up at the depot, for `pickup_site`.
        """
        words, small = self.reading.tokens.words, small_words(self.reading.languages).functions
        for one in self.asides:
            if not one.first <= candidate.first < one.last:
                continue
            places = [at for at in range(one.first, one.last) if is_word(words[at])]
            rest = [at for at in places if not candidate.first <= at < candidate.last]
            telling = [words[at] for at in rest if words[at] not in small]
            spoken = "".join(words[at] for at in rest)
            if not telling or _names(plan, telling, spoken):
                return True
        return False

    def _is_part_of_text(self, candidate: Candidate) -> bool:
        """Whether it is but a word of a free text, like the "low" of "buy low fat milk"."""
        inside = any(text.start <= candidate.start < text.end for text in self._sentences)
        return inside and self.reading.tokens.word(candidate.first - 1) != ","

    def _find_text(
        self, plan: ParameterPlan, required: Sequence[ParameterPlan]
    ) -> Candidate | None:
        context = self.contexts.texts.get(plan.key, NO_TEXT_CONTEXT)
        found = find_text(
            plan,
            context,
            self.reading,
            self.taken,
            alone=[plan] == required,
            only=len(self.plan.groups["text"]) == 1,
            edges=self.edges,
        )
        if found is None or any(form.fit(str(found.value)) == EXACT for form in plan.other_forms):
            return None  # a code is the number of something else
        return self._without_name(plan, found, context)

    def _without_name(
        self, plan: ParameterPlan, found: Candidate, context: TextContext
    ) -> Candidate:
        """A name without what it is called before it: the customer Garcia is Garcia."""
        tokens, first = self.reading.tokens, found.first
        while first + 1 < found.last and tokens.words[first] in plan.name.called:
            first += 1
        shown = any(words[0] in plan.name.called for words in context.known)
        if first == found.first or shown or context.sentences or found.value is None:
            return found
        text = text_at(self.reading, (first, found.last), found.kind)
        return text._replace(doubtful=found.doubtful)

    @cached_property
    def _sentences(self) -> list[Candidate]:
        plans = self.unfilled("text")
        required = [plan for plan in plans if plan.required]
        contexts = self.contexts.texts
        spoken = [p for p in plans if contexts.get(p.key, NO_TEXT_CONTEXT).sentences]
        return [text for plan in spoken if (text := self._find_text(plan, required))]

    def fill_claims(self) -> None:
        """Fill what says by itself what it is; one word may say by what to sort, and which way."""
        self.assign_group("claim")
        ordering = [one for one in self.plan.groups["claim"] if one.orders]
        for plan in ordering if len(ordering) > 1 else ():
            if plan.key in self.found or plan.key in self.problems:
                continue
            said = [self.found[one.key] for one in ordering if one.key in self.found]
            meant = [
                c
                for c in self.candidates_of(plan)
                if not c.rank
                and (self.taken.is_free(c.start, c.end) or any(c.overlaps(one) for one in said))
            ]
            if len({c.value for c in meant}) == 1:
                self.found[plan.key] = meant[0]
        for plan in ordering:
            if (taken := self.found.get(plan.key)) is not None:
                self.taken.add(taken.start, taken.end)

    def fill_known_texts(self) -> None:
        """Fill texts whose values the data have, with those that the question names."""
        plans = [one for one in self.unfilled("text") if one.choices]
        if plans:
            self.assign(plans, {plan.key: self.scored(plan) for plan in plans})

    def fill_dates(self) -> None:
        """Fill dates, stretches of days, and a pair of which one is today: until Christmas."""
        self.fill_period()
        self.assign_group("date")
        plans = self.plan.groups["date"]
        filled = [plan for plan in plans if plan.key in self.found.keys() - self.sources.keys()]
        if len(plans) != 2 or len(filled) != 1 or not all(plan.required for plan in plans):
            return
        pair = up_to_today(self.found[filled[0].key], self.reading)
        if pair is not None:
            self.found |= zip((plan.key for plan in plans), pair, strict=True)
            self.taken.add(*min((one.start, one.end) for one in pair))

    def fill_period(self) -> None:
        """Fill the days between which data are asked for, where a stretch of days is said."""
        ends = [one.key for one in self.plan.period if one is not None]
        if any(key in self.found or key in self.problems for key in ends):
            return
        found = days_of_period(self.plan, self.reading, self.taken) or {}
        self.found |= found
        self.sure |= found.keys()
        for start, end in {(one.start, one.end) for one in found.values()}:
            self.taken.add(start, end)

    def fill_number_lists(self) -> None:
        for plan in self.unfilled("numbers"):
            self.keep(plan, find_numbers(plan, self.reading, self.taken))

    def fill_booleans(self) -> None:
        plans = self.unfilled("boolean")
        alone = len(plans) == 1
        for plan in plans:
            self.keep(plan, find_boolean(plan, self.reading, self.taken, alone=alone))

    def _data_keys(self) -> Keys | None:
        if self._keys is None:
            data = [self.found[p.key] for p in self.plan.groups["data"] if p.key in self.found]
            self._keys = Keys(data[0].value, self.synonyms) if data else None
        return self._keys

    def _as_key(self, plan: ParameterPlan, candidate: Candidate) -> Candidate | None:
        keys = self._data_keys()
        if keys is None:
            return candidate
        if plan.role == "fields":
            named = named_keys(keys, self.reading, self.taken)
            inside = [key for key in named if candidate.start <= key.start < candidate.end]
            found = find_fields(inside, self.reading)
            return found._replace(kind="template_pattern") if found else None
        known, key = keys.table.lookup(str(candidate.value))
        return candidate._replace(value=key) if known else None

    def fill_query(self) -> None:
        """Fill what is asked about the data, of which every word is accounted for."""
        data = [self.found[p.key] for p in self.plan.groups["data"] if p.key in self.found]
        found = find_query(data[0], self.reading, self.synonyms) if data else None
        if found is None:
            return
        for plan in self.unfilled("query"):
            self.found[plan.key] = found.candidate
            for place in found.places:
                self.taken.add(*place)
            if found.note:
                self.sources[plan.key] = found.source

    def fill_fields(self) -> None:
        """Fill what names keys of the data, and what they are compared with."""
        keys = self._data_keys()
        if keys is None:
            return
        choices = [self.found[p.key] for p in self.plan.groups["claim"] if p.key in self.found]
        claimed = {choice.first for choice in choices}
        for plan in self.unfilled("field"):
            named = named_keys(keys, self.reading, self.taken)
            context = self.contexts.words.get(plan.key, NO_CONTEXT)
            self.keep(plan, find_field(plan, named, self.reading, context, claimed))
        for plan in self.unfilled("fields"):
            self.keep(plan, find_fields(named_keys(keys, self.reading, self.taken), self.reading))
        fields = [self.found[p.key] for p in self.plan.groups["field"] if p.key in self.found]
        for plan in self.unfilled("cell"):
            column = keys.column(fields[0].value) if fields else None
            after = max((one.end for one in fields), default=0)
            after = max([after, *(c.end for c in choices if c.start >= after)])
            self.keep(plan, find_cell(column, self.reading, self.taken, after))

    def fill_texts(self) -> None:
        """Fill what reads as text from what no other argument has taken."""
        for plan in self.unfilled("words"):
            self.keep(plan, find_words(plan, self.reading, self.taken))
        if plans := self.unfilled("text"):
            self._assign_quotes(plans)
        self._fill_chain()
        plans = [
            plan
            for plan in self.unfilled("text")
            if plan.required or not (self.is_example and plan.choices)
        ]
        required = [plan for plan in plans if plan.required]
        # Of a text whose values are known, those are read already: what is left is more likely of
        # one that may be any name.
        for plan in sorted(plans, key=lambda plan: (not plan.required, bool(plan.choices))):
            text = self._find_text(plan, required)
            if text and not (plan.choices and not plan.required and self._is_all_own(text)):
                self.keep(plan, self._validated(plan, text))
        left = [plan for plan in required if plan.key not in self.found]
        if len(left) == 1 < len(required):  # the name that is left over is that of the last one
            context = self.contexts.texts.get(left[0].key, NO_TEXT_CONTEXT)
            text = self._find_text(left[0], left) if context.names else None
            if text is not None:
                self.keep(left[0], self._validated(left[0], text))

    def _is_all_own(self, text: Candidate) -> bool:
        """Whether a text says but what the library is about: a replacement cost names no actor."""
        tokens, codes = self.reading.tokens, self.reading.languages or ("en",)
        return not any(
            self.reading.clean[tokens.starts[at]].isupper()
            or not self.own_words.is_about(tokens.words[at], codes)
            for at in range(text.first, text.last)
            if is_word(tokens.words[at])
            and tokens.words[at] not in small_words(self.reading.languages).functions
        )

    def _fill_chain(self) -> None:
        """Fill texts that stand as the examples have them, all with commas between them."""
        chain = self.contexts.chain
        plans = {plan.key: plan for plan in self.unfilled("text")}
        if not chain or not plans.keys() >= set(chain):
            return
        for key, place in zip(
            chain, find_chain(len(chain), self.reading, self.taken), strict=False
        ):
            self.keep(plans[key], self._validated(plans[key], text_at(self.reading, place)))

    def _assign_quotes(self, plans: Sequence[ParameterPlan]) -> None:
        quotes = [
            text_at(self.reading, (span.first, span.last))
            for span in self.reading.of("quoted")
            if self.taken.is_free(span.start, span.end)
        ]
        scored = {
            plan.key: [(self._context_score(plan, q), self._validated(plan, q)) for q in quotes]
            for plan in plans
        }
        if quotes:
            self.assign(plans, scored)

    def _validated(self, plan: ParameterPlan, candidate: Candidate) -> Candidate:
        try:
            value = normalize_value(plan, candidate.value, self.reading)
            if plan.choices and isinstance(value, str):
                known, as_written = plan.choices.lookup(value)
                value = as_written if known else value
            plan.checker.check(value)
        except ValueError as refused:
            return candidate._replace(problem=str(refused))
        return candidate._replace(value=value)


_STEPS: Final[Sequence[tuple[Set[Group], Callable[[SlotFilling], None]]]] = (
    ({"query"}, SlotFilling.fill_query),
    ({"claim"}, SlotFilling.fill_claims),
    ({"code"}, lambda slots: slots.assign_group("code")),
    ({"text"}, SlotFilling.fill_known_texts),
    ({"date"}, SlotFilling.fill_dates),
    ({"amount"}, lambda slots: slots.assign_group("amount")),
    ({"numbers"}, SlotFilling.fill_number_lists),
    ({"field", "fields", "cell"}, SlotFilling.fill_fields),
    ({"boolean"}, SlotFilling.fill_booleans),
    ({"words", "text"}, SlotFilling.fill_texts),
)


def _names(plan: ParameterPlan, telling: Sequence[str], others: str) -> bool:
    """Whether the words that tell something are those of a parameter's name."""
    name = "".join(plan.name.words)
    return bool(others) and all(word in name for word in telling)
