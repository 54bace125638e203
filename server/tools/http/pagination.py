"""Which page comes next, and when there is none."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx

from server.errors import ToolFailed
from server.library.http_model import Pagination
from server.tools.http.mapping import Mapped
from server.tools.http.request import FilledRequest
from server.tools.http.response import Received


def first_page(request: FilledRequest, paging: Pagination) -> FilledRequest:
    """The request for the first page."""
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
    *,
    pages: int,
    items: int,
) -> FilledRequest | None:
    """The request for the page after this one, or None when it was the last.

    `pages` and `items` count what has come in so far, this page included.

    Raises:
        ToolFailed: the service points to another host.
    """
    if page.single or not page.items:
        return None
    if paging.style == "link":
        return _linked(request, received)
    if paging.style == "cursor":
        if page.next in (None, "", False):
            return None
        following = request.with_query(paging.param, page.next)
        return None if following == request else following
    short = bool(paging.page_size) and len(page.items) < paging.page_size
    if short or (page.total is not None and items >= page.total):
        return None
    step = pages if paging.style == "page" else items
    return request.with_query(paging.param, paging.start + step)


def _linked(request: FilledRequest, received: Received) -> FilledRequest | None:
    links = httpx.Response(received.status, headers=received.headers).links
    target = links.get("next", {}).get("url")
    if not target:
        return None
    here = urlsplit(request.address)
    there = urlsplit(urljoin(request.url, target))
    if (there.scheme, there.netloc.lower()) != (here.scheme, here.netloc):
        raise ToolFailed("put its next page on another host, which is not followed")
    named = tuple(_pairs(there.query))
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


def _pairs(query: str) -> Iterable[tuple[str, Any]]:
    for pair in filter(None, query.split("&")):
        name, equals, value = pair.partition("=")
        yield name, value if equals else None
