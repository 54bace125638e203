"""`/admin/guards`: what guards do, and changing them while the server runs."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from server.api.auth import Admin
from server.api.error_responses import json_response
from server.api.requests import ApiState, State, read_body
from server.api.schemas import EXAMPLES, refusals, request_body
from server.audit import changes as audit
from server.core.turn import Caller
from server.guards.changes import Change, Kind

router = APIRouter(
    prefix="/admin/guards",
    tags=["admin"],
    responses=refusals(
        (400, "The change cannot be made; the message says why."),
        401,
        (403, "Not an admin key."),
        (404, "No guard stands before an adapter of that name."),
        422,
    ),
)


class ChangeRequest(BaseModel):
    """One change to a guard; which fields it needs goes by `kind`."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": EXAMPLES["changes"]})

    kind: Kind
    category: str = Field("", max_length=100, description="For all but the allow-list.")
    text: str = Field("", max_length=2000, description="A pattern, an example or a question.")
    number: float | None = Field(
        None, ge=0, le=1, description="A threshold; or from which similarity a question passes."
    )

    def by(self, admin: Caller, adapter: str) -> Change:
        """Return the change to the guard of `adapter`, in the name of `admin`."""
        return Change(guard=adapter, by=f"key {admin.key_id}", **self.model_dump())


class TrialRequest(BaseModel):
    """A question to try on a guard, and perhaps a change to try with it."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1, max_length=8000)
    change: ChangeRequest | None = None


@router.get("", summary="Every guard, with its counts")
async def list_guards(state: State, _: Admin) -> Response:
    return json_response({"guards": [await _describe(state, name) for name in state.guards.names]})


@router.get("/{adapter}", summary="One guard: categories, thresholds, counts")
async def get_guard(state: State, adapter: str, _: Admin) -> Response:
    return json_response(await _describe(state, adapter))


async def _describe(state: ApiState, adapter: str) -> dict[str, Any]:
    guard = state.guards.get(adapter)
    return guard.describe() | {"counts": await state.guards.counts(adapter)}


@router.get("/{adapter}/decisions", summary="The latest decisions, questions redacted")
async def list_decisions(
    state: State,
    adapter: str,
    _: Admin,
    *,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    differing: Annotated[bool, Query(description="Where a compared set differs.")] = False,
) -> Response:
    rows = await state.guards.decisions(adapter, limit=limit, differing=differing)
    return json_response({"decisions": rows})


@router.get("/{adapter}/changes", summary="Every change that was made, and by whom")
async def list_changes(state: State, adapter: str, _: Admin) -> Response:
    return json_response({"changes": await state.guards.changes(adapter)})


@router.post(
    "/{adapter}/changes",
    status_code=201,
    summary="Make a change; it holds at once",
    openapi_extra=request_body(ChangeRequest),
)
async def create_change(request: Request, state: State, adapter: str, admin: Admin) -> Response:
    asked = read_body(ChangeRequest, await request.body()).by(admin, adapter)
    made = audit.Change(
        admin, "guards", asked.kind, adapter, asked.details(), request.state.request_id
    )
    change = await state.changes.make(made, lambda: state.guards.change(asked))
    return json_response(change.to_dict(), 201)


@router.post(
    "/{adapter}/try",
    summary="Try a question, and perhaps a change, counting nothing",
    openapi_extra=request_body(TrialRequest),
)
async def try_guard(request: Request, state: State, adapter: str, admin: Admin) -> Response:
    asked = read_body(TrialRequest, await request.body())
    change = None if asked.change is None else asked.change.by(admin, adapter)
    return json_response(await state.guards.get(adapter).trial(asked.question, change))
