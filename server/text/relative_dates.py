"""Dates that depend on today, and times of day."""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Final

from server.text.calendar import WEEKDAYS, moved, weekday_after, weekday_before
from server.text.dates import WrittenDate
from server.text.durations import Duration
from server.text.language import load_language
from server.text.span import Span
from server.text.tokens import Tokens

_ENGLISH: Final = load_language("en")

DAYS: Final = {
    word: day.number
    for word, day in _ENGLISH.dates.words.items()
    if day.unit == "day" and day.counting == "whole" and " " not in word
}

PRESENT: Final = {word for word, away in DAYS.items() if not away} | {"now"}

STARTERS: Final = frozenset(DAYS) | frozenset(WEEKDAYS) | {"day", "now"}

# "which monday", "a friday": some day of that name, and no date.
_ANY: Final = _ENGLISH.group("any_day")
_NEXT: Final = _ENGLISH.group("next")
_LAST: Final = _ENGLISH.group("last")

_BACKWARDS_AFTER: Final = _ENGLISH.group("back_after")
_BACKWARDS_BEFORE: Final = _ENGLISH.group("back_before") | {"-"}
_FORWARDS: Final = _ENGLISH.group("forwards_after")
_NOW: Final = frozenset({"now", "today"})


def read_relative(tokens: Tokens, index: int, today: date) -> WrittenDate | None:
    """The date that the word at `index` begins or names."""
    word = tokens.words[index]
    if word in DAYS:
        return _written(index, index + 1, moved(today, days=DAYS[word]))
    if word == "now":
        return WrittenDate(index, index + 1, today, weak=True)
    if word == "day":
        return _day_beside(tokens, index, today)
    return _weekday(tokens, index, today)


def _written(first: int, last: int, day: date | None) -> WrittenDate | None:
    return WrittenDate(first, last, day) if day else None


def _day_beside(tokens: Tokens, index: int, today: date) -> WrittenDate | None:
    """The day after tomorrow, the day before yesterday."""
    after = tokens.words[index + 1 : index + 3]
    first = index - (tokens.word(index - 1) == "the")
    if after == ["after", "tomorrow"]:
        return _written(first, index + 3, moved(today, days=2))
    if after == ["before", "yesterday"]:
        return _written(first, index + 3, moved(today, days=-2))
    return None


def _weekday(tokens: Tokens, index: int, today: date) -> WrittenDate | None:
    word = tokens.words[index]
    before = tokens.word(index - 1)
    if before in _ANY:
        return None
    weekday = WEEKDAYS[word]
    if before in _NEXT:
        day = weekday_after(today, weekday, today_counts=False)
        return _written(index - 1, index + 1, day)
    if before in _LAST:
        return _written(index - 1, index + 1, weekday_before(today, weekday))
    short = len(word) < 5 and word + "day" not in WEEKDAYS
    if short and before not in ("on", "by", "until", "this"):
        return None  # sat and sun are words as well
    day = weekday_after(today, weekday, today_counts=True)
    return _written(index - (before == "this"), index + 1, day)


def directed(tokens: Tokens, span: Span) -> Span:
    """The duration, marked when it counts backwards: 3 days ago, minus 3 days."""
    before = tokens.word(span.first - 1)
    if before in ("by", "exactly", "about"):
        before = tokens.word(span.first - 2)
    if tokens.word(span.last) in _BACKWARDS_AFTER or before in _BACKWARDS_BEFORE:
        return span._replace(unit="-")
    return span


def counted_dates(
    tokens: Tokens, durations: Iterable[Span], dates: Mapping[int, Span], today: date
) -> list[Span]:
    """Dates that durations lead to, and the day that `ago` or `in` counts from.

    `dates` are the dates of the text by the word they begin with.
    """
    found: list[Span] = []
    for span in durations:
        after, before = tokens.word(span.last), tokens.word(span.first - 1)
        if after == "ago":
            found += _from(tokens, span, span.first, span.last + 1, today, -1, span.last)
        elif after in _FORWARDS or after == "before":
            base = dates.get(span.last + 1)
            if base is not None:
                sign = -1 if after == "before" else 1
                found += _from(tokens, span, span.first, base.last, base.value, sign)
        elif before == "in" or (before == "" and after in ("hence", "later")):
            anchor = span.first - 1 if before == "in" else span.last
            last = span.last + (after in ("hence", "time"))
            first = span.first - (before == "in")
            found += _from(tokens, span, first, max(last, anchor + 1), today, 1, anchor)
    return found


def _from(
    tokens: Tokens,
    duration: Span,
    first: int,
    last: int,
    base: date,
    sign: int,
    anchor: int | None = None,
) -> list[Span]:
    length = duration.value
    days = length.whole_days() if isinstance(length, Duration) else None
    if days is None:
        return []
    day = moved(base, months=sign * length.months, days=sign * days)
    found: list[Span] = []
    if day is not None:
        start, end = tokens.starts[first], tokens.ends[last - 1]
        found.append(Span("offset", start, end, first, last, day))
    if anchor is not None:
        start, end = tokens.starts[anchor], tokens.ends[anchor]
        found.append(Span("anchor", start, end, anchor, anchor + 1, base))
    return found
