"""An answer as server-sent events: `sources`, `streaming` word by word, `complete`."""

import re
from collections.abc import AsyncIterator
from typing import Any, Final

from starlette.responses import StreamingResponse

from server.core.answer import Answer
from server.core.jsonable import to_json

_WORDS: Final = re.compile(r"\s*\S+\s*|\s+")


def stream_answer(answer: Answer, session_id: str) -> StreamingResponse:
    """The events of one answer; `complete` carries what the JSON answer has besides text."""
    return StreamingResponse(
        _events(answer, session_id),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"},
    )


async def _events(answer: Answer, session_id: str) -> AsyncIterator[bytes]:
    yield _event({"status": "sources", "sources": _sources(answer), "isComplete": False})
    for word in _WORDS.findall(answer.content):
        yield _event({"status": "streaming", "chunk": word, "isComplete": False})
    rest = {name: value for name, value in answer.to_dict(session_id).items() if name != "content"}
    yield _event({"status": "complete", "chunk": "", "isComplete": True, **rest})


def _sources(answer: Answer) -> list[dict[str, Any]]:
    template_id = answer.metadata.get("template_id")
    return [{"template_id": template_id}] if template_id else []


def _event(data: dict[str, Any]) -> bytes:
    return f"data: {to_json(data)}\n\n".encode("utf-8", "replace")
