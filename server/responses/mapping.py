"""What a template takes from an answer's data, in JMESPath."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import jmespath
from jmespath.exceptions import JMESPathError

from server.core.storable import storable_text
from server.errors import ToolFailed
from server.responses.decoder import MAX_DIGITS, check_size

_MAX_DETAIL_CHARS: Final = 200
_MAX_BITS: Final = int(MAX_DIGITS * math.log2(10))
_MAX_COUNT_DIGITS: Final = 15


@dataclass(frozen=True, slots=True)
class ResponseMapping:
    """What to take from an answer, in JMESPath.

    Without `items` the whole body is the item, or the items when it is a list.
    """

    items: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    total: str = ""
    error: str = ""
    """When this yields something, the answer is a failure and this says why."""


NO_MAPPING: Final = ResponseMapping()


@dataclass(frozen=True, slots=True)
class Mapped:
    """One page of an answer. `single` says that it is one thing, not a list of things."""

    items: list[Any] = field(default_factory=list)
    single: bool = False
    total: int | None = None
    next: Any = None


@lru_cache(maxsize=4096)
def compile_path(path: str) -> Any:
    """Return the compiled expression, which has `search(data)`.

    Raises:
        jmespath.exceptions.JMESPathError: it does not compile.
    """
    return jmespath.compile(path)


def map_answer(
    data: Any, mapping: ResponseMapping, *, max_values: int, next_path: str = ""
) -> Mapped:
    """Return what the mapping asks for, or raise `ToolFailed`: an error, or another shape.

    A path that leads nowhere is an empty list of items, and a field without a value. What
    comes back can be stored and shown: its text is valid, its numbers are finite.
    """
    complaint = _search(mapping.error, data) if mapping.error else None
    if complaint:
        detail = one_line(complaint) if isinstance(complaint, str) else ""
        raise ToolFailed(f"says: {detail}" if detail else "reported an error")
    found = _search(mapping.items, data) if mapping.items else data
    total = _count(_search(mapping.total, data)) if mapping.total else None
    following = _usable(_search(next_path, data)) if next_path else None
    if found is None:
        return Mapped([], single=data is None, total=total, next=following)
    single = not isinstance(found, list)
    if single and mapping.items and not isinstance(found, Mapping):
        raise ToolFailed("answered in another shape than the template expects")
    items = [_map_fields(item, mapping.fields) for item in ([found] if single else found)]
    check_size(items, max_values)
    return Mapped([*map(_usable, items)], single=single, total=total, next=following)


def one_line(text: str) -> str:
    """Return what a service says, short and without anything a terminal would act on."""
    shown = "".join(char if char.isprintable() else " " for char in text[: 20 * _MAX_DETAIL_CHARS])
    line = " ".join(shown.split())
    return line if len(line) <= _MAX_DETAIL_CHARS else f"{line[: _MAX_DETAIL_CHARS - 1]}…"


def _map_fields(item: Any, fields: Mapping[str, str]) -> Any:
    return {name: _search(path, item) for name, path in fields.items()} if fields else item


def _search(path: str, data: Any) -> Any:
    try:
        return compile_path(path).search(data)
    except (JMESPathError, ArithmeticError, ValueError, TypeError, RecursionError) as wrong:
        # Functions of JMESPath fail in their own ways: `ceil` of what is infinite, `sort_by`
        # of values that cannot be compared.
        raise ToolFailed("answered in another shape than the template expects") from wrong


def _usable(value: Any) -> Any:
    """Return a value with storable text, and nothing where a number is none.

    `to_number` of JMESPath makes infinities, and numbers of thousands of digits, of texts.
    """
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, dict):
        return {storable_text(str(name)): _usable(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_usable(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        return None
    return value


def _count(value: Any) -> int | None:
    if isinstance(value, str) and len(value) <= _MAX_COUNT_DIGITS and value.strip().isdecimal():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value < 10**_MAX_COUNT_DIGITS else None
