"""Schemas of APIs to parameters of templates."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import re2

from server.authoring.document import ApiDocument, items, mapping
from server.authoring.naming import first_sentence, identifier
from server.library.parameter_types import type_of_format
from server.text.codes import form_of

Place = Literal["path", "query", "header", "body", "form"]

_MAX_DEPTH: Final = 6
_CLOCK: Final = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]")
_CLOCK_FORMAT: Final = re.compile(r"\bhh:mm\b(?!:ss)|\b24[- ]?h(?:our)? clock\b", re.IGNORECASE)
_FOR_EXAMPLE: Final = re.compile(
    r"\b(?:e\.g\.|for example|for instance|such as|examples?:|like)[,:]?\s+[\"'`]?"
    r"([A-Za-z0-9][\w./-]*)",
    re.IGNORECASE,
)
_MAX_ENUM: Final = 50


@dataclass(frozen=True, slots=True)
class ApiParameter:
    """One argument of an operation: `name` in the template, `wire` for the service."""

    name: str
    wire: str
    place: Place
    type: str
    required: bool = False
    description: str = ""
    default: Any = None
    enum: tuple[Any, ...] = ()
    example: Any = None
    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    item_type: str = ""
    join: str = ""
    """What stands between the members of a list; nothing repeats the parameter."""
    pattern: str = ""
    """What its values look like, where RE2 can read it."""
    others: tuple[str, ...] = ()
    """Further values of such a parameter in the document."""
    is_code: bool = False
    """Whether it is a text that says which one: digits, and letters among them."""
    within: tuple[str, ...] = ()
    """The objects of the body that it stands in, from the outermost one."""


def parameter_from(
    document: ApiDocument,
    wire: str,
    place: Place,
    schema: Any,
    *,
    required: bool,
    description: str = "",
    example: Any = None,
) -> ApiParameter:
    shape = flat(document, schema)
    described = description or str(shape.get("description") or shape.get("title") or "")
    kind = type_of(shape)
    if kind == "string" and _is_clock(wire, shape, example, described):
        kind = "time"
    members = flat(document, shape.get("items"))
    enum = tuple(v for v in items(shape.get("enum")) if isinstance(v, str | int | float))
    numeric, text = kind in ("number", "integer"), kind == "string"
    default = shape.get("default")
    fits = isinstance(default, bool | int | float | str) and (not enum or default in enum)
    return ApiParameter(
        name=identifier(wire),
        wire=wire,
        place=place,
        type=kind,
        required=required,
        description=first_sentence(described),
        default=default if fits else None,
        enum=enum if len(enum) <= _MAX_ENUM and kind != "boolean" else (),
        example=_example(shape, example) or (_described(described) if text else None),
        minimum=_number(shape.get("minimum")) if numeric else None,
        maximum=_number(shape.get("maximum")) if numeric else None,
        min_length=_length(shape.get("minLength")) if text else None,
        max_length=_length(shape.get("maxLength")) if text else None,
        item_type=type_of(members) if kind == "array" else "",
        pattern=_pattern(shape.get("pattern")) if text else "",
    )


def flat(document: ApiDocument, schema: Any, depth: int = 0) -> dict[str, Any]:
    """Return a schema without `$ref` and `allOf`, and with the first real choice of `oneOf`."""
    shape = dict(document.resolve(schema))
    if depth > _MAX_DEPTH:
        return shape
    for part in items(shape.pop("allOf", None)):
        inherited = flat(document, part, depth + 1)
        properties = {**mapping(inherited.get("properties")), **mapping(shape.get("properties"))}
        required = [*items(inherited.get("required")), *items(shape.get("required"))]
        shape = {**inherited, **shape, "required": required}
        if properties:
            shape["properties"] = properties
    for name in ("oneOf", "anyOf"):
        for choice in items(shape.pop(name, None)):
            chosen = flat(document, choice, depth + 1)
            if chosen and chosen.get("type") != "null":
                shape = {**chosen, **shape}
                break
    return shape


def type_of(shape: Mapping[str, Any]) -> str:
    kind = shape.get("type")
    if isinstance(kind, list):
        kind = next((each for each in kind if each != "null"), None)
    if kind == "string":
        by_format = type_of_format(shape.get("format"))
        return by_format.name if by_format is not None else "string"
    if kind in ("number", "integer", "boolean", "array", "object"):
        return str(kind)
    if "properties" in shape or "additionalProperties" in shape:
        return "object"
    if "items" in shape:
        return "array"
    return "string"


def _example(shape: Mapping[str, Any], given: Any) -> Any:
    several = items(shape.get("examples"))
    for value in (given, shape.get("example"), several[0] if several else None):
        if value is not None and value != "":
            return value
    return None


def _is_clock(wire: str, shape: Mapping[str, Any], given: Any, described: str) -> bool:
    """Whether a text is a time of day, as its example, its description or its name has it."""
    if shape.get("enum"):
        return False
    example = _example(shape, given)
    if isinstance(example, str):
        return _CLOCK.fullmatch(example) is not None
    named = identifier(wire).split("_")[-1] == "time"
    return named or _CLOCK_FORMAT.search(described) is not None


def _described(text: str) -> str | None:
    """A code that a description gives as an example."""
    found = _FOR_EXAMPLE.search(text)
    code = found[1].strip(".-_/") if found else ""
    return code if form_of(code) and not code.isalpha() else None


def _pattern(value: Any) -> str:
    options = re2.Options()
    options.log_errors = False
    try:
        return value if isinstance(value, str) and re2.compile(value, options) else ""
    except re2.error:
        return ""


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _length(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
