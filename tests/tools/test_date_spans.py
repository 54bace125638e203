"""Spans: how long it is from one date to another."""

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.errors import ArgumentsInvalid
from server.text.calendar import add_months
from server.tools.builtin.date_time import DIFFERENCE_UNIT
from server.tools.dates import UNITS, count_between

EAST = timezone(timedelta(hours=2))
PARIS = ZoneInfo("Europe/Paris")


@pytest.mark.parametrize(
    ("start", "end", "unit", "length"),
    [
        (date(2025, 3, 4), date(2025, 12, 25), "days", 296),
        (date(2025, 12, 25), date(2025, 3, 4), "days", -296),
        (date(2025, 3, 4), datetime(2025, 3, 5, 12), "days", 1.5),
        (date(2025, 3, 4), date(2025, 3, 14), "weeks", 1.42857142857143),
        (date(2025, 3, 4), date(2025, 3, 18), "weeks", 2),
        (datetime(2025, 3, 4, 10), datetime(2025, 3, 4, 10, 0, 0, 1), "seconds", 0.000001),
        (date(2025, 1, 31), date(2025, 2, 28), "months", 1),
        (date(2025, 1, 15), date(2025, 3, 14), "months", 1),
        (date(2025, 3, 14), date(2025, 1, 15), "months", -1),
        (date(2000, 2, 29), date(2025, 2, 28), "years", 25),
        (date(2000, 3, 1), date(2025, 2, 28), "years", 24),
        (date(2025, 2, 28), date(2000, 3, 1), "years", -24),
        # A moment without a zone is read in the other's.
        (datetime(2025, 3, 4, 10), datetime(2025, 3, 4, 12, tzinfo=EAST), "hours", 2),
        (datetime(2025, 3, 4, 10, tzinfo=UTC), datetime(2025, 3, 4, 12, tzinfo=EAST), "hours", 0),
        # The clocks of Paris skip an hour on that night.
        (datetime(2025, 3, 30, tzinfo=PARIS), datetime(2025, 3, 31, tzinfo=PARIS), "hours", 23),
        (datetime(2025, 3, 1, tzinfo=EAST), datetime(2025, 3, 31, tzinfo=EAST), "months", 0),
    ],
)
def test_a_span_is_counted(start: date, end: date, unit: str, length: float) -> None:
    counted = count_between(start, end, unit)
    assert (counted, type(counted)) == (length, type(length))


@pytest.mark.parametrize(
    ("written", "unit"),
    [("day", "days"), ("Hrs.", "hours"), ("mo", "months"), (" YEARS ", "years")],
)
def test_a_unit_has_many_names(written: str, unit: str) -> None:
    assert DIFFERENCE_UNIT.value_of(written) == unit


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        (
            "fortnights",
            "unit 'fortnights' is not one of seconds, minutes, hours, days, weeks, months, years",
        ),
        (
            "dayz",
            "unit 'dayz' is not one of seconds, minutes, hours, days, weeks, months, years; "
            "did you mean 'days'?",
        ),
        (3, "unit must be text, not a number"),
    ],
)
def test_an_unknown_unit_is_told_with_those_there_are(written: object, problem: str) -> None:
    with pytest.raises(ArgumentsInvalid) as refused:
        DIFFERENCE_UNIT.value_of(written)
    assert str(refused.value) == problem


MOMENTS = st.dates() | st.datetimes(timezones=st.none() | st.just(UTC) | st.just(PARIS))


@given(MOMENTS, MOMENTS, st.sampled_from(UNITS))
def test_the_way_back_is_as_long(start: date, end: date, unit: str) -> None:
    try:
        there, back = count_between(start, end, unit), count_between(end, start, unit)
    except OverflowError:
        return
    assert there == -back


@given(st.dates(), st.integers(-3000, 3000))
def test_months_added_are_months_apart(day: date, months: int) -> None:
    try:
        moved = add_months(day, months)
    except OverflowError:
        return
    assert moved.day <= day.day
    if months >= 0:
        assert count_between(day, moved, "months") == months
