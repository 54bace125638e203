"""Places of a question that could be the value of a parameter."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from server.core.tools import SourceKind
from server.extraction.normalizers import run_steps
from server.extraction.plan import NUMERIC, ParameterPlan, TemplatePlan
from server.extraction.recognizers.durations import Duration
from server.extraction.recognizers.numbers import opposite
from server.extraction.recognizers.reading import Reading
from server.extraction.recognizers.span import Kind, Span
from server.extraction.roles import Role
from server.extraction.values import Unusable, number, written

HINT: Final = 3
"""Least score at which the words around a value say whose it is."""
SURE: Final = 8


class Candidate(NamedTuple):
    """A value for a parameter, and where it stands.

    A lower `rank` is tried first. `hinted` ones count only when the words around them
    say that they belong to the parameter; `fit` is how much the value itself says so,
    as 15% does for a percentage. `problem` says why the value cannot be used;
    such a candidate is never taken, but can be complained about.
    """

    start: int
    end: int
    first: int
    last: int
    value: Any
    kind: SourceKind = "recognizer"
    rank: int = 0
    hinted: bool = False
    problem: str = ""
    fit: int = 0

    def overlaps(self, other: "Candidate") -> bool:
        return self.start < other.end and other.start < self.end


def candidates(plan: ParameterPlan, template: TemplatePlan, reading: Reading) -> list[Candidate]:
    """Every place that could be a value of this parameter, best rank first, then in order."""
    if plan.role in NUMERIC:
        found = list(_numbers(plan, template, reading))
    elif plan.role in _FINDERS:
        found = list(_FINDERS[plan.role](plan, template, reading))
        found += _in_quotes(plan, reading) if not found else ()
    else:
        found = []
    if plan.domain_type is not None and plan.role not in NUMERIC:
        found = _with_domain(plan, reading, found)
    found.sort(key=_order)
    return found


def _order(candidate: Candidate) -> tuple[int, int]:
    return candidate.rank, candidate.start


def _at(span: Span, value: Any, rank: int = 0, *, hinted: bool = False, fit: int = 0) -> Candidate:
    return Candidate(
        span.start, span.end, span.first, span.last, value, "recognizer", rank, hinted, "", fit
    )


def _checked(plan: ParameterPlan, candidate: Candidate) -> Candidate:
    try:
        if plan.role in NUMERIC:
            return candidate._replace(value=plan.checker.numeric(candidate.value))
        plan.checker.check(candidate.value)
    except Unusable as refused:
        return candidate._replace(problem=str(refused))
    return candidate


# Numbers


def _numbers(plan: ParameterPlan, template: TemplatePlan, reading: Reading) -> Iterator[Candidate]:
    spans = reading.of("number")
    if plan.name.unit:
        yield from _counted(plan, template, reading)
    signed = _signed_numbers(plan, template, reading)
    read_by_domain = _numbers_of_domain(plan, reading)
    for span in spans:
        fit = _fit(plan, span)
        if fit is None:
            continue
        rank, hinted, surely = fit
        value = span.value
        kind: SourceKind = "recognizer"
        if span.start in read_by_domain:
            value, kind = read_by_domain[span.start], "domain_pattern"
        if span.first in signed:
            value = opposite(number(value))
        yield _checked(plan, _at(span, value, rank, hinted=hinted, fit=surely)._replace(kind=kind))
    if not spans:
        for quote in reading.quoted("number"):
            yield _checked(plan, _at(quote, quote.value, rank=2))


def _fit(plan: ParameterPlan, span: Span) -> tuple[int, bool, int] | None:
    """How well the unit of a number fits: rank, whether it needs a hint, and fit; or None."""
    unit = "" if span.unit == "-" else span.unit
    if unit == "%":
        if plan.role == "percentage":
            return 0, False, SURE
        return (1, False, 0) if plan.percent else None
    if plan.role == "percentage":
        return None if unit else (1, True, 0)
    if not unit:
        hinted = not plan.required and plan.name.pages
        return 0, hinted, 0
    if unit.isupper():  # a currency
        return None if plan.name.unit else (0, False, HINT if plan.role == "money" else 0)
    if plan.name.unit:
        return (0, False, SURE) if unit == plan.name.unit else None
    return 1, not plan.required, 0


def _counted(plan: ParameterPlan, template: TemplatePlan, reading: Reading) -> Iterator[Candidate]:
    """Spans of time, counted in the unit that the parameter is named after."""
    for span in reading.of("duration"):
        length: Duration = span.value
        count = length.count_in(plan.name.unit)
        if count is None:
            what = f"{reading.text[span.start : span.end]} is no number of {plan.name.unit}s"
            yield _at(span, None)._replace(problem=what)
            continue
        if _backwards(plan, template, span):
            count = opposite(count)
        is_number = any(
            n.start == span.start and n.unit == plan.name.unit for n in reading.of("number")
        )
        if not is_number:
            yield _checked(plan, _at(span, count, fit=SURE))


def _signed_numbers(
    plan: ParameterPlan, template: TemplatePlan, reading: Reading
) -> frozenset[int]:
    """Numbers of time units that count backwards, by their first word: 30 days ago."""
    if not plan.name.unit:
        return frozenset()
    return frozenset(
        span.first for span in reading.of("duration") if _backwards(plan, template, span)
    )


def _backwards(plan: ParameterPlan, template: TemplatePlan, span: Span) -> bool:
    """Whether a span of time is a negative number here: beside a date it is moved by."""
    allowed = plan.parameter.ge is None or plan.parameter.ge < 0
    return span.unit == "-" and allowed and bool(template.of("date", "datetime"))


def _numbers_of_domain(plan: ParameterPlan, reading: Reading) -> dict[int, Any]:
    """What the domain's patterns make of recognised numbers, by where each begins."""
    if plan.domain_type is None:
        return {}
    found: dict[int, Any] = {}
    for start, end in _matches(plan, reading):
        inside = [n for n in reading.of("number") if n.start < end and n.end > start]
        if len(inside) != 1 or inside[0].start in found:
            continue
        span = inside[0]
        text = reading.clean[start:end]
        if span.start < start or (span.end > end and span.unit != "%"):
            text = str(span.value)  # the pattern saw but a part of 2 million
        try:
            found[span.start] = number(normalized(plan, text, reading))
        except ValueError:
            continue
    return found


# Everything else


def _dates(_: ParameterPlan, template: TemplatePlan, reading: Reading) -> Iterator[Candidate]:
    counts = template.counts_time
    offsets = () if counts else reading.of("offset")
    for span in reading.of("date"):
        if not any(o.start <= span.start and span.end <= o.end for o in offsets):
            yield _at(span, span.value, rank=1 if span.weak else 0)
    for span in reading.of("datetime"):
        yield _at(span, span.value)
    for span in offsets:
        yield _at(span, span.value)
    if counts:
        for span in reading.of("anchor"):
            yield _at(span, span.value, rank=2)


def _date(plan: ParameterPlan, template: TemplatePlan, reading: Reading) -> Iterator[Candidate]:
    moments = plan.parameter.type != "date"
    for candidate in _dates(plan, template, reading):
        value = written(candidate.value)
        yield candidate._replace(value=value if moments else value[:10])
    yield from _unreadable(reading, "date")


def _datetime(plan: ParameterPlan, template: TemplatePlan, reading: Reading) -> Iterator[Candidate]:
    moments = reading.of("datetime")
    for span in moments:
        yield _at(span, written(span.value))
    for candidate in _dates(plan, template, reading):
        if not any(m.start <= candidate.start < m.end for m in moments):
            yield candidate._replace(value=f"{candidate.value.isoformat()}T00:00:00")
    for span in reading.of("time"):
        if not any(m.start <= span.start < m.end for m in moments):
            moment = f"{reading.today.isoformat()}T{span.value.isoformat()}"
            yield _at(span, moment, rank=2)
    yield from _unreadable(reading, "date")


def _written_date(
    plan: ParameterPlan, template: TemplatePlan, reading: Reading
) -> Iterator[Candidate]:
    for candidate in _dates(plan, template, reading):
        text = reading.text[candidate.start : candidate.end]
        absolute = any(character.isdigit() for character in text)
        yield candidate._replace(value=text if absolute else written(candidate.value))


def _unreadable(reading: Reading, kind: str) -> Iterator[Candidate]:
    for span in reading.of("unreadable"):
        if span.unit == kind:
            yield _at(span, None)._replace(problem=span.value)


def _kinds(*kinds: Kind) -> Callable[..., Iterator[Candidate]]:
    def find(_: ParameterPlan, __: TemplatePlan, reading: Reading) -> Iterator[Candidate]:
        for kind in kinds:
            for span in reading.of(kind):
                yield _at(span, written(span.value))

    return find


def _date_formats(_: ParameterPlan, __: TemplatePlan, reading: Reading) -> Iterator[Candidate]:
    for span in reading.date_formats:
        yield _at(span, span.value)


def _choices(plan: ParameterPlan, _: TemplatePlan, reading: Reading) -> Iterator[Candidate]:
    tokens = reading.tokens
    for phrase in plan.choices.find(tokens):
        start, end = tokens.starts[phrase.first], tokens.ends[phrase.last - 1]
        rank = 1 if phrase.weak else 0
        yield Candidate(start, end, phrase.first, phrase.last, phrase.value, "vocabulary", rank)
    for quote in reading.of("quoted"):
        known, value = plan.choices.lookup(quote.value)
        if known:
            yield _at(quote, value)._replace(kind="vocabulary")


_FINDERS: Final[dict[Role, Callable[..., Iterator[Candidate]]]] = {
    "date": _date,
    "datetime": _datetime,
    "written_date": _written_date,
    "time": _kinds("time"),
    "duration": _kinds("duration"),
    "email": _kinds("email"),
    "url": _kinds("url"),
    "currency": _kinds("currency"),
    "date_format": _date_formats,
    "choice": _choices,
}
_QUOTED_KINDS: Final[dict[Role, Kind]] = {
    "date": "date", "datetime": "datetime", "time": "time", "duration": "duration",
    "email": "email", "url": "url", "currency": "currency",
}  # fmt: skip


def _in_quotes(plan: ParameterPlan, reading: Reading) -> Iterable[Candidate]:
    if plan.role == "written_date":
        return [_at(quote, quote.value) for quote in reading.of("quoted")]
    kind = _QUOTED_KINDS.get(plan.role)
    if kind is None:
        return ()
    return [_at(span, written(span.value), rank=1) for span in reading.quoted(kind)]


# The domain's patterns


def _matches(plan: ParameterPlan, reading: Reading) -> list[tuple[int, int]]:
    """Where the domain's patterns for the parameter's type match; found once per question."""
    key = plan.parameter.type
    found = reading.memo.get(key)
    if found is None:
        patterns = plan.domain_type.patterns if plan.domain_type is not None else ()
        found = [place for pattern in patterns for place in pattern.captures(reading.outside_json)]
        reading.memo[key] = found
    return found


def _with_domain(
    plan: ParameterPlan, reading: Reading, recognised: list[Candidate]
) -> list[Candidate]:
    """Candidates of the domain's patterns, and those recognised elsewhere.

    Where both read the same place, the domain's reading counts.
    """
    found: list[Candidate] = []
    for start, end in _matches(plan, reading):
        if any(c.start < end and c.end > start for c in found):
            continue
        wider = [c for c in recognised if c.start <= start and end <= c.end]
        if any(c.end - c.start > end - start for c in wider) or _within(reading, start, end):
            continue  # a part of something that was recognised as a whole
        try:
            value = normalized(plan, reading.clean[start:end], reading)
        except ValueError:
            continue
        first, last = reading.tokens.index_at(start), reading.tokens.index_at(end - 1) + 1
        found.append(_checked(plan, Candidate(start, end, first, last, value, "domain_pattern")))
    places = [(c.start, c.end) for c in found]
    return found + [
        c for c in recognised if not any(c.start < end and c.end > start for start, end in places)
    ]


def _within(reading: Reading, start: int, end: int) -> bool:
    """Whether a place is but a part of a block or of a date."""
    return any(
        span.start <= start and end <= span.end and span.end - span.start > end - start
        for kind in ("email", "url", "date", "datetime", "array", "object")
        for span in reading.by_kind.get(kind, ())
    )


def normalized(plan: ParameterPlan, text: str, reading: Reading) -> Any:
    """What the domain's normalizers make of matched text, as the parameter's type.

    Raises:
        ValueError: a normalizer refuses the text, or what it gives is not of the type.
    """
    steps = plan.domain_type.steps if plan.domain_type is not None else ()
    context = {"now": reading.now, "date_order": reading.date_order}
    value = run_steps(steps, text, context) if steps else text
    return written(value)
