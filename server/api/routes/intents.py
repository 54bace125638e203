"""`POST /intents/detect`: the intent of a question, by an adapter's rule pack."""

import asyncio
from datetime import UTC, datetime
from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from server.api.auth import KeyHolder
from server.api.error_responses import json_response
from server.api.requests import ApiState, read_body
from server.api.schemas import EXAMPLES, IntentRequest, refusals, request_body
from server.errors import IntentsUndefined, TurnTimedOut

router = APIRouter(tags=["intents"])

_DETECTION: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "The fields that the rule pack declares, and no others.",
        "content": {"application/json": {"example": EXAMPLES["detection"]}},
    }
}


@router.post(
    "/intents/detect",
    responses=_DETECTION
    | refusals(
        (400, "The body is not JSON, or the message is empty, too long or not text."),
        *(401, 403, 413, 422, 503),
        (404, "The adapter has no rule pack."),
        (504, "Nothing was detected within the turn's deadline."),
    ),
    summary="Detect what a question asks for",
    openapi_extra=request_body(IntentRequest),
)
async def detect_by_rules(request: Request, caller: KeyHolder) -> Response:
    """Read `message` with the rule pack of the adapter that the key opens; nothing runs."""
    state: ApiState = request.app.state.api
    body = await request.body()
    asked = read_body(IntentRequest, body, max_message_chars=state.max_message_chars)
    adapter = state.adapters.opened_by(caller)
    if adapter.detect is None:
        raise IntentsUndefined(
            f"adapter {adapter.name!r} has no rule pack; name one with `intents` in its `config`"
        )
    try:
        async with asyncio.timeout(state.turn_timeout_s):
            detection = await adapter.detect(asked.message, datetime.now(UTC))
    except TimeoutError:
        raise TurnTimedOut(f"nothing was detected within {state.turn_timeout_s:g} s") from None
    return json_response(dict(detection.result))
