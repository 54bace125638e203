"""Part of a document into a Pydantic model, or into problems that name file and line."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from types import UnionType
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from server.core.suggestions import did_you_mean, join_words, quoted
from server.errors import Problem
from server.settings.documents import Document, Keys
from server.settings.yaml_tree import Unresolved


@dataclass(frozen=True, slots=True)
class SchemaPlace:
    """What may stand at one place.

    `siblings` are the keys that are known beside it, `choices` the values it can take,
    and `range` its bounds in words (`between 0 and 1`), empty when it has none.
    """

    siblings: tuple[str, ...]
    choices: tuple[Any, ...]
    range: str


def schema_lookup(model: type[BaseModel], loc: Sequence[str | int]) -> SchemaPlace:
    """Walk a Pydantic error location through the annotations of `model`."""
    kinds, parents = [_Kind(model)], [_Kind(model)]
    for part in loc:
        further = [found for kind in kinds for found in kind.children(part)]
        parents = kinds
        # A part that leads nowhere is the name of a union member, or an unknown key.
        kinds = further or [kind for kind in kinds if kind.is_member(part)] or kinds
    literals = [kind.annotation for kind in kinds if get_origin(kind.annotation) is Literal]
    return SchemaPlace(
        siblings=tuple(dict.fromkeys(key for kind in parents for key in kind.fields)),
        choices=tuple(dict.fromkeys(choice for each in literals for choice in get_args(each))),
        range=_range_text([bound for kind in kinds for bound in kind.metadata]),
    )


@dataclass(frozen=True, slots=True)
class _Kind:
    """What an annotation allows; a union is several of them."""

    annotation: Any
    metadata: tuple[Any, ...] = ()

    @property
    def fields(self) -> dict[str, FieldInfo]:
        """The fields of a model by their keys in YAML; of anything else, none."""
        model = self.annotation
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            return {}
        return {field.alias or name: field for name, field in model.model_fields.items()}

    def children(self, part: str | int) -> Iterator["_Kind"]:
        origin, arguments = get_origin(self.annotation), get_args(self.annotation)
        if isinstance(part, str) and (field := self.fields.get(part)) is not None:
            yield from _unfold(field.annotation, tuple(field.metadata))
        elif isinstance(part, int) and origin in {list, tuple, set, Sequence}:
            yield from _unfold(arguments[0])
        elif isinstance(part, str) and origin in {dict, Mapping}:
            yield from _unfold(arguments[1])

    def is_member(self, part: str | int) -> bool:
        """Whether `part` is how Pydantic calls this member of a union."""
        tags = [f.annotation for f in self.fields.values() if get_origin(f.annotation) is Literal]
        named = bool(self.fields) and part == self.annotation.__name__
        return named or any(part in get_args(tag) for tag in tags)


def _unfold(annotation: Any, metadata: tuple[Any, ...] = ()) -> Iterator[_Kind]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        for entry in arguments[1:]:
            metadata += tuple(entry.metadata) if isinstance(entry, FieldInfo) else (entry,)
        yield from _unfold(arguments[0], metadata)
    elif origin is Union or origin is UnionType:
        for member in arguments:
            yield from _unfold(member, metadata)
    elif annotation is not type(None):
        yield _Kind(annotation, metadata)


def _range_text(metadata: Sequence[Any]) -> str:
    low = next((_bound_text(m.ge) for m in metadata if isinstance(m, Ge)), None)
    high = next((_bound_text(m.le) for m in metadata if isinstance(m, Le)), None)
    if low is not None and high is not None:
        return f"between {low} and {high}"
    above = next((f"above {_bound_text(m.gt)}" for m in metadata if isinstance(m, Gt)), None)
    below = next((f"below {_bound_text(m.lt)}" for m in metadata if isinstance(m, Lt)), None)
    bounds = [above, low and f"at least {low}", below, high and f"at most {high}"]
    words = " and ".join(bound for bound in bounds if bound)
    return f"of {words}" if words.startswith("at ") else words


def _bound_text(bound: Any) -> str:
    return str(int(bound)) if bound == int(bound) else str(bound)


M = TypeVar("M", bound=BaseModel)

_LINES: Final = "`name: value` lines"
_EXPECTED: Final[Mapping[str, str]] = {
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    **dict.fromkeys(("list_type", "tuple_type"), "a list"),
    **dict.fromkeys(("dict_type", "mapping_type"), _LINES),
    **dict.fromkeys(("model_type", "model_attributes_type"), _LINES),
    "finite_number": "a finite number",
    "string_type": "text",
    "path_type": "a path",
}
_BOUNDS: Final = frozenset(
    {"greater_than", "greater_than_equal", "less_than", "less_than_equal", "finite_number"}
)
_LENGTHS: Final = frozenset({"string_too_short", "string_too_long", "too_short", "too_long"})


def validate(
    model: type[M], document: Document, at: Keys = (), *, context: Mapping[str, Any] | None = None
) -> tuple[M | None, tuple[Problem, ...]]:
    """Return the model that stands at `at` in the document, or None and what is wrong.

    `context` goes to the model's validators, which name their own kinds of problem by raising
    `PydanticCustomError` with a type that holds a hyphen; its message is shown as it is.
    """
    if not document.readable:
        return None, ()  # its own problems say why
    try:
        return model.model_validate(document.at(at), context=dict(context or {})), ()
    except ValidationError as invalid:
        errors = invalid.errors(include_url=False)
    # A placeholder that could not be filled is a problem already; what its text is
    # not (a number, say) would be a second complaint about the same thing.
    found = []
    for error in errors:
        if not isinstance(error["input"], Unresolved):
            keys = _document_keys(document, at, error["loc"])
            place = schema_lookup(model, error["loc"])
            kind, what = _kind_and_sentence(place, document, keys, error)
            fix = document.renaming(keys, place.siblings) if kind == "unknown-key" else None
            found.append(Problem(what, document.where(keys), kind, fix=fix))
    return None, tuple(sorted(found, key=lambda problem: problem.where.line))


def _document_keys(document: Document, at: Keys, loc: Keys) -> Keys:
    """The part of the document that a Pydantic location means.

    Pydantic puts the names of union members into locations; those are no keys.
    """
    keys, node = at, document.node(at)
    for part in loc:
        child = node.child(part) if node is not None else None
        if child is not None:
            keys, node = (*keys, part), child
    return keys


def _kind_and_sentence(
    place: SchemaPlace, document: Document, keys: Keys, error: ErrorDetails
) -> tuple[str, str]:
    kind, name = error["type"], _key_path(keys)
    got = quoted(error["input"], document.from_environment)
    if "-" in kind:
        return kind, error["msg"]
    if kind == "extra_forbidden":
        key = str(error["loc"][-1])
        return "unknown-key", f"unknown key {key!r}; {did_you_mean(key, place.siblings)}"
    if kind == "missing":
        return "missing-key", f"{str(error['loc'][-1])!r} is missing"
    if kind == "union_tag_not_found":
        return "missing-key", f"{error['ctx']['discriminator']} is missing"
    if kind == "union_tag_invalid":
        choices = [tag.strip(" '") for tag in error["ctx"]["expected_tags"].split(",")]
        name, tag = str(error["ctx"]["discriminator"]).strip("'"), error["ctx"]["tag"]
        return "unknown-value", _choices_sentence(name, choices, tag, repr(tag))
    if kind in {"literal_error", "enum"}:
        choices = [str(choice) for choice in place.choices]
        return "unknown-value", _choices_sentence(name, choices, error["input"], got)
    if kind in _BOUNDS:
        expected = f"a number {place.range or 'that is finite'}"
        return "out-of-range", f"{name}: expected {expected}, got {got}"
    message = f"{name}: {error['msg'][0].lower()}{error['msg'][1:]}"
    if kind in _LENGTHS:
        return "out-of-range", message
    if kind == "value_error":
        return "wrong-value", f"{name}: {error['ctx']['error']}"
    if kind not in _EXPECTED:
        return "wrong-type", f"{message}, got {got}"
    expected = _EXPECTED[kind]
    if place.range and expected.endswith("number"):
        expected = f"{expected} {place.range}"
    is_scalar = isinstance(error["input"], int | float | date)
    quotes = "; put it in quotes" if kind == "string_type" and is_scalar else ""
    return "wrong-type", f"{name}: expected {expected}, got {got}{quotes}"


def _choices_sentence(name: str, choices: list[str], value: object, got: str) -> str:
    hint = did_you_mean(value, choices)
    meant = f"; {hint}" if hint.startswith("did") else ""
    return f"{name}: expected {join_words(choices)}, got {got}{meant}"


def _key_path(keys: Keys) -> str:
    """The last key with the indices behind it: `paths[2]`."""
    path = "entry" if keys else "the file"
    for key in keys:
        path = key if isinstance(key, str) else f"{path}[{key}]"
    return path
