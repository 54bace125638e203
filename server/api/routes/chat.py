"""`/chat`: ask a question, answer a proposal, forget a conversation."""

import asyncio
import re
from dataclasses import replace
from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from server.access.models import ADMIN
from server.api import schemas
from server.api.auth import KeyHolder
from server.api.csv_rows import CsvResponse, prefers_csv
from server.api.error_responses import FieldsInvalid, json_response
from server.api.requests import ApiState, cancel_on_disconnect, read_body, turn_of
from server.api.streaming import AnswerStream
from server.chat.adapter import Adapter
from server.chat.history import forget_conversation
from server.chat.pipeline import run_confirmation, run_turn
from server.conversation.inbox import Feedback
from server.core.decision import Explain
from server.core.storable import storable_data
from server.core.streaming import StreamListener
from server.core.suggestions import unknown
from server.core.tools import ToolResultStatus
from server.core.turn import SESSION_ID, Caller, Turn
from server.errors import ProposalUnknown, RequestInvalid, TurnUnknown

router = APIRouter(prefix="/chat", tags=["chat"])

_CONVERSATION_ERRORS: Final = schemas.refusals(
    (400, "The body is not JSON, or no conversation can have such an id."),
    401,
    403,
    429,
    (503, "The adapter, or the database, is unavailable."),
)


@router.post(
    "",
    response_model=schemas.ChatResponse,
    responses={
        200: {
            "content": {"text/csv": {}},
            "description": "The answer; or rows, where CSV is asked.",
        },
        **schemas.refusals(
            (400, "The body is not JSON, or the message is empty, too long or not text."),
            *(401, 403, 413, 429, 422, 503, 504),
        ),
    },
    summary="Ask a question",
    openapi_extra=schemas.request_body(schemas.ChatRequest),
)
async def chat(request: Request, caller: KeyHolder) -> Response:
    """Answer `message` with the adapter that the key opens."""
    state: ApiState = request.app.state.api
    body = await request.body()
    asked = read_body(schemas.ChatRequest, body, max_message_chars=state.max_message_chars)
    adapter = state.adapters.opened_by(caller)
    turn = turn_of(request, caller, asked.question(), asked.session_id)
    if asked.arguments is not None:
        turn = replace(turn, given=storable_data(asked.arguments))
    explain = _explain(asked, caller)
    if not asked.stream and prefers_csv(request.headers.get("accept")):
        return _rows_or_answer(state, adapter, turn, explain)
    listener = StreamListener() if asked.stream else None
    answering = run_turn(adapter, turn, timeout_s=state.turn_timeout_s, listener=listener)
    work = asyncio.create_task(answering)
    if listener is not None:
        ids = turn.session_id, turn.id
        return AnswerStream(work, listener, *ids, state.heartbeat_s, state.blocked_in, explain)
    answer = await cancel_on_disconnect(request.receive, work)
    return json_response(answer.to_dict(turn.session_id, explain))


def _explain(asked: schemas.ChatRequest | schemas.ConfirmRequest, caller: Caller) -> Explain | None:
    """Return how much to tell: what stages found may name files and services."""
    if not asked.explain:
        return None
    return "details" if caller.role == ADMIN else "times"


def _rows_or_answer(
    state: ApiState, adapter: Adapter, turn: Turn, explain: Explain | None
) -> Response:
    """All rows as CSV where the question comes to one read of a database, else the answer."""

    async def work(rows: CsvResponse) -> Response | None:
        answer = await run_turn(adapter, turn, timeout_s=state.turn_timeout_s, taker=rows)
        if not rows.begun:
            return json_response(answer.to_dict(turn.session_id, explain))
        if answer.metadata["tool_execution"]["status"] != ToolResultStatus.SUCCESS:
            rows.cut = True
        return None

    session = {"x-session-id": turn.session_id}
    return CsvResponse(work, turn.id, name=adapter.name, headers=session)


@router.post(
    "/confirm",
    response_model=schemas.ChatResponse,
    responses=_CONVERSATION_ERRORS
    | schemas.refusals(
        (404, "The conversation has no proposal of that id."),
        (409, "It was confirmed or declined before, or is not what was shown."),
        (410, "The time to confirm it is over."),
        422,
        (504, "No answer within the turn's deadline; what was begun is carried to its end."),
    ),
    summary="Say yes or no to what was proposed",
    openapi_extra=schemas.request_body(schemas.ConfirmRequest),
)
async def confirm_proposal(request: Request, caller: KeyHolder) -> Response:
    """Run a call that waits for a yes, once, or discard it."""
    state: ApiState = request.app.state.api
    reply = read_body(schemas.ConfirmRequest, await request.body())
    adapter = state.adapters.opened_by(caller)
    if adapter.proposals is None:
        raise ProposalUnknown("this conversation has no proposal of that id")
    turn = turn_of(request, caller, "yes" if reply.accept else "no", reply.session_id)
    answering = run_confirmation(
        adapter,
        turn,
        reply.proposal_id,
        accept=reply.accept,
        seal=reply.seal,
        timeout_s=state.turn_timeout_s,
    )
    answer = await cancel_on_disconnect(request.receive, asyncio.create_task(answering))
    return json_response(answer.to_dict(turn.session_id, _explain(reply, caller)))


@router.post(
    "/feedback",
    status_code=204,
    response_class=Response,
    responses=_CONVERSATION_ERRORS
    | schemas.refusals(
        (404, "The key has no such turn, not any more, or the server keeps no inbox."), 422
    ),
    summary="Say whether an answer was right",
    openapi_extra=schemas.request_body(schemas.FeedbackRequest),
)
async def note_feedback(request: Request, caller: KeyHolder) -> None:
    """Keep what somebody thinks of an answer, for whoever looks after the library."""
    state: ApiState = request.app.state.api
    said = read_body(schemas.FeedbackRequest, await request.body())
    adapter = state.adapters.opened_by(caller)
    if adapter.inbox is None:
        raise TurnUnknown("this server keeps no turns to give an opinion on: inbox.enabled")
    if said.expected is not None:
        known = [each.id for each in adapter.chain.open_to(caller, any_intent=True)]
        if said.expected not in known:
            raise FieldsInvalid([("expected", unknown("template", said.expected, known))])
    await adapter.inbox.mark(caller, Feedback(**said.model_dump()))
    adapter.metrics.feedback(adapter.name, said.verdict)


@router.delete(
    "/sessions/{session_id}",
    status_code=204,
    response_class=Response,
    responses=_CONVERSATION_ERRORS,
    summary="Forget a conversation",
)
async def delete_session(request: Request, session_id: str, caller: KeyHolder) -> None:
    """Forget the key's own conversation of that id, if there is one, and what waits in it."""
    state: ApiState = request.app.state.api
    if not re.fullmatch(SESSION_ID, session_id):
        raise RequestInvalid(f"a session id is of the form {SESSION_ID}")
    adapter = state.adapters.opened_by(caller)
    await forget_conversation(adapter, caller, session_id)
