"""The ASGI application: routes, one error shape, the request frame."""

from fastapi import FastAPI
from fastapi_offline import FastAPIOffline

from server import __version__
from server.api import errors
from server.api.direct import DirectRoute
from server.api.middleware import RequestFrame
from server.api.routes import (
    adapters,
    chat,
    completions,
    conversations,
    guards,
    health,
    intents,
    keys,
    metrics,
    tools,
)
from server.api.state import ApiState

_DESCRIPTION = """Plain questions in, safe and exact tool calls out.

Send your key as `Authorization: Bearer KEY` or `X-API-Key: KEY`; one key opens one
adapter. Every error has the shape `{"error": {"code", "message", "request_id"}}`.
"""


def create_api(state: ApiState, *, max_body_bytes: int) -> FastAPI:
    """Return the application over what `state` holds; opening and closing is app.py's."""
    # Its own copy of the documentation page, since a reader may be offline.
    app = FastAPIOffline(title="Orbit", version=__version__, description=_DESCRIPTION)
    app.state.api = state
    app.include_router(chat.router)
    app.include_router(completions.router)
    app.include_router(conversations.router)
    app.include_router(intents.router)
    app.include_router(tools.router)
    app.include_router(health.router)
    app.include_router(guards.router)
    app.include_router(adapters.router)
    app.include_router(keys.router)
    if state.serve_metrics:
        app.include_router(metrics.router)
    # Before FastAPI's own, so that it is found first.
    app.router.routes.insert(0, DirectRoute("/chat", chat.chat, methods=["POST"]))
    errors.install(app)
    app.add_middleware(RequestFrame, max_body_bytes=max_body_bytes, metrics=state.metrics)
    return app
