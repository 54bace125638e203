"""`GET /health`, `GET /ready` and `GET /metrics`: is it alive, does it serve, and how much?"""

import asyncio
import hmac

from fastapi import APIRouter, Request
from starlette.responses import Response

from server import __version__
from server.access.models import ADMIN
from server.adapters.registry import AdapterStatus
from server.api.auth import is_loopback, key_holder, key_of
from server.api.error_responses import json_response
from server.api.requests import ApiState, State
from server.api.schemas import Health, Readiness, refusals
from server.errors import (
    AccessDenied,
    KeyForeign,
    KeyMissing,
    KeyUnknown,
    StoreUnavailable,
)
from server.metrics.metrics import CONTENT_TYPE
from server.workers.parent import Parent

router = APIRouter(tags=["health"])
metrics_router = APIRouter(tags=["health"])
"""On its own, because `metrics.enabled` can switch it off."""


@router.get("/health", response_model=Health, summary="Liveness")
async def get_health(state: State) -> Response:
    """The process answers. Says nothing about adapters: that is `/ready`."""
    body = {"status": "ok", "version": __version__, "instance": state.instance}
    several = {} if state.parent is None else {"workers": state.parent.count}
    return json_response(body | several)


@router.get(
    "/ready",
    response_model=Readiness,
    responses={
        503: {
            "model": Readiness,
            "description": "No adapter serves (yet), or the server is about to stop.",
        }
    },
    summary="Readiness, adapter by adapter",
)
async def get_readiness(request: Request, state: State) -> Response:
    """200 when at least one adapter serves; the body says which do not.

    503 with `draining` from when the server is asked to stop, though it still answers what comes.

    It says why to this machine and to whoever has a key: an admin, or one of that adapter.
    """
    await state.adapters.check()
    statuses = state.adapters.statuses()
    states = {row.state for row in statuses}
    if "ready" in states:
        status = "ready" if states == {"ready"} else "degraded"
    else:
        status = "opening" if "opening" in states else "unavailable"
    serves = "ready" in states
    if state.stopping.is_set():
        status, serves = "draining", False
    reader = await _reader_of(request, state)
    rows = [
        describe_status(row)
        if reader in (row.name, ADMIN)
        else {"name": row.name, "state": row.state}
        for row in statuses
    ]
    body: dict[str, object] = {"status": status, "adapters": rows}
    if state.parent is not None and reader == ADMIN:
        body["workers"] = await describe_workers(state.parent)
    return json_response(body, 200 if serves else 503)


async def _reader_of(request: Request, state: ApiState) -> str | None:
    """Return `admin` for who may read everything, else the adapter of the key, if there is one."""
    if is_loopback(request):
        return ADMIN
    try:
        caller = await state.keys.authenticate(key_of(request))
    except (AccessDenied, StoreUnavailable):
        return None
    return ADMIN if caller.role == ADMIN else caller.adapter


async def describe_workers(parent: Parent) -> dict[str, object]:
    """Return what the supervisor knows of all workers, and which of them was asked."""
    known = await parent.workers()
    return {"count": parent.count, "answered_by": parent.number, **known}


def describe_status(status: AdapterStatus) -> dict[str, object]:
    """Return the state of one adapter as JSON-ready data."""
    optional = {"why": status.why, "details": dict(status.details)}
    given = {name: value for name, value in optional.items() if value}
    return {"name": status.name, "state": status.state, **given}


@metrics_router.get(
    "/metrics",
    summary="Prometheus metrics",
    response_class=Response,
    responses={
        200: {"content": {"text/plain": {}}},
        **refusals(
            (401, "Neither the token that is set nor a key was sent, or it is a wrong one."),
            (403, "No token is set, so only for this machine; or a key that is no admin's."),
            (429, "Too many wrong keys came from this address."),
        ),
    },
)
async def get_metrics(request: Request, state: State) -> Response:
    """For `metrics.token` as a bearer token, and admin keys; without one set, for this machine."""
    await _check_reader_of_metrics(request, state)
    pids = () if state.parent is None else await state.parent.pids()
    text = await asyncio.to_thread(state.metrics.text, pids)
    return Response(text, media_type=CONTENT_TYPE)


async def _check_reader_of_metrics(request: Request, state: ApiState) -> None:
    if state.metrics_token is None and is_loopback(request):
        return
    try:
        sent = key_of(request)
    except KeyMissing:
        if state.metrics_token is not None:
            raise
        raise KeyForeign(
            "metrics are for this machine and admin keys only, until metrics.token is set"
        ) from None
    token = state.metrics_token
    if token is not None and hmac.compare_digest(
        sent.encode("utf-8", "surrogatepass"), token.encode()
    ):
        return
    try:
        caller = await key_holder(request, state)
    except KeyUnknown:
        raise KeyUnknown("this is neither the token of metrics.token nor a key") from None
    if caller.role != ADMIN:
        raise KeyForeign("metrics are for admin keys; this one is of another role")
