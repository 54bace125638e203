"""Values read by patterns: the template's own, and those of the domain's types.

What the domain's patterns make of a question is kept with the reading, for each type.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from server.core.suggestions import join_words
from server.extraction.patterns import run_steps
from server.extraction.plan import NUMERIC, DomainType, ParameterPlan
from server.extraction.small_words import small_words
from server.extraction.values import Candidate, number, show_value, written
from server.library.parameter_types import CUSTOM
from server.text.decimals import Number
from server.text.parsed_text import ParsedText
from server.text.replies import read_boolean
from server.text.tokens import Kind, Tokens

_BLANKS: Final = " \t\r\n\0"
_MARKS: Final = _BLANKS + "\"'“”‘’«»`.,;:!?"
_RECOGNISED: Final = frozenset({"date", "datetime", "time", "duration", "email", "url", "currency"})
Finder = Callable[[ParameterPlan, ParsedText], Sequence[Candidate]]


def captured_value(
    plan: ParameterPlan, find: Finder, reading: ParsedText, start: int, end: int
) -> Candidate | None:
    """Return the value at `start` to `end`, which may carry a problem; None when there is none.

    How it reads is the recognisers' business: capturing the 2 of "2 million" finds two million.
    """
    place = _trimmed_place(reading, start, end, _BLANKS)
    if place is None:
        return None
    if plan.role in NUMERIC:
        return _captured_number(plan, find, reading, place)
    if plan.role in ("choice", "choices"):
        return _captured_choice(plan, reading, place)
    if plan.role in _RECOGNISED:
        return _captured_span(plan, find, reading, place)
    if plan.role == "code":
        return _captured_code(plan, find, reading, place)
    start, end = place.start, place.end
    if plan.role == "numbers":
        inside = [n for n in reading.every("number") if n.start < end and n.end > start]
        return place._replace(value=[span.value for span in inside]) if inside else None
    if plan.role in ("records", "object"):
        blocks = reading.of("array" if plan.role == "records" else "object")
        block = next((b for b in blocks if b.start < end and b.end > start), None)
        return block and place._replace(start=block.start, end=block.end, value=block.value)
    if plan.role == "boolean":
        truth = read_boolean(reading.clean[start:end])
        return None if truth is None else place._replace(value=truth)
    return _captured_text(plan, reading, start, end)


def _trimmed_place(reading: ParsedText, start: int, end: int, marks: str) -> Candidate | None:
    text, tokens = reading.clean, reading.tokens
    while start < end and text[start] in marks:
        start += 1
    while end > start and text[end - 1] in marks:
        end -= 1
    if start == end:
        return None
    first, last = tokens.index_at(start), tokens.index_at(end - 1) + 1
    return Candidate(start, end, first, last, None, "template_pattern")


def _captured_number(
    plan: ParameterPlan, find: Finder, reading: ParsedText, place: Candidate
) -> Candidate | None:
    inside = [n for n in reading.of("number") if n.start < place.end and n.end > place.start]
    if len(inside) > 1:
        return None
    for span in inside:
        for found in find(plan, reading):
            if found.start <= span.start and span.end <= found.end:
                return found._replace(kind="template_pattern")
        place = Candidate(*span[1:5], span.value, "template_pattern")
    if not inside:
        text = reading.clean[place.start : place.end]
        try:
            place = place._replace(value=number(normalize_value(plan, text, reading)))
        except ValueError:
            return None
    return plan.checker.checked(place)


def _captured_choice(
    plan: ParameterPlan, reading: ParsedText, place: Candidate
) -> Candidate | None:
    bare = _trimmed_place(reading, place.start, place.end, _MARKS)
    text = reading.clean[bare.start : bare.end] if bare else ""
    known, value = plan.choices.lookup(text)
    if not known:
        phrases = plan.choices.find(Tokens(text))
        if len({str(phrase.value) for phrase in phrases}) == 1:
            known, value = True, phrases[0].value
    patterns = plan.domain_type.patterns if plan.domain_type is not None else ()
    if not known and bare and any((0, len(text)) in p.captures(text) for p in patterns):
        return _captured_text(plan, reading, bare.start, bare.end)
    if not known or bare is None:
        allowed = join_words(plan.parameter.enum) if plan.parameter.enum else "known"
        return place._replace(problem=f"{show_value(text)} is not one of {allowed}")
    value = [value] if plan.role == "choices" else value
    return place._replace(start=bare.start, end=bare.end, value=value)


def _captured_span(
    plan: ParameterPlan, find: Finder, reading: ParsedText, place: Candidate
) -> Candidate | None:
    text = reading.clean[place.start : place.end]
    for found in find(plan, reading):
        if found.start < place.end and found.end > place.start:
            return found._replace(kind="template_pattern")
    inner = ParsedText(text, reading.now, reading.date_order, reading.languages)
    for found in find(plan, inner):
        if not found.problem:
            return place._replace(value=found.value)
    if plan.parameter.type == "string":
        return _captured_text(plan, reading, place.start, place.end)
    return place._replace(problem=f"{show_value(text)} is not {plan.parameter.descriptor.noun}")


def _captured_code(
    plan: ParameterPlan, find: Finder, reading: ParsedText, place: Candidate
) -> Candidate | None:
    """The code of which a part was captured; what is none is taken as it is written."""
    for found in find(plan, reading):
        if found.overlaps(place):
            return found._replace(kind="template_pattern")
    return _captured_text(plan, reading, place.start, place.end)


def _captured_text(
    plan: ParameterPlan, reading: ParsedText, start: int, end: int
) -> Candidate | None:
    marks = _MARKS if plan.role in ("text", "code", "field", "cell") else ""
    place = _trimmed_place(reading, start, end, marks)
    if place is not None and plan.role == "text":
        place = _without_courtesy(reading, place)
    if place is None:
        return None
    try:
        value: Any = normalize_value(plan, reading.text[place.start : place.end], reading)
    except ValueError as refused:
        return place._replace(problem=str(refused))
    descriptor = plan.parameter.descriptor
    is_text = descriptor.json_type == "string" and descriptor is not CUSTOM
    found = plan.checker.checked(place._replace(value=str(value) if is_text else value))
    return found._replace(value=None) if found.problem else found


def _without_courtesy(reading: ParsedText, place: Candidate) -> Candidate:
    """A text without the “please” that it was said with."""
    small, tokens, last = small_words(reading.languages), reading.tokens, place.last
    while last - 1 > place.first and tokens.words[last - 1] in small.polite - small.pronouns:
        last -= 1
    if last == place.last:
        return place
    return place._replace(end=tokens.ends[last - 1], last=last)


_WHOLE: Final[tuple[Kind, ...]] = ("email", "url", "date", "datetime", "array", "object")
"""What is not taken apart: a pattern for numbers finds none in an address."""


def normalize_value(plan: ParameterPlan, text: str, reading: ParsedText) -> Any:
    """Return what the domain's normalizers make of matched text; they raise `ValueError`."""
    if plan.domain_type is None:
        return text
    context = {"now": reading.now, "date_order": reading.date_order}
    return written(run_steps(plan.domain_type.steps, text, context))


def numbers_of_domain(plan: ParameterPlan, reading: ParsedText) -> dict[int, Number]:
    """What the domain's patterns make of recognised numbers, by where each begins."""
    key = ("numbers", plan.parameter.type)
    found: dict[int, Number] = reading.memo.get(key, {})
    if key in reading.memo or plan.domain_type is None:
        return found
    patterns = plan.domain_type.patterns
    for start, end in (place for p in patterns for place in p.captures(reading.outside_json)):
        inside = [n for n in reading.of("number") if n.start < end and n.end > start]
        if len(inside) != 1:
            continue
        span = inside[0]
        text = reading.clean[start:end]
        if span.start < start or (span.end > end and span.unit != "%"):
            text = str(span.value)  # the pattern saw but a part of 2 million
        try:
            # Of two readings of one place, the first pattern's counts.
            found.setdefault(span.start, number(normalize_value(plan, text, reading)))
        except ValueError:
            continue
    reading.memo[key] = found
    return found


def with_domain(
    plan: ParameterPlan, reading: ParsedText, recognised: list[Candidate]
) -> list[Candidate]:
    """Candidates of the domain's patterns, and those recognised where these read nothing."""
    if plan.domain_type is None:
        return recognised
    found: list[Candidate] = []
    for place in _values_of_domain(plan, plan.domain_type, reading):
        # Neither a part of something that was recognised as a whole, nor of another match.
        if not any(map(place.is_within, recognised)) and not any(map(place.overlaps, found)):
            found.append(plan.checker.checked(place))
    return found + [c for c in recognised if not any(map(c.overlaps, found))]


def _values_of_domain(
    plan: ParameterPlan, domain_type: DomainType, reading: ParsedText
) -> list[Candidate]:
    key = ("values", f"{plan.parameter.type} {plan.parameter.format}")
    if key not in reading.memo:
        whole = [span for kind in _WHOLE for span in reading.of(kind)]
        index_at = reading.tokens.index_at
        values: list[Candidate] = []
        patterns = domain_type.patterns
        for start, end in (place for p in patterns for place in p.captures(reading.outside_json)):
            words = index_at(start), index_at(end - 1) + 1
            match = Candidate(start, end, *words, None, domain_type.source)
            if any(match.is_within(span) for span in whole):
                continue
            try:
                value = normalize_value(plan, reading.clean[start:end], reading)
            except ValueError:
                continue
            values.append(match._replace(value=value))
        reading.memo[key] = values
    found: list[Candidate] = reading.memo[key]
    return found
