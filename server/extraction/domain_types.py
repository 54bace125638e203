"""What a domain's own patterns find, and what its normalizers make of it.

All of it depends on the question and the type alone, so it is worked out once for each
and kept with the reading.
"""

from typing import Any

from server.extraction.normalizers import run_steps
from server.extraction.plan import ParameterPlan
from server.extraction.types import ValueCandidate, checked
from server.extraction.values import number, written
from server.text.decimals import Number
from server.text.parsed_text import ParsedText
from server.text.span import Kind

_WHOLE: tuple[Kind, ...] = ("email", "url", "date", "datetime", "array", "object")
"""What is not taken apart: a pattern for numbers finds none in an address."""


def numbers_of_domain(plan: ParameterPlan, reading: ParsedText) -> dict[int, Number]:
    """What the domain's patterns make of recognised numbers, by where each begins."""
    if plan.domain_type is None:
        return {}
    key = ("numbers", plan.parameter.type)
    if key not in reading.memo:
        reading.memo[key] = dict(_numbers(plan, reading))
    found: dict[int, Number] = reading.memo[key]
    return found


def _numbers(plan: ParameterPlan, reading: ParsedText) -> list[tuple[int, Number]]:
    found: list[tuple[int, Number]] = []
    for start, end in _matches(plan, reading):
        inside = [n for n in reading.of("number") if n.start < end and n.end > start]
        if len(inside) != 1:
            continue
        span = inside[0]
        text = reading.clean[start:end]
        if span.start < start or (span.end > end and span.unit != "%"):
            text = str(span.value)  # the pattern saw but a part of 2 million
        try:
            found.append((span.start, number(normalize_value(plan, text, reading))))
        except ValueError:
            continue
    found.reverse()  # of two readings of one place, the first pattern's counts
    return found


def with_domain(
    plan: ParameterPlan, reading: ParsedText, recognised: list[ValueCandidate]
) -> list[ValueCandidate]:
    """Candidates of the domain's patterns, and those recognised elsewhere.

    Where both read the same place, the domain's reading counts.
    """
    found: list[ValueCandidate] = []
    if plan.domain_type is None:
        return recognised
    for start, end, value in _values(plan, reading):
        wider = any(
            c.start <= start and end <= c.end and c.end - c.start > end - start for c in recognised
        )
        if wider or any(c.start < end and c.end > start for c in found):
            continue  # a part of something that was recognised as a whole
        first, last = reading.tokens.index_at(start), reading.tokens.index_at(end - 1) + 1
        found.append(
            checked(plan, ValueCandidate(start, end, first, last, value, plan.domain_type.source))
        )
    return found + [c for c in recognised if not any(c.overlaps(taken) for taken in found)]


def _values(plan: ParameterPlan, reading: ParsedText) -> list[tuple[int, int, Any]]:
    """Each match of the domain's patterns that its normalizers can read."""
    key = ("values", f"{plan.parameter.type} {plan.parameter.format}")
    if key not in reading.memo:
        values: list[tuple[int, int, Any]] = []
        for start, end in _matches(plan, reading):
            if _within(reading, start, end):
                continue
            try:
                value = normalize_value(plan, reading.clean[start:end], reading)
            except ValueError:
                continue
            values.append((start, end, value))
        reading.memo[key] = values
    found: list[tuple[int, int, Any]] = reading.memo[key]
    return found


def _within(reading: ParsedText, start: int, end: int) -> bool:
    """Whether a place is but a part of a block or of a date."""
    return any(
        span.start <= start and end <= span.end and span.end - span.start > end - start
        for kind in _WHOLE
        for span in reading.of(kind)
    )


def _matches(plan: ParameterPlan, reading: ParsedText) -> list[tuple[int, int]]:
    patterns = plan.domain_type.patterns if plan.domain_type is not None else ()
    return [place for pattern in patterns for place in pattern.captures(reading.outside_json)]


def normalize_value(plan: ParameterPlan, text: str, reading: ParsedText) -> Any:
    """What the domain's normalizers make of matched text, as the parameter's type.

    Raises:
        ValueError: a normalizer refuses the text, or what it gives is not of the type.
    """
    steps = plan.domain_type.steps if plan.domain_type is not None else ()
    context = {"now": reading.now, "date_order": reading.date_order}
    value = run_steps(steps, text, context) if steps else text
    return written(value)
