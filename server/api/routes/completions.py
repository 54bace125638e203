"""`POST /v1/chat/completions` and `GET /v1/models`: adapters for clients of OpenAI's API."""

import asyncio
from collections.abc import Callable, Coroutine
from time import time
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from server.api import openai_schemas as openai
from server.api.auth import KeyHolder
from server.api.error_responses import json_response
from server.api.requests import ApiState, cancel_on_disconnect, turn_of
from server.api.schemas import request_body
from server.api.streaming import CompletionStream
from server.chat.pipeline import run_turn
from server.errors import OrbitError

_STARTED: Final = int(time())


class OpenAIRoute(APIRoute):
    """A route whose failures have OpenAI's shape."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_failures(request: Request) -> Response:
            try:
                return await handle(request)
            except OrbitError as failure:
                return openai.openai_error_response(failure, request.state.request_id)

        return handle_failures


router = APIRouter(prefix="/v1", tags=["OpenAI-compatible"], route_class=OpenAIRoute)


@router.post(
    "/chat/completions",
    summary="Ask a question as OpenAI's clients do",
    openapi_extra=request_body(openai.CompletionRequest),
)
async def create_completion(request: Request, caller: KeyHolder) -> Response:
    """Answer the last user message with the adapter that the key opens."""
    state: ApiState = request.app.state.api
    body = await request.body()
    asked, question = openai.read_completion(body, caller.adapter, state.max_message_chars)
    adapter = state.adapters.opened_by(caller)
    turn = turn_of(request, caller, question, asked.session_id)
    created = int(turn.received_at.timestamp())
    work = asyncio.create_task(run_turn(adapter, turn, timeout_s=state.turn_timeout_s))
    ids = adapter.name, turn.session_id, turn.id
    if asked.stream:
        return CompletionStream(work, *ids, state.heartbeat_s, created, state.blocked_in)
    answer = await cancel_on_disconnect(request.receive, work)
    return json_response(openai.completion(answer, *ids, created))


@router.get("/models", summary="List the model of a key")
async def list_models(caller: KeyHolder) -> Response:
    """The adapter that the key opens, as the one model there is."""
    return json_response(
        {"object": "list", "data": [openai.describe_model(caller.adapter, _STARTED)]}
    )


@router.get("/models/{name}", summary="Look a model up")
async def get_model(name: str, caller: KeyHolder) -> Response:
    """The adapter that the key opens, when that is its name."""
    if name != caller.adapter:
        raise openai.ModelUnknown(caller.adapter)
    return json_response(openai.describe_model(caller.adapter, _STARTED))
