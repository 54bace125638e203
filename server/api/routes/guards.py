"""`/admin/guards`: what guards do, and changing it while they do it."""

from typing import Any, Final, TypeVar

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.responses import Response

from server.api.auth import DOCUMENTED_SCHEMES, admin_of
from server.api.error_responses import FieldsInvalid, json_response
from server.api.schemas import ErrorResponse
from server.api.state import ApiState, state_of
from server.core.turn import Caller
from server.errors import AdapterUnknown, RequestInvalid
from server.guards.changes import Change, Kind
from server.guards.manager import GuardManager

_ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": ErrorResponse, "description": description}
    for status, description in (
        (400, "The change cannot be made; the message says why."),
        (401, "No key, or one that is unknown, expired or revoked."),
        (403, "Not an admin key."),
        (404, "No guard stands before an adapter of that name."),
        (422, "A field is missing, unknown or of the wrong type."),
    )
}


def _documented(model: type[BaseModel]) -> dict[str, Any]:
    content = {"application/json": {"schema": model.model_json_schema()}}
    return {"requestBody": {"required": True, "content": content}}


router = APIRouter(
    prefix="/admin/guards",
    tags=["admin"],
    dependencies=list(DOCUMENTED_SCHEMES),
    responses=_ERRORS,
)


class ChangeRequest(BaseModel):
    """One change to a guard; which fields it needs goes by `kind`."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"kind": "set_threshold", "category": "price_speculation", "number": 0.7},
                {"kind": "allow_question", "text": "What is the price of a fee?", "number": 0.9},
            ]
        },
    )

    kind: Kind
    category: str = Field("", max_length=100, description="For all but the allow-list.")
    text: str = Field("", max_length=2000, description="A pattern, an example or a question.")
    number: float | None = Field(
        None, ge=0, le=1, description="A threshold; or from which similarity a question passes."
    )


class TrialRequest(BaseModel):
    """A question to try on a guard, and perhaps a change to try with it."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1, max_length=8000)
    change: ChangeRequest | None = None


@router.get("", summary="Every guard, with its counts")
async def every(request: Request, _: Caller = Depends(admin_of)) -> Response:  # noqa: B008
    keeper = _keeper(state_of(request))
    guards = [
        keeper.get(name).describe() | {"counts": await keeper.counts(name)} for name in keeper.names
    ]
    return json_response({"guards": guards})


@router.get("/{adapter}", summary="One guard: categories, thresholds, counts")
async def one(request: Request, adapter: str, _: Caller = Depends(admin_of)) -> Response:  # noqa: B008
    keeper = _keeper(state_of(request))
    body = keeper.get(adapter).describe() | {"counts": await keeper.counts(adapter)}
    return json_response(body)


@router.get("/{adapter}/decisions", summary="The latest decisions, questions redacted")
async def decisions(
    request: Request,
    adapter: str,
    limit: int = Query(50, ge=1, le=1000),
    differing: bool = Query(default=False, description="Where a compared set differs."),  # noqa: FBT001
    _: Caller = Depends(admin_of),  # noqa: B008
) -> Response:
    keeper = _keeper(state_of(request))
    rows = await keeper.decisions(adapter, limit=limit, differing=differing)
    return json_response({"decisions": rows})


@router.get("/{adapter}/changes", summary="Every change that was made, and by whom")
async def changes(request: Request, adapter: str, _: Caller = Depends(admin_of)) -> Response:  # noqa: B008
    return json_response({"changes": await _keeper(state_of(request)).changes(adapter)})


@router.post(
    "/{adapter}/changes",
    status_code=201,
    summary="Make a change; it holds at once",
    openapi_extra=_documented(ChangeRequest),
)
async def change(request: Request, adapter: str, by: Caller = Depends(admin_of)) -> Response:  # noqa: B008
    asked = _read(ChangeRequest, await request.body())
    made = await _keeper(state_of(request)).change(_change(adapter, asked, by))
    return json_response(made.to_dict(), 201)


@router.post(
    "/{adapter}/try",
    summary="Try a question, and perhaps a change, counting nothing",
    openapi_extra=_documented(TrialRequest),
)
async def trial(request: Request, adapter: str, by: Caller = Depends(admin_of)) -> Response:  # noqa: B008
    asked = _read(TrialRequest, await request.body())
    made = None if asked.change is None else _change(adapter, asked.change, by)
    guard = _keeper(state_of(request)).get(adapter)
    return json_response(await guard.trial(asked.question, made))


M = TypeVar("M", bound=BaseModel)


def _read(model: type[M], body: bytes) -> M:
    try:
        return model.model_validate_json(body)
    except ValidationError as invalid:
        errors = invalid.errors(include_url=False, include_context=False, include_input=False)
    if any(error["type"] == "json_invalid" for error in errors):
        raise RequestInvalid("the body is not JSON")
    details = [
        {"field": ".".join(map(str, error["loc"])) or "body", "problem": error["msg"]}
        for error in errors
    ]
    message = "; ".join(f"{detail['field']}: {detail['problem']}" for detail in details)
    raise FieldsInvalid(message, details)


def _change(adapter: str, asked: ChangeRequest, by: Caller) -> Change:
    return Change(
        guard=adapter,
        kind=asked.kind,
        category=asked.category,
        text=asked.text,
        number=asked.number,
        by=f"key {by.key_id}",
    )


def _keeper(state: ApiState) -> GuardManager:
    if state.guards is None:
        raise AdapterUnknown("this server has no guards")
    return state.guards
