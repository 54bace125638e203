"""`/v1/chat/completions`, `/v1/responses`, `/v1/models`: adapters for clients of OpenAI's API."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from time import time
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from server.api import openai_responses as responses
from server.api import openai_schemas as openai
from server.api.auth import KeyHolder
from server.api.error_responses import json_response
from server.api.requests import ApiState, cancel_on_disconnect, turn_of
from server.api.schemas import request_body
from server.api.streaming import CompletionStream, ResponseStream
from server.api.told_messages import Told
from server.chat.adapter import Adapter
from server.chat.pipeline import run_turn
from server.core.decision import Answer
from server.core.token_counts import TokenCount, count_tokens
from server.core.turn import Caller, Turn
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
    asked = openai.read_completion(await request.body(), caller.adapter)
    adapter = state.adapters.opened_by(caller)
    told = openai.told_in(
        asked,
        asked.told_messages(),
        state.transcripts,
        param="messages",
        max_chars=state.max_message_chars,
    )
    turn = _turn_of(request, caller, asked, told)
    work, tokens = _begin(state, adapter, turn)
    about = turn.id, int(turn.received_at.timestamp()), tokens
    if asked.stream:
        options = asked.stream_options or openai.StreamOptions()
        return CompletionStream(
            work,
            adapter.name,
            turn.session_id,
            *about,
            heartbeat_s=state.heartbeat_s,
            blocked_in=state.blocked_in,
            tells_usage=bool(options.include_usage),
        )
    answer = await cancel_on_disconnect(request.receive, work)
    return json_response(openai.completion(answer, adapter.name, turn.session_id, *about))


@router.post(
    "/responses",
    summary="Ask a question as OpenAI's newer clients do",
    openapi_extra=request_body(responses.ResponseRequest),
)
async def create_response(request: Request, caller: KeyHolder) -> Response:
    """Answer the last user message of `input` with the adapter that the key opens."""
    state: ApiState = request.app.state.api
    asked = responses.read_response_request(await request.body(), caller.adapter)
    adapter = state.adapters.opened_by(caller)
    told = openai.told_in(
        asked,
        asked.told_messages(),
        state.transcripts,
        param="input",
        follows=asked.follows,
        max_chars=state.max_message_chars,
    )
    turn = _turn_of(request, caller, asked, told)
    work, tokens = _begin(state, adapter, turn)
    shape = responses.ResponseShape(adapter.name, turn, asked.previous_response_id, tokens)
    if asked.stream:
        return ResponseStream(work, shape, state.heartbeat_s, state.blocked_in)
    answer = await cancel_on_disconnect(request.receive, work)
    return json_response(shape.completed(answer))


def _turn_of(request: Request, caller: Caller, asked: openai.OpenAIRequest, told: Told) -> Turn:
    """Return the turn of a question, in the session it names or in the conversation it tells."""
    runs = openai.runs_calls(asked, request.headers.get(openai.RUN_HEADER))
    moment = told.transcript.moment
    turn = turn_of(request, caller, told.question, asked.session_id or moment)
    turn = replace(turn, returned=told.returned, runs=runs)
    return turn if asked.session_id else replace(turn, transcript=told.transcript)


def _begin(
    state: ApiState, adapter: Adapter, turn: Turn
) -> tuple[asyncio.Task[Answer], TokenCount]:
    """Begin to answer, and return what is under way, with the tokens that it takes."""
    with count_tokens() as tokens:
        answering = run_turn(adapter, turn, timeout_s=state.turn_timeout_s)
        return asyncio.create_task(answering), tokens


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
