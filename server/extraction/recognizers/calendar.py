"""Names of months and days, and dates that are counted from another."""

from datetime import date, timedelta
from typing import Final

from dateutil.relativedelta import relativedelta

MONTHS: Final = {
    word: number
    for number, words in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun",
            "july jul", "august aug", "september sep sept", "october oct", "november nov",
            "december dec",
        ),
        start=1,
    )
    for word in words.split()
}  # fmt: skip

WEEKDAYS: Final = {
    word: number
    for number, words in enumerate(
        (
            "monday mon", "tuesday tue tues", "wednesday wed", "thursday thu thur thurs",
            "friday fri", "saturday sat", "sunday sun",
        )
    )
    for word in words.split()
}  # fmt: skip

UNITS: Final = {
    word: unit
    for unit, words in {
        "second": "second seconds sec secs s",
        "minute": "minute minutes min mins",
        "hour": "hour hours hr hrs h",
        "day": "day days d",
        "week": "week weeks wk wks w",
        "month": "month months mo",
        "year": "year years yr yrs y",
    }.items()
    for word in words.split()
}
"""Words for units of time. One-letter ones count only when glued to their number."""

SECONDS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
MONTHS_IN: Final = {"month": 1, "year": 12}


def valid_date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def full_year(year: int) -> int:
    """A year of two digits in the hundred years from 1970 on."""
    if year >= 100:
        return year
    return year + (1900 if year >= 70 else 2000)


def moved(day: date, *, months: int = 0, days: int = 0) -> date | None:
    """`day` moved by whole months, then days; None beyond the calendar."""
    try:
        return day + relativedelta(months=months) + timedelta(days=days)
    except (OverflowError, ValueError):
        return None


def weekday_after(today: date, weekday: int, *, today_counts: bool) -> date | None:
    ahead = (weekday - today.weekday()) % 7
    return moved(today, days=ahead if ahead or today_counts else 7)


def weekday_before(today: date, weekday: int) -> date | None:
    return moved(today, days=-((today.weekday() - weekday) % 7 or 7))
