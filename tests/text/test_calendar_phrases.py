"""Days that are called by their place or their name."""

from datetime import UTC, datetime

import pytest

from server.text.parsed_text import ParsedText
from server.text.tokens import Kind

NOW = datetime(2026, 11, 22, 16, tzinfo=UTC)
"""A Sunday."""


def read(text: str, kind: Kind) -> list[tuple[str, str]]:
    parsed = ParsedText(text, NOW, "mdy")
    return [(text[s.start : s.end], s.value.isoformat()) for s in parsed.of(kind)]


@pytest.mark.parametrize(
    ("text", "said", "day"),
    [
        ("when is the first Monday of May 2027?", "the first Monday of May 2027", "2027-05-03"),
        ("last friday of next month", "last friday of next month", "2026-12-25"),
        ("the 3rd Friday in June 2027", "the 3rd Friday in June 2027", "2027-06-18"),
        ("second tuesday of Q2 2027", "second tuesday of Q2 2027", "2027-04-13"),
        ("first monday of next year", "first monday of next year", "2027-01-04"),
        ("the last working day of the month", "the last working day of the month", "2026-11-30"),
        ("last day of february 2028", "last day of february 2028", "2028-02-29"),
        ("penultimate day of 2026", "penultimate day of 2026", "2026-12-30"),
        ("the second quarter of 2027 ends", "the second quarter of 2027 ends", "2027-06-30"),
        ("by the end of the month", "the end of the month", "2026-11-30"),
        ("the end of the quarter", "the end of the quarter", "2026-12-31"),
        ("end of third quarter 2027", "end of third quarter 2027", "2027-09-30"),
        ("the end of next year", "the end of next year", "2027-12-31"),
        ("beginning of next week", "beginning of next week", "2026-11-23"),
        ("the start of last quarter", "the start of last quarter", "2026-07-01"),
        ("until month end", "month end", "2026-11-30"),
        ("the first of May 2027", "the first of May 2027", "2027-05-01"),
        ("Christmas 2027", "Christmas 2027", "2027-12-25"),
        ("next year's Christmas", "next year's Christmas", "2027-12-25"),
        ("Halloween next year", "Halloween next year", "2027-10-31"),
        ("until New Year’s Eve", "New Year’s Eve", "2026-12-31"),
        ("until new years day", "new years day", "2027-01-01"),
        ("since easter", "easter", "2026-04-05"),
        ("until easter", "easter", "2027-03-28"),
        ("last christmas", "last christmas", "2025-12-25"),
        ("Good Friday 2027", "Good Friday 2027", "2027-03-26"),
        ("black friday of 2026", "black friday of 2026", "2026-11-27"),
        ("leap day 2028", "leap day 2028", "2028-02-29"),
    ],
)
def test_a_day_is_read_by_its_place_or_name(text: str, said: str, day: str) -> None:
    assert read(text, "date") == [(said, day)]


@pytest.mark.parametrize(
    ("text", "said", "day"),
    [
        ("what is 2 weeks after 3 May", "2 weeks after 3 May", "2026-05-17"),
        ("3 days before Christmas", "3 days before Christmas", "2026-12-22"),
        ("6 weeks ago", "6 weeks ago", "2026-10-11"),
        ("in a fortnight", "in a fortnight", "2026-12-06"),
        ("in a fortnight's time", "in a fortnight's time", "2026-12-06"),
        ("in two weeks' time", "in two weeks' time", "2026-12-06"),
        ("a fortnight from 3 may", "a fortnight from 3 may", "2026-05-17"),
        ("the day after Christmas", "the day after Christmas", "2026-12-26"),
        ("the Friday before Easter 2027", "the Friday before Easter 2027", "2027-03-26"),
        ("first sunday after 3 may 2027", "first sunday after 3 may 2027", "2027-05-09"),
        ("18 months after 31 august 2026", "18 months after 31 august 2026", "2028-02-29"),
    ],
)
def test_a_day_is_counted_from_another(text: str, said: str, day: str) -> None:
    assert (said, day) in read(text, "offset")


@pytest.mark.parametrize(
    "text",
    [
        "play some christmas songs",
        "the end of the world",
        "may be the end of it",
        "first of all",
        "the end of year 99999",
        "easter 99999999999999",
        "new year new me",
    ],
)
def test_what_is_no_such_day_is_not_read(text: str) -> None:
    assert read(text, "date") + read(text, "offset") == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("fifth friday of february 2027", "there is no fifth Friday in February 2027"),
        ("leap day 2027", "2027 has no leap day"),
    ],
)
def test_a_day_that_a_period_lacks_is_said_to_be_missing(text: str, why: str) -> None:
    parsed = ParsedText(text, NOW, "mdy")
    assert [span.value for span in parsed.of("unreadable")] == [why]
    assert parsed.of("date") == []


def test_a_further_weekday_before_a_date_is_not_taken_for_the_nearest() -> None:
    assert read("the second friday before christmas", "offset") == []
    assert read("every friday before christmas", "offset") == []
