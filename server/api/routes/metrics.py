"""`GET /metrics`: what was counted, for Prometheus."""

import hmac

from fastapi import APIRouter, Request
from starlette.responses import Response

from server.api.auth import is_loopback, key_of
from server.api.schemas import ErrorResponse
from server.api.state import state_of
from server.errors import KeyForeign, KeyUnknown
from server.metrics.metrics import CONTENT_TYPE

router = APIRouter(tags=["health"])


@router.get(
    "/metrics",
    summary="Prometheus metrics",
    response_class=Response,
    responses={
        200: {"content": {"text/plain": {}}},
        401: {"model": ErrorResponse, "description": "A token is set, and was not sent."},
        403: {"model": ErrorResponse, "description": "No token is set; only for this machine."},
    },
)
async def metrics(request: Request) -> Response:
    """Needs `metrics.token` as a bearer token; without one, only this machine may read."""
    state = state_of(request)
    if state.metrics_token is None:
        if not is_loopback(request):
            raise KeyForeign("metrics are for this machine only, until metrics.token is set")
    elif not hmac.compare_digest(key_of(request).encode(), state.metrics_token.encode()):
        raise KeyUnknown("this is not the token of metrics.token")
    return Response(state.metrics.text(), media_type=CONTENT_TYPE)
