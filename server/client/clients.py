"""The two clients, over one connection pool each: one waits, the other is awaited."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    aclosing,
    asynccontextmanager,
    contextmanager,
)
from copy import copy
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import httpx

from server.client import calls
from server.client.answers import Answer, AnswerPieces, AsyncAnswerPieces, Piece, Proposal
from server.client.calls import Call, EventReader, Verdict
from server.client.errors import ClientError
from server.client.gateway import GatewaySignature, SignatureLog
from server.client.states import Health, KeyInfo, Library, Readiness

T = TypeVar("T")

_URL: Final = "http://127.0.0.1:8000"
_CONNECT_S: Final = 10.0


class Client:
    """Asks a server, and waits for each answer.

    Every method raises ServerUnreachable, Refused or ResponseInvalid where there is none.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout_s: float = 60.0,
        retries: int = 2,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """`url` and `key` are `ORBIT_URL` and `ORBIT_API_KEY` where they are left out.

        `timeout_s` is how long the server may be silent. Up to `retries` times a call is sent
        again, if it changes nothing or certainly was not begun.
        """
        self._http = httpx.Client(
            base_url=_base_url(url),
            headers=_headers(key),
            timeout=_timeout(timeout_s),
            transport=transport,
        )
        self._retries = retries
        self._auth: GatewaySignature | None = None
        self._signatures = SignatureLog()

    def ask(
        self,
        message: str,
        *,
        session_id: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        explain: bool = False,
        languages: Sequence[str] = (),
    ) -> Answer:
        """Ask a question; with `session_id`, in that conversation.

        `arguments` are values by name for what the last answer asked for. `languages` are those
        the reader prefers, best first.
        """
        call = calls.ask(message, session_id, arguments, languages, explain=explain)
        return self._send(call)

    def stream(
        self,
        message: str,
        *,
        session_id: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        explain: bool = False,
        languages: Sequence[str] = (),
    ) -> AbstractContextManager[AnswerPieces]:
        """Ask as `ask` does, and get the answer in pieces as it is made.

        Leaving the context before the last piece stops the turn.
        """
        call = calls.ask(message, session_id, arguments, languages, explain=explain, stream=True)
        return self._stream(call)

    def confirm(self, proposal: Proposal, *, accept: bool = True, explain: bool = False) -> Answer:
        """Say yes to what an answer proposed, or no."""
        return self._send(calls.confirm(proposal, accept=accept, explain=explain))

    def feedback(
        self,
        answer: Answer | str,
        verdict: Verdict,
        *,
        session_id: str | None = None,
        comment: str = "",
        expected: str | None = None,
    ) -> None:
        """Say whether an answer, or that of a request's id, was what was asked for.

        `expected` is the id of the template that was meant.
        """
        self._send(calls.feedback(answer, verdict, session_id, comment, expected))

    def forget(self, session_id: str) -> None:
        """Forget a conversation and what waits in it, whether there is one or not."""
        self._send(calls.forget(session_id))

    def detect(self, message: str) -> dict[str, Any]:
        """Return what the adapter's rule pack reads in a question; its fields are the pack's."""
        return self._send(calls.detect(message))

    def health(self) -> Health:
        return self._send(calls.health())

    def ready(self) -> Readiness:
        """Return which adapters serve; none may."""
        return self._send(calls.ready())

    def key(self) -> KeyInfo:
        """Return what the key opens, and what it may do."""
        return self._send(calls.key_info())

    def library(self, adapter: str | None = None) -> Library:
        """Return the templates that may be run; of the key's own adapter, if none is named."""
        return self._send(calls.library(adapter or self.key().adapter))

    def tools(self, adapter: str | None = None) -> list[dict[str, Any]]:
        """Return the same as OpenAI's clients take it in `tools`."""
        return self._send(calls.tools(adapter or self.key().adapter))

    def for_user(self, user_id: str, role: str, *, secret: str) -> Self:
        """Return this client asking in the name of a user, as a gateway; it closes with this one.

        `secret` is `access.gateway.secret` of the server, which has to trust the key, too.
        """
        client: Self = copy(self)
        client._auth = GatewaySignature(user_id, role, secret, self._signatures)
        return client

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _send(self, call: Call[T]) -> T:
        for tries in range(self._retries + 1):
            try:
                return call.result(self._respond(call))
            except ClientError as failure:
                pause_s = call.pause_s(failure, tries)
                if pause_s is None or tries == self._retries:
                    raise
            time.sleep(pause_s)
        raise AssertionError  # the last try returns or raises

    def _respond(self, call: Call[Any]) -> httpx.Response:
        try:
            return self._http.request(**call.arguments, auth=self._auth)
        except httpx.HTTPError as failure:
            raise calls.unreachable(self._http.base_url, failure) from failure

    @contextmanager
    def _stream(self, call: Call[Answer]) -> Iterator[AnswerPieces]:
        try:
            with self._http.stream(**call.arguments, auth=self._auth) as response:
                if not response.is_success:
                    response.read()
                    raise calls.refusal(response)
                yield AnswerPieces(_read_events(response))
        except httpx.HTTPError as failure:
            raise calls.unreachable(self._http.base_url, failure) from failure


class AsyncClient:
    """Asks a server; every method is that of `Client`, to be awaited."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout_s: float = 60.0,
        retries: int = 2,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """The arguments are those of `Client`."""
        self._http = httpx.AsyncClient(
            base_url=_base_url(url),
            headers=_headers(key),
            timeout=_timeout(timeout_s),
            transport=transport,
        )
        self._retries = retries
        self._auth: GatewaySignature | None = None
        self._signatures = SignatureLog()

    async def ask(
        self,
        message: str,
        *,
        session_id: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        explain: bool = False,
        languages: Sequence[str] = (),
    ) -> Answer:
        call = calls.ask(message, session_id, arguments, languages, explain=explain)
        return await self._send(call)

    def stream(
        self,
        message: str,
        *,
        session_id: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        explain: bool = False,
        languages: Sequence[str] = (),
    ) -> AbstractAsyncContextManager[AsyncAnswerPieces]:
        call = calls.ask(message, session_id, arguments, languages, explain=explain, stream=True)
        return self._stream(call)

    async def confirm(
        self, proposal: Proposal, *, accept: bool = True, explain: bool = False
    ) -> Answer:
        return await self._send(calls.confirm(proposal, accept=accept, explain=explain))

    async def feedback(
        self,
        answer: Answer | str,
        verdict: Verdict,
        *,
        session_id: str | None = None,
        comment: str = "",
        expected: str | None = None,
    ) -> None:
        await self._send(calls.feedback(answer, verdict, session_id, comment, expected))

    async def forget(self, session_id: str) -> None:
        await self._send(calls.forget(session_id))

    async def detect(self, message: str) -> dict[str, Any]:
        return await self._send(calls.detect(message))

    async def health(self) -> Health:
        return await self._send(calls.health())

    async def ready(self) -> Readiness:
        return await self._send(calls.ready())

    async def key(self) -> KeyInfo:
        return await self._send(calls.key_info())

    async def library(self, adapter: str | None = None) -> Library:
        return await self._send(calls.library(adapter or (await self.key()).adapter))

    async def tools(self, adapter: str | None = None) -> list[dict[str, Any]]:
        return await self._send(calls.tools(adapter or (await self.key()).adapter))

    def for_user(self, user_id: str, role: str, *, secret: str) -> Self:
        client: Self = copy(self)
        client._auth = GatewaySignature(user_id, role, secret, self._signatures)
        return client

    async def aclose(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def _send(self, call: Call[T]) -> T:
        for tries in range(self._retries + 1):
            try:
                return call.result(await self._respond(call))
            except ClientError as failure:
                pause_s = call.pause_s(failure, tries)
                if pause_s is None or tries == self._retries:
                    raise
            await asyncio.sleep(pause_s)
        raise AssertionError  # the last try returns or raises

    async def _respond(self, call: Call[Any]) -> httpx.Response:
        try:
            return await self._http.request(**call.arguments, auth=self._auth)
        except httpx.HTTPError as failure:
            raise calls.unreachable(self._http.base_url, failure) from failure

    @asynccontextmanager
    async def _stream(self, call: Call[Answer]) -> AsyncIterator[AsyncAnswerPieces]:
        try:
            async with self._http.stream(**call.arguments, auth=self._auth) as response:
                if not response.is_success:
                    await response.aread()
                    raise calls.refusal(response)
                async with aclosing(_aread_events(response)) as events:
                    yield AsyncAnswerPieces(events)
        except httpx.HTTPError as failure:
            raise calls.unreachable(self._http.base_url, failure) from failure


def _read_events(response: httpx.Response) -> Iterator[Piece | Answer]:
    reader = EventReader(response.headers.get("x-request-id", ""))
    for line in response.iter_lines():
        if (found := reader.feed(line)) is not None:
            yield found
    reader.end()


async def _aread_events(response: httpx.Response) -> AsyncGenerator[Piece | Answer, None]:
    reader = EventReader(response.headers.get("x-request-id", ""))
    async for line in response.aiter_lines():
        if (found := reader.feed(line)) is not None:
            yield found
    reader.end()


def _base_url(url: str | None) -> str:
    return (url or os.environ.get("ORBIT_URL") or _URL).rstrip("/")


def _headers(key: str | None) -> dict[str, str]:
    key = key or os.environ.get("ORBIT_API_KEY")
    return {"Authorization": f"Bearer {key}"} if key else {}


def _timeout(timeout_s: float) -> httpx.Timeout:
    return httpx.Timeout(timeout_s, connect=min(timeout_s, _CONNECT_S))
