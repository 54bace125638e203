"""`/admin/adapters`: how adapters stand, and opening them anew after their files changed."""

from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from server.adapters.registry import AdapterStatus
from server.api.auth import NEEDS_KEY, admin_of
from server.api.error_responses import json_response, shown_message
from server.api.routes.health import describe_status
from server.api.schemas import refusals
from server.api.state import ApiState, Reloading, state_of
from server.errors import AdapterUnknown, OrbitError

_ERRORS: Final = refusals(
    (401, "No key, or one that is unknown, expired or revoked."),
    (403, "Not an admin key."),
    (404, "There is no adapter of that name."),
    (409, "What was written cannot be used; `details` says why. What ran before goes on."),
    (503, "What the adapter needs cannot be reached. What ran before goes on."),
)

router = APIRouter(prefix="/admin", tags=["admin"], responses=_ERRORS)


@router.get("/adapters", summary="Every adapter, and how it stands", openapi_extra=NEEDS_KEY)
async def every(request: Request) -> Response:
    await admin_of(request)
    statuses = state_of(request).adapters.statuses()
    return json_response({"adapters": [describe_status(status) for status in statuses]})


@router.get("/adapters/{name}", summary="One adapter, and how it stands", openapi_extra=NEEDS_KEY)
async def one(request: Request, name: str) -> Response:
    await admin_of(request)
    adapters = state_of(request).adapters
    if name not in adapters.names:
        raise AdapterUnknown(f"there is no adapter {name!r} in this configuration")
    return json_response(describe_status(adapters.status(name)))


@router.post(
    "/adapters/{name}/reload", summary="Read an adapter's files again", openapi_extra=NEEDS_KEY
)
async def reload(request: Request, name: str) -> Response:
    """Answer by the files as they are now. What cannot be used changes nothing."""
    await admin_of(request)
    status = await _reloading(state_of(request)).reload(name)
    return json_response(describe_status(status))


@router.post("/reload", summary="Read the files of every adapter again", openapi_extra=NEEDS_KEY)
async def reload_all(request: Request) -> Response:
    """One that cannot be reloaded goes on as it was, and keeps none of the others from it."""
    await admin_of(request)
    outcomes = await _reloading(state_of(request)).reload_all()
    return json_response({"adapters": [_row(status, failed) for status, failed in outcomes]})


def _row(status: AdapterStatus, failed: OrbitError | None) -> dict[str, Any]:
    row: dict[str, Any] = describe_status(status) | {"reloaded": failed is None}
    if failed is not None:
        row["error"] = {"code": failed.code, "message": shown_message(failed)}
        details = getattr(failed, "details", None)
        row["error"] |= {"details": details} if details else {}
    return row


def _reloading(state: ApiState) -> Reloading:
    assert state.reloading is not None  # noqa: S101  set once, by app.py
    return state.reloading
