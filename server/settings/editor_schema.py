"""JSON Schemas of what authors write, for editors: what the models take, and what YAML adds."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import TypeAdapter

DIALECT: Final = "http://json-schema.org/draft-07/schema#"
"""The one that editors read best."""

_PLACEHOLDER: Final = {"type": "string", "pattern": r"\$\{"}
"""`${NAME}`, which may stand for any value but a list or a mapping."""
_ABOUT: Final = frozenset({"description", "default", "deprecated"})
_NAMED: Final = frozenset({"properties", "$defs", "patternProperties"})


def editor_schema(written: Any, title: str) -> dict[str, Any]:
    """Return the schema of a type, whose models say what each of their keys is for."""
    schema = _for_yaml(TypeAdapter(written).json_schema(by_alias=True, mode="validation"))
    return {"$schema": DIALECT, "title": title, **_by_shape(schema)}


def _for_yaml(schema: Any) -> Any:
    """A schema that takes placeholders, without names of classes and empty defaults."""
    if isinstance(schema, list):
        return [_for_yaml(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made: dict[str, Any] = {}
    for name, part in schema.items():
        if name in _NAMED:
            made[name] = {key: _for_yaml(each) for key, each in part.items()}
        elif name == "default":
            made |= {} if part is None or isinstance(part, dict) else {name: part}
        elif name == "propertyNames":
            made[name] = part
        elif name != "title":
            made[name] = _for_yaml(part)
    if not _is_narrow(made):
        return made
    about = {name: part for name, part in made.items() if name in _ABOUT}
    value = {name: part for name, part in made.items() if name not in _ABOUT}
    return {"anyOf": [value, _PLACEHOLDER], **about}


def _is_narrow(schema: Mapping[str, Any]) -> bool:
    """Whether a scalar is meant, and not any text; one value alone tells members of a union."""
    kind = schema.get("type")
    if kind == "string":
        return "enum" in schema or not schema.keys().isdisjoint({"minLength", "pattern"})
    return kind in ("integer", "number", "boolean")


def _by_shape(schema: dict[str, Any]) -> dict[str, Any]:
    """A file that may be a list or a mapping is judged as what it is, not as either of them."""
    match schema.get("anyOf"):
        case [{"type": "array"} as listed, mapping]:
            rest = {name: part for name, part in schema.items() if name != "anyOf"}
            return rest | {"if": {"type": "array"}, "then": listed, "else": mapping}
    return schema
