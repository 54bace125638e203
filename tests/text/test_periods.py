"""Stretches of days, as people say them on Sunday, 22 November 2026."""

from datetime import UTC, datetime

import pytest

from server.text.parsed_text import ParsedText
from server.text.periods import find_periods

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def periods(text: str) -> list[tuple[str, str | None, str | None]]:
    """The words of each stretch, and its first and last day."""
    reading = ParsedText(text, NOW, "mdy")
    return [
        (
            reading.tokens.slice(one.first, one.last),
            one.start.isoformat() if one.start else None,
            one.end.isoformat() if one.end else None,
        )
        for one in find_periods(reading)
    ]


@pytest.mark.parametrize(
    ("text", "words", "start", "end"),
    [
        ("orders last month", "last month", "2026-10-01", "2026-10-31"),
        ("orders of this year", "this year", "2026-01-01", "2026-12-31"),
        ("orders last week", "last week", "2026-11-09", "2026-11-15"),
        ("orders in the past month", "the past month", "2026-10-22", "2026-11-22"),
        ("orders of the last 2 weeks", "the last 2 weeks", "2026-11-08", "2026-11-22"),
        ("orders in the past two years", "the past two years", "2024-11-22", "2026-11-22"),
        ("orders in 2025", "2025", "2025-01-01", "2025-12-31"),
        ("orders in March", "March", "2026-03-01", "2026-03-31"),
        ("orders in December", "December", "2025-12-01", "2025-12-31"),
        ("orders in February 2024", "February 2024", "2024-02-01", "2024-02-29"),
        ("orders last December", "last December", "2025-12-01", "2025-12-31"),
        ("orders in Q3", "Q3", "2026-07-01", "2026-09-30"),
        ("orders of yesterday", "yesterday", "2026-11-21", "2026-11-21"),
        ("orders since March", "since March", "2026-03-01", None),
        ("orders from March onwards", "from March onwards", "2026-03-01", None),
        ("orders after March", "after March", "2026-04-01", None),
        ("orders before March", "before March", None, "2026-02-28"),
        ("orders until March", "until March", None, "2026-03-31"),
        ("orders up to March", "up to March", None, "2026-03-31"),
        ("orders from June to September", "from June to September", "2026-06-01", "2026-09-30"),
        ("from November to February", "from November to February", "2025-11-01", "2026-02-28"),
        ("orders from May to June 2024", "from May to June 2024", "2024-05-01", "2024-06-30"),
        ("between 1 May and 10 June", "between 1 May and 10 June", "2026-05-01", "2026-06-10"),
        ("films of 2023 or later", "2023 or later", "2023-01-01", None),
        ("films that came out in 2019 or earlier", "2019 or earlier", None, "2019-12-31"),
        ("films since March or later", "since March", "2026-03-01", None),
        ("orders in the first half of 2025", "the first half of 2025", "2025-01-01", "2025-06-30"),
        ("the second half of the year", "the second half of the year", "2026-07-01", "2026-12-31"),
        ("in the last quarter of 2025", "the last quarter of 2025", "2025-10-01", "2025-12-31"),
        ("who joined in the first half of November", "the first half of November", "2026-11-01",
         "2026-11-15"),
        ("sales in the second half of May 2025", "the second half of May 2025", "2025-05-16",
         "2025-05-31"),
        ("between the 1st and 10th of October 2026", "between the 1st and 10th of October 2026",
         "2026-10-01", "2026-10-10"),
        ("from the 3rd to the 7th of May 2026", "from the 3rd to the 7th of May 2026",
         "2026-05-03", "2026-05-07"),
        ("revenue starting in March", "starting in March", "2026-03-01", None),
        ("films from the 2010s", "from the 2010s", "2010-01-01", "2019-12-31"),
        ("films of the 80s", "the 80s", "1980-01-01", "1989-12-31"),
        ("since the 1st of October 2025", "since the 1st of October 2025", "2025-10-01", None),
        ("before the 1st of May 2026", "before the 1st of May 2026", None, "2026-04-30"),
        ("orders of last quarter", "last quarter", "2026-07-01", "2026-09-30"),
        ("orders from 2024 to 2025", "from 2024 to 2025", "2024-01-01", "2025-12-31"),
    ],
)  # fmt: skip
def test_a_stretch_of_days(text: str, words: str, start: str | None, end: str | None) -> None:
    assert periods(text) == [(words, start, end)]


@pytest.mark.parametrize(
    "text",
    [
        "2025 orders", "orders of 2025 euros", "orders over 2025", "room 2024", "of 1200",
        "you may go", "march on", "the month", "tomorrow at 5pm",
    ],
)  # fmt: skip
def test_what_is_none(text: str) -> None:
    assert periods(text) == []


@pytest.mark.parametrize(
    ("text", "unit", "count"),
    [
        ("last 2 weeks", "day", 14),
        ("this week", "day", 7),
        ("past month", "day", 30),
        ("last 6 months", "day", 180),
        ("last 6 months", "month", 6),
        ("past two years", "month", 24),
        ("past year", "day", 365),
        ("yesterday", "day", 1),
        ("past day", "hour", 24),
        ("since 1 November", "day", 21),
        ("last 10 days", "week", 2),
    ],
)
def test_how_far_back_it_reaches(text: str, unit: str, count: int) -> None:
    (found,) = find_periods(ParsedText(text, NOW, "mdy"))
    assert found.back is not None
    assert found.back.count_in(unit) == count
