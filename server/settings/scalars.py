"""Text of a YAML scalar to a value, by the core schema of YAML 1.2.

YAML 1.1, which PyYAML resolves by default, reads `no` as false, `12:30` as 750 and
`2025-01-31` as a date object. Authors write such words as enum values, times and
defaults and mean the text, so only `true`, `false`, `null` and numbers are special here.
"""

import re
from typing import Final

Scalar = str | int | float | bool | None

_NULL: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL: Final = {
    "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_INT: Final = re.compile(r"[-+]?[0-9]+|0o[0-7]{1,64}|0x[0-9a-fA-F]{1,64}")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_SPECIAL_FLOAT: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_MAX_DIGITS: Final = 300
"""Longer runs of digits are identifiers, not quantities, and Python refuses to read
those of more than 4,300 digits: they stay text."""


def plain_value(text: str) -> Scalar:
    """Return what unquoted `text` means."""
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if text[0] not in "+-.0123456789" or len(text) > _MAX_DIGITS:
        return text
    if _INT.fullmatch(text):
        return int(text, 0) if text[:2] in {"0o", "0x"} else int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _SPECIAL_FLOAT.fullmatch(text):
        return float(text.replace(".", "", 1))
    return text
