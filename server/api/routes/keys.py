"""`/admin/keys`: every key, and making, ending and replacing them while the server runs."""

import logging
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from server.access.key_format import is_key_id, issued_id
from server.access.key_request import check_adapter, check_role, new_key, parse_lifetime
from server.access.models import KeyRecord
from server.api.auth import NEEDS_KEY, admin_of
from server.api.error_responses import json_response
from server.api.parsing import read_body
from server.api.schemas import refusals
from server.api.state import state_of
from server.core.turn import Caller
from server.errors import KeyIsOwn, KeyNotFound, RequestInvalid

_log = logging.getLogger(__name__)

_ERRORS: Final = refusals(
    (401, "No key, or one that is unknown, expired or revoked."),
    (403, "Not an admin key."),
    (503, "The database of keys is unavailable."),
)
_BODY: Final = refusals(
    (400, "The body is not JSON, or a value in it cannot be used; the message says which."),
    (422, "A field is missing, unknown or of the wrong type."),
)
_CHANGE: Final = _BODY | refusals(
    (404, "There is no key of that id."),
    (409, "There is, and it cannot be changed so; the message says why."),
)
_SHOWN_ONCE: Final = {"Cache-Control": "no-store"}

router = APIRouter(prefix="/admin/keys", tags=["admin"], responses=_ERRORS)


class KeyRequest(BaseModel):
    """A key to make."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={
            "examples": [{"adapter": "intent-agent-example", "user_id": "ana", "expires": "30d"}]
        },
    )

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


class RevokeRequest(BaseModel):
    """How a key shall end."""

    model_config = ConfigDict(extra="forbid", strict=True)

    myself: bool = Field(default=False, description="That the key that asks may be ended.")


class RotateRequest(BaseModel):
    """How a key shall be replaced."""

    model_config = ConfigDict(extra="forbid", strict=True)

    grace: str | None = Field(
        None, max_length=40, description="How long the old key goes on, as `1h`; else it ends."
    )


def _documented(model: type[BaseModel], *, required: bool) -> dict[str, Any]:
    content = {"application/json": {"schema": model.model_json_schema()}}
    return NEEDS_KEY | {"requestBody": {"required": required, "content": content}}


@router.get(
    "",
    summary="Every key, revoked and expired ones too, without secrets",
    openapi_extra=NEEDS_KEY,
)
async def every(request: Request) -> Response:
    await admin_of(request)
    records = await state_of(request).keys.list()
    now = datetime.now(UTC)
    return json_response({"keys": [record.to_dict(now) for record in records]})


@router.post(
    "",
    status_code=201,
    summary="Make a key; it is shown this once",
    responses=_BODY,
    openapi_extra=_documented(KeyRequest, required=True),
)
async def create(request: Request) -> Response:
    state = state_of(request)
    by = await admin_of(request)
    asked = read_body(KeyRequest, await request.body())
    new = new_key(
        asked.adapter,
        user_id=asked.user_id,
        role=asked.role,
        limits=asked.limits,
        expires=asked.expires,
        label=asked.label,
    )
    check_adapter(new.adapter, state.adapters.names)
    check_role(new.role, state.roles)
    raw, record = await state.keys.create(new)
    _note(by, "made", record)
    return _shown_once(raw, record, 201)


@router.post(
    "/{key_id}/revoke",
    summary="End a key for good",
    responses=_CHANGE,
    openapi_extra=_documented(RevokeRequest, required=False),
)
async def revoke(request: Request, key_id: str) -> Response:
    by = await admin_of(request)
    asked = read_body(RevokeRequest, await request.body() or b"{}")
    if _checked(key_id) == by.key_id and not asked.myself:
        raise KeyIsOwn(
            f"{key_id} is the key that asks: another admin key may end it, or send "
            '{"myself": true} if it shall end itself'
        )
    record = await state_of(request).keys.revoke(key_id)
    _note(by, "revoked", record)
    return json_response(record.to_dict(datetime.now(UTC)))


@router.post(
    "/{key_id}/rotate",
    summary="Replace a key by a new one, which is shown this once",
    responses=_CHANGE,
    openapi_extra=_documented(RotateRequest, required=False),
)
async def rotate(request: Request, key_id: str) -> Response:
    by = await admin_of(request)
    asked = read_body(RotateRequest, await request.body() or b"{}")
    grace = None if asked.grace is None else parse_lifetime(asked.grace)
    raw, record = await state_of(request).keys.rotate(_checked(key_id), grace=grace)
    _note(by, f"rotated {key_id} into", record)
    return _shown_once(raw, record, 200)


def _checked(key_id: str) -> str:
    """The id in an address, which is no place for a whole key: addresses are written down."""
    issued = issued_id(key_id)
    if issued is not None:
        raise RequestInvalid(f"this is a whole key: name it by its id alone, {issued}")
    if not is_key_id(key_id):
        raise KeyNotFound("there is no key of that id: no key has an id of that form")
    return key_id


def _note(by: Caller, did: str, record: KeyRecord) -> None:
    what = f"key {record.key_id} (adapter {record.adapter!r}, role {record.role!r})"
    _log.info("key %s (user %r) %s %s", by.key_id, by.user_id, did, what)


def _shown_once(raw: str, record: KeyRecord, status: int) -> Response:
    body = {"key": raw} | record.to_dict(datetime.now(UTC))
    return json_response(body, status, _SHOWN_ONCE)
