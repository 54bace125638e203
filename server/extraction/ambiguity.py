"""Dates that read two ways, and which way they were read."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from server.core.tools import Source
from server.library.model import DateOrder

_NUMERIC: Final = re.compile(r"(\d{1,2})([/\-])(\d{1,2})\2\d{2,4}")
_MONTHS: Final = 12
_FIRST: Final[Mapping[DateOrder, str]] = {"mdy": "month first", "dmy": "day first"}


def noted(
    arguments: Mapping[str, Any], sources: Mapping[str, Source], date_order: DateOrder
) -> Mapping[str, Source]:
    """`sources`, each that holds a date with two readings saying which one was taken.

    03/04/2025 is such a date; 13/04/2025 and 04/04/2025 are not, and with dots the day is first.
    """
    return {
        name: _noted(source, arguments.get(name), date_order) for name, source in sources.items()
    }


def _noted(source: Source, value: Any, date_order: DateOrder) -> Source:
    found = _NUMERIC.fullmatch((source.text or "").strip())
    if found is None or not isinstance(value, str) or value == source.text:
        return source
    first, second = int(found.group(1)), int(found.group(3))
    if first == second or not (1 <= first <= _MONTHS and 1 <= second <= _MONTHS):
        return source
    return replace(source, note=f"{source.text} was read as {value}, {_FIRST[date_order]}")
