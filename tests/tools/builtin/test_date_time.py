"""The date_time tool: what each operation answers and refuses."""

import time
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.core.ports import Tool
from server.errors import ArgumentsInvalid, ToolError, ToolFailed, ToolUnknown
from server.tools.builtin.date_time import DateTime, local_now
from tests.tools.anything import ANYTHING, outcome

CALENDAR = DateTime(clock=lambda: datetime(2025, 3, 4, 15, 6, 7, 89, tzinfo=UTC))


def result(operation: str, **arguments: Any) -> Any:
    return CALENDAR.run(operation, arguments)["result"]


def test_it_is_a_tool_with_the_operations_that_are_specified_and_more() -> None:
    assert isinstance(CALENDAR, Tool)
    operations = CALENDAR.operations.items()
    assert {name: [p.name for p in d.parameters] for name, d in operations} == {
        "now": ["format", "timezone"],
        "format": ["date", "format_string"],
        "diff": ["date1", "date2", "unit"],
        "add_days": ["date", "days"],
        "parse": ["date_string", "format"],
        "business_days": ["date1", "date2", "country"],
        "add_business_days": ["date", "days", "country"],
        "is_business_day": ["date", "country"],
        "period": ["unit", "which", "date"],
        "age": ["birth_date", "at_day"],
        "time_between": ["time1", "time2"],
        "week_number": ["date"],
        "week_dates": ["week", "year"],
        "leap_year": ["year"],
        "add": ["date", "duration"],
        "subtract": ["date", "duration"],
        "convert_time": ["time", "from_zone", "to_zone", "date"],
        "zone_difference": ["zone1", "zone2", "date"],
    }


def test_without_a_clock_it_knows_the_time_of_the_machine() -> None:
    before = datetime.now(UTC) - timedelta(seconds=1)
    assert before <= datetime.fromisoformat(DateTime().run("now", {})["result"])


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu", "America/St_Johns", "XYZ+1:02:03"])
def test_its_time_is_in_the_zone_of_the_machine(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    moment = local_now()
    expected = datetime.fromtimestamp(moment.timestamp()).astimezone()
    monkeypatch.undo()
    time.tzset()
    assert (moment, moment.tzinfo, moment.tzname()) == (
        expected,
        expected.tzinfo,
        expected.tzname(),
    )


def test_now_says_everything_about_the_moment() -> None:
    assert CALENDAR.run("now", {"timezone": "Tokyo"}) == {
        "result": "2025-03-05T00:06:07+09:00",
        "operation": "now",
        "input": {"timezone": "Tokyo"},
        "formatted_date": "2025-03-05 00:06:07",
        "iso": "2025-03-05T00:06:07+09:00",
        "weekday": "Wednesday",
        "time": "00:06:07",
        "timezone": "Asia/Tokyo",
    }


def test_a_date_out_of_a_date_is_formatted_and_explained() -> None:
    assert CALENDAR.run("add_days", {"date": "03/04/2025", "days": "10"}) == {
        "result": "2025-03-14",
        "operation": "add_days",
        "input": {"date": "03/04/2025", "days": "10"},
        "formatted_date": "2025-03-14",
        "iso": "2025-03-14",
        "weekday": "Friday",
        "interpreted_as": "2025-03-04 (month first)",
    }


def test_parsing_takes_a_date_apart() -> None:
    assert CALENDAR.run("parse", {"date_string": "4 March 2025 at 9am"}) == {
        "result": "2025-03-04T09:00:00",
        "operation": "parse",
        "input": {"date_string": "4 March 2025 at 9am"},
        "formatted_date": "2025-03-04 09:00:00",
        "iso": "2025-03-04T09:00:00",
        "weekday": "Tuesday",
        "year": 2025,
        "month": 3,
        "day": 4,
    }


def test_a_difference_says_how_both_dates_were_read() -> None:
    assert CALENDAR.run("diff", {"date1": "today", "date2": "12/25/2025"}) == {
        "result": 296,
        "operation": "diff",
        "input": {"date1": "today", "date2": "12/25/2025"},
        "unit": "days",
        "interpreted_as": "date1: 2025-03-04 (today)",
    }


def test_the_order_of_day_and_month_is_a_setting() -> None:
    european = DateTime(date_order="dmy")
    answer = european.run("parse", {"date_string": "03/04/2025"})
    assert (answer["result"], answer["interpreted_as"]) == ("2025-04-03", "2025-04-03 (day first)")


@pytest.mark.parametrize(
    ("operation", "arguments", "answer"),
    [
        ("now", {}, "2025-03-04T15:06:07+00:00"),
        ("now", {"format": "%H:%M"}, "15:06"),
        ("now", {"format": "long", "timezone": "+10:00"}, "March 5, 2025"),
        ("format", {"date": "2025-03-04", "format_string": "DD/MM/YYYY"}, "04/03/2025"),
        ("format", {"date": date(2025, 3, 4), "format_string": "weekday"}, "Tuesday"),
        ("diff", {"date1": "2024-01-01", "date2": "2025-01-01", "unit": "weeks"}, 52.2857142857143),
        ("diff", {"date1": "2000-05-05", "date2": "today", "unit": "year"}, 24),
        ("diff", {"date1": "2025-03-04T10:00", "date2": "2025-03-04T12:30Z", "unit": "h"}, 2.5),
        ("add_days", {"date": "2025-03-04", "days": -4}, "2025-02-28"),
        ("add_days", {"date": "2025-03-04T10:00Z", "days": 1}, "2025-03-05T10:00:00+00:00"),
        ("parse", {"date_string": "04.03.2025", "format": "DD.MM.YYYY"}, "2025-03-04"),
        ("parse", {"date_string": "next friday", "format": "iso"}, "2025-03-07"),
    ],
)
def test_it_answers(operation: str, arguments: dict[str, Any], answer: Any) -> None:
    assert result(operation, **arguments) == answer


@pytest.mark.parametrize(
    ("operation", "arguments", "failure", "message"),
    [
        (
            "add_days",
            {"date": "9999-12-31", "days": 1},
            ToolFailed,
            "The date lies outside the years 1 to 9999",
        ),
        (
            "add_days",
            {"date": "today", "days": 10**9},
            ArgumentsInvalid,
            "days is 1000000000, and must be from -3652059 to 3652059",
        ),
        (
            "add_days",
            {"date": "today", "days": 1.5},
            ArgumentsInvalid,
            "days is 1.5, which is not a whole number",
        ),
        (
            "diff",
            {"date1": "0001-01-01T00:00Z", "date2": "9999-12-31T23:59-12:00", "unit": "months"},
            ToolFailed,
            "The date lies outside the years 1 to 9999",
        ),
        (
            "diff",
            {"date1": "today"},
            ArgumentsInvalid,
            "date_time diff needs date2",
        ),
        (
            "format",
            {"date": "today", "format": "iso"},
            ArgumentsInvalid,
            "date_time format argument 'format' is not one of date, format_string; "
            "did you mean 'format_string'?",
        ),
        (
            "parse",
            {"date_string": 5, "format": "YYYY"},
            ArgumentsInvalid,
            "date_string must be text, not a number",
        ),
        (
            "tomorrow",
            {},
            ToolUnknown,
            "date_time operation 'tomorrow' is not one of now, format, diff, add_days, parse, "
            "business_days, add_business_days, is_business_day, period, age, time_between, "
            "week_number, week_dates, leap_year, add, subtract, convert_time, zone_difference",
        ),
    ],
)
def test_it_says_what_is_wrong(
    operation: str, arguments: dict[str, Any], failure: type[ToolError], message: str
) -> None:
    with pytest.raises(failure) as refused:
        CALENDAR.run(operation, arguments)
    assert str(refused.value) == message


@given(st.dates(), st.integers(-5000, 5000))
def test_days_added_are_days_apart(day: date, days: int) -> None:
    moved = outcome(CALENDAR, "add_days", {"date": day, "days": days})
    if not isinstance(moved, str):
        assert result("diff", date1=day, date2=moved["result"]) == days
        assert result("add_days", date=moved["result"], days=-days) == day.isoformat()


WORDS = st.sampled_from(
    ["today", "2025-03-04", "03/04/2025", "2025-03-04T10:00Z", "days", "iso", "%Y", "YYYY", "Tokyo"]
)
NAMES = st.sampled_from(
    ["format", "timezone", "date", "format_string", "date1", "date2", "unit", "days", "date_string"]
)


@given(
    st.sampled_from(sorted(CALENDAR.operations)) | st.text(max_size=10),
    st.dictionaries(NAMES | st.text(max_size=5), WORDS | ANYTHING, max_size=3),
)
def test_whatever_it_is_given_it_answers_or_says_why_not(
    operation: str, arguments: dict[str, Any]
) -> None:
    answer = outcome(CALENDAR, operation, arguments)
    assert answer if isinstance(answer, str) else answer["operation"] == operation
