"""`/chat/confirm` and `/chat/sessions/{session_id}`: a conversation, from outside of it."""

import asyncio
import re
from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from server.api.auth import NEEDS_KEY, caller_of
from server.api.disconnect import cancel_on_disconnect
from server.api.error_responses import json_response
from server.api.parsing import read_body, turn_of
from server.api.schemas import SESSION_ID, ChatResponse, ConfirmRequest, ErrorResponse
from server.api.state import state_of
from server.chat.pipeline import run_confirmation
from server.errors import ProposalUnknown, RequestInvalid

router = APIRouter(tags=["chat"])

_ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": ErrorResponse, "description": description}
    for status, description in (
        (400, "The body is not JSON, or no conversation can have such an id."),
        (401, "No key, or one that is unknown, expired or revoked."),
        (403, "A good key, but not for this."),
        (429, "The key or its adapter was used too often; `Retry-After` says when to come back."),
        (503, "The adapter, or the database, is unavailable."),
    )
}
_NOT_RUN: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": ErrorResponse, "description": description}
    for status, description in (
        (404, "The conversation has no proposal of that id."),
        (409, "It was confirmed or declined before, or is not what was shown."),
        (410, "The confirmation has expired."),
        (422, "A field is missing, unknown or of the wrong type."),
        (504, "No answer within the turn's deadline; what was begun is carried to its end."),
    )
}


@router.post(
    "/chat/confirm",
    response_model=ChatResponse,
    responses=_ERRORS | _NOT_RUN,
    summary="Say yes or no to what was proposed",
    openapi_extra=NEEDS_KEY
    | {
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": ConfirmRequest.model_json_schema()}},
        },
    },
)
async def confirm(request: Request) -> Response:
    """Run a call that waits for a yes, once, or let go of it."""
    state = state_of(request)
    caller = await caller_of(request)
    said = read_body(ConfirmRequest, await request.body())
    adapter = state.adapters.opened_by(caller)
    if adapter.proposals is None:
        raise ProposalUnknown("this conversation has no proposal of that id")
    turn = turn_of(request, caller, "yes" if said.accept else "no", said.session_id)
    work = asyncio.create_task(
        run_confirmation(
            adapter,
            turn,
            said.proposal_id,
            accept=said.accept,
            seal=said.seal,
            timeout_s=state.turn_timeout_s,
        )
    )
    answer = await cancel_on_disconnect(request.receive, work)
    return json_response(answer.to_dict(turn.session_id))


@router.delete(
    "/chat/sessions/{session_id}",
    status_code=204,
    response_class=Response,
    responses=_ERRORS,
    summary="Forget a conversation",
    openapi_extra=NEEDS_KEY,
)
async def forget(request: Request, session_id: str) -> None:
    """Forget the key's own conversation of that id, if there is one, and what waits in it."""
    caller = await caller_of(request)
    if not re.fullmatch(SESSION_ID, session_id):
        raise RequestInvalid(f"a session id is of the form {SESSION_ID}")
    adapter = state_of(request).adapters.opened_by(caller)
    if adapter.proposals is not None:
        await adapter.proposals.forget(caller, session_id)
    if adapter.conversations is not None:
        await adapter.conversations.forget(caller, session_id)
