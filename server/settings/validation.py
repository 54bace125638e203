"""Part of a document into a Pydantic model, or into problems that name file and line."""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from server.core.problems import Problem
from server.settings.nodes import Unresolved
from server.settings.shape import Place, follow
from server.settings.source import Document, Keys
from server.settings.wording import instead, listed, quoted

M = TypeVar("M", bound=BaseModel)

_EXPECTED: Final[Mapping[str, str]] = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "`name: value` lines",
    "model_type": "`name: value` lines",
    "model_attributes_type": "`name: value` lines",
    "mapping_type": "`name: value` lines",
    "path_type": "a path",
}
_BOUNDS: Final = frozenset(
    {"greater_than", "greater_than_equal", "less_than", "less_than_equal", "finite_number"}
)
_LENGTHS: Final = frozenset({"string_too_short", "string_too_long", "too_short", "too_long"})


def validate(
    model: type[M],
    document: Document,
    at: Keys = (),
    *,
    context: Mapping[str, Any] | None = None,
) -> tuple[M | None, tuple[Problem, ...]]:
    """Return the model that stands at `at` in the document, or None and what is wrong.

    `context` goes to the model's validators.

    A validator of a model names its own problem kind by raising `PydanticCustomError`
    with a type that holds a hyphen, such as `bad-pattern`; its message is shown as it is.
    """
    if not document.readable:
        return None, ()  # its own problems say why
    try:
        return model.model_validate(document.at(at), context=dict(context or {})), ()
    except ValidationError as invalid:
        errors = invalid.errors(include_url=False)
    # A placeholder that could not be filled is a problem already; what its text is
    # not (a number, say) would be a second complaint about the same thing.
    found = [
        _problem(model, document, at, error)
        for error in errors
        if not isinstance(error["input"], Unresolved)
    ]
    return None, tuple(sorted(found, key=lambda problem: problem.where.line))


def _problem(
    model: type[BaseModel],
    document: Document,
    at: Keys,
    error: ErrorDetails,
) -> Problem:
    keys = _keys(document, at, error["loc"])
    kind, what = _finding(follow(model, error["loc"]), document, keys, error)
    return Problem(what, document.where(keys), kind)


def _keys(document: Document, at: Keys, loc: Keys) -> Keys:
    """The part of the document that a Pydantic location means.

    Pydantic puts the names of union members into locations; those are no keys.
    """
    keys, node = at, document.node(at)
    for part in loc:
        child = node.child(part) if node is not None else None
        if child is not None:
            keys, node = (*keys, part), child
    return keys


def _finding(place: Place, document: Document, keys: Keys, error: ErrorDetails) -> tuple[str, str]:
    """Problem kind and sentence."""
    kind, name = error["type"], _name(keys)
    got = quoted(error["input"], document.from_environment)
    if "-" in kind:
        return kind, error["msg"]
    if kind == "extra_forbidden":
        key = str(error["loc"][-1])
        return "unknown-key", f"unknown key {key!r}; {instead(key, place.siblings)}"
    if kind == "missing":
        return "missing-key", f"{str(error['loc'][-1])!r} is missing"
    if kind == "union_tag_not_found":
        return "missing-key", f"{error['ctx']['discriminator']} is missing"
    if kind == "union_tag_invalid":
        choices = [tag.strip(" '") for tag in error["ctx"]["expected_tags"].split(",")]
        return "unknown-value", _one_of(
            str(error["ctx"]["discriminator"]).strip("'"),
            choices,
            error["ctx"]["tag"],
            repr(error["ctx"]["tag"]),
        )
    if kind in {"literal_error", "enum"}:
        choices = [str(choice) for choice in place.choices]
        return "unknown-value", _one_of(name, choices, error["input"], got)
    if kind in _BOUNDS:
        return (
            "out-of-range",
            f"{name}: expected a number {place.range or 'that is finite'}, got {got}",
        )
    if kind in _LENGTHS:
        return "out-of-range", f"{name}: {error['msg'][0].lower()}{error['msg'][1:]}"
    if kind == "value_error":
        return "wrong-value", f"{name}: {error['ctx']['error']}"
    expected = _EXPECTED.get(kind)
    if expected is None:
        return "wrong-type", f"{name}: {error['msg'][0].lower()}{error['msg'][1:]}, got {got}"
    if place.range and expected.endswith("number"):
        expected = f"{expected} {place.range}"
    return "wrong-type", f"{name}: expected {expected}, got {got}"


def _one_of(name: str, choices: list[str], value: object, got: str) -> str:
    hint = instead(value, choices)
    meant = f"; {hint}" if hint.startswith("did") else ""
    return f"{name}: expected {listed(choices)}, got {got}{meant}"


def _name(keys: Keys) -> str:
    """The last key with the indices behind it: `paths[2]`."""
    indices = ""
    for key in reversed(keys):
        if isinstance(key, str):
            return key + indices
        indices = f"[{key}]{indices}"
    return f"entry{indices}" if indices else "the file"
