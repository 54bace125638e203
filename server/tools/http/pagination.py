"""Pages: which comes next, when there is none, and the result of all of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

import httpx

from server.errors import ToolFailed
from server.library.http_model import Pagination
from server.responses.mapping import Mapped
from server.tools.http.request import FilledRequest
from server.tools.http.response import Received

_MAX_CURSOR_CHARS: Final = 4_000


def first_page(request: FilledRequest, paging: Pagination) -> FilledRequest:
    if paging.size_param and paging.page_size:
        request = request.with_query(paging.size_param, paging.page_size)
    if paging.style in ("page", "offset"):
        request = request.with_query(paging.param, paging.start)
    return request


def next_page(
    request: FilledRequest,
    paging: Pagination,
    received: Received,
    page: Mapped,
    gathered: "Gathered",
) -> FilledRequest | None:
    """Return the request after this page, or None; raise `ToolFailed` if it is on another host."""
    if page.single or not page.items:
        return None
    if paging.style == "link":
        return _linked(request, received)
    if paging.style == "cursor":
        if page.next in (None, "", False):
            return None
        if not isinstance(page.next, str | int | float) or len(str(page.next)) > _MAX_CURSOR_CHARS:
            raise ToolFailed(f"{received.host} named its next page in a way that cannot be used")
        following = request.with_query(paging.param, page.next)
        return None if following == request else following
    short = bool(paging.page_size) and len(page.items) < paging.page_size
    if short or (page.total is not None and len(gathered.items) >= page.total):
        return None
    step = gathered.pages if paging.style == "page" else len(gathered.items)
    return request.with_query(paging.param, paging.start + step)


def _linked(request: FilledRequest, received: Received) -> FilledRequest | None:
    here = urlsplit(request.address)
    try:
        links = httpx.Response(received.status, headers=received.headers).links
        target = links.get("next", {}).get("url")
        if not target:
            return None
        there = urlsplit(urljoin(request.url, target))
    except ValueError:
        raise ToolFailed(f"{received.host} put its next page at no address") from None
    if (there.scheme, there.netloc.lower()) != (here.scheme, here.netloc):
        raise ToolFailed(
            f"{received.host} put its next page on another host, which is not followed"
        )
    pairs = (pair.partition("=") for pair in there.query.split("&") if pair)
    named = tuple((name, value if equals else None) for name, equals, value in pairs)
    # A key that travels in the query is not always repeated in the link.
    present = {name for name, _ in named}
    kept = tuple(pair for pair in request.query if pair[0] not in present and pair[1] is not None)
    following = FilledRequest(
        method=request.method,
        address=f"{there.scheme}://{there.netloc}{there.path}",
        query=(*named, *kept),
        headers=request.headers,
    )
    return None if following == request else following


@dataclass(slots=True)
class Gathered:
    """What the pages that came in hold together."""

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


def to_result(
    operation: str, arguments: Mapping[str, Any], prepared: Mapping[str, Any], gathered: Gathered
) -> dict[str, Any]:
    """Return the result as templates and clients see it.

    `result` is the item when there is one thing, else the list of items; the fields of
    `prepare`, and of a single item, stand beside it by their own names.
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
