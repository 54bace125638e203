"""JSON Schema in the words that Gemini has for it.

Gemini knows a part of OpenAPI's schemas. What it does not know is left out here, and
checked on its reply all the same.
"""

from collections.abc import Mapping
from typing import Any, Final

_KEPT: Final = (
    "description", "title", "minItems", "maxItems", "minProperties", "maxProperties",
    "minLength", "maxLength", "pattern", "minimum", "maximum",
)  # fmt: skip
_FORMATS: Final = frozenset({"enum", "date-time", "float", "double", "int32", "int64"})
_DEEPEST: Final = 10
_LARGEST: Final = 1000
"""Levels and parts that are described; a schema that refers to itself has no end."""


def to_gemini(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema for `responseSchema`, or for the parameters of a function."""
    return _Converter(schema).converted(schema, 0)


class _Converter:
    def __init__(self, whole: Mapping[str, Any]) -> None:
        self._whole = whole
        self._left = _LARGEST

    def converted(self, schema: Any, depth: int) -> dict[str, Any]:
        self._left -= 1
        if not isinstance(schema, Mapping) or depth > _DEEPEST or self._left < 0:
            return {"type": "STRING"}
        return self._of(_merged(schema, self._whole), depth + 1)

    def _of(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {
            key: schema[key] for key in _KEPT if isinstance(schema.get(key), str | int | float)
        }
        choices = [part for key in ("anyOf", "oneOf") for part in _list(schema.get(key))]
        real = [part for part in choices if not _is_null(part)]
        types = [kind for kind in _list(schema.get("type")) if kind != "null"]
        if len(real) < len(choices) or "null" in _list(schema.get("type")):
            found["nullable"] = True
        if len(real) == 1:
            return self.converted(real[0], depth) | found
        if real:
            return found | {"anyOf": [self.converted(part, depth) for part in real]}
        if len(types) > 1:
            parts = [{**schema, "type": kind} for kind in types]
            return found | {"anyOf": [self.converted(part, depth) for part in parts]}
        kind = types[0] if types else _guessed(schema)
        found["type"] = kind.upper()
        if schema.get("format") in _FORMATS:
            found["format"] = schema["format"]
        given = _list(schema.get("enum")) or ([schema["const"]] if "const" in schema else [])
        if kind == "string" and given and all(isinstance(choice, str) for choice in given):
            found |= {"format": "enum", "enum": given}
        if kind == "array":
            found["items"] = self.converted(schema.get("items", {}), depth)
        if kind == "object" and isinstance(properties := schema.get("properties"), Mapping):
            found["properties"] = {
                name: self.converted(part, depth) for name, part in properties.items()
            }
            found["propertyOrdering"] = list(properties)
            if required := [name for name in _list(schema.get("required")) if name in properties]:
                found["required"] = required
        return found


def _merged(schema: Mapping[str, Any], whole: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with what it refers to, and all parts of `allOf`, put into it."""
    merged = dict(schema)
    for _ in range(_DEEPEST):
        parts = [*_list(merged.pop("allOf", None))]
        if isinstance(reference := merged.pop("$ref", None), str):
            parts.append(_found(reference, whole))
        if not parts:
            break
        for part in parts:
            if isinstance(part, Mapping):
                properties = {**_dict(part.get("properties")), **_dict(merged.get("properties"))}
                required = [*_list(part.get("required")), *_list(merged.get("required"))]
                merged = {**part, **merged}
                merged |= {"properties": properties} if properties else {}
                merged |= {"required": list(dict.fromkeys(map(str, required)))} if required else {}
    return merged


def _found(reference: str, whole: Mapping[str, Any]) -> Any:
    place: Any = whole
    for step in reference.removeprefix("#").split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        place = place.get(step) if isinstance(place, Mapping) else None
    return place


def _guessed(schema: Mapping[str, Any]) -> str:
    if "properties" in schema:
        return "object"
    return "array" if "items" in schema else "string"


def _is_null(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") == "null"


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _dict(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}
