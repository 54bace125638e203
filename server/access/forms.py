"""How a lifetime and a rate limit are written, and the errors when they are not."""

import re
from datetime import timedelta
from typing import Final

from server.core.limits import parse_limit
from server.errors import RequestInvalid

__all__ = ["parse_lifetime", "parse_limit"]

_HOURS: Final = {"h": 1, "d": 24, "w": 7 * 24, "y": 365 * 24}
_LIFETIME: Final = re.compile(r"([0-9]{1,9})\s*([a-zA-Z]+)")
_LONGEST: Final = timedelta(days=100 * 365)


def parse_lifetime(text: str) -> timedelta:
    """Read `12h`, `30d`, `2w` or `1y` (a year is 365 days).

    Raises:
        RequestInvalid: not of that form, zero, or more than a hundred years.
    """
    found = _LIFETIME.fullmatch(text.strip())
    unit = found[2].lower() if found else ""
    if found is None or unit not in _HOURS:
        raise RequestInvalid(
            f"{text!r} is not a lifetime: write a number and a unit (h, d, w or y), such as '30d'"
        )
    hours = int(found[1]) * _HOURS[unit]
    if not 0 < hours <= _LONGEST / timedelta(hours=1):
        raise RequestInvalid(f"a lifetime of {text!r} is out of range: 1h to 100y")
    return timedelta(hours=hours)
