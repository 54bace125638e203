"""What can be asked of a value: its kind, its size, how it is written, what is in it.

Nothing is converted: a text of digits stays a text, and a number where text is asked for
is refused. Extraction has made the values; here they are judged.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, get_args
from uuid import UUID

from pydantic_core import PydanticCustomError

from server.core.tools import JsonType
from server.library.constraints import Constraints
from server.library.model import Parameter, Template
from server.library.parameter_types import CUSTOM, PARAMETER_TYPES, ParameterType
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
    compared = is_compared_with_data(parameter, template)
    checks: list[ValueCheck] = [_typed(CUSTOM if compared else parameter.descriptor)]
    constraints = parameter.constraints
    if parameter.type in open_types:
        constraints = replace(constraints, enum=())
    if constraints != Constraints():
        checks.append(_constrained(constraints))
    if parameter.format == "uuid":
        checks.append(_uuid)
    if parameter.items is not None:
        checks.append(_members(parameter.items))
    return tuple(checks)


def _wrong(rule: str) -> PydanticCustomError:
    return PydanticCustomError("rule", "{rule}", {"rule": rule})


def _typed(descriptor: ParameterType) -> ValueCheck:
    def check(value: Any) -> Any:
        expected = descriptor.expected(value)
        if expected is not None:
            raise _wrong(f"has to be {expected}")
        return value

    return check


def _constrained(constraints: Constraints) -> ValueCheck:
    def check(value: Any) -> Any:
        problem = constraints.problem(value)
        if problem is not None:
            raise _wrong(problem)
        return value

    return check


def _uuid(value: Any) -> Any:
    try:
        UUID(value)
    except (ValueError, TypeError, AttributeError):
        raise _wrong("has to be a UUID") from None
    return value


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
