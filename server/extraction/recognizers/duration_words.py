"""Durations in words: how long the words at some place say."""

from typing import Final

from server.extraction.recognizers.durations import (
    Duration,
    Part,
    add_up,
    read_iso_duration,
    unit_at,
)
from server.extraction.recognizers.exact import Number
from server.extraction.recognizers.number_words import STARTERS, and_a_half, read_words
from server.extraction.recognizers.numbers import read_digits
from server.extraction.recognizers.tokens import Tokens, is_digits

_SIZE: Final = {
    unit: size
    for size, unit in enumerate(("second", "minute", "hour", "day", "week", "month", "year"))
}
_CARRY: Final = {"second": 60, "minute": 60, "hour": 24}
_LONGEST_ISO: Final = 16


def read_duration(tokens: Tokens, unit_index: int, value: Number) -> tuple[Duration | None, int]:
    """The duration of `value` units and what is added to it, and the index after it.

    The unit is the word at `unit_index`. Of 2 hours, 30 minutes both parts count.
    """
    unit = unit_at(tokens.words[unit_index], glued=tokens.glued(unit_index))
    parts, last = [Part(value, unit)], unit_index + 1
    half = and_a_half(tokens, last)
    if half:
        parts.append(Part(0.5, unit))
        last = half
    while more := _next_part(tokens, last, parts[-1].unit):
        part, last = more
        parts.append(part)
    return add_up(parts), last


def _next_part(tokens: Tokens, index: int, larger: str) -> tuple[Part, int] | None:
    index += tokens.word(index) == ","
    index += tokens.word(index) == "and"
    word = tokens.word(index)
    value: Number | None
    if is_digits(word):
        digits = read_digits(tokens, index)
        value, last = digits.value, digits.last
    elif word in STARTERS and (read := read_words(tokens, index)):
        value, last = read
    else:
        return None
    unit = unit_at(tokens.word(last), glued=tokens.glued(last))
    if tokens.word(last) == "m" and larger == "hour":
        unit = "minute"
    if value is None or not unit or _SIZE[unit] >= _SIZE[larger]:
        return None
    if value >= _CARRY.get(unit, value + 1):
        return None  # 1h30m, 90s are two durations
    return Part(value, unit), last + 1


def read_unit_alone(tokens: Tokens, index: int) -> tuple[Number, int] | None:
    """How many units "an hour" or "half a day" says, and the index of its unit."""
    words = tokens.words
    half = words[index] == "half"
    unit_index = index + 1 + half
    if words[index + half : unit_index] not in (["a"], ["an"]):
        return None
    word = tokens.word(unit_index)
    if not unit_at(word, glued=False) or word.endswith("s"):
        return None
    return (0.5 if half else 1), unit_index


def read_iso_run(tokens: Tokens, index: int) -> tuple[Duration, int] | None:
    """The duration that begins with a P: PT2H30M; and the index after it."""
    last = index + 1
    while last - index < _LONGEST_ISO and tokens.glued(last) and tokens.words[last].isalnum():
        last += 1
    length = read_iso_duration(tokens.slice(index, last)) if last > index + 1 else None
    return None if length is None else (length, last)
