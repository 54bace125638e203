"""Answers as server-sent events, in this server's form and in OpenAI's."""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Mapping
from contextlib import suppress
from typing import Any, Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from server.adapters.manager import cancel_tasks
from server.api.error_responses import (
    ClientLeft,
    error_body,
    error_response,
    internal_error,
    log_failure,
    status_of,
)
from server.api.openai_responses import ResponseShape
from server.api.openai_schemas import (
    calls_of,
    completion_chunk,
    openai_error,
    openai_error_response,
    usage_chunk,
)
from server.api.requests import cancel_on_disconnect
from server.core.decision import Answer, Explain
from server.core.json import to_json
from server.core.streaming import StreamEvent, StreamListener
from server.core.token_counts import TokenCount
from server.errors import OrbitError
from server.settings.models import BlockedIn

_log = logging.getLogger(__name__)

_WORDS: Final = re.compile(r"\s*\S+\s*|\s+")
_HEADERS: Final = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
)
_HEARTBEAT: Final = b": waiting\n\n"
_BETWEEN_CHARACTERS_S: Final = 0.01


class AnswerStream(Response):
    """The events of one turn; `complete` carries what the JSON answer has besides text.

    A turn that fails before the first heartbeat is due is answered with its status, as
    without streaming; one that fails later with an `error` event in the one error shape.
    """

    def __init__(
        self,
        turn: "asyncio.Task[Answer]",
        listener: StreamListener,
        session_id: str,
        request_id: str,
        heartbeat_s: float,
        blocked_in: BlockedIn = "words",
        explain: Explain | None = None,
    ) -> None:
        """`listener` hears the words of `turn`; `blocked_in` is for what a guard answers."""
        super().__init__()
        self._turn = turn
        self._listener = listener
        self._session_id = session_id
        self._request_id = request_id
        self._heartbeat_s = heartbeat_s
        self._blocked_in = blocked_in
        self._explain = explain

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await _while_wanted(receive, self._respond(scope, receive, send))
        finally:
            await cancel_tasks([self._turn])

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        event = await self._next_event()
        failure = self._turn.exception() if self._turn.done() and event is None else None
        if isinstance(failure, OrbitError):
            await self._error_response(failure)(scope, receive, send)
            return
        if failure is not None:
            raise failure
        await send({"type": "http.response.start", "status": 200, "headers": [*_HEADERS]})
        async for part in self._parts(event):
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _next_event(self) -> StreamEvent | None:
        """Return what is said next; None when the turn is done or the heartbeat is due."""
        events = self._listener.events
        if events.empty() and not self._turn.done():
            hearing = asyncio.ensure_future(events.get())
            until, timeout_s = asyncio.FIRST_COMPLETED, self._heartbeat_s
            try:
                await asyncio.wait({hearing, self._turn}, timeout=timeout_s, return_when=until)
                if hearing.done():
                    return hearing.result()
            finally:
                await cancel_tasks([hearing])
        return None if events.empty() else events.get_nowait()

    async def _parts(self, event: StreamEvent | None) -> AsyncIterator[bytes]:
        sources_sent = False
        while event is not None or not self._turn.done():
            if event is None:
                yield _HEARTBEAT
            elif event.kind == "text":
                if not sources_sent:
                    sources_sent = True
                    yield _sources_event(event.template_id)
                yield _progress_event("streaming", chunk=event.text)
            else:
                yield _progress_event("reset", reason=event.text)
            event = await self._next_event()
        failure = self._logged_failure()
        if failure is None:
            async for part in self._rest(self._turn.result(), sources_sent=sources_sent):
                yield part
        else:
            body = _failure_body(failure, self._request_id)
            yield _event({"status": "error", "isComplete": True, **body})

    async def _rest(self, answer: Answer, *, sources_sent: bool) -> AsyncIterator[bytes]:
        if not sources_sent:
            calls = answer.metadata.get("calls") or [answer.metadata]
            yield _sources_event(*(call.get("template_id") for call in calls))
        spoken = self._listener.text
        if not answer.content.startswith(spoken):
            yield _progress_event("reset", reason="the answer is another")
        async for chunk in self._chunks(answer, answer.content.removeprefix(spoken)):
            yield _progress_event("streaming", chunk=chunk)
        data = answer.to_dict(self._session_id, self._explain)
        del data["content"]
        yield _event({"status": "complete", "chunk": "", "isComplete": True, **data})

    async def _chunks(self, answer: Answer, text: str) -> AsyncIterator[str]:
        """Yield `text`, a part of `answer`, in words, or as `guards.stream_blocked` says."""
        if answer.metadata["source"] != "guard" or self._blocked_in == "words":
            for word in _WORDS.findall(text):
                yield word
            return
        for character in text:
            yield character
            await asyncio.sleep(_BETWEEN_CHARACTERS_S)

    def _logged_failure(self) -> BaseException | None:
        failure = self._turn.exception()
        if failure is not None and not isinstance(failure, OrbitError):
            _log.error("request %s failed", self._request_id, exc_info=failure)
        return failure

    def _error_response(self, failure: OrbitError) -> Response:
        return error_response(failure, self._request_id)


class CompletionStream(AnswerStream):
    """Chunks of one turn, and `[DONE]`. The last chunk carries `orbit`, as without streaming."""

    def __init__(
        self,
        turn: "asyncio.Task[Answer]",
        adapter: str,
        session_id: str,
        request_id: str,
        created: int,
        tokens: TokenCount,
        *,
        heartbeat_s: float,
        blocked_in: BlockedIn = "words",
        tells_usage: bool = False,
    ) -> None:
        listener = StreamListener()
        super().__init__(turn, listener, session_id, request_id, heartbeat_s, blocked_in)
        self._adapter = adapter
        self._created = created
        self._tokens = tokens
        self._tells_usage = tells_usage

    async def _parts(self, event: StreamEvent | None) -> AsyncIterator[bytes]:
        while event is not None or not self._turn.done():
            yield _HEARTBEAT
            event = await self._next_event()
        failure = self._logged_failure()
        if failure is None:
            answer = self._turn.result()
            calls = calls_of(answer, self._request_id)
            yield self._chunk({"role": "assistant", "content": None if calls else ""})
            for at, call in enumerate(calls):
                yield self._chunk({"tool_calls": [{"index": at, **call}]})
            async for chunk in self._chunks(answer, answer.content):
                yield self._chunk({"content": chunk})
            rest = answer.to_dict(self._session_id)
            del rest["content"]
            yield self._chunk({}, "tool_calls" if calls else "stop", orbit=rest)
            if self._tells_usage:
                about = self._adapter, self._request_id, self._created
                yield _event(usage_chunk(self._tokens, *about))
        else:
            named = failure if isinstance(failure, OrbitError) else OrbitError()
            yield _event(openai_error(named, self._request_id))
        yield b"data: [DONE]\n\n"

    def _error_response(self, failure: OrbitError) -> Response:
        return openai_error_response(failure, self._request_id)

    def _chunk(self, delta: Mapping[str, Any], reason: str | None = None, **more: Any) -> bytes:
        chunk = completion_chunk(delta, reason, self._adapter, self._request_id, self._created)
        return _event(chunk | more)


class ResponseStream(AnswerStream):
    """The events of one response, all of them once the whole answer is ready."""

    def __init__(
        self,
        turn: "asyncio.Task[Answer]",
        shape: ResponseShape,
        heartbeat_s: float,
        blocked_in: BlockedIn = "words",
    ) -> None:
        about = shape.turn.session_id, shape.turn.id
        super().__init__(turn, StreamListener(), *about, heartbeat_s, blocked_in)
        self._shape = shape

    async def _parts(self, event: StreamEvent | None) -> AsyncIterator[bytes]:
        while event is not None or not self._turn.done():
            yield _HEARTBEAT
            event = await self._next_event()
        failure = self._logged_failure()
        if failure is not None:
            named = failure if isinstance(failure, OrbitError) else OrbitError()
            error = openai_error(named, self._request_id)["error"]
            yield self._named_event({**error, "type": "error", "sequence_number": 0})
            return
        answer = self._turn.result()
        pieces = [piece async for piece in self._chunks(answer, answer.content)]
        for number, each in enumerate(self._shape.events(answer, pieces)):
            yield self._named_event({**each, "sequence_number": number})

    def _error_response(self, failure: OrbitError) -> Response:
        return openai_error_response(failure, self._request_id)

    @staticmethod
    def _named_event(data: Mapping[str, Any]) -> bytes:
        return f"event: {data['type']}\n".encode() + _event(data)


class EventStream(Response):
    """Events as they come; a client that reads slowly is waited for, one that leaves ends them.

    What fails before the first event is answered with its status, what fails later with an
    `error` event in the one error shape.
    """

    def __init__(
        self,
        events: AsyncGenerator[Mapping[str, Any], None],
        request_id: str,
        heartbeat_s: float,
    ) -> None:
        super().__init__()
        self._events = events
        self._request_id = request_id
        self._heartbeat_s = heartbeat_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await _while_wanted(receive, self._respond(scope, receive, send))
        finally:
            await self._events.aclose()

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            first = await anext(self._events)
        except OrbitError as failure:
            await error_response(failure, self._request_id)(scope, receive, send)
            return

        async def say(part: bytes) -> None:
            await send({"type": "http.response.body", "body": part, "more_body": True})

        await send({"type": "http.response.start", "status": 200, "headers": [*_HEADERS]})
        await say(_event(first))
        coming = asyncio.ensure_future(anext(self._events, None))
        try:
            while True:
                done, _ = await asyncio.wait({coming}, timeout=self._heartbeat_s)
                if not done:
                    await say(_HEARTBEAT)
                    continue
                event = coming.result()
                if event is None:
                    break
                await say(_event(event))
                coming = asyncio.ensure_future(anext(self._events, None))
        except Exception as failure:
            if not coming.done() or coming.exception() is not failure:
                raise
            await say(_event(_failure_event(failure, self._request_id)))
        finally:
            await cancel_tasks([coming])
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _while_wanted(receive: Receive, respond: Coroutine[Any, Any, None]) -> None:
    """Respond until all is said, or the client has left."""
    with suppress(ClientLeft):
        await cancel_on_disconnect(receive, asyncio.create_task(respond))


def _failure_event(failure: Exception, request_id: str) -> Mapping[str, Any]:
    """How a stream ends that has begun; what has no name is logged here."""
    if isinstance(failure, OrbitError):
        log_failure(failure, request_id)
    else:
        _log.error("request %s failed", request_id, exc_info=failure)
    return {"status": "error", "isComplete": True, **_failure_body(failure, request_id)}


def _failure_body(failure: BaseException, request_id: str) -> Mapping[str, Any]:
    if isinstance(failure, OrbitError) and status_of(failure) != 500:
        return error_body(failure.code, failure.public, request_id)
    return internal_error(request_id)


def _sources_event(*template_ids: str | None) -> bytes:
    sources = [{"template_id": each} for each in dict.fromkeys(template_ids) if each]
    return _progress_event("sources", sources=sources)


def _progress_event(status: str, **data: Any) -> bytes:
    return _event({"status": status, **data, "isComplete": False})


def _event(data: Mapping[str, Any]) -> bytes:
    return f"data: {to_json(data)}\n\n".encode("utf-8", "replace")
