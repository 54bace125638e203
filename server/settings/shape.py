"""What a Pydantic model expects at a place: its keys, its choices, its bounds."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo


@dataclass(frozen=True, slots=True)
class Place:
    """What may stand at one place.

    `siblings` are the keys that are known beside it, `choices` the values it can take,
    and `range` its bounds in words (`between 0 and 1`), empty when it has none.
    """

    siblings: tuple[str, ...]
    choices: tuple[Any, ...]
    range: str


@dataclass(frozen=True, slots=True)
class _Kind:
    annotation: Any
    metadata: tuple[Any, ...] = ()


def follow(model: type[BaseModel], loc: Sequence[str | int]) -> Place:
    """Walk a Pydantic error location through the annotations of `model`."""
    kinds, parents = [_Kind(model)], [_Kind(model)]
    for part in loc:
        further = [found for kind in kinds for found in _step(kind, part)]
        parents = kinds
        # A part that leads nowhere is the name of a union member, or an unknown key.
        kinds = further or [kind for kind in kinds if _tagged(kind, part)] or kinds
    return Place(
        siblings=tuple(dict.fromkeys(key for kind in parents for key in _keys(kind))),
        choices=tuple(dict.fromkeys(c for kind in kinds for c in _choices(kind))),
        range=_range([bound for kind in kinds for bound in kind.metadata]),
    )


def _step(kind: _Kind, part: str | int) -> Iterator[_Kind]:
    model = _model(kind)
    origin, arguments = get_origin(kind.annotation), get_args(kind.annotation)
    if model is not None:
        for name, field in model.model_fields.items():
            if part == _key(name, field):
                yield from _unfold(field.annotation, tuple(field.metadata))
    elif isinstance(part, int) and origin in {list, tuple, set, Sequence}:
        yield from _unfold(arguments[0])
    elif isinstance(part, str) and origin in {dict, Mapping}:
        yield from _unfold(arguments[1])


def _unfold(annotation: Any, metadata: tuple[Any, ...] = ()) -> Iterator[_Kind]:
    """The kinds that a union stands for, each without its `Annotated`."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        yield from _unfold(arguments[0], (*metadata, *_flat(arguments[1:])))
    elif origin is Union or origin is UnionType:
        for member in arguments:
            yield from _unfold(member, metadata)
    elif annotation is not type(None):
        yield _Kind(annotation, metadata)


def _flat(metadata: Iterable[Any]) -> Iterator[Any]:
    for entry in metadata:
        if isinstance(entry, FieldInfo):
            yield from entry.metadata
        else:
            yield entry


def _model(kind: _Kind) -> type[BaseModel] | None:
    annotation = kind.annotation
    is_model = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    return annotation if is_model else None


def _key(name: str, field: FieldInfo) -> str:
    return field.alias or name


def _keys(kind: _Kind) -> list[str]:
    model = _model(kind)
    return [] if model is None else [_key(name, f) for name, f in model.model_fields.items()]


def _tagged(kind: _Kind, part: str | int) -> bool:
    """Whether `part` is how Pydantic calls this member of a union."""
    model = _model(kind)
    if model is None:
        return False
    return part == model.__name__ or any(
        part in get_args(field.annotation)
        for field in model.model_fields.values()
        if get_origin(field.annotation) is Literal
    )


def _choices(kind: _Kind) -> tuple[Any, ...]:
    return get_args(kind.annotation) if get_origin(kind.annotation) is Literal else ()


def _range(metadata: Sequence[Any]) -> str:
    low = next((f"{_number(m.ge)}" for m in metadata if isinstance(m, Ge)), None)
    high = next((f"{_number(m.le)}" for m in metadata if isinstance(m, Le)), None)
    if low is not None and high is not None:
        return f"between {low} and {high}"
    above = next((f"above {_number(m.gt)}" for m in metadata if isinstance(m, Gt)), None)
    below = next((f"below {_number(m.lt)}" for m in metadata if isinstance(m, Lt)), None)
    bounds = [above, low and f"at least {low}", below, high and f"at most {high}"]
    words = " and ".join(bound for bound in bounds if bound)
    return f"of {words}" if words.startswith("at ") else words


def _number(bound: Any) -> str:
    return str(int(bound)) if bound == int(bound) else str(bound)
