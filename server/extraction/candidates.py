"""Every place of a question that could be the value of a parameter."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from server.extraction.amounts import find_amounts
from server.extraction.candidate import CURRENCY_OF_AMOUNT, Candidate, at
from server.extraction.domain_types import with_domain
from server.extraction.moments import (
    find_dates,
    find_datetimes,
    find_written_dates,
    unreadable,
)
from server.extraction.plan import NUMERIC, ParameterPlan, TemplatePlan
from server.extraction.recognizers.reading import Reading
from server.extraction.recognizers.span import Kind
from server.extraction.recognizers.tokens import is_digits
from server.extraction.roles import Role
from server.extraction.values import written


def candidates(plan: ParameterPlan, template: TemplatePlan, reading: Reading) -> list[Candidate]:
    """Every place that could be a value of this parameter, best rank first, then in order."""
    if plan.role in NUMERIC:
        found = list(find_amounts(plan, template, reading))
    elif plan.role in _FINDERS:
        found = list(_FINDERS[plan.role](plan, template, reading))
        found += _in_quotes(plan, reading) if not found else ()
    else:
        found = []
    if plan.domain_type is not None and plan.role not in NUMERIC:
        found = with_domain(plan, reading, found)
    found.sort(key=_order)
    return found


def _order(candidate: Candidate) -> tuple[int, int]:
    return candidate.rank, candidate.start


def _kinds(*kinds: Kind) -> Callable[..., Iterator[Candidate]]:
    def find(_: ParameterPlan, __: TemplatePlan, reading: Reading) -> Iterator[Candidate]:
        for kind in kinds:
            for span in reading.of(kind):
                yield at(span, written(span.value))

    return find


def _times(_: ParameterPlan, __: TemplatePlan, reading: Reading) -> Iterator[Candidate]:
    for span in reading.of("time"):
        yield at(span, written(span.value))
    yield from unreadable(reading, "time")


def _currencies(plan: ParameterPlan, _: TemplatePlan, reading: Reading) -> Iterator[Candidate]:
    """Currencies; the one of an amount is the one to convert from."""
    amounts = {place for n in reading.of("number") for place in (n.first, n.last)}
    for span in reading.of("currency"):
        of_amount = span.last in amounts or span.first in amounts
        sure = of_amount and "from" in plan.name.topics
        yield at(span, span.value, fit=CURRENCY_OF_AMOUNT if sure else 0)


def _date_formats(_: ParameterPlan, __: TemplatePlan, reading: Reading) -> Iterator[Candidate]:
    for span in reading.date_formats:
        yield at(span, span.value)


def _choices(plan: ParameterPlan, _: TemplatePlan, reading: Reading) -> Iterator[Candidate]:
    tokens = reading.tokens
    for phrase in plan.choices.find(tokens):
        start, end = tokens.starts[phrase.first], tokens.ends[phrase.last - 1]
        if is_digits(tokens.words[phrase.first]) and _cuts_a_value(reading, start, end):
            continue
        rank = 1 if phrase.weak else 0
        yield Candidate(start, end, phrase.first, phrase.last, phrase.value, "vocabulary", rank)
    for quote in reading.of("quoted"):
        known, value = plan.choices.lookup(quote.value)
        if known:
            yield at(quote, value)._replace(kind="vocabulary")


def _cuts_a_value(reading: Reading, start: int, end: int) -> bool:
    """Whether the place is but a part of a number or a date, as the 2 of 2.5 is."""
    return any(
        span.start <= start and end <= span.end and span.end - span.start > end - start
        for kind in _WHOLE
        for span in reading.of(kind)
    )


_WHOLE: Final[tuple[Kind, ...]] = ("number", "date", "datetime", "time")
_FINDERS: Final[dict[Role, Callable[..., Iterator[Candidate]]]] = {
    "date": find_dates,
    "datetime": find_datetimes,
    "written_date": find_written_dates,
    "time": _times,
    "duration": _kinds("duration"),
    "email": _kinds("email"),
    "url": _kinds("url"),
    "currency": _currencies,
    "date_format": _date_formats,
    "choice": _choices,
}
_QUOTED_KINDS: Final[dict[Role, Kind]] = {
    "date": "date", "datetime": "datetime", "time": "time", "duration": "duration",
    "email": "email", "url": "url", "currency": "currency",
}  # fmt: skip


def _in_quotes(plan: ParameterPlan, reading: Reading) -> Iterable[Candidate]:
    if plan.role == "written_date":
        return [at(quote, quote.value) for quote in reading.of("quoted")]
    kind = _QUOTED_KINDS.get(plan.role)
    if kind is None:
        return ()
    return [at(span, written(span.value), rank=1) for span in reading.quoted(kind)]
