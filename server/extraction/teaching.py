"""Reading a template's examples, to learn where its values stand."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from server.extraction.candidate import Candidate
from server.extraction.filling import Filling, Lessons
from server.extraction.lessons import (
    Filler,
    capital_runs,
    contexts,
    differing,
    text_lesson,
)
from server.extraction.plan import ParameterPlan, TemplatePlan
from server.extraction.recognizers.reading import Reading
from server.extraction.recognizers.tokens import Tokens
from server.library.model import Domain

ANY_DAY: Final = datetime(2025, 1, 1, 12, tzinfo=UTC)
"""What examples count from; the words around a date are the same on every day."""


def teach(plan: TemplatePlan, domain: Domain) -> Lessons:
    """What the template's `nl_examples` teach about each of its parameters.

    A value's place in an example is known when a pattern captures it, when it is the
    parameter's `example`, or when it is quoted. A template with a single free text also
    learns from capital letters, and from where its examples differ.
    """
    readings = [Reading(text, ANY_DAY, domain.date_order) for text in plan.template.nl_examples]
    fillings = [_filled(plan, reading, domain) for reading in readings]
    fillers = {
        one.key: [f for filling in fillings if (f := _filler(one, filling)) is not None]
        for one in plan.parameters
    }
    texts = plan.of("text")
    required = [one for one in texts if one.required]
    if len(required) == 1:
        key = required[0].key
        fillers[key] += _guessed(fillings, {id(filler.reading) for filler in fillers[key]})
    about = f"{plan.template.description} {plan.template.id}"
    lessons = {one.key: text_lesson(fillers[one.key], readings, about) for one in texts}
    return Lessons(contexts(fillers), lessons)


def _filled(plan: TemplatePlan, reading: Reading, domain: Domain) -> Filling:
    filling = Filling(plan, reading, Lessons(), domain.synonyms)
    filling.typed()
    return filling


def _filler(plan: ParameterPlan, filling: Filling) -> Filler | None:
    """The parameter's value in an example, when it is known for sure."""
    reading = filling.reading
    found = filling.found.get(plan.key)
    if found is not None and found.kind == "template_pattern":
        return Filler(reading, found.first, found.last)
    if plan.parameter.example is not None:
        place = _same_value(plan, filling) or _same_words(plan, reading)
        if place is not None:
            return Filler(reading, *place)
    quotes = reading.of("quoted")
    if plan.role == "text" and len(quotes) == 1 and len(filling.plan.of("text")) == 1:
        return Filler(reading, quotes[0].first, quotes[0].last)
    return None


def _same_value(plan: ParameterPlan, filling: Filling) -> tuple[int, int] | None:
    same: Sequence[Candidate] = [
        candidate
        for candidate in filling.candidates_of(plan)
        if candidate.value == plan.parameter.example
    ]
    return (same[0].first, same[0].last) if len(same) == 1 else None


def _same_words(plan: ParameterPlan, reading: Reading) -> tuple[int, int] | None:
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


def _guessed(fillings: Sequence[Filling], known: set[int]) -> list[Filler]:
    """Values of the only free text in examples that do not show them for sure."""
    rest = [filling for filling in fillings if id(filling.reading) not in known]
    found: list[Filler] = []
    for filling in rest:
        runs = capital_runs(filling.reading, filling.taken)
        if len(runs) == 1:
            found.append(Filler(filling.reading, *runs[0]))
    seen = {id(filler.reading) for filler in found} | known
    plain = [filling for filling in rest if id(filling.reading) not in seen]
    return found + differing(
        [filling.reading for filling in plain], [filling.taken for filling in plain]
    )
