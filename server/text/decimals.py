"""Numbers as they were written: 0.1 stays 0.1."""

from decimal import Context, Decimal, InvalidOperation
from typing import Final

Number = int | float | Decimal

MAX_DIGITS: Final = 400
"""A number with more digits than this, before or after its point, is not read."""

_WIDE: Final = Context(prec=2 * MAX_DIGITS)


def plain_number(number: Decimal) -> Number | None:
    """`number` as JSON prints it best, or None when it has more digits than anyone means.

    An int when it is whole; a float when the float shows the very same digits; else
    the decimal itself.
    """
    if not number.is_finite() or abs(number.adjusted()) > MAX_DIGITS:
        return None
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or exponent < -MAX_DIGITS:
        return None
    if number == number.to_integral_value(context=_WIDE):
        return int(number)
    nearest = float(number)
    return nearest if Decimal(repr(nearest)) == number else number


def read_plain(text: str) -> Number | None:
    """The number that `text` writes in plain digits (`-2.5`, `1e6`), or None."""
    if text.isdigit() and len(text) <= MAX_DIGITS and text.isascii():
        return int(text)
    if len(text) > 2 * MAX_DIGITS or not text.isascii() or "_" in text:
        return None
    try:
        return plain_number(Decimal(text))
    except InvalidOperation:
        return None


def scaled(number: Number, factor: Number) -> Number | None:
    """The exact product of two numbers."""
    if type(number) is int and type(factor) is int:
        return plain_number(Decimal(number * factor))
    return plain_number(_WIDE.multiply(as_decimal(number), as_decimal(factor)))


def as_decimal(number: Number) -> Decimal:
    """`number` exactly as it prints."""
    return Decimal(repr(number)) if isinstance(number, float) else Decimal(number)


def exact_quotient(number: Number, divisor: Number) -> Number | None:
    """`number` by `divisor`, or None when that has no exact decimal."""
    if not divisor:
        return None
    quotient = _WIDE.divide(as_decimal(number), as_decimal(divisor))
    exact = _WIDE.multiply(quotient, as_decimal(divisor)) == as_decimal(number)
    return plain_number(quotient) if exact else None
