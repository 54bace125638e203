"""`POST /chat`: one question, one answer."""

import asyncio
from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from server.api.credentials import NEEDS_KEY, caller_of
from server.api.json_response import json_response
from server.api.leaving import while_waited_for
from server.api.messages import read_message
from server.api.sse import AnswerStream
from server.api.state import state_of
from server.api.turns import turn_of
from server.api.wire import ChatRequest, ChatResponse, ErrorResponse
from server.chat.listening import Listening
from server.chat.service import answer_turn

router = APIRouter(tags=["chat"])

_ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": ErrorResponse, "description": description}
    for status, description in (
        (400, "The body is not JSON, or the message is empty, too long or not text."),
        (401, "No key, or one that is unknown, expired or revoked."),
        (403, "A good key, but not for this."),
        (413, "The body is too large."),
        (429, "The key or its adapter was used too often; `Retry-After` says when to come back."),
        (422, "A field is missing, unknown or of the wrong type."),
        (503, "The adapter, or a provider that it needs, is unavailable."),
        (504, "No answer within the turn's deadline."),
    )
}


@router.post(
    "/chat",
    response_model=ChatResponse,
    responses=_ERRORS,
    summary="Ask a question",
    openapi_extra=NEEDS_KEY
    | {
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": ChatRequest.model_json_schema()}},
        },
    },
)
async def chat(request: Request) -> Response:
    """Answer `message` with the adapter that the key opens."""
    state = state_of(request)
    caller = await caller_of(request)
    asked = read_message(ChatRequest, await request.body(), state.max_message_chars)
    adapter = state.adapters.opened_by(caller)
    turn = turn_of(request, caller, asked.message, asked.session_id)
    listening = Listening() if asked.stream else None
    work = asyncio.create_task(
        answer_turn(adapter, turn, timeout_s=state.turn_timeout_s, listening=listening)
    )
    if listening is not None:
        return AnswerStream(work, listening, turn.session_id, turn.id, state.heartbeat_s)
    answer = await while_waited_for(request.receive, work)
    return json_response(answer.to_dict(turn.session_id))
