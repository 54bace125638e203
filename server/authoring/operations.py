"""The operations of an API description, read alike from OpenAPI 3 and Swagger 2."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final, Literal

from server.authoring.document import ApiDocument, items, mapping
from server.authoring.naming import first_sentence, identifier, unique, words
from server.authoring.phrases import is_plural
from server.authoring.schema import ApiParameter, Place, flat, parameter_from, type_of

_TOTALS: Final = ("total", "total_count", "totalCount", "total_results", "totalResults", "count")
_MAX_FIELDS: Final = 8
_NO_LISTS: Final = frozenset({"hours", "times"})
"""Plurals of what is one thing: opening hours."""
_MAX_WRAPPER: Final = 4
"""An object with more properties than this is the thing itself, not its wrapping."""
_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NESTED: Final = ("object", "array")
_MOST_TOLD: Final = 16


@dataclass(frozen=True, slots=True)
class ResponseShape:
    """JMESPath of the items, the fields and the total; empty where nothing is known."""

    items: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    total: str = ""
    many: bool = False
    """Whether it is a list."""
    tells: tuple[tuple[str, str], ...] = ()
    """Names and types of what it says in single values of the thing, or of each of the things."""
    tells_whole: tuple[tuple[str, str], ...] = ()
    """What it says beside them, of all together."""
    thing: str = ""
    """What the document calls the schema of what it has."""


def response_shape(document: ApiDocument, operation: Mapping[str, Any], path: str) -> ResponseShape:
    """What is sent back; at a path that names one thing, an object with a list is that thing.

    Where nothing says what that is, several things are what the path calls them.
    """
    schema = _good_schema(document, operation)
    if schema is None:
        last = path.rstrip("/").rpartition("/")[2]
        is_list = is_plural(words(last)) and words(last).split(" ")[-1] not in _NO_LISTS
        return ResponseShape(many=not last.startswith("{") and is_list)
    shape, thing = _read_shape(document, schema, path)
    whole = () if schema is thing else _told(document, schema)
    reference = str(mapping(thing).get("$ref") or "").rpartition("/")[2]
    return replace(shape, tells=_told(document, thing), tells_whole=whole, thing=reference)


def _told(document: ApiDocument, schema: Any) -> tuple[tuple[str, str], ...]:
    properties = mapping(flat(document, schema).get("properties"))
    told = ((str(name), type_of(flat(document, raw))) for name, raw in properties.items())
    return tuple(islice((one for one in told if one[1] != "object"), _MOST_TOLD))


def _read_shape(document: ApiDocument, schema: Any, path: str) -> tuple[ResponseShape, Any]:
    """The shape of a result, and the schema of the thing or of one of the things in it."""
    shape = flat(document, schema)
    if type_of(shape) == "array":
        thing = shape.get("items")
        return ResponseShape(fields=_response_fields(document, thing), many=True), thing
    raw = mapping(shape.get("properties"))
    properties = {str(name): flat(document, each) for name, each in raw.items()}
    lists = [name for name, each in properties.items() if type_of(each) == "array"]
    nested = [name for name, each in properties.items() if type_of(each) in _NESTED]
    is_thing = path.endswith("}") and len(properties) > 1
    if len(lists) == 1 and len(properties) <= _MAX_WRAPPER and not is_thing:
        total = next((name for name in _TOTALS if name in properties), "")
        thing = properties[lists[0]].get("items")
        fields = _response_fields(document, thing)
        total = _quoted(total) if total else ""
        return ResponseShape(_quoted(lists[0]), fields, total, many=True), thing
    if len(nested) == 1 and len(properties) <= _MAX_WRAPPER and not (lists and is_thing):
        fields = _response_fields(document, properties[nested[0]])
        return ResponseShape(_quoted(nested[0]), fields), raw[nested[0]]
    return ResponseShape(fields=_response_fields(document, shape)), schema


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


def _response_fields(document: ApiDocument, schema: Any) -> dict[str, str]:
    properties = mapping(flat(document, schema).get("properties"))
    names = [
        str(name)
        for name, each in properties.items()
        if type_of(flat(document, each)) not in _NESTED
    ]
    return {name: _quoted(name) for name in names[:_MAX_FIELDS]}


def _quoted(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '\\"') + '"'


BodyKind = Literal["json", "form"]

_PLACES: Final[Mapping[str, Place]] = {"path": "path", "query": "query", "header": "header"}
_FORM: Final = "application/x-www-form-urlencoded"
_OWN_HEADERS: Final = frozenset(("accept", "content-type", "authorization", "user-agent"))
_SEPARATORS: Final = {"csv": ",", "ssv": " ", "pipes": "|", "multi": ""}
_MAX_OPTIONAL_FIELDS: Final = 8
_MAX_DEPTH: Final = 2
"""Objects in a body whose fields are parameters of their own."""


@dataclass(frozen=True, slots=True)
class ApiOperation:
    """One thing the service can do."""

    id: str
    method: str
    path: str
    summary: str
    description: str
    tags: tuple[str, ...]
    parameters: tuple[ApiParameter, ...]
    body: BodyKind | None
    whole_body: bool
    """The body is one parameter, not fields of its own."""
    response: ResponseShape
    security: Any = None
    """How it knows its callers, where that is not as for all operations."""


@dataclass(slots=True)
class ApiOperations:
    """What was found; `notes` say what was left out, and why."""

    found: list[ApiOperation] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class _CannotBeCalled(Exception):
    pass


def read_operations(document: ApiDocument) -> ApiOperations:
    """Return every operation that a template can call, in the document's order."""
    operations = ApiOperations()
    taken: set[str] = set()
    for method, path, operation, shared in document.operations():
        if operation.get("deprecated") is True:
            operations.notes.append(f"{method} {path} is left out: it is deprecated")
            continue
        try:
            found = _operation(document, method, path, operation, [*shared])
        except _CannotBeCalled as reason:
            operations.notes.append(f"{method} {path} is left out: {reason}")
            continue
        found = replace(found, id=unique(found.id, taken))
        taken.add(found.id)
        operations.found.append(found)
    return operations


def _operation(
    document: ApiDocument, method: str, path: str, operation: Mapping[str, Any], shared: list[Any]
) -> ApiOperation:
    parameters: dict[str, ApiParameter] = {}
    raw = [document.resolve(p) for p in [*shared, *items(operation.get("parameters"))]]
    for entry in raw:
        parameter = _parameter(document, entry)
        if parameter is not None:
            parameters[parameter.name] = parameter
    kind, whole, fields = _body(document, operation, raw)
    for each in fields:
        known = parameters.get(each.name)
        if known is None or known.type != each.type:
            name = unique(each.name, parameters)
            parameters[name] = replace(each, name=name)
    ordered = sorted(parameters.values(), key=lambda p: not p.required)
    named = {p.wire: p.name for p in ordered if p.place == "path"}
    for wire, name in named.items():
        path = path.replace("{" + wire + "}", "{" + name + "}")
    unfilled = {piece.partition("}")[0] for piece in path.split("{")[1:]} - set(named.values())
    if unfilled:
        raise _CannotBeCalled(f"its path parameter {sorted(unfilled)[0]!r} is not described")
    return ApiOperation(
        id=identifier(str(operation.get("operationId") or f"{method} {path}")),
        method=method,
        path=path,
        summary=first_sentence(str(operation.get("summary") or "")),
        description=first_sentence(str(operation.get("description") or "")),
        tags=tuple(map(str, items(operation.get("tags")))),
        parameters=tuple(ordered),
        body=kind,
        whole_body=whole,
        response=response_shape(document, operation, path),
        security=operation.get("security"),
    )


def _parameter(document: ApiDocument, entry: Mapping[str, Any]) -> ApiParameter | None:
    wire, place = str(entry.get("name", "")), _PLACES.get(str(entry.get("in")))
    required = entry.get("required") is True
    if wire and required and entry.get("in") == "cookie":
        raise _CannotBeCalled(f"it needs the cookie {wire!r}")
    if not wire or place is None or (place == "header" and wire.lower() in _OWN_HEADERS):
        return None
    contents = list(mapping(entry.get("content")).values())
    schema = entry.get("schema") or (mapping(contents[0]).get("schema") if contents else entry)
    found = parameter_from(
        document,
        wire,
        place,
        schema,
        required=required or place == "path",
        description=str(entry.get("description") or ""),
        example=_first_example(entry),
    )
    if found.type == "object":
        if required:
            raise _CannotBeCalled(f"it needs an object in the {place} ({wire!r})")
        return None
    return replace(found, join=_separator(document, entry)) if found.type == "array" else found


def _separator(document: ApiDocument, entry: Mapping[str, Any]) -> str:
    if document.is_swagger_2:
        return _SEPARATORS.get(str(entry.get("collectionFormat", "csv")), ",")
    style = str(entry.get("style", "form" if entry.get("in") == "query" else "simple"))
    if style == "pipeDelimited":
        return "|"
    if style == "spaceDelimited":
        return " "
    return "" if style == "form" and entry.get("explode") is not False else ","


def _first_example(entry: Mapping[str, Any]) -> Any:
    for name in ("example", "x-example"):
        if entry.get(name) is not None:
            return entry[name]
    first = next(iter(mapping(entry.get("examples")).values()), None)
    return mapping(first).get("value")


def _body(
    document: ApiDocument, operation: Mapping[str, Any], raw: list[Mapping[str, Any]]
) -> tuple[BodyKind | None, bool, list[ApiParameter]]:
    if document.is_swagger_2:
        return _swagger_2_body(document, raw)
    body = document.resolve(operation.get("requestBody"))
    if not body:
        return None, False, []
    contents = mapping(body.get("content"))
    required = body.get("required") is True
    media = next((m for m in contents if "json" in m), _FORM)
    if media not in contents:
        if not required:
            return None, False, []
        raise _CannotBeCalled(f"it takes a body of type {next(iter(contents), 'unknown')}")
    content = mapping(contents[media])
    kind: BodyKind = "form" if media == _FORM else "json"
    example = content.get("example") or _first_example(content)
    return (kind, *_fields(document, kind, content.get("schema"), required=required, given=example))


def _swagger_2_body(
    document: ApiDocument, raw: list[Mapping[str, Any]]
) -> tuple[BodyKind | None, bool, list[ApiParameter]]:
    fields = []
    for entry in raw:
        required = entry.get("required") is True
        if entry.get("in") == "body":
            return ("json", *_fields(document, "json", entry.get("schema"), required=required))
        if entry.get("in") == "formData":
            if entry.get("type") == "file":
                raise _CannotBeCalled("it takes a file")
            wire = str(entry.get("name"))
            fields.append(parameter_from(document, wire, "form", entry, required=required))
    return ("form", False, fields) if fields else (None, False, [])


def _fields(
    document: ApiDocument, kind: BodyKind, schema: Any, *, required: bool, given: Any = None
) -> tuple[bool, list[ApiParameter]]:
    shape = flat(document, schema)
    properties = mapping(shape.get("properties"))
    place: Place = "form" if kind == "form" else "body"
    if not properties:
        whole = parameter_from(
            document, "body", place, shape, required=required, description="", example=given
        )
        return True, [replace(whole, type="object" if type_of(shape) == "string" else whole.type)]
    return False, _flat_fields(document, place, shape, mapping(given))


def _flat_fields(
    document: ApiDocument,
    place: Place,
    shape: Mapping[str, Any],
    given: Mapping[str, Any],
    within: tuple[str, ...] = (),
    above: tuple[frozenset[str], ...] = (),
) -> list[ApiParameter]:
    """Every field of an object, those of objects in it as well.

    `within` is where it stands, `above` the names of the fields of each object that it is in.
    """
    above = (*above, frozenset(mapping(shape.get("properties"))))
    needed = set(map(str, items(shape.get("required"))))
    examples = given or mapping(shape.get("example"))
    fields: list[ApiParameter] = []
    for wire, each in mapping(shape.get("properties")).items():
        inner = flat(document, each)
        if inner.get("readOnly") is True:
            continue
        properties = mapping(inner.get("properties"))
        is_new = bool(properties) and frozenset(properties) not in above
        if is_new and place == "body" and len(within) < _MAX_DEPTH:
            inside = mapping(examples.get(wire))
            below = _flat_fields(document, place, inner, inside, (*within, str(wire)), above)
            optional = wire not in needed
            fields += [replace(f, required=f.required and not optional) for f in below]
            continue
        found = parameter_from(
            document, wire, place, each, required=wire in needed, example=examples.get(wire)
        )
        if not found.required and (found.type == "object" or found.item_type in _NESTED):
            continue
        name = identifier("_".join((*within[-1:], str(wire)))) if within else found.name
        fields.append(replace(found, name=name, within=within))
    kept = [f for f in fields if not f.required][:_MAX_OPTIONAL_FIELDS]
    return [f for f in fields if f.required or f in kept]
