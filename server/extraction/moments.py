"""Dates and times that could be the value of a parameter."""

from collections.abc import Iterator
from datetime import datetime

from server.extraction.candidate import Candidate, at
from server.extraction.plan import ParameterPlan, TemplatePlan
from server.extraction.recognizers.reading import Reading
from server.extraction.values import written


def _dates(_: ParameterPlan, template: TemplatePlan, reading: Reading) -> Iterator[Candidate]:
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
    plan: ParameterPlan, template: TemplatePlan, reading: Reading
) -> Iterator[Candidate]:
    only_dates = plan.parameter.type == "date"
    found = _dates(plan, template, reading)
    for candidate in found if only_dates else _with_their_times(found, reading):
        value = written(candidate.value)
        yield candidate._replace(value=value[:10] if only_dates else value)
    yield from unreadable(reading, "date")


def find_datetimes(
    plan: ParameterPlan, template: TemplatePlan, reading: Reading
) -> Iterator[Candidate]:
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


def _with_their_times(dates: Iterator[Candidate], reading: Reading) -> Iterator[Candidate]:
    """The dates that are not part of one with a time: tomorrow at 5pm is no mere tomorrow."""
    moments = reading.of("datetime")
    for date in dates:
        within = (m for m in moments if m.start <= date.start and date.end <= m.end)
        if not any(m.end - m.start > date.end - date.start for m in within):
            yield date


def find_written_dates(
    plan: ParameterPlan, template: TemplatePlan, reading: Reading
) -> Iterator[Candidate]:
    for candidate in _with_their_times(_dates(plan, template, reading), reading):
        text = reading.text[candidate.start : candidate.end]
        # "5pm on March 7" is written in no order that a tool could be told of.
        timed = isinstance(candidate.value, datetime)
        absolute = not timed and any(character.isdigit() for character in text)
        yield candidate._replace(value=text if absolute else written(candidate.value))


def unreadable(reading: Reading, kind: str) -> Iterator[Candidate]:
    """What looks like a value of `kind` and is none, with the reason."""
    for span in reading.of("unreadable"):
        if span.unit == kind:
            yield at(span, None)._replace(problem=span.value)


def up_to_today(found: Candidate, reading: Reading) -> tuple[Candidate, Candidate] | None:
    """The two dates of "days until X" or "days since X", of which one is today."""
    index = found.first - 1
    lead = reading.tokens.word(index)
    if lead not in ("until", "till", "since") or found.kind == "template_pattern":
        return None
    start, end = reading.tokens.starts[index], reading.tokens.ends[index]
    today = Candidate(start, end, index, index + 1, reading.today.isoformat())
    return (found, today) if lead == "since" else (today, found)
