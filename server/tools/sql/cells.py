"""Cells of databases as JSON has them, within a limit."""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from server.core.storable import storable_text

_MAX_DEPTH: Final = 20
_EXACT_INTEGER: Final = 2**53
"""Up to here a whole number is exact in every reader of JSON."""


def column_names(written: Iterable[str]) -> tuple[str, ...]:
    """Names of columns, each once: a second `id` is `id_2`."""
    names: dict[str, None] = {}
    for column in written:
        name, number = storable_text(column or "column"), 1
        while name in names:
            number += 1
            name = f"{column or 'column'}_{number}"
        names[name] = None
    return tuple(names)


def to_row(names: Sequence[str], cells: Sequence[Any], max_chars: int) -> dict[str, Any]:
    """One row by the names of its columns."""
    return {name: to_json(cell, max_chars) for name, cell in zip(names, cells, strict=True)}


def to_json(cell: Any, max_chars: int, depth: int = 0) -> Any:
    """A cell as JSON has it; longer text is cut and ends in `…`.

    Exact decimals stay exact: as a number where that says the same, else as text. Dates are in
    ISO 8601, bytes are told by their number, and what is no number (NaN, infinity) is null.
    """
    if cell is None or isinstance(cell, bool):
        return cell
    if isinstance(cell, int):
        return cell if abs(cell) <= _EXACT_INTEGER else str(cell)
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None
    if isinstance(cell, str):
        text = storable_text(cell)
        return text if len(text) <= max_chars else f"{text[: max_chars - 1]}…"
    if isinstance(cell, Decimal):
        return _from_decimal(cell)
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    if isinstance(cell, bytes | bytearray | memoryview):
        return f"<{len(cell)} bytes>"
    if depth < _MAX_DEPTH and isinstance(cell, Mapping):
        return {str(key): to_json(value, max_chars, depth + 1) for key, value in cell.items()}
    if depth < _MAX_DEPTH and isinstance(cell, list | tuple | set):
        return [to_json(value, max_chars, depth + 1) for value in cell]
    text = str(cell) if isinstance(cell, timedelta | UUID) else storable_text(str(cell))
    return text[:max_chars]


def _from_decimal(value: Decimal) -> int | float | str | None:
    if not value.is_finite():
        return None
    if value == value.to_integral_value() and abs(value) <= _EXACT_INTEGER:
        return int(value)
    number = float(value)
    return number if Decimal(repr(number)) == value else str(value)
