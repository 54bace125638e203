"""The calendar against python-dateutil and datetime, over generated dates; and what is refused."""

import sys
from calendar import isleap
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from dateutil.easter import easter as easter_of
from dateutil.relativedelta import relativedelta, weekdays
from dateutil.rrule import DAILY, rrule
from hypothesis import given, settings
from hypothesis import strategies as st

from server.errors import ArgumentsInvalid, ToolFailed
from server.text.calendar import easter, nth_weekday, period_around
from server.tools.builtin.date_time import DateTime
from server.tools.business_days import add_business_days, count_business_days
from tests.tools.anything import ANYTHING, outcome

CALENDAR = DateTime(clock=lambda: datetime(2025, 3, 4, 15, 6, 7, 89, tzinfo=UTC))
MANY = settings(max_examples=500, deadline=None)
DAYS = st.dates(date(1600, 1, 1), date(2600, 12, 31))
ORDINALS = ("first", "second", "third", "fourth", "fifth")
NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def run(operation: str, **arguments: Any) -> dict[str, Any]:
    return CALENDAR.run(operation, arguments)


def result(operation: str, **arguments: Any) -> Any:
    return run(operation, **arguments)["result"]


def test_easter_falls_as_dateutil_has_it_in_every_year() -> None:
    years = range(1583, 4100)
    assert [easter(year) for year in years] == [easter_of(year) for year in years]


@MANY
@given(DAYS, st.integers(-600, 600), st.sampled_from(("month", "quarter", "year", "week", "day")))
def test_units_are_added_as_dateutil_does(day: date, count: int, unit: str) -> None:
    amounts = {"quarter": ("months", 3 * count)}
    key, amount = amounts.get(unit, (f"{unit}s", count))
    expected = day + relativedelta(**{key: amount})
    operation = "add" if count >= 0 else "subtract"
    written = f"{abs(count)} {unit}s"
    assert result(operation, date=day.isoformat(), duration=written) == expected.isoformat()


@pytest.mark.slow
@MANY
@given(DAYS, st.integers(0, 40), st.integers(0, 11), st.integers(0, 60))
def test_lengths_of_several_units_are_added_as_dateutil_does(
    day: date, years: int, months: int, days: int
) -> None:
    length = relativedelta(years=years, months=months, days=days)
    written = f"P{years}Y{months}M{days}D"
    assert result("add", date=day.isoformat(), duration=written) == (day + length).isoformat()
    assert result("subtract", date=day.isoformat(), duration=written) == (day - length).isoformat()


@pytest.mark.slow
@MANY
@given(st.integers(1990, 2060), st.integers(1, 12), st.integers(1, 5), st.integers(0, 6))
def test_the_nth_weekday_of_a_month_is_the_one_that_dateutil_finds(
    year: int, month: int, nth: int, weekday: int
) -> None:
    first = date(year, month, 1)
    period = period_around(first, "month")
    expected = first + relativedelta(weekday=weekdays[weekday](+nth))
    found = nth_weekday(period, weekday, nth)
    assert found == (expected if expected.month == month else None)
    last = first + relativedelta(day=31, weekday=weekdays[weekday](-nth))
    assert nth_weekday(period, weekday, -nth) == (last if last.month == month else None)
    if found is not None:
        words = f"{ORDINALS[nth - 1]} {NAMES[weekday]} of {first:%B %Y}"
        assert result("parse", date_string=words) == expected.isoformat()


@pytest.mark.slow
@MANY
@given(DAYS, st.sampled_from(("week", "month", "quarter", "year")))
def test_a_period_begins_and_ends_where_dateutil_has_it(day: date, unit: str) -> None:
    answer = run("period", unit=unit, date=day.isoformat())
    quarter = (day.month - 1) // 3 * 3 + 1
    start = {
        "week": day - timedelta(days=day.weekday()),
        "month": day + relativedelta(day=1),
        "quarter": day + relativedelta(month=quarter, day=1),
        "year": day + relativedelta(month=1, day=1),
    }[unit]
    length = relativedelta(months=3) if unit == "quarter" else relativedelta(**{f"{unit}s": 1})
    end = start + length - timedelta(days=1)
    assert (answer["start"], answer["end"]) == (start.isoformat(), end.isoformat())
    assert answer["days"] == (end - start).days + 1 == answer["elapsed"] + answer["left"]


@MANY
@given(DAYS, st.integers(0, 45_000))
def test_an_age_is_what_dateutil_has(born: date, days: int) -> None:
    on = born + timedelta(days=days)
    answer = run("age", birth_date=born.isoformat(), at_day=on.isoformat())
    expected = relativedelta(on, born)
    assert (answer["years"], answer["months"]) == (expected.years, expected.months)
    assert (
        born
        + relativedelta(years=answer["years"], months=answer["months"])
        + timedelta(days=answer["days"])
        == on
    )
    assert answer["total_days"] == days


@pytest.mark.slow
@MANY
@given(DAYS, st.integers(-400, 400))
def test_business_days_are_those_that_dateutil_lists(start: date, days: int) -> None:
    end = start + timedelta(days=days)
    low, high = (start + timedelta(1), end) if days >= 0 else (end, start - timedelta(1))
    listed = (
        []
        if high < low
        else list(
            rrule(
                DAILY,
                dtstart=datetime.combine(low, time()),
                until=datetime.combine(high, time()),
                byweekday=range(5),
            )
        )
    )
    count = len(listed) if days >= 0 else -len(listed)
    assert count_business_days(start, end) == count
    if listed:
        far = listed[-1] if days >= 0 else listed[0]
        assert add_business_days(start, count) == far.date()


@pytest.mark.slow
@MANY
@given(DAYS, st.integers(-300, 300), st.sets(st.integers(-200, 200), max_size=30))
def test_holidays_are_left_out_one_day_at_a_time(start: date, count: int, off: set[int]) -> None:
    days_off = {start + timedelta(days=each): "a holiday" for each in off}

    def holidays(year: int) -> dict[date, str]:
        return {day: name for day, name in days_off.items() if day.year == year}

    day, left, step = start, abs(count), timedelta(days=1 if count > 0 else -1)
    while left:
        day += step
        left -= day.weekday() < 5 and day not in days_off
    assert add_business_days(start, count, holidays) == day
    assert count_business_days(start, day, holidays) == count


@MANY
@given(DAYS)
def test_weeks_are_those_of_iso_8601(day: date) -> None:
    year, week, _ = day.isocalendar()
    answer = run("week_number", date=day.isoformat())
    assert (answer["result"], answer["year"]) == (week, year)
    assert date.fromisoformat(answer["start"]) <= day <= date.fromisoformat(answer["end"])
    assert run("week_dates", week=week, year=year)["start"] == answer["start"]


@pytest.mark.slow
@MANY
@given(
    st.datetimes(datetime(1990, 1, 1), datetime(2035, 12, 31)),
    st.sampled_from(("Europe/Paris", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe")),
    st.sampled_from(("Asia/Tokyo", "America/St_Johns", "UTC", "Africa/Cairo")),
)
def test_times_are_converted_as_datetime_does(moment: datetime, source: str, target: str) -> None:
    moment = moment.replace(second=0, microsecond=0, fold=0)
    here = moment.replace(tzinfo=ZoneInfo(source))
    there = here.astimezone(ZoneInfo(target))
    arguments = {
        "time": f"{moment:%H:%M}",
        "date": moment.date().isoformat(),
        "from_zone": source,
        "to_zone": target,
    }
    if there.astimezone(ZoneInfo(source)).replace(tzinfo=None) != moment:
        with pytest.raises(ToolFailed, match="when they go forward"):
            run("convert_time", **arguments)
        return
    answer = run("convert_time", **arguments)
    assert (answer["result"], answer["date"]) == (f"{there:%H:%M}", there.date().isoformat())


@given(st.times(), st.times())
def test_from_one_time_of_day_to_the_next(first: time, second: time) -> None:
    first, second = first.replace(microsecond=0), second.replace(microsecond=0)
    answer = run("time_between", time1=first.isoformat(), time2=second.isoformat())
    again = datetime.combine(date(2025, 1, 1), first) + timedelta(seconds=answer["seconds"])
    assert again.time() == second
    assert 0 <= answer["seconds"] < 86_400


@given(st.integers(1, 9999))
def test_leap_years(year: int) -> None:
    answer = run("leap_year", year=year)
    assert (answer["result"], answer["days"]) == (isleap(year), 365 + isleap(year))


def test_what_is_left_of_a_period_is_counted_from_today() -> None:
    assert run("period", unit="quarter") == {
        "result": "2025-01-01/2025-03-31",
        "operation": "period",
        "input": {"unit": "quarter"},
        "start": "2025-01-01",
        "end": "2025-03-31",
        "days": 90,
        "elapsed": 63,
        "left": 27,
        "unit": "quarter",
    }
    assert run("period", unit="month", which="next")["left"] is None


@pytest.mark.parametrize(
    ("operation", "arguments", "problem"),
    [
        (
            "convert_time",
            {"time": "9:00", "from_zone": "Hogwarts", "to_zone": "Tokyo"},
            "from_zone 'Hogwarts' is not known; write a zone such as Europe/Paris, a city such as "
            "Tokyo, or an offset such as +02:00",
        ),
        (
            "zone_difference",
            {"zone1": "Tokyo", "zone2": "Canada"},
            "zone2 'Canada': Canada has several time zones; name a city there",
        ),
        (
            "convert_time",
            {"time": "2:30", "from_zone": "Paris", "to_zone": "UTC", "date": "2025-03-30"},
            "The clocks in Europe/Paris skip 02:30 on 2025-03-30, when they go forward",
        ),
        ("age", {"birth_date": "2030-01-01"}, "2025-03-04 is before the date of birth, 2030-01-01"),
        ("week_dates", {"week": 53, "year": 2025}, "2025 has no week 53, only 52"),
        (
            "add",
            {"date": "2025-01-01", "duration": "3 hours"},
            "2025-01-01 has no time of day that PT3H could be added to; give one",
        ),
        (
            "add",
            {"date": "2025-01-01", "duration": "a while"},
            "duration is 'a while', which is not a length of time; write it as 18 months or P1Y6M",
        ),
        (
            "time_between",
            {"time1": "9:00", "time2": "later"},
            "time2 is 'later', which is not a time of day; write it as 17:30 or 5pm",
        ),
        (
            "business_days",
            {"date1": "2025-01-01", "date2": "2025-02-01", "country": "Hogwarts"},
            "country 'Hogwarts' is not a country that is known",
        ),
    ],
)
def test_what_cannot_be_worked_out_is_named(
    operation: str, arguments: dict[str, Any], problem: str
) -> None:
    with pytest.raises((ArgumentsInvalid, ToolFailed)) as refused:
        run(operation, **arguments)
    assert str(refused.value) == problem


def test_public_holidays_are_left_out_by_country() -> None:
    pytest.importorskip("holidays")
    # Good Friday and Easter Monday
    arguments = {"date1": "2025-04-17", "date2": "2025-04-22"}
    assert result("business_days", **arguments) == 3
    assert result("business_days", **arguments, country="Germany") == 1
    assert result("add_business_days", date="2025-04-17", days=1, country="DE") == "2025-04-22"
    answer = run("is_business_day", date="2025-12-25", country="UK")
    assert (answer["result"], answer["why"]) == (False, "Christmas Day")
    assert result("is_business_day", date="2025-12-24", country="UK") is True


def test_without_the_extra_public_holidays_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "holidays", None)
    with pytest.raises(ToolFailed) as refused:
        run("is_business_day", date="2025-12-25", country="Germany")
    assert str(refused.value) == (
        "Public holidays need the extra 'holidays', which is not installed here; "
        "install it with: pip install 'orbit-server[holidays]'"
    )


@pytest.mark.slow
@pytest.mark.parametrize("operation", sorted(set(CALENDAR.operations)))
@given(data=st.data())
def test_any_arguments_are_answered_or_refused(operation: str, data: st.DataObject) -> None:
    names = [p.name for p in CALENDAR.operations[operation].parameters]
    arguments = {name: data.draw(ANYTHING) for name in names}
    assert outcome(CALENDAR, operation, arguments)
