"""Stretches of days as arguments: the two days that a template asks its data for, or how far back.

Last month is a first and a last day, where the template takes both; the last two weeks are 14 for
a number of days to look back. What a template cannot say of a stretch is left unread.
"""

from collections.abc import Iterator
from datetime import date

from server.extraction.plan import ParameterPlan, TemplatePlan
from server.extraction.values import SURE, Candidate, SpanSet, from_words
from server.text.parsed_text import ParsedText
from server.text.periods import Back, SpokenPeriod, find_periods


def days_of_period(
    plan: TemplatePlan, reading: ParsedText, taken: SpanSet
) -> dict[str, Candidate] | None:
    """The days that a stretch of days gives to a template; None where it gives none for sure.

    Two days that are named as such are no stretch, nor is one after “since” or “until”: those are
    read as dates are.
    """
    low, high = plan.period
    periods = [
        one
        for one in find_periods(reading)
        if taken.has_room(reading.tokens, one.first, one.last) and not _counts_for_another(plan)
    ]
    if len(periods) != 1 or (low is None and high is None):
        return None
    (said,) = periods
    if said.is_days and (said.reach != "within" or low is None or high is None):
        return _since_day(said, low, high, reading)
    found: dict[str, Candidate] = {}
    if low is not None and high is None and not _reaches(said, reading.today):
        return None  # nothing says where it ends
    if high is not None and low is None and said.start is not None:
        return None
    if low is not None and said.start is not None:
        found[low.key] = _day(low, said, said.start, reading, is_end=False)
    if high is not None:
        end = said.end
        if end is None and high.required and said.start is not None:
            end = max(said.start, reading.today)
        if end is not None:
            found[high.key] = _day(high, said, end, reading, is_end=True)
    return None if any(one.problem for one in found.values()) else found or None


def _since_day(
    said: SpokenPeriod,
    low: ParameterPlan | None,
    high: ParameterPlan | None,
    reading: ParsedText,
) -> dict[str, Candidate] | None:
    """Since a day; the last one is today, where it has to be said as well."""
    if said.reach != "since" or said.start is None or low is None:
        return None
    found = {low.key: _day(low, said, said.start, reading, is_end=False)}
    if high is not None and high.required:
        end = max(said.start, reading.today)
        found[high.key] = _day(high, said, end, reading, is_end=True)
    return found


def _counts_for_another(plan: TemplatePlan) -> bool:
    return any(one.looks_back for one in plan.groups["amount"])


def _reaches(said: SpokenPeriod, today: date) -> bool:
    """Whether a stretch goes on until today or further, so that its beginning says it all."""
    return said.end is None or (said.end >= today and said.reach == "within")


def _day(
    plan: ParameterPlan, said: SpokenPeriod, day: date, reading: ParsedText, *, is_end: bool
) -> Candidate:
    first, last = said.first, said.last
    if said.split is not None:
        first, last = (said.split, last) if is_end else (first, said.split)
    value = day.isoformat()
    if plan.role == "datetime":
        value += "T23:59:59" if is_end else "T00:00:00"
    place = from_words(reading.tokens, first, last, value)
    return plan.checker.checked(place) if plan.parameter.pattern else place


def looked_back(plan: ParameterPlan, reading: ParsedText) -> Iterator[Candidate]:
    """How many days, weeks or months back a question looks."""
    tokens = reading.tokens
    unit = plan.looks_back
    places = set[int]()
    for one in find_periods(reading):
        if one.back is not None:
            places.update(range(one.first, one.last))
            found = from_words(tokens, one.first, one.last, one.back.count_in(unit))
            yield plan.checker.checked(found._replace(fit=SURE))
    for span in reading.of("duration"):
        if span.first not in places:
            count = span.value.count_in(unit)
            if count is None and span.value.months:
                count = Back(span.value.months).count_in(unit)
            if count is not None:
                place = Candidate(span.start, span.end, span.first, span.last, count, fit=SURE)
                yield plan.checker.checked(place)
    for span in reading.of("number"):
        if not span.unit and span.first not in places:
            place = Candidate(span.start, span.end, span.first, span.last, span.value, hinted=True)
            yield plan.checker.checked(place._replace(rank=1))
