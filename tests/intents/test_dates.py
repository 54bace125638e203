"""Dates are counted from the moment a question is asked, where its pack is at home."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.intents.dates import relative
from server.text.calendar import Period, full_year, hebrew_year
from server.text.language import RelativeSpec
from tests.intents.support import DECISIONS, detector

SUNDAY = 6


def dates(question: str, now: datetime) -> Any:
    return detector(DECISIONS).detect(question, now).intent.entities.get("date_range")


@pytest.mark.parametrize(
    ("now", "today"),
    [
        ("2025-03-12T10:00:00+00:00", "2025-03-12"),
        ("2025-03-12T21:59:00+00:00", "2025-03-12"),
        ("2025-03-12T22:01:00+00:00", "2025-03-13"),
        ("2025-12-31T23:00:00+00:00", "2026-01-01"),
        ("2025-03-12T23:30:00", "2025-03-12"),
    ],
)
def test_today_is_the_day_in_jerusalem(now: str, today: str) -> None:
    found = dates("כמה החלטות התקבלו היום?", datetime.fromisoformat(now))
    assert found == {"start": today, "end": today}


@pytest.mark.parametrize(
    ("today", "start", "end"),
    [
        ("2025-03-08", "2025-03-02", "2025-03-08"),
        ("2025-03-09", "2025-03-09", "2025-03-15"),
        ("2025-12-31", "2025-12-28", "2026-01-03"),
    ],
)
def test_weeks_begin_on_sunday(today: str, start: str, end: str) -> None:
    now = datetime.fromisoformat(f"{today}T10:00:00+00:00")
    assert dates("כמה החלטות התקבלו השבוע?", now) == {"start": start, "end": end}


def test_months_end_when_they_end() -> None:
    now = datetime(2024, 3, 31, 10, tzinfo=UTC)
    assert (
        dates("החלטות מהחודש האחרון", now),
        dates("החלטות מחודש שעבר", now),
        dates("החלטות מפברואר", now),
        dates("החלטות מהשנה האחרונה", datetime(2024, 2, 29, 10, tzinfo=UTC)),
    ) == (
        {"start": "2024-02-29", "end": "2024-03-31"},
        {"start": "2024-02-01", "end": "2024-02-29"},
        {"start": "2024-02-01", "end": "2024-02-29"},
        {"start": "2023-02-28", "end": "2024-02-29"},
    )


@pytest.mark.parametrize("written", ["31.2.2020", "0/1/2020", "45.1.2020", "1.13.2020"])
def test_what_no_calendar_has_is_no_date(written: str) -> None:
    assert dates(f"החלטות בנושא מים מיום {written}", datetime(2025, 3, 12, tzinfo=UTC)) is None


def test_a_decision_number_is_no_year() -> None:
    found = detector(DECISIONS).detect("הצג את החלטה 2020 של ממשלה 34").intent.entities
    assert found == {"decision_number": 2020, "government_number": 34, "operation": "search"}


@pytest.mark.parametrize(
    ("two_digits", "year"), [(0, 2000), (23, 2023), (49, 2049), (50, 1950), (98, 1998)]
)
def test_years_of_two_digits(two_digits: int, year: int) -> None:
    assert full_year(two_digits, 50) == year


@given(
    st.dates(),
    st.builds(
        RelativeSpec,
        unit=st.sampled_from(["day", "week", "month", "quarter", "year"]),
        number=st.integers(0, 10**9),
        counting=st.sampled_from(["whole", "last", "ago"]),
    ),
)
def test_a_period_is_in_order_or_outside_the_calendar(today: date, what: RelativeSpec) -> None:
    period = relative(what, what.number, today, SUNDAY)
    assert period is None or period.start <= period.end


@given(st.dates(date(2, 1, 1), date(9998, 1, 1)), st.integers(0, 6))
def test_a_week_holds_its_day_and_begins_where_it_should(today: date, first: int) -> None:
    week = relative(RelativeSpec(unit="week"), 0, today, first)
    assert week is not None
    assert (week.start <= today <= week.end, week.start.weekday()) == (True, first)
    assert (week.end - week.start).days == 6


def test_quarters() -> None:
    assert relative(RelativeSpec(unit="quarter"), -1, date(2025, 2, 10), 0) == Period(
        date(2024, 10, 1), date(2024, 12, 31)
    )


@pytest.mark.parametrize(
    ("words", "start", "end"),
    [
        ("בסוף 2021", "2021-10-01", "2021-12-31"),
        ("באמצע 2021", "2021-05-01", "2021-08-31"),
        ("בתחילת שנת 2021", "2021-01-01", "2021-03-31"),
        ("מתחילת 2024", "2024-01-01", "2025-03-12"),
        ("מאז תחילת 2024", "2024-01-01", "2025-03-12"),
        ("עד תחילת 2021", "1948-05-14", "2020-12-31"),
        ("עד סוף 2021", "1948-05-14", "2021-12-31"),
        ("מתחילת 2020 עד סוף 2021", "2020-01-01", "2021-12-31"),
        ("מסוף מרץ 2021", "2021-03-21", "2021-03-31"),
        ("ברבעון השני של 2023", "2023-04-01", "2023-06-30"),
        ("מהרבעון האחרון של 2020", "2020-10-01", "2020-12-31"),
        ("ברבע הראשון של 2020", "2020-01-01", "2020-03-31"),
        ("ברבעון 3 2019", "2019-07-01", "2019-09-30"),
        ("במחצית הראשונה של 2022", "2022-01-01", "2022-06-30"),
        ("במחצית השנייה של השנה שעברה", "2024-07-01", "2024-12-31"),
        ("מקיץ 2020", "2020-06-01", "2020-08-31"),
        ("מחורף 2020", "2020-12-01", "2021-02-28"),
        ("מחצי השנה האחרונה", "2024-09-12", "2025-03-12"),
        ('משנת תשפ"ב', "2021-09-07", "2022-09-25"),
        ("בתש״ף", "2019-09-30", "2020-09-18"),
        ("בשנת תשעט", "2018-09-10", "2019-09-29"),
        ("בין אלפיים ועשרים לאלפיים עשרים ואחת", "2020-01-01", "2021-12-31"),
    ],
)
def test_parts_of_years_and_years_in_words_and_letters(words: str, start: str, end: str) -> None:
    now = datetime(2025, 3, 12, 10, tzinfo=UTC)
    assert dates(f"החלטות {words} בנושא מים", now) == {"start": start, "end": end}


@given(st.integers(5000, 6500))
def test_hebrew_years_follow_each_other_and_have_one_of_six_lengths(year: int) -> None:
    this, following = hebrew_year(year), hebrew_year(year + 1)
    days = (this.end - this.start).days + 1
    assert (following.start - this.end).days == 1
    assert days in (353, 354, 355, 383, 384, 385)
    # Never on a Sunday, a Wednesday or a Friday.
    assert this.start.weekday() in (0, 1, 3, 5)
