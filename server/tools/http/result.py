"""What the pages of an answer come to, in the shape that tools return."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from server.tools.http.body import Received
from server.tools.http.mapping import Mapped


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
