"""An answer as the chunks that clients of OpenAI's chat API read.

Nothing can be taken back in that protocol, so that the words leave when they all count.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.responses import Response

from server.api.openai_wire import failure_body, failure_response
from server.api.sse import HEARTBEAT, WORDS, AnswerStream
from server.chat.listening import Heard, Listening
from server.core.answer import Answer
from server.core.jsonable import to_json
from server.errors import OrbitError

_log = logging.getLogger(__name__)


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
        super().__init__(turn, Listening(), session_id, request_id, heartbeat_s)
        self._common = {
            "id": f"chatcmpl-{request_id}",
            "object": "chat.completion.chunk",
            "created": created,
            "model": adapter,
        }

    def _refusal(self, failed: OrbitError) -> Response:
        return failure_response(failed, self._request_id)

    async def _parts(self, heard: Heard | None) -> AsyncIterator[bytes]:
        while heard is not None or not self._turn.done():
            yield HEARTBEAT
            heard = await self._next()
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
