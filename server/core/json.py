"""Python values to JSON text that any client can read."""

import json
import math
from collections.abc import Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Final

_MAX_DIGITS: Final = 300
_MAX_BITS: Final = 1000
"""About the range of a double, which most clients can read."""


def to_json(value: Any, *, indent: int | None = None) -> str:
    """Return `value` as JSON. Decimals become numbers, dates ISO 8601.

    NaN, infinities, and numbers too long to be written become null.
    """
    separators = (",", ":") if indent is None else None
    try:
        return json.dumps(
            value,
            ensure_ascii=False,
            allow_nan=False,
            default=_json_value,
            indent=indent,
            separators=separators,
        )
    except (ValueError, TypeError):
        # NaN, a huge integer, or keys that are no strings: rare, so only then walk the whole value.
        clean = _without_unreadable(value)
        return json.dumps(clean, ensure_ascii=False, indent=indent, separators=separators)


def _json_value(value: Any) -> Any:
    if isinstance(value, Decimal):
        return _number(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    return str(value)


def _number(value: Decimal) -> int | float | None:
    if not value.is_finite():
        return None
    if value.adjusted() > _MAX_DIGITS:
        return None  # int() of an exponent of six digits takes minutes
    return int(value) if value == value.to_integral_value() else float(value)


def _without_unreadable(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _without_unreadable(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_without_unreadable(item) for item in value]
    return _json_value(value)
