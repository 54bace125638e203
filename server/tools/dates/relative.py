"""Days said in relation to today: tomorrow, next friday, 3 days ago, in two weeks."""

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Final

from server.text.calendar import WEEKDAY_NAMES, WEEKDAY_PATTERN, WEEKDAYS
from server.text.language import load_language
from server.tools.dates.arithmetic import add_months

_ENGLISH: Final = load_language("en")
_DAYS_AWAY: Final = {
    word.removeprefix("the "): day.number
    for word, day in _ENGLISH.dates.words.items()
    if day.unit == "day" and day.counting == "whole"
}
_COUNTS: Final = {
    word: value for word, value in _ENGLISH.numbers.words.items() if " " not in word
} | {"a": 1, "an": 1}
_DIRECTIONS: Final = dict.fromkeys(_ENGLISH.group("next"), 1) | dict.fromkeys(
    _ENGLISH.group("last"), -1
)

_UNIT: Final = r"(second|minute|hour|day|week|month|year)"
_COUNT: Final = rf"(\d{{1,7}}|{'|'.join(_COUNTS)})"
_IN: Final = re.compile(rf"in {_COUNT} {_UNIT}s?(?: time)?")
_AHEAD: Final = re.compile(rf"{_COUNT} {_UNIT}s? (?:from (?:now|today)|later|hence)")
_AGO: Final = re.compile(rf"{_COUNT} {_UNIT}s? (?:ago|before (?:now|today)|back)")
_DIRECTION: Final = rf"({'|'.join(_DIRECTIONS)})"
_STEP: Final = re.compile(rf"{_DIRECTION} {_UNIT}")
_WEEKDAY: Final = re.compile(rf"(?:(?:{_DIRECTION}|this) )?({WEEKDAY_PATTERN})")


def read_relative_day(text: str, now: datetime) -> tuple[date, str] | None:
    """The day or moment that folded `text` means at `now`, and how it was read.

    None when the text is not of this kind.

    Raises:
        OverflowError: it lies outside the years 1 to 9999.
    """
    if text == "now":
        return now, "now"
    words = text.removeprefix("on ").removeprefix("the ")
    if words in _DAYS_AWAY:
        return now.date() + timedelta(days=_DAYS_AWAY[words]), words
    for pattern, read in _READERS:
        match = pattern.fullmatch(words)
        if match is not None:
            return read(match, now)
    return None


def _weekday(match: re.Match[str], now: datetime) -> tuple[date, str]:
    direction, word = match.groups()
    today, number = now.date(), WEEKDAYS[word]
    name = WEEKDAY_NAMES[number]
    towards = _DIRECTIONS.get(direction, 0)
    if towards < 0:
        back = (today.weekday() - number - 1) % 7 + 1
        return today - timedelta(days=back), f"the last {name} before {today}"
    if towards > 0:
        ahead = (number - today.weekday() - 1) % 7 + 1
        return today + timedelta(days=ahead), f"the first {name} after {today}"
    ahead = (number - today.weekday()) % 7
    return today + timedelta(days=ahead), f"the first {name} from {today} on"


def _step(match: re.Match[str], now: datetime) -> tuple[date, str]:
    direction, unit = match.groups()
    return _moved(now, _DIRECTIONS[direction], unit), match.group()


def _ahead(match: re.Match[str], now: datetime) -> tuple[date, str]:
    count, unit = _counted(match)
    return _moved(now, count, unit), f"{_amount(count, unit)} after {now.date()}"


def _ago(match: re.Match[str], now: datetime) -> tuple[date, str]:
    count, unit = _counted(match)
    return _moved(now, -count, unit), f"{_amount(count, unit)} before {now.date()}"


_READERS: Final[tuple[tuple[re.Pattern[str], Callable[..., tuple[date, str]]], ...]] = (
    (_WEEKDAY, _weekday),
    (_STEP, _step),
    (_AGO, _ago),
    (_IN, _ahead),
    (_AHEAD, _ahead),
)


def _counted(match: re.Match[str]) -> tuple[int, str]:
    word, unit = match.groups()
    return _COUNTS[word] if word in _COUNTS else int(word), unit


def _amount(count: int, unit: str) -> str:
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"


def _moved(now: datetime, count: int, unit: str) -> date:
    """`now` moved by whole units; a day for days and longer, a moment for shorter ones."""
    match unit:
        case "second" | "minute" | "hour":
            return now + timedelta(**{f"{unit}s": count})
        case "day" | "week":
            return now.date() + timedelta(**{f"{unit}s": count})
        case "month":
            return add_months(now.date(), count)
        case _:
            return add_months(now.date(), 12 * count)
