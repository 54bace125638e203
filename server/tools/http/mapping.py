"""From an answer's data to the items, fields and total that a template asks for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jmespath.exceptions import JMESPathError

from server.errors import ToolFailed
from server.library.expressions import compile_path
from server.library.http_model import ResponseMapping
from server.tools.http.failures import one_line
from server.tools.http.response import Received


@dataclass(frozen=True, slots=True)
class Mapped:
    """One page of an answer. `single` says that it is one thing, not a list of things."""

    items: list[Any] = field(default_factory=list)
    single: bool = False
    total: int | None = None
    next: Any = None


def map_answer(data: Any, mapping: ResponseMapping, *, next_path: str = "") -> Mapped:
    """Take from the data what the mapping asks for.

    A path that leads nowhere is an empty list of items, and a field without a value.

    Raises:
        ToolFailed: the answer reports a failure of its own, or has another shape.
    """
    complaint = _search(mapping.error, data) if mapping.error else None
    if complaint:
        said = one_line(complaint) if isinstance(complaint, str) else ""
        raise ToolFailed(f"says: {said}" if said else "reported an error")
    found = _search(mapping.items, data) if mapping.items else data
    total = _search(mapping.total, data) if mapping.total else None
    following = _search(next_path, data) if next_path else None
    if found is None:
        return Mapped([], single=data is None, total=_whole(total), next=following)
    if isinstance(found, list):
        items = [_fields(item, mapping.fields) for item in found]
        return Mapped(items, total=_whole(total), next=following)
    if mapping.items and not isinstance(found, Mapping):
        raise ToolFailed("answered in another shape than the template expects")
    item = _fields(found, mapping.fields)
    return Mapped([item], single=True, total=_whole(total), next=following)


def _fields(item: Any, fields: Mapping[str, str]) -> Any:
    if not fields:
        return item
    return {name: _search(path, item) for name, path in fields.items()}


def _search(path: str, data: Any) -> Any:
    try:
        return compile_path(path).search(data)
    except JMESPathError as wrong:
        raise ToolFailed("answered in another shape than the template expects") from wrong


def _whole(value: Any) -> int | None:
    if isinstance(value, str) and value.strip().isdecimal():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value)


@dataclass(slots=True)
class Gathered:
    """Pages as they come in."""

    service: str
    status: int = 200
    pages: int = 0
    items: list[Any] = field(default_factory=list)
    single: bool = False
    total: int | None = None
    complete: bool = True

    def add(self, received: Received, page: Mapped) -> None:
        self.status = received.status
        self.pages += 1
        self.items += page.items
        self.single = page.single
        if page.total is not None:
            self.total = page.total

    def reached(self, max_pages: int, max_items: int) -> bool:
        return self.pages >= max_pages or len(self.items) >= max_items

    def cut(self, max_items: int) -> None:
        if len(self.items) > max_items:
            del self.items[max_items:]
            self.complete = False


def to_result(
    operation: str,
    arguments: Mapping[str, Any],
    prepared: Mapping[str, Any],
    gathered: Gathered,
) -> dict[str, Any]:
    """Return the result as templates and clients see it.

    `result` is the item when there is one thing, else the list of items. `items`,
    `count` (items that came), `total` (items there are, None when nobody says) and
    `complete` (whether these are all) describe it. The fields of `prepare`, and of a
    single item, stand beside them by their own names.
    """
    count = len(gathered.items)
    total = gathered.total
    if total is None and gathered.complete:
        total = count
    single = gathered.items[0] if gathered.single and gathered.items else None
    result: dict[str, Any] = {
        "operation": operation,
        "input": dict(arguments),
        "service": gathered.service,
        "status_code": gathered.status,
        "count": count,
        "total": total,
        "complete": gathered.complete and (total is None or count >= total),
        "items": gathered.items,
    }
    result |= prepared
    if isinstance(single, Mapping):
        result |= {str(name): value for name, value in single.items()}
    return result | {"result": single if gathered.single else gathered.items}
