"""What can be asked of a value: its kind, its size, how it is written, what is in it.

Nothing is converted: a text of digits stays a text, and a number where text is asked for
is refused. Extraction has made the values; here they are judged.
"""

from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from email.utils import parseaddr
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

import re2
from pydantic_core import PydanticCustomError

from server.core.suggestions import shown_value
from server.library.model import PARAMETER_TYPES, Parameter, Template
from server.library.parameters import is_compared_with_data

ValueCheck = Callable[[Any], Any]
"""Returns the value it is given, or raises `PydanticCustomError`, which is a `ValueError`."""


def value_checks(
    parameter: Parameter, template: Template, open_types: frozenset[str] = frozenset()
) -> tuple[ValueCheck, ...]:
    """Return what a parameter of a template asks of its value, in order.

    `open_types` are the domain's own types that it knows patterns for: the values that it
    lists for one of them are then not all there are.
    """
    kind = PARAMETER_TYPES[parameter.type][0] if parameter.type in PARAMETER_TYPES else "scalar"
    if is_compared_with_data(parameter, template):
        kind = "scalar"
    checks: list[ValueCheck] = [_KINDS[kind]]
    if parameter.enum and parameter.type not in open_types:
        checks.append(_one_of(parameter.enum))
    if parameter.ge is not None or parameter.le is not None:
        checks.append(_between(parameter.ge, parameter.le))
    if parameter.min_length is not None or parameter.max_length is not None:
        checks.append(_long(parameter.min_length, parameter.max_length))
    if parameter.pattern is not None:
        checks.append(_matching(parameter.pattern))
    written = parameter.format or PARAMETER_TYPES.get(parameter.type, ("", None))[1] or ""
    if written in _FORMATS:
        checks.append(_formatted(written))
    if parameter.items is not None:
        checks.append(_members(parameter.items))
    return tuple(checks)


def _wrong(rule: str) -> PydanticCustomError:
    return PydanticCustomError("rule", "{rule}", {"rule": rule})


def _string(value: Any) -> Any:
    if not isinstance(value, str):
        raise _wrong("has to be text")
    return value


def _number(value: Any) -> Any:
    if type(value) is int:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise _wrong("has to be a number")
    if isinstance(value, float | Decimal) and not Decimal(value).is_finite():
        raise _wrong("has to be a finite number")
    return value


def _integer(value: Any) -> Any:
    _number(value)
    if not isinstance(value, int) and value != int(value):
        raise _wrong("has to be a whole number")
    return value


def _boolean(value: Any) -> Any:
    if not isinstance(value, bool):
        raise _wrong("has to be true or false")
    return value


def _array(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        raise _wrong("has to be a list")
    return value


def _object(value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise _wrong("has to be an object")
    return value


def _scalar(value: Any) -> Any:
    if not isinstance(value, str | int | float | Decimal):
        raise _wrong("has to be one value")
    return value


_KINDS: Final[Mapping[str, ValueCheck]] = {
    "string": _string,
    "number": _number,
    "integer": _integer,
    "boolean": _boolean,
    "array": _array,
    "object": _object,
    "scalar": _scalar,
}


def _one_of(allowed: tuple[Any, ...]) -> ValueCheck:
    texts = frozenset(a for a in allowed if type(a) is str)

    def check(value: Any) -> Any:
        if type(value) is str and value in texts:
            return value
        # True is 1 in Python, and is no member of a list of numbers.
        if any(isinstance(a, bool) == isinstance(value, bool) and a == value for a in allowed):
            return value
        raise _wrong(f"is not one of {', '.join(map(shown_value, allowed[:20]))}")

    return check


def _between(least: float | None, most: float | None) -> ValueCheck:
    def check(value: Any) -> Any:
        if least is not None and value < least:
            raise _wrong(f"is below {least:g}")
        if most is not None and value > most:
            raise _wrong(f"is above {most:g}")
        return value

    return check


def _long(least: int | None, most: int | None) -> ValueCheck:
    def check(value: Any) -> Any:
        unit = "characters" if isinstance(value, str) else "members"
        if least is not None and len(value) < least:
            raise _wrong(f"has fewer than {least} {unit}")
        if most is not None and len(value) > most:
            raise _wrong(f"has more than {most} {unit}")
        return value

    return check


def _matching(pattern: str) -> ValueCheck:
    compiled = re2.compile(pattern)

    def check(value: Any) -> Any:
        if compiled.search(value) is None:
            raise _wrong(f"does not match {pattern}")
        return value

    return check


def _is_email(text: str) -> None:
    name, address = parseaddr(text)
    if name or address != text or address.count("@") != 1 or any(map(str.isspace, text)):
        raise ValueError(text)


def _is_uri(text: str) -> None:
    parts = urlsplit(text)
    if not parts.scheme or not (parts.netloc or parts.path) or any(map(str.isspace, text)):
        raise ValueError(text)


_FORMATS: Final[Mapping[str, tuple[Callable[[str], Any], str]]] = {
    "date": (date.fromisoformat, "a date as 2025-03-04"),
    "date-time": (datetime.fromisoformat, "a date and time as 2025-03-04T10:30"),
    "time": (time.fromisoformat, "a time as 10:30"),
    "email": (_is_email, "an e-mail address"),
    "uri": (_is_uri, "an address as https://example.org"),
    "uuid": (UUID, "a UUID"),
}


def _formatted(name: str) -> ValueCheck:
    read, said = _FORMATS[name]

    def check(value: Any) -> Any:
        try:
            read(value)
        except (ValueError, TypeError, AttributeError):
            raise _wrong(f"has to be {said}") from None
        return value

    return check


def _members(schema: Mapping[str, Any]) -> ValueCheck:
    """Judge each member by the part of JSON Schema that says what a value is."""

    def check(value: Any) -> Any:
        for number, member in enumerate(value):
            fault = schema_problem(member, schema)
            if fault is not None:
                raise _wrong(f"has a member (number {number + 1}) that {fault}")
        return value

    return check


def schema_problem(value: Any, schema: Mapping[str, Any]) -> str | None:
    """What a value is not, of type, enum, bounds, pattern, properties and items."""
    try:
        kind = str(schema.get("type", ""))
        if kind in _KINDS:
            _KINDS[kind](value)
        if schema.get("enum"):
            _one_of(tuple(schema["enum"]))(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            _between(schema.get("minimum"), schema.get("maximum"))(value)
        if isinstance(value, str | list):
            low = "minLength" if isinstance(value, str) else "minItems"
            _long(schema.get(low), schema.get(low.replace("min", "max")))(value)
        if isinstance(value, str) and schema.get("pattern"):
            _matching(schema["pattern"])(value)
    except PydanticCustomError as wrong:
        return wrong.message()
    if isinstance(value, Mapping):
        return _properties_problem(value, schema)
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        for member in value:
            fault = schema_problem(member, schema["items"])
            if fault is not None:
                return f"has a member that {fault}"
    return None


def _properties_problem(value: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    properties = schema.get("properties") or {}
    for name in schema.get("required") or ():
        if name not in value:
            return f"lacks {name!r}"
    if schema.get("additionalProperties") is False:
        for name in value:
            if name not in properties:
                return "has a field that is not declared"
    for name, part in properties.items():
        if name in value:
            fault = schema_problem(value[name], part)
            if fault is not None:
                return f"has a {name!r} that {fault}"
    return None
