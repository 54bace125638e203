"""`POST /v1/chat/completions` and `GET /v1/models`: adapters for clients of OpenAI's API."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import wraps
from time import time
from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from server.api.auth import NEEDS_KEY, caller_of
from server.api.disconnect import cancel_on_disconnect
from server.api.error_responses import json_response
from server.api.openai_schemas import (
    CompletionRequest,
    ModelUnknown,
    completion,
    failure_response,
    model,
    read_completion,
)
from server.api.parsing import turn_of
from server.api.state import state_of
from server.api.streaming import CompletionStream
from server.chat.pipeline import run_turn
from server.errors import OrbitError

router = APIRouter(prefix="/v1", tags=["OpenAI-compatible"])

_STARTED: Final = int(time())

Route = Callable[..., Awaitable[Response]]


def _in_their_words(route: Route) -> Route:
    """The route with its failures in OpenAI's shape."""

    @wraps(route)
    async def told(request: Request, **given: Any) -> Response:
        try:
            return await route(request, **given)
        except OrbitError as failure:
            return failure_response(failure, request.state.request_id)

    return told


@router.post(
    "/chat/completions",
    summary="Ask a question as OpenAI's clients do",
    openapi_extra=NEEDS_KEY
    | {
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": CompletionRequest.model_json_schema()}},
        },
    },
)
@_in_their_words
async def chat_completions(request: Request) -> Response:
    """Answer the last user message with the adapter that the key opens."""
    state = state_of(request)
    caller = await caller_of(request)
    body = await request.body()
    asked, question = read_completion(body, caller.adapter, state.max_message_chars)
    adapter = state.adapters.opened_by(caller)
    turn = turn_of(request, caller, question, asked.session_id)
    created = int(turn.received_at.timestamp())
    work = asyncio.create_task(run_turn(adapter, turn, timeout_s=state.turn_timeout_s))
    if asked.stream:
        return CompletionStream(
            work, adapter.name, turn.session_id, turn.id, state.heartbeat_s, created
        )
    answer = await cancel_on_disconnect(request.receive, work)
    return json_response(completion(answer, adapter.name, turn.session_id, turn.id, created))


@router.get("/models", summary="List the model of a key", openapi_extra=NEEDS_KEY)
@_in_their_words
async def models(request: Request) -> Response:
    """The adapter that the key opens, as the one model there is."""
    caller = await caller_of(request)
    return json_response({"object": "list", "data": [model(caller.adapter, _STARTED)]})


@router.get("/models/{name}", summary="Look a model up", openapi_extra=NEEDS_KEY)
@_in_their_words
async def one_model(request: Request, name: str) -> Response:
    """The adapter that the key opens, when that is its name."""
    caller = await caller_of(request)
    if name != caller.adapter:
        raise ModelUnknown(f"there is no such model for this key; its model is {caller.adapter!r}")
    return json_response(model(caller.adapter, _STARTED))
