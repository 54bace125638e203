"""`GET /health` and `GET /ready`: is it alive, and does it serve?"""

from fastapi import APIRouter, Request
from starlette.responses import Response

from server import __version__
from server.adapters.registry import AdapterStatus
from server.api.error_responses import json_response
from server.api.schemas import Health, Readiness
from server.api.state import state_of

router = APIRouter(tags=["health"])


@router.get("/health", response_model=Health, summary="Liveness")
async def health(request: Request) -> Response:
    """The process answers. Says nothing about adapters: that is `/ready`."""
    instance = state_of(request).instance
    return json_response({"status": "ok", "version": __version__, "instance": instance})


@router.get(
    "/ready",
    response_model=Readiness,
    responses={503: {"model": Readiness, "description": "No adapter serves (yet)."}},
    summary="Readiness, adapter by adapter",
)
async def ready(request: Request) -> Response:
    """200 when at least one adapter serves; the body says which do not, and why."""
    statuses = state_of(request).adapters.statuses()
    status = overall(statuses)
    body = {"status": status, "adapters": [describe_status(row) for row in statuses]}
    return json_response(body, 200 if status in ("ready", "degraded") else 503)


def overall(statuses: list[AdapterStatus]) -> str:
    """One word for all adapters: ready, degraded, opening or unavailable."""
    states = {row.state for row in statuses}
    if states == {"ready"}:
        return "ready"
    if "ready" in states:
        return "degraded"
    return "opening" if "opening" in states else "unavailable"


def describe_status(status: AdapterStatus) -> dict[str, object]:
    """How one adapter stands, as JSON-ready data."""
    row: dict[str, object] = {"name": status.name, "state": status.state}
    if status.why:
        row["why"] = status.why
    if status.details:
        row["details"] = dict(status.details)
    return row
