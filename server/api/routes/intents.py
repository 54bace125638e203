"""`POST /intents/detect`: what an adapter's rule pack makes of a question."""

import asyncio
from datetime import UTC, datetime
from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from server.api.auth import NEEDS_KEY, caller_of
from server.api.error_responses import json_response
from server.api.parsing import read_message
from server.api.schemas import DETECTION_EXAMPLE, ErrorResponse, IntentRequest
from server.api.state import state_of
from server.errors import IntentsUndefined, TurnTimedOut

router = APIRouter(tags=["intents"])

_RESPONSES: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "The fields that the rule pack declares, and no others.",
        "content": {"application/json": {"example": DETECTION_EXAMPLE}},
    },
    **{
        status: {"model": ErrorResponse, "description": description}
        for status, description in (
            (400, "The body is not JSON, or the message is empty, too long or not text."),
            (401, "No key, or one that is unknown, expired or revoked."),
            (403, "A good key, but not for this."),
            (404, "The adapter has no rule pack."),
            (413, "The body is too large."),
            (422, "A field is missing, unknown or of the wrong type."),
            (503, "The adapter, or a provider that it needs, is unavailable."),
            (504, "Nothing was detected within the turn's deadline."),
        )
    },
}


@router.post(
    "/intents/detect",
    responses=_RESPONSES,
    summary="Detect what a question asks for",
    openapi_extra=NEEDS_KEY
    | {
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": IntentRequest.model_json_schema()}},
        },
    },
)
async def detect(request: Request) -> Response:
    """Read `message` with the rule pack of the adapter that the key opens; nothing runs."""
    state = state_of(request)
    caller = await caller_of(request)
    asked = read_message(IntentRequest, await request.body(), state.max_message_chars)
    adapter = state.adapters.opened_by(caller)
    if adapter.detect is None:
        raise IntentsUndefined(
            f"adapter {adapter.name!r} has no rule pack; name one with `intents` in its `config`"
        )
    try:
        async with asyncio.timeout(state.turn_timeout_s):
            detection = await adapter.detect(asked.message, datetime.now(UTC))
    except TimeoutError:
        what = f"nothing was detected within {state.turn_timeout_s:g} s"
        raise TurnTimedOut(what) from None
    return json_response(dict(detection.result))
