"""Days on which people work: all but weekends, and public holidays where a country is given."""

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

from server.core.installation import install_command
from server.core.suggestions import closest, described_value, shown_value
from server.errors import ArgumentsInvalid, ToolFailed
from server.text.zones import country_codes

EXTRA: Final = "holidays"
"""The extra of the installation that knows public holidays."""
MOST_YEARS: Final = 200
"""Years whose public holidays one call may look up."""
_WEEK, _WORKED = 7, 5
_DAY: Final = timedelta(days=1)

HolidaysOf = Callable[[int], Mapping[date, str]]
"""The public holidays of a year, by day."""


def no_holidays(_: int) -> Mapping[date, str]:
    return {}


def read_country(value: Any, name: str) -> str:
    """Return the ISO 3166 code of a country: `DE`, `Germany`, `UK`.

    Raises:
        ArgumentsInvalid: there is no such country.
    """
    if not isinstance(value, str):
        raise ArgumentsInvalid(f"{name} must be a country, not {described_value(value)}")
    known = country_codes()
    folded = " ".join(value[:60].split()).casefold().removeprefix("the ")
    if value.strip() in known.values():
        return value.strip()
    if folded in known or folded.upper() in known.values():
        return known.get(folded, folded.upper())
    near = closest(folded, known)
    hint = f"; did you mean {near.title()!r}?" if near is not None else ""
    raise ArgumentsInvalid(f"{name} {shown_value(value)} is not a country that is known{hint}")


def public_holidays(country: str) -> HolidaysOf:
    """Return the public holidays of a country, by year.

    Raises:
        ToolFailed: the extra is not installed, or it does not know the country.
    """
    try:
        library = import_module("holidays")
    except ImportError:
        raise ToolFailed(
            f"Public holidays need the extra {EXTRA!r}, which is not installed here; "
            f"install it with: {install_command(EXTRA)}"
        ) from None
    if country not in library.list_supported_countries():
        raise ToolFailed(f"The public holidays of {country} are not known")

    @lru_cache(maxsize=MOST_YEARS)
    def of_year(year: int) -> Mapping[date, str]:
        return dict(library.country_holidays(country, years=year, language="en_US"))

    return of_year


def is_business_day(day: date, holidays: HolidaysOf = no_holidays) -> bool:
    return day.weekday() < _WORKED and day not in holidays(day.year)


def count_business_days(start: date, end: date, holidays: HolidaysOf = no_holidays) -> int:
    """Return how many business days come after `start`, up to and with `end`.

    It is negative, of those from `end` on and before `start`, where `end` is earlier.
    """
    if end < start:
        return -_count(end, start - _DAY, holidays, first=True)
    return _count(start, end, holidays, first=False)


def count_both_ends(start: date, end: date, holidays: HolidaysOf = no_holidays) -> int:
    """Return how many business days there are from the earlier date to the later, both counted."""
    return _count(min(start, end), max(start, end), holidays, first=True)


def _count(start: date, end: date, holidays: HolidaysOf, *, first: bool) -> int:
    """Business days up to and with `end`, from `start` on where it is to count."""
    if end < start:
        return 0
    counted = _worked_before(end.toordinal() + 1) - _worked_before(start.toordinal() + (not first))
    return counted - len(_days_off(start if first else start + _DAY, end, holidays))


def _worked_before(ordinal: int) -> int:
    """Days from Monday to Friday before a day; day 1 of the calendar is a Monday."""
    weeks, rest = divmod(ordinal - 1, _WEEK)
    return weeks * _WORKED + min(rest, _WORKED)


def _days_off(start: date, end: date, holidays: HolidaysOf) -> list[date]:
    if holidays is no_holidays or end < start:
        return []
    _check_years(start.year, end.year)
    return [
        day
        for year in range(start.year, end.year + 1)
        for day in holidays(year)
        if start <= day <= end and day.weekday() < _WORKED
    ]


def _check_years(first: int, last: int) -> None:
    if last - first > MOST_YEARS:
        raise ToolFailed(f"Public holidays are looked up for at most {MOST_YEARS} years")


def add_business_days(start: date, count: int, holidays: HolidaysOf = no_holidays) -> date:
    """Return the day that many business days after `start`, or before it.

    None is `start` itself, whatever day it is.

    Raises:
        OverflowError: it lies outside the years 1 to 9999.
        ToolFailed: it lies too many years away for public holidays to be looked up.
    """
    day = _add_weekdays(start, count)
    step = 1 if count > 0 else -1
    # Each holiday on the way asks for one day more, on whose way there may be others.
    after = start
    while count and after != day:
        low, high = (after + _DAY, day) if step > 0 else (day, after - _DAY)
        _check_years(min(start, day).year, max(start, day).year)
        more = len(_days_off(low, high, holidays))
        after, day = day, _add_weekdays(day, step * more)
    return day


def _add_weekdays(start: date, count: int) -> date:
    if not count:
        return start
    step = 1 if count > 0 else -1
    weekday = start.weekday()
    if weekday >= _WORKED:  # count from the Friday before, or the Monday after
        start += timedelta(days=_WORKED - 1 - weekday if step > 0 else _WEEK - weekday)
        weekday = start.weekday()
    weeks, rest = divmod(abs(count), _WORKED)
    days = weeks * _WEEK + rest
    if (weekday + rest >= _WORKED) if step > 0 else (weekday - rest < 0):
        days += _WEEK - _WORKED
    return start + timedelta(days=step * days)
