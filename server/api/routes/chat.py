"""`POST /chat`: one question, one answer."""

import asyncio
from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from server.api.auth import NEEDS_KEY, caller_of
from server.api.disconnect import cancel_on_disconnect
from server.api.error_responses import json_response
from server.api.parsing import read_message, turn_of
from server.api.schemas import ChatRequest, ChatResponse, ErrorResponse
from server.api.state import state_of
from server.api.streaming import AnswerStream
from server.chat.pipeline import run_turn
from server.core.streaming import StreamListener

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
    listener = StreamListener() if asked.stream else None
    work = asyncio.create_task(
        run_turn(adapter, turn, timeout_s=state.turn_timeout_s, listener=listener)
    )
    if listener is not None:
        return AnswerStream(work, listener, turn.session_id, turn.id, state.heartbeat_s)
    answer = await cancel_on_disconnect(request.receive, work)
    return json_response(answer.to_dict(turn.session_id))
