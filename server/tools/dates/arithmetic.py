"""How long it is from one date to another."""

from calendar import monthrange
from collections.abc import Mapping
from datetime import date, datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Any, Final, TypeVar

from server.core.suggestions import described_value, unknown
from server.errors import ArgumentsInvalid
from server.tools.numbers import divide

D = TypeVar("D", bound=date)

_LENGTHS: Final[Mapping[str, timedelta]] = {
    "seconds": timedelta(seconds=1),
    "minutes": timedelta(minutes=1),
    "hours": timedelta(hours=1),
    "days": timedelta(days=1),
    "weeks": timedelta(weeks=1),
}
_TICK: Final = timedelta(microseconds=1)
_MONTHS: Final[Mapping[str, int]] = {"months": 1, "years": 12}
UNITS: Final = (*_LENGTHS, *_MONTHS)

_WORDS: Final[Mapping[str, str]] = {
    "seconds": "seconds second secs sec s",
    "minutes": "minutes minute mins min",
    "hours": "hours hour hrs hr h",
    "days": "days day d",
    "weeks": "weeks week wks wk w",
    "months": "months month mos mo",
    "years": "years year yrs yr y",
}
_SYNONYMS: Final[Mapping[str, str]] = {
    word: unit for unit, words in _WORDS.items() for word in words.split()
}


def read_unit(value: Any, name: str) -> str:
    """Return the unit that `value` names, in the plural.

    Raises:
        ArgumentsInvalid: no such unit; the message lists those there are.
    """
    if not isinstance(value, str):
        raise ArgumentsInvalid(f"{name} must be text, not {described_value(value)}")
    try:
        return _SYNONYMS[value.strip().rstrip(".").casefold()]
    except KeyError:
        raise ArgumentsInvalid(unknown(name, value, UNITS)) from None


def add_months(day: D, months: int) -> D:
    """The same day of another month, or that month's last when it is shorter.

    Raises:
        OverflowError: the result lies outside the years 1 to 9999.
    """
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise OverflowError("year out of range")
    last = monthrange(year, month + 1)[1]
    return day.replace(year=year, month=month + 1, day=min(day.day, last))


def span(start: date, end: date, unit: str) -> int | float | Decimal:
    """How many of `unit`, one of `UNITS`, it is from `start` to `end`; negative backwards.

    Seconds to weeks measure the time that passes, exactly, with a fraction where there
    is one. Months and years count those that are complete. A day counts from its
    midnight; a moment without a zone is read in the other's, if that has one.

    Raises:
        OverflowError: the moments cannot be compared in one zone.
    """
    if unit in _LENGTHS:
        passed = _elapsed(start, end)
        whole, rest = divmod(passed, _LENGTHS[unit])
        if not rest:
            return whole
        return divide(Decimal(passed // _TICK), Decimal(_LENGTHS[unit] // _TICK))
    first, second = _comparable(start, end)
    if _elapsed(first, second) < timedelta(0):
        return -(_complete_months(second, first) // _MONTHS[unit])
    return _complete_months(first, second) // _MONTHS[unit]


def _elapsed(start: date, end: date) -> timedelta:
    """The time that passes, also across a change of clocks in one zone."""
    if not isinstance(start, datetime) and not isinstance(end, datetime):
        return end - start
    first, second = _comparable(start, end)
    by_clock = second.replace(tzinfo=None) - first.replace(tzinfo=None)
    offsets = first.utcoffset(), second.utcoffset()
    if offsets[0] is None or offsets[1] is None:
        return by_clock
    return by_clock - (offsets[1] - offsets[0])


def _comparable(start: date, end: date) -> tuple[datetime, datetime]:
    first, second = _moment(start), _moment(end)
    zones = first.tzinfo, second.tzinfo
    if zones == (None, None):
        return first, second
    return _zoned(first, zones[1]), _zoned(second, zones[0])


def _zoned(moment: datetime, other: tzinfo | None) -> datetime:
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=other)


def _moment(value: date) -> datetime:
    if isinstance(value, datetime):
        return value
    return datetime(value.year, value.month, value.day)


def _complete_months(earlier: datetime, later: datetime) -> int:
    """Months that are complete between two moments, by the earlier one's clock."""
    if later.tzinfo is not None:
        later = later.astimezone(earlier.tzinfo)
    months = (later.year - earlier.year) * 12 + later.month - earlier.month
    return months if add_months(earlier, months) <= later else months - 1
