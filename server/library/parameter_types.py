"""Names of parameter types, and which values belong to them."""

import math
from collections.abc import Mapping
from typing import Any, Final

from server.core.tools import JsonType
from server.library.model import PARAMETER_TYPES
from server.settings.yaml_tree import plain_value

_ALIASES: Final[Mapping[str, str]] = {
    "str": "string",
    "text": "string",
    "int": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
    "decimal": "number",
    "numeric": "number",
    "bool": "boolean",
    "list": "array",
    "dict": "object",
    "map": "object",
    "json": "object",
    "timestamp": "datetime",
    "percent": "percentage",
    "uri": "url",
    "amount": "money",
}

_WORDS: Final[Mapping[JsonType, str]] = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "`name: value` lines",
}


def canonical(name: str) -> str:
    """The known name of a type that goes by several; any other name as it is."""
    lowered = name.lower()
    return _ALIASES.get(lowered, lowered if lowered in PARAMETER_TYPES else name)


def json_type(name: str) -> JsonType | None:
    """JSON type of a known type; None for a type of a domain's own."""
    return PARAMETER_TYPES[name][0] if name in PARAMETER_TYPES else None


def from_text(value: Any, type_name: str) -> Any:
    """What a text says as a number, or as true or false, where the type is one of those.

    Whatever cannot be read so comes back as it is.
    """
    kind = json_type(type_name)
    if not isinstance(value, str) or kind not in ("number", "integer", "boolean"):
        return value
    read = plain_value(value.strip())
    return value if expectation(read, type_name) is not None else read


def expectation(value: Any, type_name: str) -> str | None:
    """Return what was expected instead of `value`, or None when it belongs to the type."""
    kind = json_type(type_name)
    if kind is None:
        fits = isinstance(value, str | int | float | bool)
        return None if fits else "one value"
    return None if _belongs(value, kind) else _WORDS[kind]


def _belongs(value: Any, kind: JsonType) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if isinstance(value, int | float):
        whole = isinstance(value, int) or value.is_integer()
        return (kind == "number" and math.isfinite(value)) or (kind == "integer" and whole)
    fits: Mapping[JsonType, type] = {"string": str, "array": list, "object": dict}
    return kind in fits and isinstance(value, fits[kind])
