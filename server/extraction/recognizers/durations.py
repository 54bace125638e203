"""Durations: 2 hours 30 minutes, an hour and a half, 1h30m, PT2H30M."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final, NamedTuple

import re2

from server.extraction.recognizers.calendar import MONTHS_IN, SECONDS, UNITS
from server.extraction.recognizers.exact import Number, as_decimal, plain

_ISO: Final = re2.compile(
    r"(?i)P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?"
    r"(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?"
)
_ISO_UNITS: Final = ("year", "month", "week", "day", "hour", "minute", "second")
LONGEST_ISO: Final = 40

_BIGGEST: Final = 10**12


@dataclass(frozen=True, slots=True)
class Duration:
    """A span of time: whole months, which have no fixed length, and seconds."""

    months: int = 0
    seconds: Fraction = Fraction(0)

    def to_iso(self) -> str:
        """ISO 8601, such as P1Y2M, P21D or PT2H30M."""
        years, months = divmod(self.months, 12)
        days, rest = divmod(self.seconds, 86400)
        hours, rest = divmod(rest, 3600)
        minutes, seconds = divmod(rest, 60)
        day_part = "".join(
            f"{n}{unit}" for n, unit in ((years, "Y"), (months, "M"), (days, "D")) if n
        )
        time_part = "".join(f"{n}{unit}" for n, unit in ((hours, "H"), (minutes, "M")) if n)
        if seconds:
            time_part += f"{_decimal(seconds)}S"
        return f"P{day_part}{'T' if time_part else ''}{time_part}" if self else "PT0S"

    def __bool__(self) -> bool:
        return bool(self.months or self.seconds)

    def count_in(self, unit: str) -> Number | None:
        """How many of `unit` this is, or None when that has no fixed answer."""
        if unit in MONTHS_IN:
            if self.seconds:
                return None
            return _plain(Fraction(self.months, MONTHS_IN[unit]))
        return None if self.months else _plain(self.seconds / SECONDS[unit])

    def whole_days(self) -> int | None:
        days = self.seconds / 86400
        return int(days) if days.denominator == 1 else None


class Part(NamedTuple):
    value: Number
    unit: str


def unit_at(word: str, *, glued: bool) -> str:
    """The unit of time that `word` names, or empty."""
    unit = UNITS.get(word, "")
    return unit if unit and (glued or len(word) > 1) else ""


def add_up(parts: list[Part]) -> Duration | None:
    """The duration that the parts make; None for half a month or a million years."""
    months, seconds = Fraction(0), Fraction(0)
    for value, unit in parts:
        amount = Fraction(as_decimal(value))
        if abs(amount) > _BIGGEST:
            return None
        if unit in MONTHS_IN:
            months += amount * MONTHS_IN[unit]
        else:
            seconds += amount * SECONDS[unit]
    if months.denominator != 1:
        return None
    return Duration(int(months), seconds)


def read_iso_duration(text: str) -> Duration | None:
    """The duration that the whole `text` writes in ISO 8601."""
    if not 3 <= len(text) <= LONGEST_ISO or not text.isascii():
        return None
    match = _ISO.fullmatch(text)
    if match is None:
        return None
    groups: tuple[str | None, ...] = match.groups()
    parts = [
        Part(plain(Decimal(number)) or 0, unit)
        for number, unit in zip(groups, _ISO_UNITS, strict=True)
        if number is not None
    ]
    return add_up(parts) if parts else None


def _plain(fraction: Fraction) -> Number | None:
    quotient = Decimal(fraction.numerator) / Decimal(fraction.denominator)
    return plain(quotient) if Fraction(quotient) == fraction else None


def _decimal(fraction: Fraction) -> str:
    return f"{Decimal(fraction.numerator) / Decimal(fraction.denominator):f}"
