"""`/admin/keys`: list, make, end and replace keys while the server runs."""

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from server.access.key_request import check_adapter, check_role, new_key, parse_lifetime
from server.access.models import ADMIN, KeyRecord, is_key_id, issued_id
from server.adapters.registry import AdapterState
from server.api.auth import Admin, KeyHolder, may_author
from server.api.error_responses import json_response
from server.api.requests import State, read_body
from server.api.schemas import EXAMPLES, StrictModel, refusals, request_body
from server.audit.changes import Change
from server.core.turn import Caller
from server.errors import KeyIsOwn, KeyNotFound, RequestInvalid

_log = logging.getLogger(__name__)

_BODY_ERRORS: Final = refusals(
    (400, "The body is not JSON, or a value in it cannot be used; the message says which."), 422
)
_CHANGE_ERRORS: Final = _BODY_ERRORS | refusals(
    (404, "There is no key of that id."),
    (409, "There is, and it cannot be changed so; the message says why."),
)

router = APIRouter(
    prefix="/admin/keys",
    tags=["admin"],
    responses=refusals(
        401, (403, "Not an admin key."), (503, "The database of keys is unavailable.")
    ),
)


key_router = APIRouter(tags=["keys"])
"""What everybody may know of their own key."""


class KeyRequest(StrictModel):
    """A key to make."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLES["key"]]})

    adapter: str = Field(max_length=255, description="The one adapter that the key opens.")
    user_id: str | None = Field(None, max_length=255, description="Whose key it is.")
    role: str = Field("user", max_length=255, description="One of `access.roles`.")
    limits: list[Annotated[str, Field(max_length=40)]] = Field(
        default_factory=list, max_length=10, description="How often it may ask: `60/minute`."
    )
    label: str = Field("", max_length=255, description="A note, to tell keys apart.")
    expires: str | None = Field(
        None, max_length=40, description="`12h`, `30d`, `2w` or `1y`; never, when left out."
    )


class Rights(BaseModel):
    """What a key may do beyond asking."""

    author: bool = Field(description="Look at files and change them, from where this came.")
    inbox: bool = Field(description="Look through the turns that are kept for it.")
    feedback: bool = Field(description="Say whether answers were right.")


class OwnKey(BaseModel):
    """The key of a request, without the key itself."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLES["own_key"]]})

    adapter: str = Field(description="The one adapter that the key opens.")
    role: str
    admin: bool = Field(description="Whether it may manage the server.")
    user_id: str | None
    key_id: str
    expires_at: datetime | None = Field(description="Until when it works; null: until revoked.")
    adapter_state: AdapterState | Literal["unknown"] = Field(
        description="How its adapter stands; `unknown`: the server does not have it."
    )
    may: Rights


class RevokeRequest(StrictModel):
    """How a key shall end."""

    myself: bool = Field(default=False, description="That the key that asks may be ended.")


class RotateRequest(StrictModel):
    """How a key shall be replaced."""

    grace: str | None = Field(
        None, max_length=40, description="How long the old key goes on, as `1h`; else it ends."
    )


@key_router.get(
    "/key",
    response_model=OwnKey,
    responses=refusals(401, 403, 429, (503, "The database of keys is unavailable.")),
    summary="What the key of the request opens, and what it may do",
)
async def describe_key(request: Request, state: State, caller: KeyHolder) -> Response:
    """For a page or a program that was given a key and has to know what to offer."""
    record = await state.keys.get(caller.key_id)
    is_admin, known = caller.role == ADMIN, caller.adapter in state.adapters.names
    keeps_inbox = state.inbox is not None
    own = OwnKey(
        adapter=caller.adapter,
        role=caller.role,
        admin=is_admin,
        user_id=caller.user_id,
        key_id=caller.key_id,
        expires_at=record.expires_at,
        adapter_state=state.adapters.status(caller.adapter).state if known else "unknown",
        may=Rights(
            author=is_admin and may_author(request, state),
            inbox=is_admin and keeps_inbox,
            feedback=keeps_inbox,
        ),
    )
    return json_response(own.model_dump(mode="json"), headers={"Cache-Control": "no-store"})


@router.get("", summary="Every key, revoked and expired ones too, without secrets")
async def list_keys(state: State, _: Admin) -> Response:
    records = await state.keys.list()
    now = datetime.now(UTC)
    return json_response({"keys": [record.to_dict(now) for record in records]})


@router.post(
    "",
    status_code=201,
    summary="Make a key; it is shown this once",
    responses=_BODY_ERRORS,
    openapi_extra=request_body(KeyRequest),
)
async def create_key(request: Request, state: State, admin: Admin) -> Response:
    asked = read_body(KeyRequest, await request.body())
    new = new_key(**dict(asked))
    check_adapter(new.adapter, state.adapters.names)
    check_role(new.role, state.roles)
    change = _change(request, admin, "create", new.adapter, new.details())
    raw, record = await state.changes.make(
        change, lambda: state.keys.create(new), lambda made: {"key_id": made[1].key_id}
    )
    _log_change(admin, "made", record)
    return key_response(raw, record, 201)


@router.post(
    "/{key_id}/revoke",
    summary="End a key for good",
    responses=_CHANGE_ERRORS,
    openapi_extra=request_body(RevokeRequest, required=False),
)
async def revoke_key(request: Request, state: State, key_id: str, admin: Admin) -> Response:
    asked = read_body(RevokeRequest, await request.body() or b"{}")
    _check_id(key_id)
    if key_id == admin.key_id and not asked.myself:
        raise KeyIsOwn(
            f"{key_id} is the key that asks: another admin key may end it, or send "
            '{"myself": true} if it shall end itself'
        )
    change = _change(request, admin, "revoke", "", {"key_id": key_id})
    record = await state.changes.make(change, lambda: state.keys.revoke(key_id), KeyRecord.details)
    _log_change(admin, "revoked", record)
    return json_response(record.to_dict(datetime.now(UTC)))


@router.post(
    "/{key_id}/rotate",
    summary="Replace a key by a new one, which is shown this once",
    responses=_CHANGE_ERRORS,
    openapi_extra=request_body(RotateRequest, required=False),
)
async def rotate_key(request: Request, state: State, key_id: str, admin: Admin) -> Response:
    asked = read_body(RotateRequest, await request.body() or b"{}")
    grace = None if asked.grace is None else parse_lifetime(asked.grace)
    _check_id(key_id)
    change = _change(request, admin, "rotate", "", {"key_id": key_id, "grace": asked.grace})
    raw, record = await state.changes.make(
        change,
        lambda: state.keys.rotate(key_id, grace=grace),
        lambda made: made[1].details() | {"new_key_id": made[1].key_id},
    )
    _log_change(admin, f"rotated {key_id} into", record)
    return key_response(raw, record, 200)


def _change(
    request: Request, admin: Caller, how: str, adapter: str, arguments: Mapping[str, Any]
) -> Change:
    return Change(admin, "keys", how, adapter, arguments, request.state.request_id)


def _check_id(key_id: str) -> None:
    """Refuse an id in an address that is a whole key (addresses are logged) or no id at all."""
    issued = issued_id(key_id)
    if issued is not None:
        raise RequestInvalid(f"this is a whole key: name it by its id alone, {issued}")
    if not is_key_id(key_id):
        raise KeyNotFound("there is no key of that id: no key has an id of that form")


def _log_change(admin: Caller, did: str, record: KeyRecord) -> None:
    what = f"key {record.key_id} (adapter {record.adapter!r}, role {record.role!r})"
    _log.info("key %s (user %r) %s %s", admin.key_id, admin.user_id, did, what)


def key_response(raw: str, record: KeyRecord, status: int) -> Response:
    """Return a response with the key itself, which nothing may keep."""
    body = {"key": raw} | record.to_dict(datetime.now(UTC))
    return json_response(body, status, {"Cache-Control": "no-store"})
