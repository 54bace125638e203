"""How a parameter is read: its type, and for plain strings what its name says."""

from typing import Final, Literal

from server.extraction.naming import (
    DATES,
    FIELDS,
    MAYBE_PERCENT,
    MONEY,
    NUMBERS,
    ORDERING,
    PERCENT,
    URLS,
    WRITTEN,
    Name,
)
from server.library.model import PARAMETER_TYPES, Domain, Parameter, Template
from server.library.names import has_data_beside, is_compared_with_data, is_data

Role = Literal[
    "number",  # any number; `integer` is one that must be whole
    "percentage",
    "money",
    "currency",
    "date",
    "written_date",  # a date as it was written
    "datetime",
    "time",
    "duration",
    "date_format",
    "email",
    "url",
    "boolean",
    "choice",  # one of the enum's values, or of an entity's
    "choices",  # several of them
    "numbers",
    "records",  # a JSON array
    "object",  # a JSON object
    "strings",
    "field",  # a key of the JSON data in the question
    "fields",
    "cell",  # what a field of the data is compared with
    "custom",  # a type of the domain's own
    "text",
]

Group = Literal[
    "data", "claim", "date", "amount", "numbers", "field", "fields", "cell", "boolean", "words",
    "text",
]  # fmt: skip
"""Roles whose values could be taken for one another's; filled in this order."""

GROUPS: Final[dict[Role, Group]] = {
    "records": "data", "object": "data",
    "choice": "claim", "email": "claim", "url": "claim", "currency": "claim",
    "date_format": "claim", "custom": "claim",
    "date": "date", "written_date": "date", "datetime": "date",
    "number": "amount", "percentage": "amount", "money": "amount", "duration": "amount",
    "time": "amount",
    "numbers": "numbers", "field": "field", "fields": "fields", "cell": "cell",
    "boolean": "boolean", "strings": "words", "choices": "words", "text": "text",
}  # fmt: skip

_BY_FORMAT: Final[dict[str, Role]] = {
    "date": "date", "date-time": "datetime", "time": "time", "duration": "duration",
    "email": "email", "uri": "url", "url": "url", "currency": "currency",
}  # fmt: skip

_BY_TYPE: Final[dict[str, Role]] = {
    "number": "number", "integer": "number", "boolean": "boolean", "object": "object",
    "date": "date", "datetime": "datetime", "time": "time", "duration": "duration",
    "email": "email", "url": "url", "percentage": "percentage", "money": "money",
    "currency": "currency",
}  # fmt: skip


def role_of(parameter: Parameter, name: Name, template: Template, domain: Domain) -> Role:
    """How the values of `parameter` are recognised."""
    numeric = PARAMETER_TYPES.get(parameter.type, ("string",))[0] in ("number", "integer")
    if numeric:
        return _numeric(parameter, name)
    if parameter.type == "array":
        return _array(parameter, name, template)
    if (parameter.choices or parameter.enum) and parameter.type != "boolean":
        return "choice"
    if parameter.type in _BY_TYPE:
        return _BY_TYPE[parameter.type]
    if parameter.type not in PARAMETER_TYPES:
        entity = domain.entities.get(parameter.type)
        if entity is not None and entity.values:
            return "choice"
        return "custom" if entity is None or _has_patterns(parameter, domain) else "text"
    return _string(parameter, name, template)


def takes_percent(parameter: Parameter, name: Name) -> bool:
    """Whether `15%` may be 15 for this number, going by what its author says of it."""
    told = f"{parameter.description} {parameter.example}".lower()
    return name.has(PERCENT) or name.has(MAYBE_PERCENT) or "percent" in told or "%" in told


def has_records(template: Template) -> bool:
    """Whether the template takes data as JSON."""
    return any(is_data(p) for p in template.parameters)


def _numeric(parameter: Parameter, name: Name) -> Role:
    if parameter.type in ("percentage", "money"):
        return _BY_TYPE[parameter.type]
    if name.has(PERCENT):
        return "percentage"
    return "money" if name.has(MONEY) else "number"


def _array(parameter: Parameter, name: Name, template: Template) -> Role:
    items = parameter.items or {}
    if parameter.choices or items.get("enum"):
        return "choices"
    kind = items.get("type")
    if kind in ("number", "integer"):
        return "numbers"
    if kind == "string" or (kind is None and name.has(FIELDS)):
        return "fields" if name.has(FIELDS) and has_data_beside(parameter, template) else "strings"
    return "numbers" if kind is None and name.has(NUMBERS) else "records"


def _string(parameter: Parameter, name: Name, template: Template) -> Role:
    if parameter.format:
        return _BY_FORMAT.get(parameter.format, "text")
    if has_data_beside(parameter, template):
        if name.has(FIELDS) or (name.has(ORDERING) and "by" in name.words):
            return "field"
        if is_compared_with_data(parameter, template):
            return "cell"
    return _by_name(name)


def _by_name(name: Name) -> Role:
    if name.has(frozenset({"format"})):
        return "date_format" if name.has(DATES | WRITTEN) or len(name.words) == 1 else "text"
    if name.has(DATES):
        return "written_date" if name.has(WRITTEN) else "date"
    if name.has(frozenset({"currency"})):
        return "currency"
    if name.has(frozenset({"email"})):
        return "email"
    return "url" if name.has(URLS) else "text"


def _has_patterns(parameter: Parameter, domain: Domain) -> bool:
    return bool(parameter.extraction_patterns) or parameter.type in domain.parameter_patterns
