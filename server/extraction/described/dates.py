"""Dates in the form that a description asks for: yyyy-mm-dd, MM/DD/YYYY, mm-yyyy."""

import re
from datetime import date, time
from typing import Any, Final

_FORMAT: Final = re.compile(
    r"\b(y{2,4}|m{1,3}|d{1,2}|month|day|year)([-/. ])(y{2,4}|m{1,3}|d{1,2}|month|day|year)"
    r"(?:\2(y{2,4}|m{1,3}|d{1,2}|month|day|year))?\b",
    re.IGNORECASE,
)
_PARTS: Final = {"y": "%Y", "m": "%m", "d": "%d"}


def date_format(description: str) -> str | None:
    """How a description wants dates to be written, for `strftime`; None when it says nothing."""
    found = _FORMAT.search(description)
    if found is None:
        return None
    parts = [found[1], found[3], *([found[4]] if found[4] else ())]
    kinds = [part[0].lower() for part in parts]
    if len(set(kinds)) < len(kinds) or "y" not in kinds:
        return None
    return found[2].join(_PARTS[kind] for kind in kinds)


_CLOCK: Final = re.compile(r"\bHH:mm\b|24[- ]hour", re.IGNORECASE)


def moment_as_told(moment: Any, description: str) -> str | None:
    """A date or a time as a description wants it; None when it says nothing of that."""
    wanted = date_format(description)
    if isinstance(moment, date) and wanted is not None:
        return moment.strftime(wanted)
    if isinstance(moment, time) and _CLOCK.search(description):
        return moment.strftime("%H:%M")
    return None


def as_told(value: Any, wanted: str | None) -> Any:
    """A date in ISO 8601 as it is wanted; anything else as it is."""
    if wanted is None or not isinstance(value, str):
        return value
    try:
        return date.fromisoformat(value[:10]).strftime(wanted)
    except ValueError:
        return value
