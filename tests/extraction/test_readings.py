"""Times in words, days that share a month, bounds, and numbers with a unit of measure."""

from typing import Any

import pytest

from server.library.model import Parameter
from tests.extraction.support import arguments, extract

CLOCK, DAY = Parameter("at", "time"), Parameter("day", "date")
MOST = Parameter("max_price", "number", required=False)
LEAST = Parameter("min_size", "integer", required=False, description="Size in square metres")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("quarter past six in the morning", "06:15"),
        ("a call at quarter to seven tomorrow morning", "06:45"),
        ("half past seven pm", "19:30"),
        ("twenty past eight", "08:20"),
        ("at 7 in the evening", "19:00"),
        ("wake me at eight in the morning", "08:00"),
        ("leave at 8", "08:00"),
    ],
)
def test_a_time_in_words(text: str, value: str) -> None:
    assert arguments(text, CLOCK) == {"at": value}


def test_an_early_hour_without_its_half_of_the_day_is_asked_about() -> None:
    found = extract("come at half past three", CLOCK)
    assert found.missing[0].problem == ("half past three can be in the morning or in the afternoon")


@pytest.mark.parametrize("text", ["move 10 to 6", "five to seven people", "look at 5 rooms"])
def test_what_is_no_time(text: str) -> None:
    assert arguments(text, CLOCK) == {}


@pytest.mark.parametrize("text", ["5am 7 march", "7 March, 5 am", "march 7 at 5:00"])
def test_a_day_and_a_time_go_to_two_parameters(text: str) -> None:
    assert arguments(text, DAY, CLOCK) == {"day": "2025-03-07", "at": "05:00"}


def test_a_day_with_a_bare_hour() -> None:
    moment = Parameter("start", "datetime")
    assert arguments("tomorrow at 9 with Kim", moment) == {"start": "2025-03-06T09:00:00"}


def test_two_days_that_share_their_month() -> None:
    ends = Parameter("from_date", "date"), Parameter("to_date", "date")
    found = {"from_date": "2026-10-01", "to_date": "2026-10-15"}
    assert arguments("from 1 to 15 October 2026", *ends) == found
    assert arguments("between the 1st and 15th of October 2026", *ends) == found


@pytest.mark.parametrize(
    ("text", "value"), [("320 000", 320000), ("1 250 000", 1250000), ("320\u202f500", 320500)]
)
def test_blanks_between_thousands(text: str, value: int) -> None:
    assert arguments(f"budget {text}", Parameter("n", "number")) == {"n": value}


def test_numbers_beside_each_other_stay_apart() -> None:
    numbers = Parameter("values", "array", items={"type": "number"})
    assert arguments("mean of 100 200 300", numbers) == {"values": [100, 200, 300]}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("not over 950", {"max_price": 950}),
        ("950 tops", {"max_price": 950}),
        ("no less than 60", {"min_size": 60}),
        ("60 or more, up to 950", {"min_size": 60, "max_price": 950}),
        ("something with 80 sqm", {"min_size": 80}),
    ],
)
def test_bounds_and_units_say_whose_a_number_is(text: str, found: dict[str, Any]) -> None:
    assert arguments(text, MOST, LEAST, examples=("homes",)) == found


def test_a_bound_for_how_many() -> None:
    limit = Parameter("limit", "integer", required=False)
    for text in ("at most 5 names", "3 orders at most", "orders, up to 50"):
        assert arguments(text, limit).keys() == {"limit"}, text


@pytest.mark.parametrize(
    ("text", "value"), [("1 litre", 1000), ("half a litre", 500), ("330 ml", 330), ("2 kg", None)]
)
def test_metric_units_are_converted(text: str, value: int | None) -> None:
    water = Parameter("millilitres", "integer", required=False)
    found = {} if value is None else {"millilitres": value}
    assert arguments(f"i drank {text}", water, examples=("i drank",)) == found


def test_a_price_a_month_is_no_duration() -> None:
    assert arguments("950 a month", Parameter("stay", "duration")) == {}
    assert arguments("5h20 asleep", Parameter("slept", "duration")) == {"slept": "PT5H20M"}


@pytest.mark.parametrize(
    ("text", "parameter", "expected"),
    [
        ("give Ana 24 days per year", Parameter("per_year", "integer"), 24),
        ("25 days of leave a year for Ana", Parameter("days_per_year", "integer"), 25),
        ("allow 50 calls per day", Parameter("calls_per_day", "integer"), 50),
        ("set the rent to 900 a month", Parameter("monthly_rent", "number"), 900),
        ("set the rent to 900", Parameter("monthly_rent", "number"), 900),
        ("pay 40 an hour", Parameter("pay", "number", unit="per_hour"), 40),
        ("allow 50 calls per week", Parameter("calls", "integer", unit="any"), 50),
    ],
)
def test_a_number_that_is_per_some_time(text: str, parameter: Parameter, expected: int) -> None:
    assert arguments(text, parameter) == {parameter.name: expected}


def test_a_number_that_is_per_another_time_is_asked_about() -> None:
    found = extract("allow 50 calls per week", Parameter("calls_per_day", "integer"))
    assert found.missing[0].problem == "50 calls per week is not per day"


def test_all_of_a_rate_is_the_value() -> None:
    found = extract("allow 50 calls a day", Parameter("calls_per_day", "integer"))
    assert found.sources["calls_per_day"].text == "50 calls a day"
