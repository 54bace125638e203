"""How a rate limit is written."""

import re
from typing import Final

from server.errors import RequestInvalid

_UNITS: Final = ("second", "minute", "hour", "day")
_LIMIT: Final = re.compile(r"([0-9]{1,9})\s*/\s*([a-zA-Z]+)")


def parse_limit(text: str) -> str:
    """Return a rate limit such as `60/minute` in its one spelling.

    Raises:
        RequestInvalid: not of that form, zero, or a unit that is not known.
    """
    found = _LIMIT.fullmatch(text.strip())
    unit = found[2].lower().removesuffix("s") if found else ""
    if found is None or unit not in _UNITS or int(found[1]) == 0:
        raise RequestInvalid(
            f"{text!r} is not a rate limit: write a count above 0 and one of "
            f"{', '.join(_UNITS)}, such as '60/minute'"
        )
    return f"{int(found[1])}/{unit}"
