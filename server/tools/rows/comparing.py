"""One order for values of every kind.

Values fall into groups: true and false, numbers, text, lists, objects. Within a group
they compare as one expects, and text that writes a number belongs to the numbers;
between groups, the group decides. Text compares without regard to case.
"""

import re
from datetime import date
from decimal import Decimal
from typing import Any, Final

from server.core.jsonable import to_json
from server.tools.numbers import plain, read_as_number, read_number

BOOLEAN: Final = 0
NUMBER: Final = 1
TEXT: Final = 2
LIST: Final = 3
OBJECT: Final = 4
NOTHING: Final = 5

Rank = tuple[int, Any]
"""Group, and what compares inside it. Equal values have equal ranks."""

_EXACT_FLOAT: Final = 2**53
_NUMERAL: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_MAX_NUMERAL_CHARS: Final = 15
"""Up to so many digits, a float keeps every one."""


def rank(value: Any) -> Rank:
    """Where a value stands among all values; hashable."""
    kind = type(value)
    if kind is int:
        return NUMBER, value
    if kind is float:
        # A larger float stands for a whole number that is not its binary value.
        exact = -_EXACT_FLOAT < value < _EXACT_FLOAT
        return NUMBER, value if exact else plain(read_number(value, "value"))
    if kind is str:
        return rank_text(value)
    if kind is bool:
        return BOOLEAN, value
    if value is None:
        return NOTHING, None
    if isinstance(value, Decimal):
        return NUMBER, plain(read_number(value, "value"))
    if isinstance(value, date):
        return TEXT, value.isoformat().casefold()
    return (OBJECT if isinstance(value, dict) else LIST), to_json(value)


def rank_text(text: str) -> Rank:
    """Where text stands: among the numbers if it writes one."""
    if text[:1].isalpha():
        return TEXT, text.casefold()
    if len(text) <= _MAX_NUMERAL_CHARS and _NUMERAL.fullmatch(text):
        return NUMBER, float(text)
    number = read_as_number(text)
    return (TEXT, text.casefold()) if number is None else (NUMBER, plain(number))
