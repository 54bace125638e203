"""Reading dates: what is understood, how, and what is refused."""

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.errors import ArgumentsInvalid
from server.text.tokens import DateOrder
from server.tools.dates import DateReader, DateReading

EAST = timezone(timedelta(hours=2))
NOW = datetime(2025, 3, 4, 15, 6, 7, 123, tzinfo=EAST)  # a Tuesday


def read(value: Any, order: DateOrder = "mdy") -> DateReading:
    return DateReader(order, lambda: NOW).read(value, "date")


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("2025-03-04", date(2025, 3, 4)),
        ("2025-3-4", date(2025, 3, 4)),
        ("2025/03/04", date(2025, 3, 4)),
        ("20250304", date(2025, 3, 4)),
        ("2025-03-04T10:20:30", datetime(2025, 3, 4, 10, 20, 30)),
        ("2025-03-04T10:20:30.5Z", datetime(2025, 3, 4, 10, 20, 30, 500_000, tzinfo=UTC)),
        ("2025-03-04 10:20 +02:00", datetime(2025, 3, 4, 10, 20, tzinfo=EAST)),
        ("2025-03-04 10:20 UTC", datetime(2025, 3, 4, 10, 20, tzinfo=UTC)),
        ("2025/3/4 9:05 pm", datetime(2025, 3, 4, 21, 5)),
        ("13/04/2025", date(2025, 4, 13)),
        ("04/13/2025", date(2025, 4, 13)),
        ("4/4/2025", date(2025, 4, 4)),
        ("25.12.99", date(1999, 12, 25)),
        ("3.4.2025", date(2025, 4, 3)),
        ("March 4, 2025", date(2025, 3, 4)),
        ("mar. 4th 2025", date(2025, 3, 4)),
        ("4 Sept 2025", date(2025, 9, 4)),
        ("the 4th of March, 2025", date(2025, 3, 4)),
        ("4-Mar-2025", date(2025, 3, 4)),
        ("2025 Mar 4", date(2025, 3, 4)),
        ("Tuesday, March 4, 2025 at 12:00 am", datetime(2025, 3, 4)),
        ("Tue 4 March 2025 12pm", datetime(2025, 3, 4, 12)),
        (date(2025, 3, 4), date(2025, 3, 4)),
        (NOW, NOW),
    ],
)
def test_a_date_with_one_meaning_is_read(written: Any, value: date) -> None:
    reading = read(written)
    assert (reading, type(reading.value)) == (DateReading(value), type(value))
    assert reading.describe() == ""


@pytest.mark.parametrize(
    ("order", "written", "described"),
    [
        ("mdy", "03/04/2025", "2025-03-04 (month first)"),
        ("dmy", "03/04/2025", "2025-04-03 (day first)"),
        ("dmy", "3-4-25 10:00", "2025-04-03T10:00:00 (day first)"),
        ("mdy", "March 4", "2025-03-04 (this year)"),
        ("mdy", "March 2025", "2025-03-01 (the first of the month)"),
        ("mdy", "now", "2025-03-04T15:06:07+02:00 (now)"),
        ("mdy", "Today", "2025-03-04 (today)"),
        ("mdy", "tomorrow at 5pm", "2025-03-05T17:00:00 (tomorrow)"),
        ("mdy", "yesterday noon", "2025-03-03T12:00:00 (yesterday)"),
        ("mdy", "the day after tomorrow", "2025-03-06 (day after tomorrow)"),
        ("mdy", "10:30", "2025-03-04T10:30:00 (today)"),
        ("mdy", "next friday", "2025-03-07 (the first Friday after 2025-03-04)"),
        ("mdy", "next tuesday", "2025-03-11 (the first Tuesday after 2025-03-04)"),
        ("mdy", "last tues", "2025-02-25 (the last Tuesday before 2025-03-04)"),
        ("mdy", "on Tuesday", "2025-03-04 (the first Tuesday from 2025-03-04 on)"),
        ("mdy", "next month", "2025-04-04 (next month)"),
        ("mdy", "in 3 days", "2025-03-07 (3 days after 2025-03-04)"),
        ("mdy", "two weeks ago", "2025-02-18 (2 weeks before 2025-03-04)"),
        ("mdy", "an hour ago", "2025-03-04T14:06:07+02:00 (1 hour before 2025-03-04)"),
        ("mdy", "1 year from now", "2026-03-04 (1 year after 2025-03-04)"),
    ],
)
def test_a_date_that_needs_a_choice_says_which(
    order: DateOrder, written: str, described: str
) -> None:
    assert read(written, order).describe() == described


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("", "date is '', which is not a date; write it as YYYY-MM-DD"),
        ("banana", "date is 'banana', which is not a date; write it as YYYY-MM-DD"),
        ("12", "date is '12', which is not a date; write it as YYYY-MM-DD"),
        (
            "an hour ago at 5pm",
            "date is 'an hour ago at 5pm', which is not a date; write it as YYYY-MM-DD",
        ),
        (
            "2025-02-30",
            "date is '2025-02-30', which is not in the calendar: day is out of range for month",
        ),
        (
            "13/13/2025",
            "date is '13/13/2025', which is not in the calendar: month must be in 1..12",
        ),
        (
            "Monday, March 4, 2025",
            "date is 'Monday, March 4, 2025', which is not in the calendar: "
            "2025-03-04 is a Tuesday, not a Monday",
        ),
        (
            "2025-03-04 25:00",
            "date is '2025-03-04 25:00', which is not in the calendar: hour must be in 0..23",
        ),
        (
            "today 13pm",
            "date is 'today 13pm', which is not in the calendar: 13 pm is no time of day",
        ),
        (
            "9999999 days ago",
            "date is '9999999 days ago', which is not in the calendar: date value out of range",
        ),
        (
            "in 99999 years",
            "date is 'in 99999 years', which is not in the calendar: year out of range",
        ),
        (
            "2025-03-04 10:00 Mars/Base",
            "the zone of date 'mars/base' is not known; write a zone such as Europe/Paris, a city "
            "such as Tokyo, or an offset such as +02:00",
        ),
        (1741091767, "date must be a date, not a number"),
        (None, "date must be a date, not nothing"),
        ("x" * 101, "date is longer than 100 characters"),
    ],
)
def test_what_is_no_date_is_refused(written: Any, problem: str) -> None:
    with pytest.raises(ArgumentsInvalid) as refused:
        read(written)
    assert str(refused.value) == problem


@given(st.dates())
def test_iso_dates_are_read_as_they_are(day: date) -> None:
    assert read(day.isoformat()) == DateReading(day)


@given(st.datetimes(timezones=st.none() | st.just(EAST) | st.just(UTC)))
def test_iso_moments_are_read_as_they_are(moment: datetime) -> None:
    assert read(moment.isoformat()) == DateReading(moment)


@given(st.dates(min_value=date(1000, 1, 1)))
def test_the_order_only_matters_when_both_could_be_the_month(day: date) -> None:
    us, eu = read(day.strftime("%m/%d/%Y"), "mdy"), read(day.strftime("%d/%m/%Y"), "dmy")
    assert us.value == eu.value == day
    assert bool(us.how) == bool(eu.how) == (day.day <= 12 and day.day != day.month)


PIECES = (
    st.sampled_from(["next", "last", "in", "ago", "3", "99999999", "days", "week", "month"])
    | st.sampled_from(["year", "friday", "mar", "4", "4th", "2025", "2025-03-04", "03/04/2025"])
    | st.sampled_from(["today", "now", "at", "5pm", "10:30", "noon", "am", "utc", "+02:00"])
    | st.sampled_from(["europe/paris", ",", "-", "the", "of", "on"])
)


@given(st.text(max_size=40) | st.lists(PIECES, max_size=6).map(" ".join))
def test_any_text_is_a_date_or_is_refused(written: str) -> None:
    try:
        reading = read(written)
    except ArgumentsInvalid:
        return
    assert isinstance(reading.value, date)
