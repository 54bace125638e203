"""Time zones: by name, by city, by offset."""

from datetime import UTC, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from server.errors import ArgumentsInvalid
from server.text.zones import find_zone


@pytest.mark.parametrize(
    ("written", "zone"),
    [
        ("Europe/Paris", ZoneInfo("Europe/Paris")),
        ("america/new york", ZoneInfo("America/New_York")),
        (" New  York ", ZoneInfo("America/New_York")),
        ("tokyo", ZoneInfo("Asia/Tokyo")),
        ("EST", ZoneInfo("EST")),
        ("utc", UTC),
        ("Z", UTC),
        ("+02:00", timezone(timedelta(hours=2))),
        ("UTC-5", timezone(timedelta(hours=-5))),
        ("gmt +0530", timezone(timedelta(hours=5, minutes=30))),
    ],
)
def test_a_zone_is_found(written: str, zone: tzinfo) -> None:
    assert find_zone(written, "timezone") == zone


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        (
            "Europe/Pariss",
            "timezone 'Europe/Pariss' is not known; write a zone such as Europe/Paris, a city such "
            "as Tokyo, or an offset such as +02:00; did you mean 'Europe/Paris'?",
        ),
        (
            "../../etc/passwd",
            "timezone '../../etc/passwd' is not known; write a zone such as Europe/Paris, a city "
            "such as Tokyo, or an offset such as +02:00",
        ),
        (
            "+99:00",
            "timezone '+99:00' is not known; write a zone such as Europe/Paris, a city such as "
            "Tokyo, or an offset such as +02:00",
        ),
        (2, "timezone must be the name of a time zone, not a number"),
    ],
)
def test_an_unknown_zone_is_refused(written: Any, problem: str) -> None:
    with pytest.raises(ArgumentsInvalid) as refused:
        find_zone(written, "timezone")
    assert str(refused.value) == problem
