"""What a template asks of a value: its kind, its size, how it is written, what is in it.

Nothing is converted: a text of digits stays a text, and a number where text is asked for
is refused.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from email.utils import parseaddr
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

import re2

from server.core.suggestions import shown_value
from server.library.model import PARAMETER_TYPES, Parameter, Template
from server.library.parameters import is_compared_with_data

ValueCheck = Callable[[Any], str | None]
"""Returns what is wrong with a value, or None."""


@dataclass(frozen=True, slots=True)
class ValueRules:
    """What a parameter asks of its value: its kind first, then everything else in order.

    A value of exactly `plain_type` is of the right kind, so that need not be checked.
    """

    plain_type: type
    kind: ValueCheck
    others: tuple[ValueCheck, ...]

    def problem(self, value: Any) -> str | None:
        """Return what is wrong with a value, or None."""
        return first_problem(value, (self.kind, *self.others))


def value_rules(
    parameter: Parameter, template: Template, open_types: frozenset[str] = frozenset()
) -> ValueRules:
    """Return what a parameter of a template asks of its value.

    `open_types` are the domain's own types that it knows patterns for: the values that it
    lists for one of them are then not all there are.
    """
    kind = PARAMETER_TYPES[parameter.type][0] if parameter.type in PARAMETER_TYPES else "scalar"
    if is_compared_with_data(parameter, template):
        kind = "scalar"
    checks: list[ValueCheck] = []
    if parameter.enum and parameter.type not in open_types:
        checks.append(_one_of(parameter.enum))
    if parameter.ge is not None or parameter.le is not None:
        checks.append(_between(parameter.ge, parameter.le))
    if parameter.min_length is not None or parameter.max_length is not None:
        checks.append(_of_length(parameter.min_length, parameter.max_length))
    if parameter.pattern is not None:
        checks.append(_of_pattern(parameter.pattern))
    written = parameter.format or PARAMETER_TYPES.get(parameter.type, ("", None))[1] or ""
    if written in _FORMATS:
        checks.append(_of_format(written))
    if parameter.items is not None:
        checks.append(_of_members(parameter.items))
    return ValueRules(_PLAIN_TYPES[kind], _KINDS[kind], tuple(checks))


def first_problem(value: Any, checks: Iterable[ValueCheck]) -> str | None:
    """Return what the first check that is not passed says."""
    return next((problem for check in checks if (problem := check(value)) is not None), None)


def _of_type(kinds: type | tuple[type, ...], name: str) -> ValueCheck:
    return lambda value: None if isinstance(value, kinds) else f"has to be {name}"


def _number_problem(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return "has to be a number"
    if isinstance(value, float | Decimal) and not Decimal(value).is_finite():
        return "has to be a finite number"
    return None


def _integer_problem(value: Any) -> str | None:
    whole = isinstance(value, int)
    return _number_problem(value) or (
        None if whole or value == int(value) else "has to be a whole number"
    )


_KINDS: Final[Mapping[str, ValueCheck]] = {
    "string": _of_type(str, "text"),
    "number": _number_problem,
    "integer": _integer_problem,
    "boolean": _of_type(bool, "true or false"),
    "array": _of_type((list, tuple), "a list"),
    "object": _of_type(Mapping, "an object"),
    "scalar": _of_type((str, int, float, Decimal), "one value"),
}


_PLAIN_TYPES: Final[Mapping[str, type]] = {
    "string": str,
    "number": int,
    "integer": int,
    "boolean": bool,
    "array": list,
    "object": dict,
    "scalar": str,
}


def _one_of(allowed: tuple[Any, ...]) -> ValueCheck:
    def check(value: Any) -> str | None:
        # True is 1 in Python, and is no member of a list of numbers.
        if any(isinstance(a, bool) == isinstance(value, bool) and a == value for a in allowed):
            return None
        return f"is not one of {', '.join(map(shown_value, allowed[:20]))}"

    return check


def _between(least: float | None, most: float | None) -> ValueCheck:
    def check(value: Any) -> str | None:
        if least is not None and value < least:
            return f"is below {least:g}"
        return f"is above {most:g}" if most is not None and value > most else None

    return check


def _of_length(least: int | None, most: int | None) -> ValueCheck:
    def check(value: Any) -> str | None:
        unit = "characters" if isinstance(value, str) else "members"
        if least is not None and len(value) < least:
            return f"has fewer than {least} {unit}"
        return f"has more than {most} {unit}" if most is not None and len(value) > most else None

    return check


def _of_pattern(pattern: str) -> ValueCheck:
    compiled = re2.compile(pattern)
    return lambda value: None if compiled.search(value) else f"does not match {pattern}"


def _check_email(text: str) -> None:
    name, address = parseaddr(text)
    if name or address != text or address.count("@") != 1 or any(map(str.isspace, text)):
        raise ValueError(text)


def _check_uri(text: str) -> None:
    parts = urlsplit(text)
    if not parts.scheme or not (parts.netloc or parts.path) or any(map(str.isspace, text)):
        raise ValueError(text)


_FORMATS: Final[Mapping[str, tuple[Callable[[str], Any], str]]] = {
    "date": (date.fromisoformat, "a date as 2025-03-04"),
    "date-time": (datetime.fromisoformat, "a date and time as 2025-03-04T10:30"),
    "time": (time.fromisoformat, "a time as 10:30"),
    "email": (_check_email, "an e-mail address"),
    "uri": (_check_uri, "an address as https://example.org"),
    "uuid": (UUID, "a UUID"),
}


def _of_format(name: str) -> ValueCheck:
    read, description = _FORMATS[name]

    def check(value: Any) -> str | None:
        try:
            read(value)
        except (ValueError, TypeError, AttributeError):
            return f"has to be {description}"
        return None

    return check


def _of_members(schema: Mapping[str, Any]) -> ValueCheck:
    """Judge each member by the part of JSON Schema that says what a value is."""

    def check(value: Any) -> str | None:
        for number, member in enumerate(value, 1):
            problem = _schema_problem(member, schema)
            if problem is not None:
                return f"has a member (number {number}) that {problem}"
        return None

    return check


def _schema_problem(value: Any, schema: Mapping[str, Any]) -> str | None:
    """Return what a value is not, of type, enum, bounds, pattern, properties and items."""
    checks: list[ValueCheck] = []
    kind = str(schema.get("type", ""))
    if kind in _KINDS:
        checks.append(_KINDS[kind])
    if schema.get("enum"):
        checks.append(_one_of(tuple(schema["enum"])))
    if isinstance(value, int | float) and not isinstance(value, bool):
        checks.append(_between(schema.get("minimum"), schema.get("maximum")))
    if isinstance(value, str):
        checks.append(_of_length(schema.get("minLength"), schema.get("maxLength")))
        if schema.get("pattern"):
            checks.append(_of_pattern(schema["pattern"]))
    if isinstance(value, list):
        checks.append(_of_length(schema.get("minItems"), schema.get("maxItems")))
    problem = first_problem(value, checks)
    if problem is not None:
        return problem
    if isinstance(value, Mapping):
        return _properties_problem(value, schema)
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        for member in value:
            problem = _schema_problem(member, schema["items"])
            if problem is not None:
                return f"has a member that {problem}"
    return None


def _properties_problem(value: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    properties = schema.get("properties") or {}
    for name in schema.get("required") or ():
        if name not in value:
            return f"lacks {name!r}"
    if schema.get("additionalProperties") is False and any(n not in properties for n in value):
        return "has a field that is not declared"
    for name, part in properties.items():
        problem = _schema_problem(value[name], part) if name in value else None
        if problem is not None:
            return f"has a {name!r} that {problem}"
    return None
