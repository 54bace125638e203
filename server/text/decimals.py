"""Exact numbers: 0.1 stays 0.1, whatever is done with it."""

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from functools import reduce
from typing import Final

Number = int | float | Decimal

MAX_DIGITS: Final = 400
"""A number with more digits than this, before or after its point, is not read."""

QUOTIENT_DIGITS: Final = 15
"""Significant digits of a result that has no end: what a double always keeps."""
_ENDING_DIGITS: Final = 28
"""Digits up to which a quotient that ends is told to its end."""

EXACT: Final = Context(
    prec=2 * MAX_DIGITS,
    rounding=ROUND_HALF_UP,
    Emax=999_999,
    Emin=-999_999,
    traps=[InvalidOperation, DivisionByZero, Overflow],
)
"""Wide enough that no sum or product of numbers within bounds is ever rounded."""
_ENDING: Final = Context(prec=_ENDING_DIGITS, rounding=ROUND_HALF_UP)
_QUOTIENT: Final = Context(prec=QUOTIENT_DIGITS, rounding=ROUND_HALF_UP)


def plain(number: Decimal) -> Number:
    """Return `number` as JSON prints it best.

    An int when it is whole; a float when the float shows the very same digits; else the
    decimal itself, without trailing zeros.
    """
    if number == number.to_integral_value(context=EXACT):
        return int(number)
    nearest = float(number)
    return nearest if Decimal(repr(nearest)) == number else number.normalize(EXACT)


def plain_number(number: Decimal) -> Number | None:
    """Return `plain(number)`, or None when it has more digits than anyone means."""
    if not number.is_finite() or abs(number.adjusted()) > MAX_DIGITS:
        return None
    exponent = number.as_tuple().exponent
    return plain(number) if isinstance(exponent, int) and exponent >= -MAX_DIGITS else None


def read_plain(text: str) -> Number | None:
    """Return the number that `text` writes in plain digits (`-2.5`, `1e6`), or None."""
    if text.isdigit() and len(text) <= MAX_DIGITS and text.isascii():
        return int(text)
    if len(text) > 2 * MAX_DIGITS or not text.isascii() or "_" in text:
        return None
    try:
        return plain_number(Decimal(text))
    except InvalidOperation:
        return None


def as_decimal(number: Number) -> Decimal:
    """Return `number` exactly as it prints."""
    return Decimal(repr(number)) if isinstance(number, float) else Decimal(number)


def opposite(value: Number) -> Number:
    """Return `value` with the other sign; a decimal's own minus would round it."""
    if isinstance(value, Decimal):
        return value.copy_negate()
    return -value if value else value


def scaled(number: Number, factor: Number) -> Number | None:
    """Return the exact product, or None when it is too long."""
    return plain_number(EXACT.multiply(as_decimal(number), as_decimal(factor)))


def add_up(values: Iterable[Decimal]) -> Decimal:
    """Return the exact sum."""
    return reduce(EXACT.add, values, Decimal(0))


def exact_quotient(number: Number, divisor: Number) -> Number | None:
    """Return `number` by `divisor`, or None when that has no exact decimal."""
    if not divisor:
        return None
    dividend, by = as_decimal(number), as_decimal(divisor)
    quotient = EXACT.divide(dividend, by)
    return plain_number(quotient) if EXACT.multiply(quotient, by) == dividend else None


def divide(dividend: Decimal, divisor: Decimal) -> Number:
    """Return the quotient: exact when it ends soon, else to `QUOTIENT_DIGITS` digits."""
    short = _ENDING.divide(dividend, divisor)
    if EXACT.multiply(short, divisor) == dividend:
        return plain(short)
    quotient = EXACT.divide(dividend, divisor)
    exact = plain(quotient)
    if EXACT.multiply(quotient, divisor) == dividend and not isinstance(exact, Decimal):
        return exact
    rounded = float(_QUOTIENT.plus(quotient))
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded
