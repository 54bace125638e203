"""Values that a document shows in one place and means in others: the SKU of a body, of a filter."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from server.authoring.clauses import is_unspoken
from server.authoring.document import ApiDocument, items, mapping
from server.authoring.naming import identifier
from server.authoring.operations import ApiOperation
from server.authoring.phrases import phrases
from server.authoring.schema import ApiParameter
from server.authoring.values import is_usable
from server.text.codes import form_of

_MAX_DEPTH: Final = 40
_MOST_SHOWN: Final = 6


class ShownValues:
    """The texts that a document gives as examples, by the name of what they are values of."""

    def __init__(self, document: ApiDocument) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in _shown(document.data, 0):
            if isinstance(value, str) and value:
                self._values.setdefault(identifier(name), []).append(value)

    def of(self, parameter: ApiParameter) -> Sequence[str]:
        """Values of a parameter, by its own name or by that of which it is one of several.

        `from_warehouse_id` has those of `warehouse_id`, if they are codes.
        """
        words = parameter.name.split("_")
        for at in range(len(words)):
            known = self._values.get("_".join(words[at:]), ())
            if at and (len(words) - at < 2 or words[at] in phrases().identifiers):
                break
            usable = [v for v in known if is_usable(v, parameter) and (not at or form_of(v))]
            if usable:
                return tuple(dict.fromkeys(usable))[:_MOST_SHOWN]
        return ()


def with_shown_values(
    operations: Sequence[ApiOperation], document: ApiDocument
) -> list[ApiOperation]:
    """The operations, their texts with what the document shows of such values."""
    shown = ShownValues(document)
    return [
        replace(operation, parameters=tuple(_with_values(p, shown) for p in operation.parameters))
        for operation in operations
    ]


def with_told_elsewhere(operations: Sequence[ApiOperation]) -> list[ApiOperation]:
    """The operations, those that show one thing and do not say what, with what others say of it.

    What can be given of a thing, or what a list of such things is narrowed by, it has.
    """
    given: dict[str, dict[str, str]] = {}
    for operation in operations:
        path = operation.path.rstrip("/")
        collection = path.rpartition("/")[0] if path.endswith("}") else path
        for each in operation.parameters:
            is_field = each.place in ("body", "form") or each.enum
            if is_field and each.type != "object" and not is_unspoken(each):
                given.setdefault(collection, {}).setdefault(each.name, each.type)
    return [_with_told(operation, given) for operation in operations]


def _with_told(operation: ApiOperation, given: Mapping[str, Mapping[str, str]]) -> ApiOperation:
    path, _, last = operation.path.rstrip("/").rpartition("/")
    response = operation.response
    if operation.method != "GET" or not last.startswith("{") or response.tells or response.fields:
        return operation
    told = tuple(given.get(path, {}).items())
    return replace(operation, response=replace(response, tells=told))


def _with_values(parameter: ApiParameter, shown: ShownValues) -> ApiParameter:
    if parameter.type != "string" or parameter.enum:
        return parameter
    others = tuple(shown.of(parameter))
    own = parameter.example if is_usable(parameter.example, parameter) else None
    code = next((value for value in others if form_of(value)), None)
    example = parameter.example if own is not None else code or parameter.example
    return replace(parameter, example=example, others=others)


def _shown(node: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """Names and values of all examples below a node of a document."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(node, list):
        for each in node:
            yield from _shown(each, depth + 1)
        return
    found = mapping(node)
    name = found.get("name")
    if isinstance(name, str) and "in" in found:
        for holder in (found, mapping(found.get("schema"))):
            yield from ((name, value) for value in _own(holder))
    for wire, schema in mapping(found.get("properties")).items():
        yield from ((str(wire), value) for value in _own(mapping(schema)))
    for key, value in found.items():
        if key in ("example", "x-example", "value"):
            yield from _leaves(value, depth)
        else:
            yield from _shown(value, depth + 1)


def _own(holder: Mapping[str, Any]) -> Iterator[Any]:
    yield from (holder[key] for key in ("example", "x-example") if key in holder)
    several = holder.get("examples")
    yield from items(several)
    yield from (mapping(each).get("value") for each in mapping(several).values())


def _leaves(value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    if depth > _MAX_DEPTH:
        return
    for each in items(value):
        yield from _leaves(each, depth + 1)
    for name, each in mapping(value).items():
        yield str(name), each
        yield from _leaves(each, depth + 1)
