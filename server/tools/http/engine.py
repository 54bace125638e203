"""The HTTP engine: fill, send, read, and gather pages. One for each adapter."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import httpx

from server.errors import ToolFailed
from server.library.http import (
    HttpExecution,
    HttpPreparation,
    HttpService,
    ResponseMapping,
    ResponseType,
    secrets_of,
)
from server.library.placeholders import ExpressionFailed
from server.tools.http.body import Received
from server.tools.http.cache import AnswerCache
from server.tools.http.cage import Cage
from server.tools.http.encode import wire
from server.tools.http.failures import without_secrets
from server.tools.http.mapping import Mapped, map_answer
from server.tools.http.pages import first_page, next_page
from server.tools.http.read import read_answer
from server.tools.http.request import FilledRequest, fill_request
from server.tools.http.result import Gathered, to_result
from server.tools.http.send import Sender
from server.tools.http.transport import open_client

DEFAULT_CONCURRENCY: Final = 64

_READ_IN_THREAD_BYTES: Final = 65_536
"""Bodies beyond this are read beside the event loop, which others are waiting for."""


class HttpEngine:
    """Calls the services of one adapter over one pool of connections."""

    def __init__(
        self,
        *,
        max_concurrency: int = DEFAULT_CONCURRENCY,
        transport: httpx.AsyncBaseTransport | None = None,
        cage: Cage | None = None,
    ) -> None:
        self._client = open_client(transport, cage)
        self._sender = Sender(self._client, max_concurrency=max_concurrency)
        self._cache = AnswerCache()

    async def run(
        self,
        execution: HttpExecution,
        arguments: Mapping[str, Any],
        *,
        timeout_s: float | None = None,
    ) -> dict[str, Any]:
        """Make the call and return its mapped answer (see `result.to_result`).

        `timeout_s` bounds the whole of it: preparation, retries and all pages.

        Raises:
            ArgumentsInvalid: an argument cannot stand where the request wants it.
            ToolFailed: the service could not be reached, refused, or answered badly.
            ToolTimedOut: no whole answer came in time.
        """
        service = execution.service
        limit_s = service.timeout_s if timeout_s is None else min(timeout_s, service.timeout_s)
        deadline = asyncio.get_running_loop().time() + limit_s
        prepared: Mapping[str, Any] = {}
        if execution.prepare is not None:
            prepared = await self._prepare(execution.prepare, arguments, deadline)
        request = fill_request(execution.request, service, {**arguments, **prepared})
        gathered = await self._gather(execution, request, deadline)
        return to_result(execution.operation, arguments, prepared, gathered)

    async def close(self) -> None:
        """Close the pool; the engine is not used afterwards."""
        await self._client.aclose()

    async def _prepare(
        self, prepare: HttpPreparation, arguments: Mapping[str, Any], deadline: float
    ) -> Mapping[str, Any]:
        request = fill_request(prepare.request, prepare.service, arguments)
        secrets = secrets_of(prepare.request, prepare.service)
        received = await self._receive(request, prepare.service, deadline, secrets)
        page = await _read(received, prepare.response_type, prepare.mapping, secrets)
        found = page.items[0] if page.items else None
        if not isinstance(found, Mapping) or all(value is None for value in found.values()):
            raise ToolFailed(_not_found(prepare, arguments, request.host))
        return found

    async def _gather(
        self, execution: HttpExecution, request: FilledRequest, deadline: float
    ) -> Gathered:
        paging = execution.pagination
        secrets = secrets_of(execution.request, execution.service)
        following: FilledRequest | None = first_page(request, paging) if paging else request
        gathered = Gathered(request.host)
        while following is not None:
            received = await self._receive(following, execution.service, deadline, secrets)
            page = await _read(
                received,
                execution.response_type,
                execution.mapping,
                secrets,
                next_path=paging.next if paging else "",
            )
            gathered.add(received, page)
            if paging is None:
                break
            following = _further(following, received, page, gathered, execution)
            if following and gathered.reached(paging.max_pages, paging.max_items):
                gathered.complete = False
                break
        if paging is not None:
            gathered.cut(paging.max_items)
        return gathered

    async def _receive(
        self,
        request: FilledRequest,
        service: HttpService,
        deadline: float,
        secrets: tuple[str, ...],
    ) -> Received:
        keep = service.cache_ttl_s > 0 and request.method == "GET"
        kept = self._cache.get(request) if keep else None
        if kept is not None:
            return kept
        received = await self._sender.send(request, service, deadline=deadline, secrets=secrets)
        if keep:
            self._cache.put(request, received, service.cache_ttl_s)
        return received


async def _read(
    received: Received,
    expected: ResponseType,
    mapping: ResponseMapping,
    secrets: tuple[str, ...],
    *,
    next_path: str = "",
) -> Mapped:
    structured = bool(mapping.items or mapping.fields or next_path)

    def read() -> Mapped:
        data = read_answer(received, expected, structured=structured)
        try:
            return map_answer(data, mapping, next_path=next_path)
        except ToolFailed as failed:
            message = without_secrets(f"{received.host} {failed}", secrets)
            raise ToolFailed(message) from failed

    if len(received.body) > _READ_IN_THREAD_BYTES:
        return await asyncio.to_thread(read)
    return read()


def _further(
    request: FilledRequest,
    received: Received,
    page: Mapped,
    gathered: Gathered,
    execution: HttpExecution,
) -> FilledRequest | None:
    if execution.pagination is None:
        return None
    try:
        return next_page(
            request,
            execution.pagination,
            received,
            page,
            pages=gathered.pages,
            items=len(gathered.items),
        )
    except ToolFailed as failed:
        raise ToolFailed(f"{received.host} {failed}") from failed


def _not_found(prepare: HttpPreparation, arguments: Mapping[str, Any], host: str) -> str:
    if prepare.not_found is not None:
        try:
            message = prepare.not_found.fill(arguments, wire)
        except ExpressionFailed:
            message = None
        if message:
            return message
    return f"{host} found nothing that fits"
