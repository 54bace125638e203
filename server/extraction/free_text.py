"""Filling free text and lists of words, once everything else has its place."""

from collections.abc import Sequence
from typing import Any

from server.extraction.candidate import Candidate
from server.extraction.domain_types import normalized
from server.extraction.filling import Filling
from server.extraction.hints import NO_CONTEXT, score
from server.extraction.lessons import NO_LESSON
from server.extraction.lists import find_words
from server.extraction.plan import ParameterPlan
from server.extraction.strings import candidate_at, find_text


def fill_texts(filling: Filling) -> None:
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


def _give_quotes_away(filling: Filling, plans: Sequence[ParameterPlan]) -> None:
    """Give quoted texts away, by the words around them and in order of mention."""
    reading = filling.reading
    quotes = [
        candidate_at(reading, (span.first, span.last))
        for span in reading.of("quoted")
        if filling.taken.free(span.start, span.end)
    ]
    if not quotes or not plans:
        return
    scored: dict[str, list[tuple[int, Candidate]]] = {}
    for plan in plans:
        context = filling.lessons.contexts.get(plan.key, NO_CONTEXT)
        scored[plan.key] = [
            (score(plan, quote, reading.tokens, context), _judged(plan, filling, quote))
            for quote in quotes
        ]
    filling.hand_out(plans, scored)


def _judged(plan: ParameterPlan, filling: Filling, candidate: Candidate) -> Candidate:
    """The candidate as the domain and the parameter's bounds see it."""
    try:
        value: Any = normalized(plan, candidate.value, filling.reading)
        plan.checker.check(value)
    except ValueError as refused:
        return candidate._replace(problem=str(refused))
    return candidate._replace(value=value)
