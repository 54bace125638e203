"""Durations: 2 hours 30 minutes, an hour and a half, 1h30m, PT2H30M."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final, NamedTuple

from server.text.decimals import Number, as_decimal, exact_quotient, plain_number
from server.text.language import TimeUnit, load_language
from server.text.money import CURRENCY_STARTERS
from server.text.numbers import NUMBER_STARTERS, and_a_half, read_digits, read_words
from server.text.tokens import Tokens, is_digits

UNITS: Final[Mapping[str, TimeUnit]] = {
    word: unit for unit, words in load_language("en").units.items() for word in words
}
"""Words for units of time. One-letter ones count only when glued to their number."""
SECONDS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
MONTHS_IN: Final = {"month": 1, "year": 12}
_ISO: Final = re.compile(
    r"(?i)P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?"
    r"(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?"
)
_ISO_UNITS: Final = ("year", "month", "week", "day", "hour", "minute", "second")
_LONGEST_ISO: Final = 40
MAX_COUNT: Final = 10**12
"""Of any unit; what is more is no length of time."""


@dataclass(frozen=True, slots=True)
class Duration:
    """A span of time: whole months, which have no fixed length, and seconds."""

    months: int = 0
    seconds: Fraction = Fraction(0)

    def to_iso(self) -> str:
        """ISO 8601, such as P1Y2M, P21D or PT2H30M."""
        days, rest = divmod(self.seconds, 86400)
        minutes, seconds = divmod(rest, 60)
        counts = (*divmod(self.months, 12), days, *divmod(minutes, 60))
        parts = [
            f"{count}{unit}" if count else "" for count, unit in zip(counts, "YMDHM", strict=True)
        ]
        if seconds:
            parts.append(f"{Decimal(seconds.numerator) / seconds.denominator:f}S")
        time_part = "".join(parts[3:])
        return f"P{''.join(parts[:3])}{'T' if time_part else ''}{time_part}" if self else "PT0S"

    def __bool__(self) -> bool:
        return bool(self.months or self.seconds)

    def count_in(self, unit: str) -> Number | None:
        """Return how many of `unit` this is, or None when that has no fixed answer."""
        if unit in MONTHS_IN:
            count, rest = Fraction(self.months, MONTHS_IN[unit]), self.seconds
        else:
            count, rest = self.seconds / SECONDS[unit], Fraction(self.months)
        if rest:
            return None
        return exact_quotient(count.numerator, count.denominator)

    def whole_days(self) -> int | None:
        days = self.seconds / 86400
        return int(days) if days.denominator == 1 else None


class Part(NamedTuple):
    value: Number
    unit: str


def unit_at(word: str, *, glued: bool) -> str:
    """Return the unit of time that `word` names, or empty."""
    return UNITS.get(word, "") if glued or len(word) > 1 else ""


def total_duration(parts: list[Part]) -> Duration | None:
    """Return the duration that the parts make, or None for half a month or a million years."""
    months, seconds = Fraction(0), Fraction(0)
    for value, unit in parts:
        amount = Fraction(as_decimal(value))
        if abs(amount) > MAX_COUNT:
            return None
        if unit in MONTHS_IN:
            months += amount * MONTHS_IN[unit]
        else:
            seconds += amount * SECONDS[unit]
    if months.denominator != 1:
        return None
    return Duration(int(months), seconds)


def read_iso_duration(text: str) -> Duration | None:
    """Return the duration that the whole `text` writes in ISO 8601."""
    if not 3 <= len(text) <= _LONGEST_ISO or not text.isascii():
        return None
    match = _ISO.fullmatch(text)
    parts = [
        Part(plain_number(Decimal(number)) or 0, unit)
        for number, unit in zip(match.groups() if match else (), _ISO_UNITS, strict=False)
        if number is not None
    ]
    return total_duration(parts) if parts else None


SINGLE_LENGTHS: Final = {
    word: length
    for word, written in load_language("en").dates.lengths.items()
    if (length := read_iso_duration(written)) is not None
}
"""Lengths of time that are one word: a fortnight."""

_SIZE: Final = {unit: size for size, unit in enumerate((*SECONDS, *MONTHS_IN))}
_MINUTE_DIGITS: Final = 2
_CARRY: Final = {"second": 60, "minute": 60, "hour": 24}


def read_duration(tokens: Tokens, unit_index: int, value: Number) -> tuple[Duration | None, int]:
    """Return the duration of `value` units and what is added to it, and the index after it.

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
    return total_duration(parts), last


def _next_part(tokens: Tokens, index: int, larger: str) -> tuple[Part, int] | None:
    index += tokens.word(index) == ","
    index += tokens.word(index) == "and"
    word = tokens.word(index)
    value: Number | None
    if is_digits(word):
        digits = read_digits(tokens, index)
        value, last = digits.value, digits.last
    elif word in NUMBER_STARTERS and (read := read_words(tokens, index)):
        value, last = read
    else:
        return None
    unit = unit_at(tokens.word(last), glued=tokens.glued(last))
    glued = tokens.glued(index) and last == index + 1 and len(word) == _MINUTE_DIGITS
    if larger == "hour" and glued and not tokens.glued(last) and value is not None:
        return (Part(value, "minute"), last) if value < _CARRY["minute"] else None  # 5h20
    if tokens.word(last) == "m" and larger == "hour":
        unit = "minute"
    if value is None or not unit or _SIZE[unit] >= _SIZE[larger]:
        return None
    if value >= _CARRY.get(unit, value + 1):
        return None  # 1h30m, 90s are two durations
    return Part(value, unit), last + 1


def read_unit_alone(tokens: Tokens, index: int) -> tuple[Number, int] | None:
    """Return how many units "an hour" or "half a day" says, and the index of its unit."""
    words = tokens.words
    half = words[index] == "half"
    unit_index = index + 1 + half
    if words[index + half : unit_index] not in (["a"], ["an"]):
        return None
    word = tokens.word(unit_index)
    if not unit_at(word, glued=False) or word.endswith("s"):
        return None
    before = tokens.word(index - 1)
    if is_digits(before) or before in CURRENCY_STARTERS:
        return None  # 950 a month
    return (0.5 if half else 1), unit_index


def read_iso_run(tokens: Tokens, index: int) -> tuple[Duration, int] | None:
    """Return the duration that begins with the P at `index`, PT2H30M, and the index after it."""
    last = index + 1
    while last - index < 16 and tokens.glued(last) and tokens.words[last].isalnum():
        last += 1
    length = read_iso_duration(tokens.slice(index, last))
    return None if length is None else (length, last)
