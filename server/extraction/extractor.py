"""From a question to the arguments of a template."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from server.core.decision import ArgumentCoverage, MissingParameter
from server.core.tools import Source
from server.core.turn import Intent
from server.extraction.entities import fill_entities
from server.extraction.example_learning import learn_examples
from server.extraction.example_slots import NO_LESSON
from server.extraction.parameter_hints import TemplateHints, describe_parameters, has_schema_only
from server.extraction.plan import Planner, TemplatePlan
from server.extraction.schema_only import fill_from_schema
from server.extraction.slot_filling import Lessons, SlotFilling, fill_texts
from server.extraction.types import Extraction, PlacedValue
from server.library.model import Domain, Template
from server.text.parsed_text import ParsedText
from server.text.tokens import is_digits

_SIGNS: Final = {"^": ("^",), "**": ("*", "*")}


def unsupported_operators(template: Template, reading: ParsedText) -> tuple[str, ...]:
    """Those of the question that no example of the template has: 2^8 is no 2 times 8."""
    return tuple(
        sign
        for sign, words in _SIGNS.items()
        if sign in reading.clean
        and _between_numbers(reading, words)
        and not any(sign in example for example in template.nl_examples)
    )


def _between_numbers(reading: ParsedText, words: tuple[str, ...]) -> bool:
    tokens, size = reading.tokens, len(words)
    return any(
        tuple(tokens.words[index : index + size]) == words
        and is_digits(tokens.word(index - 1))
        and is_digits(tokens.word(index + size))
        for index in range(1, len(tokens.words) - size)
    )


_TOO_LONG: Final = "the question is too long to read"

_Prepared = tuple[TemplatePlan, Lessons, TemplateHints | None]
"""How a template is read, with what its schema says where it has no examples."""


class Extractor:
    """Finds arguments for the templates of one domain. Deterministic, and safe in threads.

    A template is compiled when it is first used, or by `prepare`. Nothing of a question is
    kept: `read` it once where it is held against several templates.
    """

    def __init__(self, domain: Domain) -> None:
        """Compile the domain's patterns.

        Raises:
            ConfigurationInvalid: a normalizer of the domain cannot be used.
        """
        self._domain = domain
        self._planner = Planner(domain)
        self._plans: dict[str, tuple[Template, _Prepared]] = {}

    def prepare(self, templates: Sequence[Template]) -> None:
        """Compile `templates` now, so that no question has to wait for it."""
        for template in templates:
            self._plan(template)

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
        counts from; its zone decides which day it is. Never raises for anything `text`
        may hold.
        """
        return self.extract_from(self.read(text, now), template, intent=intent, only=only)

    def read(self, text: str, now: datetime) -> ParsedText:
        """Read a question, for `extract_from`. What comes back belongs to one thread."""
        return ParsedText(text, now, self._domain.date_order)

    def extract_from(
        self,
        reading: ParsedText,
        template: Template,
        *,
        intent: Intent | None = None,
        only: Collection[str] | None = None,
    ) -> Extraction:
        """As `extract`, for a question that has been read."""
        plan, lessons, hints = self._plan(template)
        if only is not None:
            plan = _restricted(plan, only)
        filling = SlotFilling(plan, reading, lessons, self._domain.synonyms)
        filling.written()
        if intent is not None:
            fill_entities(filling, intent)
        if hints is None:
            filling.recognized()
            fill_texts(filling)
        else:
            fill_from_schema(filling, hints)
        return _outcome(plan, filling, agrees=template.agrees(intent))

    def read_at(
        self, text: str, place: tuple[int, int], template: Template, name: str, *, now: datetime
    ) -> PlacedValue | None:
        """What stands at `place` as a value of one parameter; None when it is none at all."""
        plan, lessons, _ = self._plan(template)
        (one,) = (p for p in plan.parameters if p.key == name)
        reading = self.read(text, now)
        if reading.too_long:
            return None
        found = SlotFilling(plan, reading, lessons, self._domain.synonyms).placed(one, *place)
        if found is None:
            return None
        lesson = lessons.texts.get(name, NO_LESSON)
        return PlacedValue(
            found.value,
            found.problem,
            (found.start, found.end),
            is_text=one.role == "text",
            is_sentence=lesson.sentences or "saying" in one.name.topics,
            is_name=lesson.capitalised and not lesson.sentences,
        )

    def _plan(self, template: Template) -> _Prepared:
        known = self._plans.get(template.id)
        if known is None or known[0] is not template:
            plan = self._planner.plan(template)
            lessons = learn_examples(plan, self._domain)
            hints = describe_parameters(plan) if has_schema_only(template) else None
            known = self._plans[template.id] = template, (plan, lessons, hints)
        return known[1]


def _restricted(plan: TemplatePlan, only: Collection[str]) -> TemplatePlan:
    """The plan as if the template had but some of its parameters."""
    groups = {
        group: tuple(one for one in plans if one.key in only)
        for group, plans in plan.groups.items()
    }
    parameters = tuple(one for one in plan.parameters if one.key in only)
    return replace(plan, parameters=parameters, groups=groups)


def _outcome(plan: TemplatePlan, filling: SlotFilling, *, agrees: bool | None) -> Extraction:
    arguments: dict[str, Any] = {}
    sources: dict[str, Source] = {}
    missing: list[MissingParameter] = []
    too_long = _TOO_LONG if filling.reading.too_long else ""
    for one in plan.parameters:
        parameter = one.parameter
        problem = filling.problems.get(one.key, "") or (too_long if one.required else "")
        if one.key in filling.found:
            arguments[one.key] = filling.found[one.key].value
            sources[one.key] = filling.source(one.key)
        elif problem:
            missing.append(parameter.missing(problem))
        elif parameter.default is not None:
            arguments[one.key] = parameter.default
            sources[one.key] = Source("default")
        elif one.required:
            missing.append(parameter.missing())
    required = [one for one in plan.parameters if one.required]
    read = sum(one.key in filling.found for one in required)
    grounding = ArgumentCoverage(len(required), read, _unused(filling), agrees)
    sure = filling.sure | {
        key for key, source in sources.items() if source.kind in ("template_pattern", "intent")
    }
    return Extraction(arguments, sources, tuple(missing), grounding, frozenset(sure))


def _unused(filling: SlotFilling) -> tuple[str, ...]:
    reading, taken = filling.reading, filling.taken
    left = tuple(
        reading.text[start:end]
        for start, end in reading.values
        if taken.free(start, end)
        # What a pattern reads and a bound refuses is asked about, so it is put to use.
        and not any(first <= start and end <= last for first, last in filling.refused)
    )
    return left or unsupported_operators(filling.plan.template, reading)
