"""Values as they travel in a path, a query, a header or a form.

Encoding is per place, so that a value can never end what it stands in: a path keeps
its depth, a query its parameters, a header its line.
"""

import math
from collections.abc import Mapping
from datetime import date, time
from decimal import Decimal
from typing import Any, Final
from urllib.parse import quote

from server.core.jsonable import to_json
from server.errors import ArgumentsInvalid

_HEADER_SAFE: Final = "".join(map(chr, range(0x20, 0x7F)))
_LITERAL_QUERY_SAFE: Final = "-._~!$'()*,;:@/?[]"


def wire(value: Any) -> str:
    """One value as text: integral numbers without a fraction, dates as ISO 8601.

    Raises:
        ArgumentsInvalid: a number that is not finite, or text that is not Unicode.
    """
    match value:
        case str():
            text = value
        case bool():
            text = "true" if value else "false"
        case float() | Decimal():
            text = _number(value)
        case date() | time():
            text = value.isoformat()
        case Mapping():
            text = to_json(value)
        case list() | tuple():
            text = ",".join(map(wire, value))
        case _:
            text = str(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ArgumentsInvalid("the text holds half of a character (a lone surrogate)") from None
    return text


def path_segment(value: Any) -> str:
    """A value inside a path: everything but letters, digits and `-._~` is encoded.

    Raises:
        ArgumentsInvalid: an empty value, which would shorten the path.
    """
    text = wire(value)
    if not text:
        raise ArgumentsInvalid("an empty value cannot stand in a path")
    return quote(text, safe="")


def query_value(value: Any) -> str:
    """A value inside a query: everything but letters, digits and `-._~` is encoded."""
    return quote(wire(value), safe="")


def query_literal(text: str) -> str:
    """The author's own words inside a query, such as the commas of a list."""
    return quote(text, safe=_LITERAL_QUERY_SAFE)


def header_value(value: Any) -> str:
    """A value inside a header: one line of ASCII, other characters percent-encoded.

    Raises:
        ArgumentsInvalid: line breaks or other control characters.
    """
    text = wire(value)
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in text):
        raise ArgumentsInvalid("line breaks and control characters cannot stand in a header")
    return quote(text, safe=_HEADER_SAFE)


def plain(value: Any) -> Any:
    """A value as JSON knows it: decimals become numbers, dates become text.

    Raises:
        ArgumentsInvalid: a number that is not finite.
    """
    match value:
        case None | bool() | int():
            return value
        case str():
            return wire(value)
        case float():
            if not math.isfinite(value):
                raise ArgumentsInvalid(f"{value} is not a finite number")
            return value
        case Decimal():
            if not value.is_finite():
                raise ArgumentsInvalid(f"{value} is not a finite number")
            return int(value) if value == value.to_integral_value() else float(value)
        case Mapping():
            return {str(name): plain(item) for name, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case _:
            return wire(value)


def _number(value: float | Decimal) -> str:
    if not math.isfinite(value):
        raise ArgumentsInvalid(f"{value} is not a finite number")
    exact = Decimal(repr(value)) if isinstance(value, float) else value
    if exact == exact.to_integral_value():
        exact = exact.to_integral_value()
    return format(exact, "f")
