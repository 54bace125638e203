"""Reading a template's examples, to learn where its values stand."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from server.extraction.example_slots import (
    ExampleSlot,
    TextLesson,
    capital_runs,
    contexts,
    differing,
    led_alike,
    led_by_preposition,
    text_lesson,
)
from server.extraction.free_text import find_text
from server.extraction.plan import ParameterPlan, TemplatePlan
from server.extraction.slot_filling import Lessons, SlotFilling
from server.extraction.types import ValueCandidate
from server.extraction.value_kinds import GROUPS
from server.library.model import Domain
from server.text.parsed_text import ParsedText
from server.text.tokens import Tokens

ANY_DAY: Final = datetime(2025, 1, 1, 12, tzinfo=UTC)
"""What examples count from; the words around a date are the same on every day."""


def learn_examples(plan: TemplatePlan, domain: Domain) -> Lessons:
    """What the template's `nl_examples` teach about each of its parameters.

    A value's place in an example is known when a pattern captures it, when it is the
    parameter's `example`, when it is quoted, and when no other value there could be
    meant. A template with a single free text also
    learns from capital letters, and from where its examples differ.
    """
    fillings = [
        _filled(plan, ParsedText(text, ANY_DAY, domain.date_order), domain)
        for text in plan.template.nl_examples
    ]
    fillers = {
        one.key: [f for filling in fillings if (f := _filler(one, filling)) is not None]
        for one in plan.parameters
    }
    texts = plan.of("text")
    required = [one for one in texts if one.required]
    about = f"{plan.template.description} {plan.template.id}"
    values = {word for found in fillers.values() for filler in found for word in filler.words}
    lessons: dict[str, TextLesson] = {}
    for one in texts:
        known = fillers[one.key]
        alone = [one] == required
        if alone:
            known += _guessed(fillings, known)
        sentences = _is_sentence(one, known)
        lessons[one.key] = text_lesson(known, about, values, sentences=sentences)
        # What the sure examples teach finds the values of the others, which teach more.
        known += _found_again(one, lessons[one.key], fillings, known, alone=alone)
        lessons[one.key] = text_lesson(known, about, values, sentences=sentences)
    return Lessons(contexts(fillers), lessons)


def _is_sentence(plan: ParameterPlan, known: Sequence[ExampleSlot]) -> bool:
    """Whether the text is a whole phrase by its name: a message, or a task to do."""
    to_do = any(filler.left[-1:] == ("to",) for filler in known)
    return "saying" in plan.name.topics or ("called" in plan.name.topics and to_do)


def _filled(plan: TemplatePlan, reading: ParsedText, domain: Domain) -> SlotFilling:
    filling = SlotFilling(plan, reading, Lessons(), domain.synonyms)
    filling.typed()
    return filling


def _filler(plan: ParameterPlan, filling: SlotFilling) -> ExampleSlot | None:
    """The parameter's value in an example, when it is known for sure."""
    reading = filling.reading
    found = filling.found.get(plan.key)
    group = GROUPS[plan.role]
    counted = plan.key in filling.sure and group in ("amount", "date")
    if found is not None and (counted or found.kind == "template_pattern"):
        return ExampleSlot(reading, found.first, found.last)
    if _shows_examples(plan, filling):
        place = _example_place(plan, filling)
        if place is not None:
            return ExampleSlot(reading, *place)
    quotes = reading.of("quoted")
    if plan.role == "text" and len(quotes) == 1 and len(filling.plan.of("text")) == 1:
        return ExampleSlot(reading, quotes[0].first, quotes[0].last)
    return None


def _shows_examples(plan: ParameterPlan, filling: SlotFilling) -> bool:
    """Whether the sentence shows the `example` of this parameter and of all like it.

    A sentence that has only one of two currencies may well have it in the other's place.
    """
    alike = filling.plan.of(GROUPS[plan.role])
    return plan.parameter.example is not None and all(
        _example_place(one, filling) is not None
        for one in alike
        if one.parameter.example is not None and one.required
    )


def _example_place(plan: ParameterPlan, filling: SlotFilling) -> tuple[int, int] | None:
    return _same_value(plan, filling) or _same_words(plan, filling.reading)


def _same_value(plan: ParameterPlan, filling: SlotFilling) -> tuple[int, int] | None:
    same: Sequence[ValueCandidate] = [
        candidate
        for candidate in filling.candidates_of(plan)
        if candidate.value == plan.parameter.example
    ]
    return (same[0].first, same[0].last) if len(same) == 1 else None


def _same_words(plan: ParameterPlan, reading: ParsedText) -> tuple[int, int] | None:
    if not isinstance(plan.parameter.example, str):
        return None
    words = Tokens(plan.parameter.example).words
    tokens = reading.tokens
    places = [
        first
        for first in range(len(tokens) - len(words) + 1)
        if words and tokens.words[first : first + len(words)] == words
    ]
    return (places[0], places[0] + len(words)) if len(places) == 1 else None


def _guessed(fillings: Sequence[SlotFilling], known: Sequence[ExampleSlot]) -> list[ExampleSlot]:
    """Values of the only free text in examples that do not show them for sure."""
    found: list[ExampleSlot] = []
    for filling in _without(fillings, known):
        runs = capital_runs(filling.reading, filling.taken)
        if len(runs) == 1:
            found.append(ExampleSlot(filling.reading, *runs[0]))
    plain = _without(fillings, [*known, *found])
    found += differing([filling.reading for filling in plain], [filling.taken for filling in plain])
    if not known and not found:
        return led_alike([one.reading for one in fillings], [one.taken for one in fillings])
    for filling in _without(fillings, [*known, *found]):
        place = led_by_preposition(filling.reading, filling.taken)
        if place is not None:
            found.append(ExampleSlot(filling.reading, *place))
    return found


def _found_again(
    plan: ParameterPlan,
    lesson: TextLesson,
    fillings: Sequence[SlotFilling],
    known: Sequence[ExampleSlot],
    *,
    alone: bool,
) -> list[ExampleSlot]:
    """Values in the other examples, found by what was learnt from some."""
    found: list[ExampleSlot] = []
    for filling in _without(fillings, known):
        text = find_text(plan, lesson, filling.reading, filling.taken, alone=alone)
        if text is not None and text.kind == "example":
            found.append(ExampleSlot(filling.reading, text.first, text.last))
    return found


def _without(fillings: Sequence[SlotFilling], known: Sequence[ExampleSlot]) -> list[SlotFilling]:
    seen = {id(filler.reading) for filler in known}
    return [filling for filling in fillings if id(filling.reading) not in seen]
