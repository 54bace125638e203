"""Periods of the calendar: which days a week, a month or "the last two years" cover."""

from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Literal, NamedTuple

Unit = Literal["day", "week", "month", "quarter", "year"]
Counting = Literal["whole", "last", "ago"]

_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12}
_DAYS: Final = {"day": 1, "week": 7}


class Period(NamedTuple):
    """Both days are part of it."""

    start: date
    end: date


@dataclass(frozen=True, slots=True)
class Relative:
    """A period named from today.

    `whole` with -1 is the calendar unit before this one, `last` with 2 the two units
    that end today, and `ago` with 3 the whole unit that lay three back.
    """

    unit: Unit
    number: int = 0
    counting: Counting = "whole"


def day(year: int, month: int, number: int) -> Period | None:
    """One day, or None when the calendar has no such day."""
    try:
        found = date(year, month, number)
    except (ValueError, OverflowError):
        return None
    return Period(found, found)


def month(year: int, number: int) -> Period | None:
    if not (1 <= number <= 12 and date.min.year <= year <= date.max.year):
        return None
    return Period(date(year, number, 1), date(year, number, monthrange(year, number)[1]))


def year(number: int) -> Period | None:
    if not date.min.year <= number <= date.max.year:
        return None
    return Period(date(number, 1, 1), date(number, 12, 31))


def relative(what: Relative, today: date, first_weekday: int) -> Period | None:
    """The days that `what` covers, or None when they leave the calendar.

    `first_weekday` counts from Monday, 0.
    """
    try:
        if what.counting == "last":
            return Period(_shift(today, what.unit, -what.number), today)
        offset = -what.number if what.counting == "ago" else what.number
        return _around(_shift(today, what.unit, offset), what.unit, first_weekday)
    except (ValueError, OverflowError):
        return None


def full_year(two_digits: int, pivot: int) -> int:
    """1998 for 98 and 2023 for 23, when `pivot` lies between them."""
    return two_digits + (2000 if two_digits < pivot else 1900)


def _shift(today: date, unit: Unit, number: int) -> date:
    if unit in _DAYS:
        return today + timedelta(days=number * _DAYS[unit])
    months = today.year * 12 + today.month - 1 + number * _MONTHS[unit]
    last = monthrange(months // 12, months % 12 + 1)[1]
    return date(months // 12, months % 12 + 1, min(today.day, last))


def _around(middle: date, unit: Unit, first_weekday: int) -> Period | None:
    if unit == "day":
        return Period(middle, middle)
    if unit == "week":
        start = middle - timedelta(days=(middle.weekday() - first_weekday) % 7)
        return Period(start, start + timedelta(days=6))
    if unit == "year":
        return year(middle.year)
    span = _MONTHS[unit]
    first = date(middle.year, (middle.month - 1) // span * span + 1, 1)
    last = first.month + span - 1
    return Period(first, date(first.year, last, monthrange(first.year, last)[1]))
