"""Dates and times of day as people write them: in digits, in words, counted from today.

Patterns run on the folded text of `Tokens`. What they find is as it was written, so that
each reader decides what a missing year means and what to say of a day that no month has.
"""

import re
from collections.abc import Mapping
from datetime import UTC, date, time, timedelta, timezone
from itertools import islice
from typing import Final, NamedTuple

from server.text.calendar import (
    add_months,
    full_year,
    month_day_before,
    month_day_from,
    shift,
    weekday_after,
    weekday_before,
)
from server.text.language import load_language
from server.text.tokens import LETTER, DateOrder, Tokens, is_word

_ENGLISH: Final = load_language("en")

MONTHS: Final = _ENGLISH.dates.months
"""Month 1 to 12 by name and abbreviation, folded."""
WEEKDAYS: Final = _ENGLISH.dates.weekdays
"""Weekday 0 (Monday) to 6 by name and abbreviation, folded."""
MONTH_NAMES: Final = tuple(name.capitalize() for name in islice(MONTHS, 12))
WEEKDAY_NAMES: Final = tuple(name.capitalize() for name in islice(WEEKDAYS, 7))
MONTH_PATTERN: Final = "|".join(sorted(MONTHS, key=len, reverse=True))
WEEKDAY_PATTERN: Final = "|".join(sorted(WEEKDAYS, key=len, reverse=True))
"""Any of the words, the longest first, for use inside a group."""

ORDINALS: Final = "st|nd|rd|th"
_ORDINAL: Final = rf"(?:(?:{ORDINALS})(?!{LETTER}))?"
_MONTH: Final = rf"({MONTH_PATTERN})(?!{LETTER})"
_DOT: Final = r"(?:(?<=(?<![a-z])[a-z]{3})|(?<=(?<![a-z])[a-z]{4}))\s*\."
_YEAR: Final = r"(?:\s*(?:,|of)?\s*((?:1[789]|2[01])[0-9]{2})(?![0-9]|[-%/]))?"
# Digits that go on are part of something longer: 5.50, 5%, 5x.
_NO_MORE: Final = rf"(?![0-9]|[-/.:,][0-9]|[%_]|(?!(?:{ORDINALS}|t)(?!{LETTER}))\w)"
_AFTER_MAY: Final = "|".join(_ENGLISH.group("not_after_may"))

_IN_DIGITS: Final = re.compile(
    r"(?:([0-9]{4})([-/.])([0-9]{1,2})\2([0-9]{1,2})"
    r"|([0-9]{1,2})([-/.])([0-9]{1,2})\6([0-9]{4}|[0-9]{2})"
    rf"|([0-9]{{1,2}})-({MONTH_PATTERN})-([0-9]{{4}}|[0-9]{{2}})"
    rf"|((?:19|20)[0-9]{{6}})){_NO_MORE}"
)
_WITHOUT_YEAR: Final = re.compile(rf"([0-9]{{1,2}})/([0-9]{{1,2}}){_NO_MORE}")
_DAY_FIRST: Final = re.compile(
    rf"([0-9]{{1,2}})(?![0-9]){_ORDINAL}\s*(?:of(?!{LETTER})\s*)?"
    rf"(?!may\s*(?:{_AFTER_MAY})(?!{LETTER})){_MONTH}(?:{_DOT}(?=\s*[0-9]))?{_YEAR}"
)
_MONTH_FIRST: Final = re.compile(
    rf"{_MONTH}(?:{_DOT})?(?:\s*the(?!{LETTER}))?[-/]?\s*"
    rf"(?:([0-9]{{4}})(?![0-9])|([0-9]{{1,2}}){_NO_MORE}{_ORDINAL}{_YEAR})"
)


class DateParts(NamedTuple):
    """A date as it was written, up to the character `end`; None for what was not said.

    `open_order` says that day and month could be the other way round, `doubtful` that it
    may as well be a number: 20250305, or 3.4.25.
    """

    end: int
    year: int | None
    month: int
    day: int | None
    open_order: bool = False
    doubtful: bool = False

    def on_calendar(self, today: date) -> date:
        """Return the date: this year's where no year was said, the month's first for no day.

        Raises:
            ValueError: there is no such day.
        """
        return date(self.year or today.year, self.month, 1 if self.day is None else self.day)


def match_date(text: str, start: int, order: DateOrder) -> DateParts | None:
    """Return the date that begins at `start` of a folded text, with its digits or its month."""
    if not "0" <= text[start] <= "9":
        match = _MONTH_FIRST.match(text, start)
        name, alone, day, year = match.groups() if match else ("", "", 0, "")
        if match and alone:
            return DateParts(match.end(), int(alone), MONTHS[name], None)
        if match is None or not 1 <= int(day) <= 31:
            return None
        return DateParts(match.end(), int(year) if year else None, MONTHS[name], int(day))
    if start > 1 and text[start - 1] in "-/." and text[start - 2].isalnum():
        return None
    match = _IN_DIGITS.match(text, start)
    if match is not None and (parts := _parts(match, order)) is not None:
        return parts
    match = _DAY_FIRST.match(text, start)
    if match is None or not 1 <= int(match[1]) <= 31:
        return None
    year = match[3]
    return DateParts(match.end(), int(year) if year else None, MONTHS[match[2]], int(match[1]))


def match_day_and_month(text: str, start: int, order: DateOrder) -> DateParts | None:
    """Return the day and month without a year that begin at `start`: 14/12.

    They are `doubtful` where they could be a fraction as well: 1/2.
    """
    match = _WITHOUT_YEAR.match(text, start)
    if match is None or (start > 1 and text[start - 1] in "-/." and text[start - 2].isalnum()):
        return None
    first, second = int(match[1]), int(match[2])
    if not (1 <= first <= 31 and 1 <= second <= 31 and min(first, second) <= 12):
        return None
    either = max(first, second) <= 12
    month_first = order == "mdy" if either else second > 12
    month, day = (first, second) if month_first else (second, first)
    return DateParts(match.end(), None, month, day, either and first != second, doubtful=either)


def _parts(match: re.Match[str], order: DateOrder) -> DateParts | None:
    year, _, month, day, one, sign, two, last, its_day, its_month, its_year, run = match.groups()
    end = match.end()
    if year:
        return DateParts(end, int(year), int(month), int(day))
    if run:
        return DateParts(end, int(run[:4]), int(run[4:6]), int(run[6:]), doubtful=True)
    if its_day:
        if not 1 <= int(its_day) <= 31:
            return None
        return DateParts(end, _year(its_year), MONTHS[its_month], int(its_day))
    # With dots the day comes first, wherever dates are written so.
    first, second = int(one), int(two)
    open_order = sign != "." and first <= 12 and second <= 12 and first != second
    month_first = order == "mdy" if open_order else second > 12
    number, day_number = (first, second) if month_first else (second, first)
    doubtful = sign == "." and len(last) == 2
    return DateParts(end, _year(last), number, day_number, open_order, doubtful)


def _year(digits: str) -> int:
    return full_year(int(digits)) if len(digits) == 2 else int(digits)


# Counted from today.

DAYS_AWAY: Final = {
    word.removeprefix("the "): day.number
    for word, day in _ENGLISH.dates.words.items()
    if day.unit == "day" and day.counting == "whole"
}
PRESENT: Final = {word for word, away in DAYS_AWAY.items() if not away} | {"now"}
DIRECTIONS: Final = dict.fromkeys(_ENGLISH.group("next"), 1) | dict.fromkeys(
    _ENGLISH.group("last"), -1
)
"""Words before a weekday or a unit of time: forwards and backwards."""
RELATIVE_STARTERS: Final = (
    frozenset(word for word in DAYS_AWAY if " " not in word) | WEEKDAYS.keys() | {"day"}
)
_ANY_DAY: Final = _ENGLISH.group("any_day")


class RelativeDay(NamedTuple):
    """The day that the words from `first` to `last` mean, and how it was counted."""

    first: int
    last: int
    value: date
    how: str


def read_relative_day(tokens: Tokens, index: int, today: date) -> RelativeDay | None:
    """Return the day that the word at `index`, one of `RELATIVE_STARTERS`, begins or names.

    Raises:
        OverflowError: it lies outside the years 1 to 9999.
    """
    word, before = tokens.words[index], tokens.word(index - 1)
    if word not in WEEKDAYS:
        last = index + (3 if word == "day" else 1)
        said = " ".join(tokens.words[index:last])
        if said not in DAYS_AWAY:
            return None
        first = index - (word == "day" and before == "the")
        return RelativeDay(first, last, shift(today, "day", DAYS_AWAY[said]), said)
    if before in _ANY_DAY:
        return None
    weekday = WEEKDAYS[word]
    name = WEEKDAY_NAMES[weekday]
    direction = DIRECTIONS.get(before, 0)
    if direction < 0:
        day, how = weekday_before(today, weekday), f"the last {name} before {today}"
    elif direction > 0:
        day, how = weekday_after(today, weekday), f"the first {name} after {today}"
    else:
        day = weekday_after(today, weekday, today_counts=True)
        how = f"the first {name} from {today} on"
    return RelativeDay(index - (bool(direction) or before == "this"), index + 1, day, how)


_DAY_LEADS: Final = _ENGLISH.group("day_leads")
_LAST_DAY: Final = 31


def read_day_of_month(tokens: Tokens, index: int, today: date) -> RelativeDay | None:
    """Return the day of “on the 21st”, of which the word at `index` is the number.

    It is the next one; after “since”, the last one; and the one of the month that is said. Before
    the name of a thing, the number counts things.

    Raises:
        OverflowError: it lies outside the years 1 to 9999.
        ValueError: the month that is said has no such day.
    """
    number, last = int(tokens.words[index]), index + 2
    first = index - (tokens.word(index - 1) == "the")
    lead = tokens.word(first - 1)
    if lead not in _DAY_LEADS or not 1 <= number <= _LAST_DAY:
        return None
    if tokens.word(last) == "of":
        month = last + 1 + (tokens.word(last + 1) in ("the", "this"))
        away = DIRECTIONS.get(tokens.word(month), 0)
        month += bool(away)
        if tokens.word(month) != "month":
            return None
        of_month = add_months(today.replace(day=1), away).replace(day=number)
        return RelativeDay(first, month + 1, of_month, f"day {number} of that month")
    after = tokens.word(last)
    if is_word(after) and after not in _ENGLISH.function_words:
        return None
    if lead == "since":
        return RelativeDay(first, last, month_day_before(today, number), "the last one")
    return RelativeDay(first, last, month_day_from(today, number), "the next one")


# Times of day.

NAMED_TIMES: Final = _ENGLISH.times
_CLOCK: Final = re.compile(
    r"([0-9]{1,2})(?![0-9])(?::([0-9]{2})(?![0-9])(?::([0-9]{2})(?![0-9])(?:[.,]([0-9]+))?)?)?"
    rf"(?:\s*([ap])(?:m(?!{LETTER})|\.m(?!{LETTER})\.?)|(\s*o(?:\s*['’]\s*)?clock(?!{LETTER})))?"
)
_ZONE: Final = re.compile(
    rf"(?:z|\s*utc)(?!{LETTER})|([+-])([0-9]{{2}})(?::?([0-9]{{2}}))?(?![0-9])"
)
_BEFORE_TIME: Final = re.compile(r"t(?=[0-9])|\s*")
_EARLIEST, _MORNING = 60, 7 * 60
_BEFORE_HOUR: Final = frozenset({"at"})
_AFTER_HOUR: Final = (
    (_ENGLISH.function_words - {"or", "and", "per", "to", "of", "most", "more"})
    | WEEKDAYS.keys()
    | RELATIVE_STARTERS
)
_MAX_OFFSET: Final = timedelta(hours=24)


_SPOKEN: Final = _ENGLISH.clock
_NUMBERS: Final = {w: value for w, value in _ENGLISH.numbers.words.items() if " " not in w}
_HOURS: Final = {word: value for word, value in _NUMBERS.items() if 1 <= value <= 12}
_MINUTES: Final = {word: value for word, value in _NUMBERS.items() if 1 <= value < 30}
SPOKEN_STARTERS: Final = frozenset(_SPOKEN.parts) | _MINUTES.keys()
"""Words that may begin a time of day in words: half past three, ten past six."""


class TimeParts(NamedTuple):
    """A time of day as it was written, up to the character `end`; `half` is a, p or empty."""

    end: int
    hour: int
    minute: int
    second: int
    microsecond: int
    half: str

    def on_clock(self, zone: timezone | None = None) -> time:
        """Return the time.

        Raises:
            ValueError: no clock shows it.
        """
        hour = self.hour
        if self.half:
            if not 1 <= hour <= 12:
                raise ValueError(f"{hour} {self.half}m is no time of day")
            hour = hour % 12 + (12 if self.half == "p" else 0)
        return time(hour, self.minute, self.second, self.microsecond, zone)


def read_spoken_time(tokens: Tokens, index: int) -> tuple[time | None, int] | None:
    """Return the time that begins at the word at `index`, half past three, and the index after it.

    The time is None where nothing says whether so early an hour is in the morning or in the
    afternoon. Five to seven may as well be a range, and needs its minutes or a half of the day.
    """
    word = tokens.words[index]
    minutes = _SPOKEN.parts.get(word) or _small_number(word, _MINUTES)
    at = index + 1
    named = word in _SPOKEN.parts or tokens.word(at) in _SPOKEN.minutes
    at += word not in _SPOKEN.parts and tokens.word(at) in _SPOKEN.minutes
    joint = tokens.word(at)
    hour = _small_number(tokens.word(at + 1), _HOURS)
    if not minutes or not hour or joint not in _SPOKEN.past | _SPOKEN.to:
        return None
    half, last = read_half_of_day(tokens, index, at + 2)
    certain = named or bool(half) or joint in _SPOKEN.past - {"after"}
    if not certain or hour > 12 or (joint not in _SPOKEN.past and minutes == 30):
        return None
    total = _in_half(hour, half) * 60 + (minutes if joint in _SPOKEN.past else -minutes)
    if not half and _EARLIEST <= total < _MORNING:
        return None, last
    return time(total // 60 % 24, total % 60), last


def read_half_of_day(tokens: Tokens, first: int, last: int) -> tuple[str, int]:
    """Return which half of the day is said beside a time, a, p or nothing, and where it ends."""
    at = last
    while at - last < 3 and tokens.word(at) in _SPOKEN.leads:
        at += 1
    if found := _SPOKEN.halves.get(tokens.word(at)):
        said = tokens.words[last:at]
        return found, (at + 1 if "tomorrow" not in said and "this" not in said else last)
    before = first - 1 - (tokens.word(first - 1) in ("at", ",", "by"))
    return _SPOKEN.halves.get(tokens.word(before), ""), last


def _in_half(hour: int, half: str) -> int:
    return hour % 12 + (12 if half == "p" else 0) if half and 1 <= hour <= 12 else hour


def _small_number(word: str, known: Mapping[str, int]) -> int:
    return int(word) if word.isdigit() and len(word) < 3 else known.get(word, 0)


def read_bare_hour(tokens: Tokens, index: int) -> tuple[time, int, bool] | None:
    """Return the time that a bare hour is, at 8 or 7 in the evening, and the index after it.

    The last value says whether a half of the day makes it one; else nothing but "at" does.
    """
    hour = _small_number(tokens.words[index], _HOURS)
    if not (1 <= hour <= 24 if tokens.words[index] != "0" else True):
        return None
    after = tokens.word(index + 1)
    half, last = read_half_of_day(tokens, index, index + 1)
    if half and hour <= 12 and (last > index + 1 or tokens.word(index - 1) in _BEFORE_HOUR):
        return time(_in_half(hour, half) % 24), last, True
    alone = not after or (after in ",.;?!" and not tokens.glued(index + 2)) or after in _AFTER_HOUR
    if tokens.word(index - 1) in _BEFORE_HOUR and alone and hour < 24:
        return time(hour), index + 1, False
    return None


def match_time(text: str, start: int, *, fraction: bool = False) -> TimeParts | None:
    """Return the time of day that begins at `start` of a folded text: 17:30, 5pm, 5 o'clock.

    `fraction` reads 17:30:15.5 to its end.
    """
    match = _CLOCK.match(text, start)
    if match is None:
        return None
    hour, minute, second, part, half, oclock = match.groups()
    if not (minute or half or oclock):
        return None
    end = match.end(3) if part and not (fraction or half) else match.end()
    microsecond = int(part[:6].ljust(6, "0")) if part and fraction else 0
    return TimeParts(end, int(hour), int(minute or 0), int(second or 0), microsecond, half or "")


def read_time_after_date(text: str, start: int) -> tuple[time, int] | None:
    """Return the time after a date that ends at `start`, and where it ends: T17:30+02:00."""
    lead = _BEFORE_TIME.match(text, start)
    parts = match_time(text, lead.end(), fraction=True) if lead else None
    if parts is None:
        return None
    zone, end = None, parts.end
    match = None if parts.half else _ZONE.match(text, end)
    if match is not None:
        sign, hours, minutes = match.groups()
        offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
        if offset < _MAX_OFFSET:
            zone = timezone(-offset if sign == "-" else offset) if sign else UTC
            end = match.end()
    try:
        return parts.on_clock(zone), end
    except ValueError:
        return None
