"""Which days of a forecast the agent example shows, whatever day it is."""

from datetime import date, timedelta
from pathlib import Path

import pytest

from server.library.loader import load_library
from server.library.rendering import render

FOLDER = Path(__file__).parents[2] / "examples" / "intent-templates" / "agent-template"
DAYS = [date(2023, 12, 25) + timedelta(days=n) for n in range(800)]
"""Over the ends of years and a leap day."""


@pytest.fixture(scope="module")
def text() -> str:
    library = load_library(FOLDER / "domain.yaml", [FOLDER / "http_tools.yaml"], {}).library
    assert library is not None
    return library.templates["get_weather_forecast"].response_template["en"]


def shown(text: str, today: date, count: int = 14, **arguments: str) -> list[str]:
    """The days in the first column of the answer, as they are written there."""
    days = [(today + timedelta(days=n)).isoformat() for n in range(count)]
    figures = {"highs": days, "lows": days, "rain": days, "degrees": "°C"}
    answer = render(
        text, {"place": "Rome", "country": "Italy", "each_day": days, **figures, **arguments}
    )
    return [line.split(" | ")[0].removeprefix("| ") for line in answer.splitlines()[4:]]


def written(*days: date) -> list[str]:
    return [f"{day:%a %Y-%m-%d}" for day in days]


def test_every_day_is_shown_with_its_weekday(text: str) -> None:
    for today in DAYS:
        assert shown(text, today, 3) == written(*(today + timedelta(days=n) for n in range(3)))


def test_a_weekend_is_what_is_left_of_this_one_or_the_coming_one(text: str) -> None:
    for today in DAYS:
        sunday = today + timedelta(days=6 - today.weekday())
        days = (sunday - timedelta(days=1), sunday)
        left = [day for day in days if day >= today]
        assert shown(text, today, period="weekend") == written(*left)


def test_next_weekend_is_the_first_whole_one_after_today(text: str) -> None:
    for today in DAYS:
        saturday = next(
            day for n in range(1, 8) if (day := today + timedelta(days=n)).weekday() == 5
        )
        expected = written(saturday, saturday + timedelta(days=1))
        assert shown(text, today, period="next weekend") == expected


def test_next_week_is_from_monday_to_sunday(text: str) -> None:
    for today in DAYS:
        monday = today + timedelta(days=7 - today.weekday())
        expected = written(*(monday + timedelta(days=n) for n in range(7)))
        assert shown(text, today, period="next week") == expected
