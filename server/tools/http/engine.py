"""The HTTP engine: fills, sends, reads, and gathers pages. One for each adapter."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Self

import httpx

from server.core.tools import ToolCall
from server.errors import ToolFailed, ToolUnknown
from server.library.http_model import (
    HttpExecution,
    HttpPreparation,
    HttpService,
    ResponseMapping,
    ResponseType,
    secrets_of,
)
from server.library.model import Library
from server.library.placeholders import ExpressionFailed
from server.tools.http.egress import EgressPolicy, open_client
from server.tools.http.pagination import Gathered, first_page, next_page, to_result
from server.tools.http.request import FilledRequest, encode_value, fill_request
from server.tools.http.response import Mapped, Received, map_answer, read_answer
from server.tools.http.sender import Sender, redact_secrets

_MAX_ENTRIES: Final = 512
_MAX_BYTES: Final = 32_000_000


class AnswerCache:
    """The latest answers, by the whole request, so that no identity gets another one's."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._entries: OrderedDict[FilledRequest, tuple[float, Received]] = OrderedDict()
        self._bytes = 0

    def get(self, request: FilledRequest) -> Received | None:
        entry = self._entries.get(request)
        if entry is None:
            return None
        until, received = entry
        if self._clock() >= until:
            self._drop(request)
            return None
        return received

    def put(self, request: FilledRequest, received: Received, ttl_s: float) -> None:
        self._drop(request)
        self._entries[request] = (self._clock() + ttl_s, received)
        self._bytes += len(received.body)
        while len(self._entries) > _MAX_ENTRIES or self._bytes > _MAX_BYTES:
            self._drop(next(iter(self._entries)))

    def _drop(self, request: FilledRequest) -> None:
        entry = self._entries.pop(request, None)
        if entry is not None:
            self._bytes -= len(entry[1].body)


_READ_IN_THREAD_BYTES: Final = 65_536
"""Bodies beyond this are read beside the event loop, which others are waiting for."""


class HttpEngine:
    """Calls the services of one adapter over one pool of connections."""

    def __init__(
        self,
        *,
        max_concurrency: int = 64,
        transport: httpx.AsyncBaseTransport | None = None,
        egress: EgressPolicy | None = None,
    ) -> None:
        self._client = open_client(transport, egress)
        self._sender = Sender(self._client, max_concurrency=max_concurrency)
        self._cache = AnswerCache()

    async def run(
        self,
        execution: HttpExecution,
        arguments: Mapping[str, Any],
        *,
        timeout_s: float | None = None,
    ) -> dict[str, Any]:
        """Make the call and return its mapped answer (see `to_result`), all within `timeout_s`.

        Raises:
            ArgumentsInvalid: an argument cannot stand where the request wants it.
            ToolFailed, ToolTimedOut: no whole answer came, or a bad one.
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
            missed = _not_found(prepare, arguments, request.host)
            raise ToolFailed(missed, missed)
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
            following = next_page(following, paging, received, page, gathered)
            enough = gathered.pages >= paging.max_pages or len(gathered.items) >= paging.max_items
            if following and enough:
                gathered.complete = False
                break
        if paging is not None and len(gathered.items) > paging.max_items:
            del gathered.items[paging.max_items :]
            gathered.complete = False
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
            message = redact_secrets(f"{received.host} {failed}", secrets)
            raise ToolFailed(message) from failed

    if len(received.body) > _READ_IN_THREAD_BYTES:
        return await asyncio.to_thread(read)
    return read()


def _not_found(prepare: HttpPreparation, arguments: Mapping[str, Any], host: str) -> str:
    message = None
    if prepare.not_found is not None:
        with suppress(ExpressionFailed):
            message = prepare.not_found.fill(arguments, encode_value)
    return message or f"{host} found nothing that fits"


@dataclass(frozen=True, slots=True)
class HttpCalls:
    """Runs templates over HTTP; a call reaches nothing but the request of its own template."""

    runs: Mapping[str, tuple[HttpExecution, Mapping[str, Any]]]
    """The executions of templates, and the defaults of their parameters."""
    engine: HttpEngine

    @classmethod
    def of(
        cls,
        library: Library,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        egress: EgressPolicy | None = None,
    ) -> Self | None:
        """Return the calls of a library over a pool of its own, or None when it makes none."""
        runs = {
            template.id: (
                template.execution,
                {p.name: p.default for p in template.parameters if p.default is not None},
            )
            for template in library.templates.values()
            if isinstance(template.execution, HttpExecution)
        }
        if not runs:
            return None
        limit = library.domain.http.max_concurrency
        engine = HttpEngine(max_concurrency=limit, transport=transport, egress=egress)
        return cls(runs, engine)

    async def run(self, call: ToolCall, *, timeout_s: float) -> dict[str, Any]:
        """Make the call of a template; raise `ToolUnknown`, or as `HttpEngine.run`."""
        try:
            execution, defaults = self.runs[call.template_id]
        except KeyError:
            raise ToolUnknown(f"template {call.template_id!r} makes no HTTP call") from None
        arguments = {**defaults, **call.arguments}
        return await self.engine.run(execution, arguments, timeout_s=timeout_s)

    async def close(self) -> None:
        await self.engine.close()
