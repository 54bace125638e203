"""What the names of a template's parameters say of them, to whoever reads or judges values."""

import re
from typing import Final

from server.library.model import Parameter, Template

# Runs of one kind of letter: nothing to go back to.
_PART: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_VALUES: Final = frozenset({"value", "values"})


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name in snake_case or camelCase, in lower case."""
    return tuple(part.lower() for part in _PART.findall(name))


def is_data(parameter: Parameter) -> bool:
    """Whether it takes JSON data: an object, or rows."""
    if parameter.type == "object":
        return True
    items = parameter.items or {}
    plain = items.get("type") in ("number", "integer", "string", "boolean") or items.get("enum")
    return parameter.type == "array" and not plain


def has_data_beside(parameter: Parameter, template: Template) -> bool:
    """Whether another parameter of the template takes JSON data."""
    return any(is_data(other) for other in template.parameters if other is not parameter)


def is_compared_with_data(parameter: Parameter, template: Template) -> bool:
    """Whether it is text that stands for whatever a field of the data holds, as 20 does in
    "price > 20": then a number, or true and false, will do as well as text.
    """
    plain = parameter.type == "string" and not (
        parameter.enum or parameter.choices or parameter.format
    )
    named = not _VALUES.isdisjoint(words_of(parameter.name))
    return plain and named and has_data_beside(parameter, template)
