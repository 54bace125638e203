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
from server.errors import ToolFailed, ToolTimedOut, ToolUnknown
from server.library.caller import CALLER_ARGUMENTS
from server.library.http_model import (
    HttpExecution,
    HttpPreparation,
    HttpService,
    secrets_of,
)
from server.library.model import Library
from server.library.placeholders import ExpressionFailed
from server.responses.mapping import Mapped
from server.responses.process import ReadJob
from server.responses.readers import ResponseReaders
from server.tools.http.egress import EgressPolicy, open_client
from server.tools.http.pagination import Gathered, first_page, next_page, to_result
from server.tools.http.request import FilledRequest, encode_value, fill_request
from server.tools.http.response import Received
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


class HttpEngine:
    """Calls the services of one adapter over one pool of connections.

    Without `readers`, which several may share, it has and closes its own.
    """

    def __init__(
        self,
        *,
        max_concurrency: int = 64,
        transport: httpx.AsyncBaseTransport | None = None,
        egress: EgressPolicy | None = None,
        readers: ResponseReaders | None = None,
    ) -> None:
        self._readers = readers or ResponseReaders()
        self._owns_readers = readers is None
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
        given = {n: value for n, value in arguments.items() if n not in CALLER_ARGUMENTS}
        return to_result(execution.operation, given, prepared, gathered)

    async def close(self) -> None:
        await self._client.aclose()
        if self._owns_readers:
            await self._readers.close()

    async def _prepare(
        self, prepare: HttpPreparation, arguments: Mapping[str, Any], deadline: float
    ) -> Mapping[str, Any]:
        request = fill_request(prepare.request, prepare.service, arguments)
        secrets = secrets_of(prepare.request, prepare.service)
        received = await self._receive(request, prepare.service, deadline, secrets)
        job = ReadJob(
            received.to_body(),
            prepare.response_type,
            prepare.mapping,
            max_values=prepare.service.max_response_values,
        )
        page = await self._read(job, request.host, secrets, deadline)
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
            job = ReadJob(
                received.to_body(),
                execution.response_type,
                execution.mapping,
                next_path=paging.next if paging else "",
                max_values=execution.service.max_response_values,
            )
            page = await self._read(job, request.host, secrets, deadline)
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
        self, job: ReadJob, host: str, secrets: tuple[str, ...], deadline: float
    ) -> Mapped:
        try:
            return await self._readers.read(job, deadline=deadline)
        except TimeoutError:
            raise ToolTimedOut(f"the answer of {host} was not read in time") from None
        except ToolFailed as failed:
            raise ToolFailed(redact_secrets(f"{host} {failed}", secrets)) from failed


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
        readers: ResponseReaders | None = None,
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
        engine = HttpEngine(
            max_concurrency=limit, transport=transport, egress=egress, readers=readers
        )
        return cls(runs, engine)

    @property
    def system(self) -> Mapping[str, frozenset[str]]:
        """Which of the arguments that no question fills each template uses."""
        return {name: run.names & CALLER_ARGUMENTS for name, (run, _) in self.runs.items()}

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
