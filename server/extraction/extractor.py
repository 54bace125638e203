"""From a question to the arguments of a template."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any, Final, NamedTuple

from server.core.coverage import Coverage
from server.core.data_values import ValueVocabulary
from server.core.decision import ArgumentCoverage, MissingParameter
from server.core.tools import Source
from server.core.turn import Intent
from server.extraction.asides import asides, request_clauses
from server.extraction.coverage import cover
from server.extraction.entities import fill_entities
from server.extraction.example_learning import ANY_DAY, example_edges, learn_examples
from server.extraction.frame import Frame, ReadExample, build_frame
from server.extraction.free_text import NO_TEXT_CONTEXT
from server.extraction.library_words import LibraryWords
from server.extraction.parameter_hints import TemplateHints, describe_parameters, has_schema_only
from server.extraction.plan import DataWords, ParameterPlan, Planner, TemplatePlan
from server.extraction.rows_query import asks_of_rows
from server.extraction.schema_only import fill_from_schema
from server.extraction.shown_names import ShownNames
from server.extraction.slot_filling import ExampleContexts, SlotFilling
from server.extraction.stand_ins import StandIns
from server.extraction.text_edges import text_edges
from server.extraction.value_kinds import SELF_EXPLAINING
from server.extraction.values import Extraction, PlacedValue
from server.library.model import Domain, Template
from server.text.parsed_text import ParsedText
from server.text.senses import MessageSenses, languages_of, read_senses, sense_reader
from server.text.tokens import is_digits

_OPERATORS: Final = {"^": ("^",), "**": ("*", "*")}

_SENSES: Final = ("senses", "")
_SHORTEST_TELLING: Final = 2
_ENOUGH_TO_TELL: Final = 1000
"""Templates by whose examples the languages of a large library are told."""
_MOST_WORDS: Final = 20_000
_MOST_COMPILED: Final = 4_000
"""Templates of a large library that stay compiled: some 120 megabytes."""


class _Prepared(NamedTuple):
    plan: TemplatePlan
    contexts: ExampleContexts
    schema: TemplateHints | None
    frame: Frame


class Extractor:
    """Finds arguments for the templates of one domain. Deterministic, and safe in threads.

    A template is compiled when it is first used, or by `prepare`.
    """

    def __init__(self, domain: Domain) -> None:
        """Compile the domain's patterns, or raise `ConfigurationInvalid`."""
        self._domain = domain
        self._planner = Planner(domain)
        self._plans: dict[str, tuple[Template, _Prepared]] = {}
        self._values: ValueVocabulary = {}
        self._words = LibraryWords()
        self._stand_ins = StandIns()
        self._names = ShownNames()
        named = (domain.response.default_language,)
        self._languages: tuple[str, ...] = languages_of((), named)
        self._large: Mapping[str, Template] | None = None
        """Templates that are too many to be compiled before they are used."""
        self._has_examples = self._asks_rows = False

    def prepare(self, templates: Sequence[Template]) -> None:
        """Compile `templates` now, so that no question has to wait for it.

        Those that `prepare_large` took are not compiled before they are used.
        """
        if self._large is not None:
            return
        named = (self._domain.response.default_language,)
        self._languages = languages_of((e for t in templates for e in t.nl_examples), named)
        self._planner.learn_codes(templates)
        self._names = ShownNames(templates)
        for template in templates:
            self._plan(template)
        for code in self._languages:
            self._words.spelling(sense_reader(code))

    def prepare_large(self, templates: Mapping[str, Template], words: Sequence[str]) -> None:
        """Make ready for templates that are too many to be compiled before any is used.

        `words` are those of their examples, the commonest first. Of the templates, those that
        questions were about lately stay compiled.
        """
        every = tuple(templates.values())
        step = -(-len(every) // _ENOUGH_TO_TELL)
        named = (self._domain.response.default_language,)
        self._languages = languages_of((e for t in every[::step] for e in t.nl_examples), named)
        self._planner.learn_codes(every)
        self._names = ShownNames(every)
        self._words.add_words(islice(words, _MOST_WORDS), self._languages)
        for code in self._languages:
            self._words.spelling(sense_reader(code))
        self._large = templates
        self._has_examples = any(template.nl_examples for template in every)
        self._asks_rows = any(
            p.descriptor.kind == "rows_query" for t in every for p in t.parameters
        )

    def learn_values(self, values: ValueVocabulary) -> None:
        """Take the values that the data have as words for parameters, in place of earlier ones.

        Templates are compiled anew before any of them is used, so that this may run in a thread
        while questions are read.
        """
        if self._large is not None:
            every = tuple(self._large.values())
            self._stand_ins = self._stand_ins_of(values, every, self._words)
            self._values, self._plans = values, {}
            return
        templates = [template for template, _ in self._plans.values()]
        plans: dict[str, tuple[Template, _Prepared]] = {}
        words = LibraryWords()
        for template in templates:
            mine = values.get(template.id, {})
            prepared = self._plans[template.id][1]
            if mine != self._values.get(template.id, {}):
                prepared = self._prepared(template, mine)
            plans[template.id] = template, prepared
            words.add(prepared.frame, _words_of_values(prepared.plan))
        for code in self._languages:
            words.spelling(sense_reader(code))
        stand_ins = self._stand_ins_of(values, templates, words)
        self._plans, self._words, self._values = plans, words, values
        self._stand_ins = stand_ins

    def _stand_ins_of(
        self, values: ValueVocabulary, templates: Sequence[Template], words: LibraryWords
    ) -> StandIns:
        code = (*self._languages, "en")[0]
        return StandIns(values, templates, words, worded=self._planner.data_words, code=code)

    def extract(
        self,
        text: str,
        template: Template,
        *,
        now: datetime,
        intent: Intent | None = None,
        only: Collection[str] | None = None,
    ) -> Extraction:
        """Return what `text` gives for the parameters of `template`, or for `only` some of them.

        Entities of `intent` fill the parameters of their names. `now` is what "tomorrow"
        counts from; its zone decides which day it is. Never raises for any `text`.
        """
        return self.extract_from(self.read(text, now), template, intent=intent, only=only)

    def read(self, text: str, now: datetime) -> ParsedText:
        """Read a question, for `extract_from`. What comes back belongs to one thread."""
        return ParsedText(text, now, self._domain.date_order, self._languages)

    def extract_from(
        self,
        reading: ParsedText,
        template: Template,
        *,
        intent: Intent | None = None,
        only: Collection[str] | None = None,
    ) -> Extraction:
        """As `extract`, for a question that has been read."""
        prepared = self._plan(template)
        plan = prepared.plan if only is None else _restricted(prepared.plan, only)
        aside = asides(self.senses(reading), prepared.frame, self._words)
        slots = self._slots(plan, reading, prepared.contexts)
        slots.asides = aside
        if plan.groups["text"] and prepared.schema is None:
            slots.edges = text_edges(
                reading, self.senses(reading), prepared.frame, self._words.stems, aside
            )
        slots.fill_from_patterns()
        if intent is not None:
            fill_entities(slots, intent)
            # What the rules read, and did not find, is nowhere: a limit is no decision's number.
            unnamed = intent.reads - intent.entities.keys()
            slots.plan = _restricted(plan, {one.key for one in plan.parameters} - unnamed)
        if prepared.schema is None:
            slots.fill_recognized()
        else:
            fill_from_schema(slots, prepared.schema)
        slots.plan = plan
        return _outcome(slots, agrees=template.agrees(intent))

    def senses(self, reading: ParsedText) -> MessageSenses:
        """What the words of a question do, in its language; read once for all templates."""
        found: MessageSenses | None = reading.memo.get(_SENSES)
        if found is None:
            found = reading.memo[_SENSES] = read_senses(reading.tokens, self._languages)
        return found

    def request_text(self, reading: ParsedText) -> str:
        """The question as it is compared: without clauses that only tell something beside it.

        Values of the data stand in it as examples have them.
        """
        return self._stand_ins(self._request(reading))

    def _request(self, reading: ParsedText) -> str:
        senses = self.senses(reading)
        if not self._has_examples:
            return reading.text  # descriptions alone do not tell a remark from the request
        if self._asks_rows and asks_of_rows(reading):
            return reading.text  # its clauses are parts of one question: red cars, newest first
        asking = request_clauses(senses, self._words)
        if len(asking) == len(senses.clauses):
            return reading.text
        tokens = reading.tokens
        return ", ".join(tokens.slice(clause.first, clause.last) for clause in asking)

    def listed_values(
        self, reading: ParsedText, template: Template
    ) -> dict[str, list[tuple[int, int]]]:
        """The words that are values of parameters whose values are listed, by parameter."""
        return {
            one.key: [(found.first, found.last) for found in one.choices.find(reading.tokens)]
            for one in self._plan(template).plan.parameters
            if one.choices and one.parameter.descriptor.json_type == "string"
        }

    def telling_words(self) -> dict[str, tuple[str, ...]]:
        """The words that say what each template prepared is about, by its id."""
        return {name: _telling(prepared.frame) for name, (_, prepared) in self._plans.items()}

    def telling_words_of(self, template_id: str) -> tuple[str, ...]:
        """The same words of one template among those that `prepare_large` took."""
        if self._large is None:
            return ()
        return _telling(self.frame(self._large[template_id]))

    def frame(self, template: Template) -> Frame:
        """What a template's own examples teach about the words it knows."""
        return self._plan(template).frame

    def is_asked_by_value(self, template: Template) -> bool:
        """Whether a value of the template says by itself what is asked, as a sum does."""
        return any(role in SELF_EXPLAINING for role in self._planner.roles(template))

    def cover(self, reading: ParsedText, template: Template, found: Extraction) -> Coverage:
        """Account for every word of a question, as a template takes it with these arguments."""
        prepared, senses = self._plan(template), self.senses(reading)
        covered = cover(reading, senses, prepared.plan, prepared.frame, self._words, found)
        return covered.allow_values() if template.unused_values == "allow" else covered

    def _slots(
        self, plan: TemplatePlan, reading: ParsedText, contexts: ExampleContexts
    ) -> SlotFilling:
        return SlotFilling(plan, reading, contexts, self._domain.synonyms, own_words=self._words)

    def read_at(
        self, text: str, place: tuple[int, int], template: Template, name: str, *, now: datetime
    ) -> PlacedValue | None:
        """What stands at `place` as a value of one parameter; None when it is none at all."""
        plan, contexts = self._plan(template)[:2]
        (one,) = (p for p in plan.parameters if p.key == name)
        reading = self.read(text, now)
        if reading.too_long:
            return None
        slots = self._slots(plan, reading, contexts)
        found = slots.value_at(one, *place)
        if found is None:
            return None
        context = contexts.texts.get(name, NO_TEXT_CONTEXT)
        is_sentence = context.sentences or "saying" in one.name.topics
        is_name = context.capitalised and not context.sentences
        span = found.start, found.end
        is_text = one.role == "text"
        return PlacedValue(found.value, found.problem, span, is_text, is_sentence, is_name)

    def _plan(self, template: Template) -> _Prepared:
        known = self._plans.get(template.id)
        if known is None or known[0] is not template:
            prepared = self._prepared(template, self._values.get(template.id, {}))
            if self._large is None:
                self._words.add(prepared.frame, _words_of_values(prepared.plan))
                self._has_examples |= bool(prepared.frame.examples)
                self._asks_rows |= bool(prepared.plan.groups["query"])
            elif len(self._plans) >= _MOST_COMPILED:
                self._plans = dict(islice(self._plans.items(), _MOST_COMPILED // 2, None))
            known = self._plans[template.id] = template, prepared
        return known[1]

    def _prepared(self, template: Template, values: DataWords) -> _Prepared:
        plan = self._planner.plan(template, values)
        contexts = learn_examples(plan, self._domain, self._languages)
        schema = describe_parameters(plan) if has_schema_only(template) else None
        examples = [self._read_example(text, plan, contexts) for text in template.nl_examples]
        return _Prepared(plan, contexts, schema, build_frame(plan, examples, self._domain))

    def _read_example(
        self, text: str, plan: TemplatePlan, contexts: ExampleContexts
    ) -> ReadExample:
        reading = self.read(text, ANY_DAY)
        slots = self._slots(plan, reading, contexts)
        slots.edges = example_edges(reading, contexts.texts.values())
        slots.is_example = True
        slots.fill_from_patterns()
        slots.fill_recognized()
        found = [(one.first, one.last) for one in slots.found.values()]
        found += self._names.places(slots)
        places = frozenset(at for place in found for at in range(*place))
        unused = frozenset(
            span.kind
            for start, end in reading.values
            if slots.taken.is_free(start, end)
            for span in reading.spans
            if span.start == start
        )
        said = (slots.found.get(one.key) for one in plan.groups["text"])
        texts = frozenset(at for one in said if one for at in range(one.first, one.last))
        return ReadExample(reading.tokens, self.senses(reading), places, texts, unused)


def _telling(frame: Frame) -> tuple[str, ...]:
    return tuple(word for word in frame.words if len(word) > _SHORTEST_TELLING)


def _words_of_values(plan: TemplatePlan) -> set[str]:
    return {word for one in plan.parameters for word in one.choices.words()}


def _restricted(plan: TemplatePlan, only: Collection[str]) -> TemplatePlan:
    def some(plans: Sequence[ParameterPlan]) -> tuple[ParameterPlan, ...]:
        return tuple(one for one in plans if one.key in only)

    groups = {group: some(plans) for group, plans in plan.groups.items()}
    return replace(plan, parameters=some(plan.parameters), groups=groups)


def _outcome(slots: SlotFilling, *, agrees: bool | None) -> Extraction:
    arguments: dict[str, Any] = {}
    sources: dict[str, Source] = {}
    missing: list[MissingParameter] = []
    reading, parameters = slots.reading, slots.plan.parameters
    for one in parameters:
        problem = slots.problems.get(one.key, "")
        if not problem and reading.too_long and one.required:
            problem = "the question is too long to read"
        if (found := slots.found.get(one.key)) is not None:
            arguments[one.key] = found.value
            place = found.start, found.end
            written = Source(found.kind, place, reading.text[slice(*place)])
            sources[one.key] = slots.sources.get(one.key, written)
        elif not problem and one.parameter.default is not None:
            arguments[one.key] = one.parameter.default_on(reading.now)
            sources[one.key] = Source("default")
        elif problem or one.required:
            missing.append(one.parameter.missing(problem))
    required = [one for one in parameters if one.required]
    unused = tuple(
        reading.text[start:end]
        for start, end in reading.values
        if slots.taken.is_free(start, end)
        # What a pattern reads and a bound refuses is asked about, so it is put to use.
        and not any(first <= start and end <= last for first, last in slots.refused)
    )
    if slots.plan.template.unused_values == "allow":
        unused = ()
    if not unused and any(sign in reading.clean for sign in _OPERATORS):
        unused = _unsupported_operators(slots.plan.template, reading)
    read = sum(one.key in slots.found for one in required)
    coverage = ArgumentCoverage(len(required), read, unused, agrees)
    given = {k for k, source in sources.items() if source.kind in ("template_pattern", "intent")}
    doubtful = frozenset(k for k, one in slots.found.items() if one.doubtful)
    sure = slots.sure | given
    return Extraction(
        arguments,
        sources,
        tuple(missing),
        coverage,
        sure,
        doubtful,
        slots.by_order,
        tuple(slots.refused) if missing else (),
        slots.asides,
    )


def _unsupported_operators(template: Template, reading: ParsedText) -> tuple[str, ...]:
    """Those between numbers that no example of the template has: 2^8 is no 2 times 8."""
    tokens = reading.tokens
    return tuple(
        sign
        for sign, words in _OPERATORS.items()
        if sign in reading.clean
        and not any(sign in example for example in template.nl_examples)
        and any(
            tuple(tokens.words[index : index + len(words)]) == words
            and is_digits(tokens.word(index - 1))
            and is_digits(tokens.word(index + len(words)))
            for index in range(1, len(tokens.words) - len(words))
        )
    )
