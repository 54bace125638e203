"""Time zones by name, by city, and by offset."""

import re
from datetime import UTC, timedelta, timezone, tzinfo
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final
from zoneinfo import ZoneInfo

from server.core.suggestions import closest, described_value, shown_value
from server.errors import ArgumentsInvalid

_MAX_CHARS: Final = 60
_OFFSET: Final = re.compile(r"(?:utc|gmt)?\s*([+-])(\d{1,2})(?::?([0-5]\d))?")
_MOST_OFFSET: Final = timedelta(hours=24)


def find_zone(value: Any, name: str) -> tzinfo:
    """Return the zone that `value` names: `Europe/Paris`, `Tokyo`, `UTC`, `+02:00`.

    Case does not matter, and a space does for an underscore.

    Raises:
        ArgumentsInvalid: no such zone.
    """
    if not isinstance(value, str):
        raise ArgumentsInvalid(
            f"{name} must be the name of a time zone, not {described_value(value)}"
        )
    text = " ".join(value[: _MAX_CHARS + 1].split()).casefold()
    if text in ("z", "utc", "gmt"):
        return UTC
    offset = _OFFSET.fullmatch(text)
    if offset is not None:
        sign, hours, minutes = offset.groups()
        width = timedelta(hours=int(hours), minutes=int(minutes or 0))
        if width < _MOST_OFFSET:
            return timezone(-width if sign == "-" else width)
    known, key = _names(), text.replace(" ", "_")
    if key in known:
        return ZoneInfo(known[key])
    near = closest(key, known)
    hint = f"; did you mean {known[near]!r}?" if near is not None else ""
    raise ArgumentsInvalid(
        f"{name} {shown_value(value)} is not known; write a zone such as Europe/Paris, "
        f"a city such as Tokyo, or an offset such as +02:00{hint}"
    )


@lru_cache(maxsize=1)
def _names() -> dict[str, str]:
    zones = sorted(files("tzdata").joinpath("zones").read_text(encoding="utf-8").split())
    names = {zone.casefold(): zone for zone in zones}
    for zone in zones:
        names.setdefault(zone.rpartition("/")[2].casefold(), zone)
    return names
