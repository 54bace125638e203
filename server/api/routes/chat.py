"""`POST /chat`: one question, one answer."""

import asyncio
from datetime import UTC, datetime
from typing import Any, Final
from uuid import uuid4

from fastapi import APIRouter, Depends, Request
from pydantic import ValidationError
from starlette.responses import Response

from server.api.credentials import DOCUMENTED_SCHEMES, caller_of
from server.api.errors import FieldsInvalid
from server.api.json_response import json_response
from server.api.leaving import while_waited_for
from server.api.sse import AnswerStream
from server.api.state import state_of
from server.api.wire import ChatRequest, ChatResponse, ErrorResponse
from server.chat.service import answer_turn
from server.core.turn import Caller, Turn
from server.errors import KeyForeign, RequestInvalid

router = APIRouter(tags=["chat"])

_MAX_LANGUAGES: Final = 8

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
    dependencies=list(DOCUMENTED_SCHEMES),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": ChatRequest.model_json_schema()}},
        },
    },
)
async def chat(request: Request, caller: Caller = Depends(caller_of)) -> Response:  # noqa: B008
    """Answer `message` with the adapter that the key opens."""
    state = state_of(request)
    asked = _read(await request.body(), state.max_message_chars)
    if caller.adapter not in state.adapters.names:
        raise KeyForeign(
            f"this key opens adapter {caller.adapter!r}, which this server does not have"
        )
    turn = Turn(
        id=request.state.request_id,
        text=asked.message,
        session_id=asked.session_id or uuid4().hex,
        caller=caller,
        received_at=datetime.now(UTC),
        languages=_languages(request.headers.get("accept-language", "")),
    )
    adapter = state.adapters.get(caller.adapter)
    work = asyncio.create_task(answer_turn(adapter, turn, timeout_s=state.turn_timeout_s))
    if asked.stream:
        return AnswerStream(work, turn.session_id, turn.id, state.heartbeat_s)
    answer = await while_waited_for(request.receive, work)
    return json_response(answer.to_dict(turn.session_id))


def _read(body: bytes, max_message_chars: int) -> ChatRequest:
    """The question in a body, whatever Content-Type it came with.

    Raises:
        RequestInvalid: not JSON, or a message that is empty or too long.
        FieldsInvalid: JSON, but not of the documented form.
    """
    try:
        asked = ChatRequest.model_validate_json(body)
    except ValidationError as invalid:
        raise _named(invalid) from None
    if not asked.message.strip():
        raise RequestInvalid("'message' is empty: write a question into it")
    if len(asked.message) > max_message_chars:
        raise RequestInvalid(
            f"'message' has {len(asked.message)} characters; the most is {max_message_chars}"
        )
    return asked


def _named(invalid: ValidationError) -> RequestInvalid:
    errors = invalid.errors(include_url=False, include_context=False, include_input=False)
    if any(error["type"] == "json_invalid" for error in errors):
        reason = errors[0]["msg"].removeprefix("Invalid JSON: ")
        return RequestInvalid(
            f'the body is not JSON ({reason}); send {{"message": "your question"}}'
        )
    details = [
        {
            "field": ".".join(map(str, error["loc"])) or "body",
            "problem": _problem(error["type"], error["msg"]),
        }
        for error in errors
    ]
    message = "; ".join(f"{detail['field']}: {detail['problem']}" for detail in details)
    return FieldsInvalid(message, details)


def _problem(kind: str, message: str) -> str:
    if kind == "extra_forbidden":
        return f"unknown field; known are {', '.join(ChatRequest.model_fields)}"
    if kind == "missing":
        return "is missing"
    if kind == "model_type":
        return "expected an object with the field 'message'"
    return message[:1].lower() + message[1:]


def _languages(header: str) -> tuple[str, ...]:
    """Language tags of an Accept-Language header, best first; nonsense is passed over."""
    weighted = []
    for position, part in enumerate(header.split(",")[:_MAX_LANGUAGES]):
        tag, _, weight = part.strip().partition(";q=")
        try:
            quality = float(weight) if weight else 1.0
        except ValueError:
            continue
        if tag and tag != "*":
            weighted.append((-quality, position, tag))
    return tuple(tag for _, _, tag in sorted(weighted))
