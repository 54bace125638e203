"""`/admin/proposals` and `/admin/log-level`: what waits for a yes, and how much the log says."""

from datetime import datetime
from typing import Any, Final

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from server.api.auth import Admin
from server.api.error_responses import json_response
from server.api.log_level import LOG_LEVELS, log_level, set_log_level
from server.api.requests import ApiState, State, read_body
from server.api.schemas import EXAMPLES, StrictModel, refusals, request_body
from server.audit.changes import Change
from server.conversation.confirmations.pending_calls import PendingCall
from server.core.redaction import Redactor
from server.errors import OrbitError
from server.library.model import Template
from server.settings.models import LogLevel

_MOST_PROPOSALS: Final = 500

router = APIRouter(
    prefix="/admin", tags=["admin"], responses=refusals(401, (403, "Not an admin key."))
)


class Proposal(BaseModel):
    """A call that waits for a yes, and who was asked for it."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLES["proposal"]]})

    proposal_id: str
    adapter: str = Field(description="The adapter whose template it is.")
    template_id: str
    tool: str | None = Field(description="Null when the adapter does not serve the template now.")
    operation: str | None
    effect: str | None
    arguments: dict[str, Any] | None = Field(
        description="As they may be shown; null when the template is not there to say so."
    )
    key_id: str
    user_id: str | None
    created_at: datetime
    expires_at: datetime


class Proposals(BaseModel):
    proposals: list[Proposal]


class LevelRequest(StrictModel):
    """How much the log shall say, until the server ends."""

    level: LogLevel = Field(description="Least severity that is written.")


class Level(BaseModel):
    level: str = Field(description="Least severity that is written now.")
    levels: list[str] = Field(description="Those that there are.")


class LevelChanged(Level):
    announced: bool = Field(
        description="Whether other servers on the same database can know, and do the same."
    )


@router.get(
    "/proposals",
    response_model=Proposals,
    responses=refusals((503, "The database cannot be read.")),
    summary="Calls of every adapter that wait for a yes, newest first",
)
async def list_proposals(state: State, _: Admin) -> Response:
    """At most 500. Only who was asked may answer: see `/chat/confirm`."""
    waiting = [] if state.proposals is None else await state.proposals.waiting(_MOST_PROPOSALS)
    return json_response({"proposals": [_describe(state, each) for each in waiting]})


def _describe(state: ApiState, held: PendingCall) -> dict[str, Any]:
    template = _template_of(state, held)
    return {
        "proposal_id": held.proposal_id,
        "adapter": held.library,
        "template_id": held.template_id,
        "tool": template and template.execution.tool,
        "operation": template and template.execution.operation,
        "effect": template and template.effect,
        "arguments": template and _shown_arguments(template, held),
        "key_id": held.place.key_id,
        "user_id": held.place.user_id or None,
        "created_at": held.created_at.isoformat(timespec="seconds"),
        "expires_at": held.expires_at.isoformat(timespec="seconds"),
    }


def _shown_arguments(template: Template, held: PendingCall) -> dict[str, Any]:
    redactor = Redactor(template.policy.sensitive_params)
    shown: dict[str, Any] = redactor.secrets(held.arguments).data(
        redactor.arguments(held.arguments)
    )
    return shown


def _template_of(state: ApiState, held: PendingCall) -> Template | None:
    """Return the template as it is now, if its adapter serves: it says what is sensitive."""
    try:
        return state.adapters.get(held.library).library.templates.get(held.template_id)
    except OrbitError:
        return None


@router.get("/log-level", response_model=Level, summary="How much the log says")
async def get_log_level(_: Admin) -> Response:
    return json_response({"level": log_level(), "levels": LOG_LEVELS})


@router.put(
    "/log-level",
    response_model=LevelChanged,
    responses=refusals(
        (400, "The body is not JSON."), 422, (503, "The change cannot be written down.")
    ),
    summary="Have the log say more or less, until the server ends",
    openapi_extra=request_body(LevelRequest),
)
async def put_log_level(request: Request, state: State, admin: Admin) -> Response:
    asked = read_body(LevelRequest, await request.body())

    async def work() -> bool:
        set_log_level(asked.level)
        return await state.announcements.announce("log", asked.level)

    arguments = {"level": asked.level, "before": log_level()}
    change = Change(admin, "log", "level", arguments=arguments, request_id=request.state.request_id)
    announced = await state.changes.make(change, work)
    return json_response({"level": log_level(), "levels": LOG_LEVELS, "announced": announced})
