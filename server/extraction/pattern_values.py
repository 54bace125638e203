"""What the place that a template's pattern captured says, as the parameter's type."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from server.core.suggestions import join_words
from server.extraction.domain_types import normalize_value
from server.extraction.plan import NUMERIC, ParameterPlan
from server.extraction.types import ValueCandidate
from server.extraction.values import InvalidValue, number, show_value
from server.library.parameter_types import CUSTOM
from server.text.parsed_text import ParsedText
from server.text.replies import read_boolean
from server.text.span import Kind, Span
from server.text.tokens import Tokens

_BLANKS: Final = " \t\r\n\0"
_MARKS: Final = _BLANKS + "\"'“”‘’«»`.,;:!?"
_RECOGNISED: Final = frozenset({"date", "datetime", "time", "duration", "email", "url", "currency"})


Finder = Callable[[ParameterPlan, ParsedText], Sequence[ValueCandidate]]
"""Finds the candidates of a parameter in a reading."""


def captured_value(
    plan: ParameterPlan, find: Finder, reading: ParsedText, start: int, end: int
) -> ValueCandidate | None:
    """The value at `start` to `end`, which may carry a problem; None when there is none.

    A pattern says where the value stands; how it reads is the recognisers' business. So
    a pattern that captures the 2 of "2 million" finds two million.
    """
    start, end = _stripped(reading.clean, start, end, _BLANKS)
    if start == end:
        return None
    place = _place(reading, start, end)
    if plan.role in NUMERIC:
        return _number(plan, find, reading, place)
    if plan.role in ("choice", "choices"):
        return _choice(plan, reading, place)
    if plan.role in _RECOGNISED:
        return _recognised(plan, find, reading, place)
    if plan.role == "numbers":
        inside = [n for n in reading.every("number") if n.start < end and n.end > start]
        return place._replace(value=[span.value for span in inside]) if inside else None
    if plan.role in ("records", "object"):
        kind: Kind = "array" if plan.role == "records" else "object"
        block = next(iter(_inside(reading, kind, start, end)), None)
        return (
            place._replace(start=block.start, end=block.end, value=block.value) if block else None
        )
    if plan.role == "boolean":
        truth = read_boolean(reading.clean[start:end])
        return None if truth is None else place._replace(value=truth)
    return _text(plan, reading, start, end)


def _place(reading: ParsedText, start: int, end: int) -> ValueCandidate:
    tokens = reading.tokens
    first, last = tokens.index_at(start), tokens.index_at(end - 1) + 1
    return ValueCandidate(start, end, first, last, None, "template_pattern")


def _stripped(text: str, start: int, end: int, marks: str) -> tuple[int, int]:
    while start < end and text[start] in marks:
        start += 1
    while end > start and text[end - 1] in marks:
        end -= 1
    return start, end


def _inside(reading: ParsedText, kind: Kind, start: int, end: int) -> Sequence[Span]:
    return [span for span in reading.of(kind) if span.start < end and span.end > start]


def _number(
    plan: ParameterPlan, find: Finder, reading: ParsedText, place: ValueCandidate
) -> ValueCandidate | None:
    spans = _inside(reading, "number", place.start, place.end)
    if len(spans) > 1:
        return None
    if spans:
        span = spans[0]
        for found in find(plan, reading):
            if found.start <= span.start and span.end <= found.end:
                return found._replace(kind="template_pattern")
        place = place._replace(
            start=span.start, end=span.end, first=span.first, last=span.last, value=span.value
        )
    else:
        try:
            place = place._replace(
                value=number(normalize_value(plan, reading.clean[place.start : place.end], reading))
            )
        except ValueError:
            return None
    try:
        return place._replace(value=plan.checker.numeric(place.value))
    except InvalidValue as refused:
        return place._replace(problem=str(refused))


def _choice(
    plan: ParameterPlan, reading: ParsedText, place: ValueCandidate
) -> ValueCandidate | None:
    start, end = _stripped(reading.clean, place.start, place.end, _MARKS)
    text = reading.clean[start:end]
    known, value = plan.choices.lookup(text)
    if not known:
        phrases = plan.choices.find(Tokens(text))
        if len({str(phrase.value) for phrase in phrases}) == 1:
            known, value = True, phrases[0].value
    if not known and plan.domain_type is not None:
        matching = (p.captures(text) for p in plan.domain_type.patterns)
        if any((0, len(text)) in set(places) for places in matching):
            return _text(plan, reading, start, end)
    if not known:
        allowed = join_words(plan.parameter.enum) if plan.parameter.enum else "known"
        return place._replace(problem=f"{show_value(text)} is not one of {allowed}")
    value = [value] if plan.role == "choices" else value
    return place._replace(start=start, end=end, value=value)


def _recognised(
    plan: ParameterPlan, find: Finder, reading: ParsedText, place: ValueCandidate
) -> ValueCandidate | None:
    text = reading.clean[place.start : place.end]
    for found in find(plan, reading):
        if found.start < place.end and found.end > place.start:
            return found._replace(kind="template_pattern")
    inner = ParsedText(text, reading.now, reading.date_order)
    for found in find(plan, inner):
        if not found.problem:
            return place._replace(value=found.value)
    if plan.parameter.type == "string":
        return _text(plan, reading, place.start, place.end)
    return place._replace(problem=f"{show_value(text)} is not {plan.parameter.descriptor.noun}")


def _text(plan: ParameterPlan, reading: ParsedText, start: int, end: int) -> ValueCandidate | None:
    if plan.role in ("text", "field", "cell"):
        start, end = _stripped(reading.clean, start, end, _MARKS)
    if start == end:
        return None
    place = _place(reading, start, end)
    try:
        value: Any = normalize_value(plan, reading.text[start:end], reading)
    except ValueError as refused:
        return place._replace(problem=str(refused))
    descriptor = plan.parameter.descriptor
    if descriptor.json_type == "string" and descriptor is not CUSTOM:
        value = str(value)
    try:
        plan.checker.check(value)
    except InvalidValue as refused:
        return place._replace(problem=str(refused))
    return place._replace(value=value)
