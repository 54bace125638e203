"""Reading a date as people write it, and saying how it was read when that was a choice."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, tzinfo
from typing import Any, Final

from server.core.suggestions import described_value, shown_value
from server.errors import ArgumentsInvalid
from server.text.tokens import DateOrder
from server.tools.dates.arithmetic import (
    MONTH_NUMBERS,
    MONTH_PATTERN,
    WEEKDAY_NUMBERS,
    WEEKDAY_PATTERN,
    WEEKDAYS,
)
from server.tools.dates.relative import read_relative_day
from server.tools.dates.zones import find_zone

MAX_DATE_CHARS: Final = 100

_MONTH: Final = rf"({MONTH_PATTERN})\.?"
_DAY: Final = r"(\d{1,2})(?:st|nd|rd|th)?"
_GAP: Final = r"[ ,-]+"
_YEAR: Final = rf"(?:{_GAP}(?:of )?(\d{{4}}))?"

_YEAR_FIRST: Final = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})")
_YEAR_LAST: Final = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})")
_DAY_MONTH: Final = re.compile(rf"(?:the )?{_DAY}{_GAP}(?:of )?{_MONTH}{_YEAR}")
_MONTH_DAY: Final = re.compile(rf"{_MONTH}{_GAP}(?:the )?{_DAY}{_YEAR}")
_YEAR_MONTH_DAY: Final = re.compile(rf"(\d{{4}}){_GAP}{_MONTH}{_GAP}{_DAY}")
_MONTH_YEAR: Final = re.compile(rf"{_MONTH}{_GAP}(?:of )?(\d{{4}})")
_LEADING_WEEKDAY: Final = re.compile(rf"({WEEKDAY_PATTERN})\.?(?:,? (?:the )?(?=.*\d))")

_TIME_HINT: Final = re.compile(r"\d:\d|\d ?[ap]\.?m|noon|midn")
_TIME: Final = re.compile(
    r"(?:^|(?<=\d)t|[ ,]+)(?:at )?"
    r"(?:(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,6})\d*)?)?(?: ?([ap])\.?m\.?)?"
    r"|(\d{1,2}) ?([ap])\.?m\.?|(noon|midnight))"
    r" ?(z|utc|gmt|(?:utc|gmt)?[+-]\d{1,2}(?::?\d{2})?|[a-z_]+(?:/[a-z0-9_+-]+)+)?$"
)


@dataclass(frozen=True, slots=True)
class DateReading:
    """A date, or a moment, and how it was read; `how` is empty when only one way was open."""

    value: date
    how: str = ""

    def describe(self) -> str:
        """`2025-03-04 (month first)`; empty when there was nothing to choose."""
        return f"{self.value.isoformat()} ({self.how})" if self.how else ""


class DateReader:
    """Reads dates in one order of day and month, by one clock."""

    def __init__(self, order: DateOrder, clock: Callable[[], datetime]) -> None:
        self._order = order
        self._clock = clock

    def read(self, value: Any, name: str) -> DateReading:
        """Return the date that `value` is or writes.

        ISO 8601, numbers in the order of the domain, written English dates, and days
        in relation to today, each with a time and a zone if it likes.

        Raises:
            ArgumentsInvalid: not a date, or not one that exists.
        """
        if isinstance(value, date):
            return DateReading(value)
        if not isinstance(value, str):
            raise ArgumentsInvalid(f"{name} must be a date, not {described_value(value)}")
        if len(value) > MAX_DATE_CHARS:
            raise ArgumentsInvalid(f"{name} is longer than {MAX_DATE_CHARS} characters")
        text = value.strip()
        try:
            return (
                _read_iso(text)
                or self._read_numeric(text)
                or self._read_text(" ".join(text.casefold().split()), name)
            )
        except (ValueError, OverflowError) as impossible:
            raise ArgumentsInvalid(
                f"{name} is {shown_value(value)}, which is not in the calendar: {impossible}"
            ) from None
        except _NotADate:
            raise ArgumentsInvalid(
                f"{name} is {shown_value(value)}, which is not a date; write it as YYYY-MM-DD"
            ) from None

    def _now(self) -> datetime:
        return to_the_second(self._clock())

    def _read_text(self, text: str, name: str) -> DateReading:
        timed = _TIME.search(text) if _TIME_HINT.search(text) else None
        if timed is None:
            return self._read_day(text)
        clock_time, zone = _read_time(timed, name)
        before = text[: timed.start()]
        day = self._read_day(before) if before else DateReading(self._now().date(), "today")
        if isinstance(day.value, datetime):
            raise _NotADate
        return DateReading(datetime.combine(day.value, clock_time, zone), day.how)

    def _read_day(self, text: str) -> DateReading:
        reading = self._read_calendar_day(text)
        if reading is not None:
            return reading
        relative = read_relative_day(text, self._now())
        if relative is not None:
            return DateReading(*relative)
        weekday = _LEADING_WEEKDAY.match(text)
        reading = self._read_calendar_day(text[weekday.end() :]) if weekday else None
        if weekday is None or reading is None:
            raise _NotADate
        claimed = WEEKDAY_NUMBERS[weekday.group(1)]
        if reading.value.weekday() != claimed:
            actual = WEEKDAYS[reading.value.weekday()]
            raise ValueError(f"{reading.value} is a {actual}, not a {WEEKDAYS[claimed]}")
        return reading

    def _read_calendar_day(self, text: str) -> DateReading | None:
        return self._read_numeric(text) or self._read_written(text)

    def _read_numeric(self, text: str) -> DateReading | None:
        if not text[:1].isdecimal():
            return None
        if match := _YEAR_LAST.fullmatch(text):
            first, separator, second, year = match.groups()
            return self._read_numbers(int(first), separator, int(second), year)
        if match := _YEAR_FIRST.fullmatch(text):
            year, _, month, day = match.groups()
            return DateReading(date(int(year), int(month), int(day)))
        return None

    def _read_numbers(self, first: int, separator: str, second: int, year_text: str) -> DateReading:
        """Two numbers and a year: the order matters when both could be the month.

        With dots the day comes first, wherever dates are written so.
        """
        year = int(year_text) if len(year_text) == 4 else _with_century(int(year_text))
        open_question = separator != "." and first <= 12 and second <= 12 and first != second
        month_first = self._order == "mdy" if open_question else second > 12
        month, day = (first, second) if month_first else (second, first)
        how = ("month first" if month_first else "day first") if open_question else ""
        return DateReading(date(year, month, day), how)

    def _read_written(self, text: str) -> DateReading | None:
        if match := _MONTH_DAY.fullmatch(text):
            month, day, year = match.groups()
            return self._written(year, month, day)
        if match := _DAY_MONTH.fullmatch(text):
            day, month, year = match.groups()
            return self._written(year, month, day)
        if match := _YEAR_MONTH_DAY.fullmatch(text):
            return self._written(*match.groups())
        if match := _MONTH_YEAR.fullmatch(text):
            month, year = match.groups()
            return DateReading(date(int(year), MONTH_NUMBERS[month], 1), "the first of the month")
        return None

    def _written(self, year: str | None, month: str, day: str) -> DateReading:
        how = "" if year else "this year"
        in_year = int(year) if year else self._now().year
        return DateReading(date(in_year, MONTH_NUMBERS[month], int(day)), how)


def to_the_second(moment: datetime) -> datetime:
    """The moment without what is smaller than a second."""
    return moment.replace(microsecond=0) if moment.microsecond else moment


class _NotADate(Exception):
    """The text is not written in any way that is known."""


def _read_iso(text: str) -> DateReading | None:
    """The common case, fast: ISO 8601 as machines write it."""
    if len(text) < 8 or not text[:4].isdecimal():
        return None
    try:
        if len(text) in (8, 10):
            return DateReading(date.fromisoformat(text))
        return DateReading(datetime.fromisoformat(text))
    except ValueError:
        return None


def _read_time(match: re.Match[str], name: str) -> tuple[time, tzinfo | None]:
    hour, minute, second, fraction, half, bare_hour, bare_half, word, zone = match.groups()
    read_zone = find_zone(zone, f"the zone of {name}") if zone else None
    if word:
        return time(12 if word == "noon" else 0), read_zone
    clock_time = time(
        _with_half(int(hour or bare_hour), half or bare_half),
        int(minute or 0),
        int(second or 0),
        int((fraction or "0").ljust(6, "0")),
    )
    return clock_time, read_zone


def _with_half(hour: int, half: str | None) -> int:
    if half is None:
        return hour
    if not 1 <= hour <= 12:
        raise ValueError(f"{hour} {half}m is no time of day")
    return hour % 12 + (12 if half == "p" else 0)


def _with_century(year: int) -> int:
    """Two digits to four, as POSIX does: 69 to 99 lie in the 1900s."""
    return year + (1900 if year >= 69 else 2000)
