"""Numbers as the arguments of a tool, read strictly; `text.decimals` calculates with them."""

import math
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from server.core.suggestions import described_value, shown_value
from server.errors import ArgumentsInvalid

MAX_DIGITS: Final = 50
"""Most digits a number may have before its decimal point, and after it."""

_MAX_CHARS: Final = 2 * MAX_DIGITS + 30
_ZERO: Final = Decimal(0)
_WRITTEN: Final = re.compile(
    r"[+-]?(?:\d{1,3}(?:,\d{2,3})*,\d{3}|\d+)?(?:\.\d*)?(?:[eE][+-]?\d{1,9})?"
)


def read_number(value: Any, name: str, *, percent: bool = False) -> Decimal:
    """Return `value` as an exact decimal, or raise `ArgumentsInvalid`: no number, or too large.

    Text may group thousands (`1,500`), use an exponent (`2e3`) and, with `percent`, end in `%`.
    """
    if isinstance(value, Decimal):
        number = value
    elif isinstance(value, str):
        number = _read_text(value, name, percent=percent)
    elif isinstance(value, int) and not isinstance(value, bool):
        # Decimal(huge) and str(huge) take long, so the size is looked at first.
        huge = value.bit_length() > 4 * MAX_DIGITS
        number = Decimal(f"1e{MAX_DIGITS}") if huge else Decimal(int(value))
    elif isinstance(value, float):
        number = Decimal(repr(float(value))) if math.isfinite(value) else Decimal("NaN")
    else:
        raise ArgumentsInvalid(f"{name} must be a number, not {described_value(value)}")
    if not number.is_finite():
        raise ArgumentsInvalid(f"{name} is {shown_value(value)}, which is not a finite number")
    if not number:
        return _ZERO  # 0e999999 is a zero like any other
    exponent = number.as_tuple().exponent
    too_fine = isinstance(exponent, int) and exponent < -MAX_DIGITS
    if too_fine or number.adjusted() >= MAX_DIGITS:
        raise ArgumentsInvalid(
            f"{name} has too many digits: at most {MAX_DIGITS} may stand "
            "before the decimal point, and as many after it"
        )
    return number


def read_numbers(values: Sequence[Any], name_of: Callable[[int], str]) -> list[Decimal]:
    """Return each of `values` as `read_number` does; `name_of` names the one at a place."""
    return [read_number(value, name_of(place)) for place, value in enumerate(values)]


def read_as_number(text: str) -> Decimal | None:
    """Return the number that `text` writes, or None when it writes something else."""
    if len(text) > _MAX_CHARS or not any(map(str.isdecimal, text)):
        return None
    try:
        return read_number(text, "value")
    except ArgumentsInvalid:
        return None


def read_integer(value: Any, name: str, *, least: int, most: int) -> int:
    """Return a whole number from `least` to `most`, or raise `ArgumentsInvalid`."""
    if type(value) is int and least <= value <= most:
        return value
    number = read_number(value, name)
    if number != number.to_integral_value():
        raise ArgumentsInvalid(f"{name} is {shown_value(value)}, which is not a whole number")
    if not least <= number <= most:
        raise ArgumentsInvalid(
            f"{name} is {shown_value(value)}, and must be from {least} to {most}"
        )
    return int(number)


def _read_text(value: str, name: str, *, percent: bool) -> Decimal:
    text = value[: _MAX_CHARS + 1].strip().replace("\N{MINUS SIGN}", "-")
    if percent:
        text = text.removesuffix("%").rstrip()
    if len(text) > _MAX_CHARS:
        digits = all(char.isdecimal() or char in ",." for char in text)
        problem = "has too many digits" if digits else "is not a number"
        raise ArgumentsInvalid(f"{name} is {shown_value(value)}, which {problem}")
    with suppress(InvalidOperation):
        if _WRITTEN.fullmatch(text) and any(map(str.isdecimal, text)):
            return Decimal(text.replace(",", ""))
    raise ArgumentsInvalid(f"{name} is {shown_value(value)}, which is not a number")
