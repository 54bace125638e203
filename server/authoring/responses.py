"""What an operation answers, as far as it helps to map the answer."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from server.authoring.document import ApiDocument, mapping
from server.authoring.schema import flat, type_of

_TOTALS: Final = ("total", "total_count", "totalCount", "total_results", "totalResults", "count")
_MAX_FIELDS: Final = 8
_MAX_WRAPPER: Final = 4
"""An object with more properties than this is the thing itself, not its wrapping."""
_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NESTED: Final = ("object", "array")


@dataclass(frozen=True, slots=True)
class ResponseShape:
    """JMESPath of the items, the fields and the total; empty where nothing is known."""

    items: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    total: str = ""


def response_shape(document: ApiDocument, operation: Mapping[str, Any]) -> ResponseShape:
    """The shape of an operation's good answer."""
    shape = flat(document, _good_schema(document, operation))
    if type_of(shape) == "array":
        return ResponseShape(fields=_fields(document, shape.get("items")))
    properties = {
        str(name): flat(document, each) for name, each in mapping(shape.get("properties")).items()
    }
    lists = [name for name, each in properties.items() if type_of(each) == "array"]
    nested = [name for name, each in properties.items() if type_of(each) in _NESTED]
    if len(lists) == 1 and len(properties) <= _MAX_WRAPPER:
        total = next((name for name in _TOTALS if name in properties), "")
        fields = _fields(document, properties[lists[0]].get("items"))
        return ResponseShape(_quoted(lists[0]), fields, _quoted(total) if total else "")
    if len(nested) == 1 and len(properties) <= _MAX_WRAPPER:
        return ResponseShape(_quoted(nested[0]), _fields(document, properties[nested[0]]))
    return ResponseShape(fields=_fields(document, shape))


def _good_schema(document: ApiDocument, operation: Mapping[str, Any]) -> Any:
    responses = {str(k): v for k, v in mapping(operation.get("responses")).items()}
    for status in ("200", "201", "2XX", "default"):
        if status in responses:
            response = document.resolve(responses[status])
            if document.is_swagger_2:
                return response.get("schema")
            for media, content in mapping(response.get("content")).items():
                if "json" in media:
                    return mapping(content).get("schema")
    return None


def _fields(document: ApiDocument, schema: Any) -> dict[str, str]:
    """Up to eight plain fields of an object, each with its path."""
    properties = mapping(flat(document, schema).get("properties"))
    names = [
        str(name)
        for name, each in properties.items()
        if type_of(flat(document, each)) not in _NESTED
    ]
    return {name: _quoted(name) for name in names[:_MAX_FIELDS]}


def _quoted(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '\\"') + '"'
