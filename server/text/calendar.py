"""Arithmetic of the calendar: years of two digits, months of unequal length, periods."""

from calendar import monthrange
from datetime import date, timedelta
from typing import Final, NamedTuple, TypeVar

from server.text.language import Unit

CENTURY_PIVOT: Final = 50
"""A year of two digits lies in the hundred years from 1950 on, where a language says no other."""

_MONTHS_IN: Final = {"month": 1, "quarter": 3, "year": 12}
_DAYS_IN: Final = {"day": 1, "week": 7}
_HEBREW_EPOCH: Final = -1373427

D = TypeVar("D", bound=date)


class Period(NamedTuple):
    """Days from `start` to `end`, both included."""

    start: date
    end: date


def full_year(two_digits: int, pivot: int = CENTURY_PIVOT) -> int:
    """Return the year that two digits mean: with pivot 50, 49 is 2049 and 50 is 1950."""
    return two_digits + (2000 if two_digits < pivot else 1900)


def add_months(day: D, months: int) -> D:
    """Return the same day of another month, or that month's last when it is shorter.

    Raises:
        OverflowError: the result lies outside the years 1 to 9999.
    """
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not date.min.year <= year <= date.max.year:
        raise OverflowError("year out of range")
    last = monthrange(year, month + 1)[1]
    return day.replace(year=year, month=month + 1, day=min(day.day, last))


def shift(day: D, unit: str, count: int) -> D:
    """Return `day` moved by whole days, weeks, months, quarters or years.

    Raises:
        OverflowError: the result lies outside the years 1 to 9999.
    """
    if unit in _DAYS_IN:
        return day + timedelta(days=count * _DAYS_IN[unit])
    return add_months(day, count * _MONTHS_IN[unit])


def month_day_from(today: date, number: int) -> date:
    """Return the first day with this number in its month, from `today` on."""
    month = today.replace(day=1)
    while number > monthrange(month.year, month.month)[1] or month.replace(day=number) < today:
        month = add_months(month, 1)
    return month.replace(day=number)


def month_day_before(today: date, number: int) -> date:
    """Return the last day with this number in its month, before `today`."""
    month = today.replace(day=1)
    while number > monthrange(month.year, month.month)[1] or month.replace(day=number) >= today:
        month = add_months(month, -1)
    return month.replace(day=number)


def weekday_after(today: date, weekday: int, *, today_counts: bool = False) -> date:
    """Return the first such weekday (0 is Monday) after `today`, or from it on."""
    ahead = (weekday - today.weekday()) % 7
    return today + timedelta(days=ahead if ahead or today_counts else 7)


def weekday_before(today: date, weekday: int) -> date:
    """Return the last such weekday before `today`."""
    return today - timedelta(days=(today.weekday() - weekday) % 7 or 7)


def easter(year: int) -> date:
    """Return Easter Sunday of the Gregorian calendar, by the rule of Meeus, Jones and Butcher."""
    century, rest = divmod(year, 100)
    leaps, lost = divmod(century, 4)
    moved = (century - (century + 8) // 25 + 1) // 3
    epact = (19 * (year % 19) + century - leaps - moved + 15) % 30
    weekday = (32 + 2 * lost + 2 * (rest // 4) - epact - rest % 4) % 7
    late = (year % 19 + 11 * epact + 22 * weekday) // 451
    month, day = divmod(epact + weekday - 7 * late + 114, 31)
    return date(year, month, day + 1)


def hebrew_year(year: int) -> Period:
    """Return a year of the Hebrew calendar, from its first day to the eve of the next one.

    Raises:
        ValueError, OverflowError: it lies outside the years 1 to 9999.
    """
    first, following = (date.fromordinal(_hebrew_new_year(each)) for each in (year, year + 1))
    return Period(first, following - timedelta(days=1))


def _hebrew_new_year(year: int) -> int:
    before, here, after = (_hebrew_days_before(each) for each in (year - 1, year, year + 1))
    # No year has 356 days, and none has 382: its beginning, or the one before, is put off.
    late = 2 if after - here == 356 else 1 if here - before == 382 else 0
    return _HEBREW_EPOCH + here + late


def _hebrew_days_before(year: int) -> int:
    """Days from the epoch to the mean new moon of a year, which is never on three weekdays."""
    months = (235 * year - 234) // 19
    days = 29 * months + (12084 + 13753 * months) // 25920
    return days + 1 if 3 * (days + 1) % 7 < 3 else days


def nth_weekday(period: Period, weekday: int, nth: int) -> date | None:
    """Return the nth such weekday (0 is Monday) of a period; the last is -1. None: it has less.

    Raises:
        OverflowError: it lies outside the years 1 to 9999.
    """
    if nth > 0:
        first = weekday_after(period.start, weekday, today_counts=True)
        day = first + timedelta(weeks=nth - 1)
        return day if day <= period.end else None
    last = period.end - timedelta(days=(period.end.weekday() - weekday) % 7)
    day = last + timedelta(weeks=nth + 1)
    return day if day >= period.start else None


def period_around(day: date, unit: Unit, first_weekday: int = 0) -> Period:
    """Return the day, week, month, quarter or year that `day` lies in.

    Raises:
        OverflowError: a week that leaves the calendar.
    """
    if unit == "day":
        return Period(day, day)
    if unit == "week":
        start = day - timedelta(days=(day.weekday() - first_weekday) % 7)
        return Period(start, start + timedelta(days=6))
    months = _MONTHS_IN[unit]
    first = (day.month - 1) // months * months + 1
    last = first + months - 1
    end = date(day.year, last, monthrange(day.year, last)[1])
    return Period(date(day.year, first, 1), end)
