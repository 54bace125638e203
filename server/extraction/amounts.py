"""Numbers that could be the value of a parameter, going by their units."""

from collections.abc import Iterator

from server.core.tools import SourceKind
from server.extraction.candidate import HINT, SURE, Candidate, at, checked
from server.extraction.domain_types import numbers_of_domain
from server.extraction.english import FUNCTION_WORDS
from server.extraction.plan import ParameterPlan, TemplatePlan
from server.extraction.recognizers.durations import Duration, unit_at
from server.extraction.recognizers.numbers import opposite
from server.extraction.recognizers.reading import Reading
from server.extraction.recognizers.span import Span
from server.extraction.recognizers.tokens import Tokens, is_word
from server.extraction.recognizers.torn import torn
from server.extraction.values import Unusable, number


def find_amounts(
    plan: ParameterPlan, template: TemplatePlan, reading: Reading
) -> Iterator[Candidate]:
    spans = reading.of("number")
    if plan.name.unit:
        yield from _counted(plan, template, reading)
    signed = _signed_numbers(plan, template, reading)
    read_by_domain = numbers_of_domain(plan, reading)
    single = len([other for other in template.of("amount") if not other.percent]) < 2
    for span in spans:
        fit = _fit(plan, span)
        if fit is None:
            continue
        if single and torn(reading.tokens, span):
            what = "a number like 1,5 or 1/2 can be read in two ways; write it with a point"
            yield at(span, None, rank=3)._replace(problem=what)
            continue
        rank, hinted, surely = fit
        if plan.name.unit and not span.unit and _counts_things(reading.tokens, span.last):
            continue
        value = span.value
        kind: SourceKind = "recognizer"
        if span.start in read_by_domain:
            value, kind = read_by_domain[span.start], "domain_pattern"
        if span.first in signed:
            value = opposite(number(value))
        problem = ""
        try:
            value = plan.checker.numeric(value)
        except Unusable as refused:
            problem = str(refused)
        start, end, first, last = span[1:5]
        yield Candidate(start, end, first, last, value, kind, rank, hinted, problem, surely)
    if not spans:
        for quote in reading.quoted("number"):
            yield checked(plan, at(quote, quote.value, rank=2))


def _counts_things(tokens: Tokens, index: int) -> bool:
    """Whether the number before `index` counts things, and no time: 3 cities."""
    following = tokens.word(index)
    if not is_word(following) or following in FUNCTION_WORDS:
        return False
    return not unit_at(tokens.word(index + 1), glued=False)  # 3 business days


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
            what = f"{reading.text[span.start : span.end]} has no fixed number of {plan.name.unit}s"
            yield at(span, None)._replace(problem=what)
            continue
        if _backwards(plan, template, span):
            count = opposite(count)
        is_number = any(
            n.start == span.start and n.unit == plan.name.unit for n in reading.of("number")
        )
        if not is_number:
            yield checked(plan, at(span, count, fit=SURE))


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
    return span.unit == "-" and allowed and bool(template.of("date"))
