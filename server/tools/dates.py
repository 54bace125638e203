"""Dates as the arguments of a tool: how they are read, and how long it is between two."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

from server.core.suggestions import described_value, shown_value
from server.errors import ArgumentsInvalid
from server.text.calendar import add_months, shift
from server.text.dates import (
    DIRECTIONS,
    NAMED_TIMES,
    RELATIVE_STARTERS,
    WEEKDAY_NAMES,
    WEEKDAY_PATTERN,
    WEEKDAYS,
    match_date,
    match_time,
    read_relative_day,
)
from server.text.decimals import Number, divide
from server.text.durations import MONTHS_IN, SECONDS
from server.text.durations import UNITS as UNIT_WORDS
from server.text.numbers import read_whole
from server.text.parsed_text import ParsedText
from server.text.tokens import DateOrder, Kind, Tokens
from server.text.zones import find_zone

MAX_DATE_CHARS: Final = 100

# What may stand between the words of a date; the signs within 2025-03-04 are its own.
_GAP: Final = re.compile(r"(?<=[a-z])\.?[ ,-]+(?=[a-z\d])|(?<=\d)(?:[ ,-]+(?=[a-z])|[ ,]+(?=\d))")
_YEAR_FIRST: Final = re.compile(r"(\d{4}) ([a-z].*)")
_LEADING_WEEKDAY: Final = re.compile(rf"({WEEKDAY_PATTERN}) (?:the )?(?=.*\d)")
_TIME: Final = re.compile(rf"(?:^|(?<=\d)t|[ ,]+)(?:at )?(?=([0-9]|{'|'.join(NAMED_TIMES)}))")
_ZONE: Final = re.compile(
    r" ?(z|utc|gmt|(?:utc|gmt)?[+-]\d{1,2}(?::?\d{2})?|[a-z_]+(?:/[a-z0-9_+-]+)+)?"
)
_UNIT: Final = rf"({'|'.join(word for word in UNIT_WORDS if len(word) > 1)})"
_STEP: Final = re.compile(rf"({'|'.join(DIRECTIONS)}) {_UNIT}")
_COUNTED: Final = re.compile(
    rf"in (.+) {_UNIT}(?: time)?"
    rf"|(.+) {_UNIT} (?:(ago|back|before (?:now|today))|from (?:now|today)|later|hence)"
)


@dataclass(frozen=True, slots=True)
class DateReading:
    """A date, or a moment, and how it was read; `how` is empty when only one way was open."""

    value: date
    how: str = ""

    def describe(self) -> str:
        return f"{self.value.isoformat()} ({self.how})" if self.how else ""


class _NotADate(Exception):
    """The text is not written in any way that is known."""


class DateReader:
    """Reads dates in one order of day and month, by one clock."""

    def __init__(self, order: DateOrder, clock: Callable[[], datetime]) -> None:
        self._order: DateOrder = order
        self._clock = clock

    def read(self, value: Any, name: str) -> DateReading:
        """Return the date that `value` is or writes, or raise `ArgumentsInvalid`.

        ISO 8601, numbers in the domain's order, written English dates, and days in relation
        to today, each with a time and a zone if it likes.
        """
        if isinstance(value, date):
            return DateReading(value)
        if not isinstance(value, str):
            raise ArgumentsInvalid(f"{name} must be a date, not {described_value(value)}")
        if len(value) > MAX_DATE_CHARS:
            raise ArgumentsInvalid(f"{name} is longer than {MAX_DATE_CHARS} characters")
        try:
            return _read_iso(value.strip()) or self._read(" ".join(value.casefold().split()), name)
        except (ValueError, OverflowError) as impossible:
            raise ArgumentsInvalid(
                f"{name} is {shown_value(value)}, which is not in the calendar: {impossible}"
            ) from None
        except _NotADate:
            raise ArgumentsInvalid(
                f"{name} is {shown_value(value)}, which is not a date; write it as YYYY-MM-DD"
            ) from None

    def _read(self, text: str, name: str) -> DateReading:
        now = self._clock().replace(microsecond=0)
        for lead in _TIME.finditer(text):
            named = NAMED_TIMES.get(lead[1])
            parts = None if named else match_time(text, lead.end(), fraction=True)
            end = parts.end if parts else lead.end(1)
            zone = _ZONE.fullmatch(text, end) if parts or named else None
            if zone is None:
                continue
            read_zone = find_zone(zone[1], f"the zone of {name}") if zone[1] else None
            clock_time = parts.on_clock() if parts else named or time()
            before = text[: lead.start()]
            day = self._read_day(before, now) if before else DateReading(now.date(), "today")
            if isinstance(day.value, datetime):
                raise _NotADate
            return DateReading(datetime.combine(day.value, clock_time, read_zone), day.how)
        return self._read_day(text, now)

    def _read_day(self, text: str, now: datetime) -> DateReading:
        written = _GAP.sub(" ", text.removesuffix(".").removeprefix("the "))
        written = _YEAR_FIRST.sub(r"\2 \1", written)
        reading = self._read_calendar_day(written, now.date()) or _read_relative(text, now)
        if reading is not None:
            return reading
        weekday = _LEADING_WEEKDAY.match(written)
        rest = written[weekday.end() :] if weekday else ""
        reading = self._read_calendar_day(rest, now.date()) if rest else None
        if weekday is None and (phrase := _read_phrase(text, self._order, now)):
            return phrase
        if weekday is None or reading is None:
            raise _NotADate
        claimed, actual = WEEKDAYS[weekday[1]], reading.value.weekday()
        if actual != claimed:
            names = WEEKDAY_NAMES[actual], WEEKDAY_NAMES[claimed]
            raise ValueError(f"{reading.value} is a {names[0]}, not a {names[1]}")
        return reading

    def _read_calendar_day(self, text: str, today: date) -> DateReading | None:
        parts = match_date(text, 0, self._order) if text else None
        if parts is None or parts.end != len(text):
            return None
        how = ""
        if parts.open_order:
            how = "month first" if self._order == "mdy" else "day first"
        elif parts.day is None:
            how = "the first of the month"
        elif parts.year is None:
            how = "this year"
        return DateReading(parts.on_calendar(today), how)


def _read_relative(text: str, now: datetime) -> DateReading | None:
    text, today = text.removeprefix("on ").removeprefix("the "), now.date()
    if text == "now":
        return DateReading(now, text)
    tokens = Tokens(text)
    for index, word in enumerate(tokens.words[:2]):
        day = read_relative_day(tokens, index, today) if word in RELATIVE_STARTERS else None
        if day is not None and (day.first, day.last) == (0, len(tokens)):
            return DateReading(day.value, day.how)
    if step := _STEP.fullmatch(text):
        return DateReading(_moved(now, DIRECTIONS[step[1]], UNIT_WORDS[step[2]]), text)
    counted = _COUNTED.fullmatch(text)
    if counted is None:
        return None
    in_count, in_unit, said, unit_said, back = counted.groups()
    unit = UNIT_WORDS[in_unit or unit_said]
    said = in_count or said
    count = 1 if said in ("a", "an") else read_whole(said)
    if not isinstance(count, int):
        return None
    amount = f"{count} {unit}{'' if count == 1 else 's'}"
    value = _moved(now, -count if back else count, unit)
    return DateReading(value, f"{amount} {'before' if back else 'after'} {today}")


def _read_phrase(text: str, order: DateOrder, now: datetime) -> DateReading | None:
    """The day that the whole text leads to: the first Monday of May, 3 days before Christmas.

    Raises:
        ValueError: the calendar has no such day.
    """
    parsed = ParsedText(text, now, order)
    kinds: tuple[Kind, ...] = ("offset", "date")
    whole = next((found for kind in kinds if (found := parsed.whole(kind))), None)
    if whole is None and (none := parsed.whole("unreadable")) and none.unit == "date":
        raise ValueError(none.value)
    return None if whole is None else DateReading(whole.value, text)


def _moved(now: datetime, count: int, unit: str) -> date:
    if unit in ("second", "minute", "hour"):
        return now + timedelta(**{f"{unit}s": count})
    return shift(now.date(), unit, count)


def _read_iso(text: str) -> DateReading | None:
    if len(text) < 8 or not text[:4].isdecimal():
        return None
    try:
        if len(text) in (8, 10):
            return DateReading(date.fromisoformat(text))
        return DateReading(datetime.fromisoformat(text))
    except ValueError:
        return None


_LENGTHS: Final = {f"{unit}s": timedelta(seconds=length) for unit, length in SECONDS.items()}
_TICK: Final = timedelta(microseconds=1)
_MONTHS: Final = {f"{unit}s": months for unit, months in MONTHS_IN.items()}
UNITS: Final = (*_LENGTHS, *_MONTHS)


def count_between(start: date, end: date, unit: str) -> Number:
    """Return how many of `unit` it is from `start` to `end`; may raise `OverflowError`.

    Seconds to weeks measure the time that passes, exactly; months and years count those
    complete. A day counts from midnight, a moment without a zone is in the other's.
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
    if not isinstance(start, datetime) and not isinstance(end, datetime):
        return end - start
    first, second = _comparable(start, end)
    by_clock = second.replace(tzinfo=None) - first.replace(tzinfo=None)
    offsets = first.utcoffset(), second.utcoffset()
    if offsets[0] is None or offsets[1] is None:
        return by_clock
    return by_clock - (offsets[1] - offsets[0])


def _comparable(start: date, end: date) -> tuple[datetime, datetime]:
    first, second = (
        each if isinstance(each, datetime) else datetime(each.year, each.month, each.day)
        for each in (start, end)
    )
    zones = first.tzinfo, second.tzinfo
    return (first.replace(tzinfo=zones[0] or zones[1]), second.replace(tzinfo=zones[1] or zones[0]))


def _complete_months(earlier: datetime, later: datetime) -> int:
    if later.tzinfo is not None:
        later = later.astimezone(earlier.tzinfo)
    months = (later.year - earlier.year) * 12 + later.month - earlier.month
    return months if add_months(earlier, months) <= later else months - 1
