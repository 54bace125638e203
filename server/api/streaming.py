"""Answers as server-sent events, in this server's form and in OpenAI's."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from server.api.disconnect import left, stop_task
from server.api.error_responses import error_body, error_response, status_of
from server.api.openai_schemas import failure_body, failure_response
from server.core.answer import Answer
from server.core.json import to_json
from server.core.streaming import StreamEvent, StreamListener
from server.errors import OrbitError

_log = logging.getLogger(__name__)

WORDS: Final = re.compile(r"\s*\S+\s*|\s+")
_HEADERS: Final = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",
}
HEARTBEAT: Final = b": waiting\n\n"


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
    ) -> None:
        """`listener` is what the turn speaks to."""
        super().__init__()
        self._turn = turn
        self._listener = listener
        self._session_id = session_id
        self._request_id = request_id
        self._heartbeat_s = heartbeat_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        watch = asyncio.create_task(left(receive))
        respond = asyncio.create_task(self._respond(scope, receive, send))
        try:
            await asyncio.wait({watch, respond}, return_when=asyncio.FIRST_COMPLETED)
            if respond.done():
                respond.result()
        finally:
            for task in (respond, watch, self._turn):
                await stop_task(task)

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        piece = await self._next()
        failed = self._turn.exception() if self._turn.done() and piece is None else None
        if isinstance(failed, OrbitError):
            await self._refusal(failed)(scope, receive, send)
            return
        if failed is not None:
            raise failed
        headers = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        async for part in self._parts(piece):
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _refusal(self, failed: OrbitError) -> Response:
        return error_response(failed, self._request_id)

    async def _next(self) -> StreamEvent | None:
        """What is said next; None when the turn is done, or nothing is said for a while."""
        events = self._listener.events
        if events.empty() and not self._turn.done():
            hearing = asyncio.ensure_future(events.get())
            try:
                await asyncio.wait(
                    {hearing, self._turn},
                    timeout=self._heartbeat_s,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if hearing.done():
                    return hearing.result()
            finally:
                await stop_task(hearing)
        return None if events.empty() else events.get_nowait()

    async def _parts(self, piece: StreamEvent | None) -> AsyncIterator[bytes]:
        told = False
        while True:
            if piece is not None:
                if not told and piece.kind == "text":
                    told = True
                    yield _sources(piece.template_id)
                yield _spoken(piece)
            elif self._turn.done():
                break
            else:
                yield HEARTBEAT
            piece = await self._next()
        failed = self._turn.exception()
        if failed is None:
            spoken = self._listener.text
            for event in answer_events(self._turn.result(), self._session_id, spoken, told=told):
                yield event
            return
        if not isinstance(failed, OrbitError):
            _log.error("request %s failed", self._request_id, exc_info=failed)
        yield _event({"status": "error", "isComplete": True, **_failure(failed, self._request_id)})


def answer_events(
    answer: Answer, session_id: str, spoken: str = "", *, told: bool = False
) -> Iterator[bytes]:
    """Every event of an answer that is left when `spoken` of it has gone out, in order.

    `told` says whether its sources have.
    """
    if not told:
        yield _sources(answer.metadata.get("template_id"))
    rest = answer.content.removeprefix(spoken)
    if spoken and not answer.content.startswith(spoken):
        yield _event({"status": "reset", "reason": "the answer is another", "isComplete": False})
    for word in WORDS.findall(rest):
        yield _event({"status": "streaming", "chunk": word, "isComplete": False})
    data = {name: value for name, value in answer.to_dict(session_id).items() if name != "content"}
    yield _event({"status": "complete", "chunk": "", "isComplete": True, **data})


def _spoken(piece: StreamEvent) -> bytes:
    if piece.kind == "text":
        return _event({"status": "streaming", "chunk": piece.text, "isComplete": False})
    return _event({"status": "reset", "reason": piece.text, "isComplete": False})


def _failure(failed: BaseException, request_id: str) -> Mapping[str, Any]:
    if isinstance(failed, OrbitError) and status_of(failed) != 500:
        return error_body(failed.code, str(failed), request_id)
    return error_body(
        "internal_error", "Something went wrong here; it has been logged.", request_id
    )


def _sources(template_id: str | None) -> bytes:
    sources = [{"template_id": template_id}] if template_id else []
    return _event({"status": "sources", "sources": sources, "isComplete": False})


def _event(data: Mapping[str, Any]) -> bytes:
    return f"data: {to_json(data)}\n\n".encode("utf-8", "replace")


class CompletionStream(AnswerStream):
    """Chunks of one turn, and `[DONE]`. The last chunk carries `orbit`, as without streaming."""

    def __init__(
        self,
        turn: "asyncio.Task[Answer]",
        adapter: str,
        session_id: str,
        request_id: str,
        heartbeat_s: float,
        created: int,
    ) -> None:
        super().__init__(turn, StreamListener(), session_id, request_id, heartbeat_s)
        self._common = {
            "id": f"chatcmpl-{request_id}",
            "object": "chat.completion.chunk",
            "created": created,
            "model": adapter,
        }

    def _refusal(self, failed: OrbitError) -> Response:
        return failure_response(failed, self._request_id)

    async def _parts(self, piece: StreamEvent | None) -> AsyncIterator[bytes]:
        while piece is not None or not self._turn.done():
            yield HEARTBEAT
            piece = await self._next()
        failed = self._turn.exception()
        if failed is None:
            answer = self._turn.result()
            yield self._chunk({"role": "assistant", "content": ""})
            for word in WORDS.findall(answer.content):
                yield self._chunk({"content": word})
            rest = answer.to_dict(self._session_id)
            del rest["content"]
            yield self._chunk({}, "stop", orbit=rest)
        else:
            if not isinstance(failed, OrbitError):
                _log.error("request %s failed", self._request_id, exc_info=failed)
                failed = OrbitError()
            yield _data(failure_body(failed, self._request_id))
        yield b"data: [DONE]\n\n"

    def _chunk(self, delta: Mapping[str, Any], reason: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return _data({**self._common, "choices": [choice], **more})


def _data(data: Mapping[str, Any]) -> bytes:
    return f"data: {to_json(data)}\n\n".encode("utf-8", "replace")
