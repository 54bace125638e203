"""Times of day: 17:30, 5pm, 5:30 p.m., noon."""

from datetime import UTC, time, timedelta, timezone
from typing import Final, NamedTuple

from server.text.language import load_language
from server.text.tokens import Tokens, is_digits

_ENGLISH: Final = load_language("en")

NAMED: Final = _ENGLISH.times


class Clock(NamedTuple):
    """Words up to `last` write a time; `value` is None for one that no clock shows."""

    last: int
    value: time | None


def read_time(tokens: Tokens, index: int, *, after_date: bool = False) -> Clock | None:
    """The time whose hour is the digits at `index`; `after_date` allows a zone: 17:30Z."""
    words = tokens.words
    hour = words[index]
    if len(hour) > 2:
        return None
    minute, second, microsecond, last = "0", "0", 0, index + 1
    if _two_digits(tokens, last):
        minute, last = words[last + 1], last + 2
        if _two_digits(tokens, last):
            second, last = words[last + 1], last + 2
            if tokens.word(last) == "." and is_digits(tokens.word(last + 1)) and after_date:
                microsecond, last = int(words[last + 1][:6].ljust(6, "0")), last + 2
    half, after = _half_of_day(tokens, last)
    if half:
        return Clock(after, _clock_of_twelve(int(hour), int(minute), int(second), half))
    if last == index + 1:
        return _oclock(tokens, index)
    zone: timezone | None = None
    if after_date:
        zone, last = _zone(tokens, last)
    try:
        return Clock(last, time(int(hour), int(minute), int(second), microsecond, tzinfo=zone))
    except ValueError:
        return Clock(last, None)


def _two_digits(tokens: Tokens, index: int) -> bool:
    """Whether `:30` stands here."""
    return (
        tokens.word(index) == ":"
        and len(tokens.word(index + 1)) == 2
        and is_digits(tokens.words[index + 1])
        and tokens.glued(index)
        and tokens.glued(index + 1)
    )


def _half_of_day(tokens: Tokens, index: int) -> tuple[str, int]:
    """`a` or `p` and the index after am, pm, a.m. or p.m.; empty when there is none."""
    word = tokens.word(index)
    if word in ("am", "pm"):
        return word[0], index + 1
    dotted = tokens.words[index + 1 : index + 3] == [".", "m"]
    if word in ("a", "p") and dotted and tokens.glued(index + 1) and tokens.glued(index + 2):
        full_stop = tokens.word(index + 3) == "." and tokens.glued(index + 3)
        return word, index + 3 + full_stop
    return "", index


def _clock_of_twelve(hour: int, minute: int, second: int, half: str) -> time | None:
    if not 1 <= hour <= 12 or minute > 59 or second > 59:
        return None
    return time(hour % 12 + (12 if half == "p" else 0), minute, second)


def _oclock(tokens: Tokens, index: int) -> Clock | None:
    after = tokens.words[index + 1 : index + 4]
    if len(after) == 3 and after[0] == "o" and after[1] in "'’" and after[2] == "clock":
        hour = int(tokens.words[index])
        return Clock(index + 4, time(hour) if hour < 24 else None)
    if after[:1] == ["oclock"]:
        hour = int(tokens.words[index])
        return Clock(index + 2, time(hour) if hour < 24 else None)
    return None


def _zone(tokens: Tokens, index: int) -> tuple[timezone | None, int]:
    word = tokens.word(index)
    if word in ("z", "utc") and (word == "utc" or tokens.glued(index)):
        return UTC, index + 1
    if word not in ("+", "-") or not (tokens.glued(index) and tokens.glued(index + 1)):
        return None, index
    hours, last = tokens.word(index + 1), index + 2
    minutes = "0"
    if len(hours) == 4 and is_digits(hours):
        hours, minutes = hours[:2], hours[2:]
    elif len(hours) == 2 and is_digits(hours):
        if _two_digits(tokens, last):
            minutes, last = tokens.words[last + 1], last + 2
    else:
        return None, index
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    if offset >= timedelta(hours=24):
        return None, index
    return timezone(-offset if word == "-" else offset), last


def read_iso_tail(tokens: Tokens, index: int) -> Clock | None:
    """The time that follows a date at `index`: T17:30, or a space and 17:30."""
    if tokens.word(index) == "t" and tokens.glued(index) and tokens.glued(index + 1):
        index += 1
    if is_digits(tokens.word(index)):
        return read_time(tokens, index, after_date=True)
    return None
