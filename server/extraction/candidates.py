"""Every place of a question that could be the value of a parameter."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Final

from server.core.tools import SourceKind
from server.extraction.domain_types import numbers_of_domain, with_domain
from server.extraction.plan import NUMERIC, ParameterPlan, TemplatePlan
from server.extraction.types import CURRENCY_OF_AMOUNT, HINT, SURE, ValueCandidate, at, checked
from server.extraction.value_kinds import ValueKind
from server.extraction.values import InvalidValue, number, written
from server.text.decimals import opposite
from server.text.durations import Duration, unit_at
from server.text.language import load_language
from server.text.numbers import ambiguous_numbers
from server.text.parsed_text import ParsedText
from server.text.span import Kind, Span
from server.text.tokens import Tokens, is_digits, is_word

_ENGLISH: Final = load_language("en")
_FUNCTION_WORDS: Final = _ENGLISH.function_words


def find_amounts(
    plan: ParameterPlan, template: TemplatePlan, reading: ParsedText
) -> Iterator[ValueCandidate]:
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
        if single and ambiguous_numbers(reading.tokens, span):
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
        except InvalidValue as refused:
            problem = str(refused)
        start, end, first, last = span[1:5]
        yield ValueCandidate(start, end, first, last, value, kind, rank, hinted, problem, surely)
    if not spans:
        for quote in reading.quoted("number"):
            yield checked(plan, at(quote, quote.value, rank=2))


def _counts_things(tokens: Tokens, index: int) -> bool:
    """Whether the number before `index` counts things, and no time: 3 cities."""
    following = tokens.word(index)
    if not is_word(following) or following in _FUNCTION_WORDS:
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


def _counted(
    plan: ParameterPlan, template: TemplatePlan, reading: ParsedText
) -> Iterator[ValueCandidate]:
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
    plan: ParameterPlan, template: TemplatePlan, reading: ParsedText
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


def _dates(
    _: ParameterPlan, template: TemplatePlan, reading: ParsedText
) -> Iterator[ValueCandidate]:
    counts = template.counts_time
    offsets = () if counts else reading.of("offset")
    for span in reading.of("date"):
        if not any(o.start <= span.start and span.end <= o.end for o in offsets):
            yield at(span, span.value, rank=1 if span.weak or reading.is_present(span) else 0)
    for span in reading.of("datetime"):
        yield at(span, span.value)
    for span in offsets:
        yield at(span, span.value)
    if counts:
        for span in reading.of("anchor"):
            yield at(span, span.value, rank=2)


def find_dates(
    plan: ParameterPlan, template: TemplatePlan, reading: ParsedText
) -> Iterator[ValueCandidate]:
    only_dates = plan.parameter.type == "date"
    found = _dates(plan, template, reading)
    for candidate in found if only_dates else _with_their_times(found, reading):
        value = written(candidate.value)
        yield candidate._replace(value=value[:10] if only_dates else value)
    yield from unreadable(reading, "date")


def find_datetimes(
    plan: ParameterPlan, template: TemplatePlan, reading: ParsedText
) -> Iterator[ValueCandidate]:
    moments = reading.of("datetime")
    for span in moments:
        yield at(span, written(span.value))
    for candidate in _dates(plan, template, reading):
        if not any(m.start <= candidate.start < m.end for m in moments):
            yield candidate._replace(value=f"{candidate.value.isoformat()}T00:00:00")
    for span in reading.of("time"):
        if not any(m.start <= span.start < m.end for m in moments):
            moment = f"{reading.today.isoformat()}T{span.value.isoformat()}"
            yield at(span, moment, rank=2)
    yield from unreadable(reading, "date")


def _with_their_times(
    dates: Iterator[ValueCandidate], reading: ParsedText
) -> Iterator[ValueCandidate]:
    """The dates that are not part of one with a time: tomorrow at 5pm is no mere tomorrow."""
    moments = reading.of("datetime")
    for date in dates:
        within = (m for m in moments if m.start <= date.start and date.end <= m.end)
        if not any(m.end - m.start > date.end - date.start for m in within):
            yield date


def find_written_dates(
    plan: ParameterPlan, template: TemplatePlan, reading: ParsedText
) -> Iterator[ValueCandidate]:
    for candidate in _with_their_times(_dates(plan, template, reading), reading):
        text = reading.text[candidate.start : candidate.end]
        # "5pm on March 7" is written in no order that a tool could be told of.
        timed = isinstance(candidate.value, datetime)
        absolute = not timed and any(character.isdigit() for character in text)
        yield candidate._replace(value=text if absolute else written(candidate.value))


def unreadable(reading: ParsedText, kind: str) -> Iterator[ValueCandidate]:
    """What looks like a value of `kind` and is none, with the reason."""
    for span in reading.of("unreadable"):
        if span.unit == kind:
            yield at(span, None)._replace(problem=span.value)


def up_to_today(
    found: ValueCandidate, reading: ParsedText
) -> tuple[ValueCandidate, ValueCandidate] | None:
    """The two dates of "days until X" or "days since X", of which one is today."""
    index = found.first - 1
    lead = reading.tokens.word(index)
    if lead not in ("until", "till", "since") or found.kind == "template_pattern":
        return None
    start, end = reading.tokens.starts[index], reading.tokens.ends[index]
    today = ValueCandidate(start, end, index, index + 1, reading.today.isoformat())
    return (found, today) if lead == "since" else (today, found)


def candidates(
    plan: ParameterPlan, template: TemplatePlan, reading: ParsedText
) -> list[ValueCandidate]:
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


def _order(candidate: ValueCandidate) -> tuple[int, int]:
    return candidate.rank, candidate.start


def _kinds(*kinds: Kind) -> Callable[..., Iterator[ValueCandidate]]:
    def find(_: ParameterPlan, __: TemplatePlan, reading: ParsedText) -> Iterator[ValueCandidate]:
        for kind in kinds:
            for span in reading.of(kind):
                yield at(span, written(span.value))

    return find


def _times(_: ParameterPlan, __: TemplatePlan, reading: ParsedText) -> Iterator[ValueCandidate]:
    for span in reading.of("time"):
        yield at(span, written(span.value))
    yield from unreadable(reading, "time")


def _currencies(
    plan: ParameterPlan, _: TemplatePlan, reading: ParsedText
) -> Iterator[ValueCandidate]:
    """Currencies; the one of an amount is the one to convert from."""
    amounts = {place for n in reading.of("number") for place in (n.first, n.last)}
    for span in reading.of("currency"):
        of_amount = span.last in amounts or span.first in amounts
        sure = of_amount and "from" in plan.name.topics
        yield at(span, span.value, fit=CURRENCY_OF_AMOUNT if sure else 0)


def _date_formats(
    _: ParameterPlan, __: TemplatePlan, reading: ParsedText
) -> Iterator[ValueCandidate]:
    for span in reading.date_formats:
        yield at(span, span.value)


def _choices(plan: ParameterPlan, _: TemplatePlan, reading: ParsedText) -> Iterator[ValueCandidate]:
    tokens = reading.tokens
    for phrase in plan.choices.find(tokens):
        start, end = tokens.starts[phrase.first], tokens.ends[phrase.last - 1]
        if is_digits(tokens.words[phrase.first]) and _cuts_a_value(reading, start, end):
            continue
        rank = 1 if phrase.weak else 0
        yield ValueCandidate(
            start, end, phrase.first, phrase.last, phrase.value, "vocabulary", rank
        )
    for quote in reading.of("quoted"):
        known, value = plan.choices.lookup(quote.value)
        if known:
            yield at(quote, value)._replace(kind="vocabulary")


def _cuts_a_value(reading: ParsedText, start: int, end: int) -> bool:
    """Whether the place is but a part of a number or a date, as the 2 of 2.5 is."""
    return any(
        span.start <= start and end <= span.end and span.end - span.start > end - start
        for kind in _WHOLE
        for span in reading.of(kind)
    )


_WHOLE: Final[tuple[Kind, ...]] = ("number", "date", "datetime", "time")
_FINDERS: Final[dict[ValueKind, Callable[..., Iterator[ValueCandidate]]]] = {
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
_QUOTED_KINDS: Final[dict[ValueKind, Kind]] = {
    "date": "date", "datetime": "datetime", "time": "time", "duration": "duration",
    "email": "email", "url": "url", "currency": "currency",
}  # fmt: skip


def _in_quotes(plan: ParameterPlan, reading: ParsedText) -> Iterable[ValueCandidate]:
    if plan.role == "written_date":
        return [at(quote, quote.value) for quote in reading.of("quoted")]
    kind = _QUOTED_KINDS.get(plan.role)
    if kind is None:
        return ()
    return [at(span, written(span.value), rank=1) for span in reading.quoted(kind)]
