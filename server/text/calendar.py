"""Names of months and days, and dates that are counted from another."""

from collections.abc import Mapping
from datetime import date, timedelta
from itertools import islice
from typing import Final

from dateutil.relativedelta import relativedelta

from server.text.language import TimeUnit, load_language

_ENGLISH: Final = load_language("en")

MONTHS: Final[Mapping[str, int]] = _ENGLISH.dates.months
"""Month 1 to 12 by name and abbreviation, folded."""

WEEKDAYS: Final[Mapping[str, int]] = _ENGLISH.dates.weekdays
"""Weekday 0 (Monday) to 6 by name and abbreviation, folded."""

MONTH_NAMES: Final = tuple(name.capitalize() for name in islice(MONTHS, 12))
WEEKDAY_NAMES: Final = tuple(name.capitalize() for name in islice(WEEKDAYS, 7))

MONTH_PATTERN: Final = "|".join(sorted(MONTHS, key=len, reverse=True))
WEEKDAY_PATTERN: Final = "|".join(sorted(WEEKDAYS, key=len, reverse=True))
"""Any of the words, the longest first, for use inside a group."""

UNITS: Final[Mapping[str, TimeUnit]] = {
    word: unit for unit, words in _ENGLISH.units.items() for word in words
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
