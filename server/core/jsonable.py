"""Python values to JSON text that any client can read."""

import json
import math
from collections.abc import Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any


def to_json(value: Any, *, indent: int | None = None) -> str:
    """`value` as JSON. Decimals become numbers, NaN and infinities null, dates ISO 8601."""
    separators = (",", ":") if indent is None else None
    try:
        return json.dumps(
            value,
            ensure_ascii=False,
            allow_nan=False,
            default=_plain,
            indent=indent,
            separators=separators,
        )
    except (ValueError, TypeError):
        # NaN, or keys that are no strings: rare, so only then walk the whole value.
        clean = _clean(value)
        return json.dumps(clean, ensure_ascii=False, indent=indent, separators=separators)


def _plain(value: Any) -> Any:
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
    return int(value) if value == value.to_integral_value() else float(value)


def _clean(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_clean(item) for item in value]
    return _plain(value)
