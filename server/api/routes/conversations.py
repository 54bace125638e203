"""`/chat/sessions/{session_id}`: a conversation, from outside of it."""

import re
from typing import Any, Final

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from server.api.credentials import DOCUMENTED_SCHEMES, caller_of
from server.api.state import state_of
from server.api.wire import SESSION_ID, ErrorResponse
from server.core.turn import Caller
from server.errors import RequestInvalid

router = APIRouter(tags=["chat"], dependencies=list(DOCUMENTED_SCHEMES))

_ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": ErrorResponse, "description": description}
    for status, description in (
        (400, "No conversation can have such an id."),
        (401, "No key, or one that is unknown, expired or revoked."),
        (403, "A good key, but not for this."),
        (503, "The adapter, or the database, is unavailable."),
    )
}


@router.delete(
    "/chat/sessions/{session_id}",
    status_code=204,
    response_class=Response,
    responses=_ERRORS,
    summary="Forget a conversation",
)
async def forget(request: Request, session_id: str, caller: Caller = Depends(caller_of)) -> None:  # noqa: B008
    """Forget what the key's own conversation of that id remembers, if there is one."""
    if not re.fullmatch(SESSION_ID, session_id):
        raise RequestInvalid(f"a session id is of the form {SESSION_ID}")
    adapter = state_of(request).adapters.opened_by(caller)
    if adapter.conversations is not None:
        await adapter.conversations.forget(caller, session_id)
