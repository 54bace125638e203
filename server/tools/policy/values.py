"""What a template asks of a value: its type, its size, how it is written, what is in it.

Nothing is converted: a text of digits stays a text, and a number where text is asked for
is refused.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, get_args
from uuid import UUID

from server.core.tools import JsonType
from server.library.model import Parameter, Template
from server.library.parameter_types import CUSTOM, PARAMETER_TYPES, Constraints, ParameterType
from server.library.parameters import is_compared_with_data

ValueCheck = Callable[[Any], str | None]
"""Returns what is wrong with a value, or None."""


def value_checks(
    parameter: Parameter, template: Template, open_types: frozenset[str] = frozenset()
) -> tuple[ValueCheck, ...]:
    """Return what a parameter of a template asks of its value, its type first.

    `open_types` are the domain's own types that it knows patterns for: the values that it
    lists for one of them are then not all there are.
    """
    compared = is_compared_with_data(parameter, template)
    checks: list[ValueCheck] = [_of_type(CUSTOM if compared else parameter.descriptor)]
    constraints = parameter.constraints
    if parameter.type in open_types:
        constraints = replace(constraints, enum=())
    if constraints != Constraints():
        checks.append(constraints.problem)
    if parameter.format == "uuid":
        checks.append(_uuid_problem)
    if parameter.items is not None:
        checks.append(_of_members(parameter.items))
    return tuple(checks)


def first_problem(value: Any, checks: Iterable[ValueCheck]) -> str | None:
    """Return what the first check that is not passed says."""
    return next((problem for check in checks if (problem := check(value)) is not None), None)


def _of_type(descriptor: ParameterType) -> ValueCheck:
    def check(value: Any) -> str | None:
        expected = descriptor.expected(value)
        return None if expected is None else f"has to be {expected}"

    return check


def _uuid_problem(value: Any) -> str | None:
    try:
        UUID(value)
    except (ValueError, TypeError, AttributeError):
        return "has to be a UUID"
    return None


def _of_members(schema: Mapping[str, Any]) -> ValueCheck:
    """Judge each member by the part of JSON Schema that says what a value is."""

    def check(value: Any) -> str | None:
        for number, member in enumerate(value):
            problem = _schema_problem(member, schema)
            if problem is not None:
                return f"has a member (number {number + 1}) that {problem}"
        return None

    return check


def _schema_problem(value: Any, schema: Mapping[str, Any]) -> str | None:
    """Return what a value is not, of type, enum, bounds, pattern, properties and items."""
    kind = str(schema.get("type", ""))
    expected = PARAMETER_TYPES[kind].expected(value) if kind in get_args(JsonType) else None
    if expected is not None:
        return f"has to be {expected}"
    problem = Constraints.of_schema(schema).problem(value)
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
    if schema.get("additionalProperties") is False and not properties.keys() >= value.keys():
        return "has a field that is not declared"
    for name, part in properties.items():
        problem = _schema_problem(value[name], part) if name in value else None
        if problem is not None:
            return f"has a {name!r} that {problem}"
    return None
