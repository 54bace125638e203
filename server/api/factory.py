"""The ASGI application: routes, one error shape, the request frame."""

import logging
import re
from secrets import token_hex
from time import perf_counter
from typing import Final

from fastapi import FastAPI
from fastapi_offline import FastAPIOffline
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server import __version__
from server.api import error_responses
from server.api.error_responses import BodyTooLarge, error_response, unexpected_response
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
from server.metrics.metrics import Metrics

_log = logging.getLogger(__name__)
_GIVEN_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_READS_NO_BODY: Final = frozenset({"GET", "HEAD", "OPTIONS"})


class RequestFrame:
    """Pure ASGI middleware, the outermost layer.

    Takes the client's `X-Request-ID` when it is plain, makes one otherwise, and
    returns it with the response. Reads the whole body before the application sees
    the request, and answers 413 as soon as it passes `max_body_bytes`. Counts and times
    every request by the route it took.
    """

    def __init__(self, app: ASGIApp, *, max_body_bytes: int, metrics: Metrics) -> None:
        self._app = app
        self._max_body_bytes = max_body_bytes
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(scope)
        scope.setdefault("state", {})["request_id"] = request_id
        started = False
        status = 499  # what is logged elsewhere for a client that left
        since = perf_counter()

        async def send_with_id(message: Message) -> None:
            nonlocal started, status
            if message["type"] == "http.response.start":
                started = True
                status = message["status"]
                headers = message.setdefault("headers", [])
                headers.append((b"x-request-id", request_id.encode()))
                headers.extend(scope["state"].get("rate_headers", ()))
            await send(message)

        try:
            if scope["method"] not in _READS_NO_BODY:
                receive = await self._bounded(scope, receive)
            await self._app(scope, receive, send_with_id)
        except BodyTooLarge as refused:
            await error_response(refused, request_id)(scope, receive, send_with_id)
        except Exception:
            # The outermost frame: whatever has no name ends here, in the log and not
            # in the answer.
            _log.exception("request %s failed", request_id)
            if started:
                raise
            await unexpected_response(request_id)(scope, receive, send_with_id)
        finally:
            self._metrics.request(scope["method"], _route(scope), status, perf_counter() - since)

    async def _bounded(self, scope: Scope, receive: Receive) -> Receive:
        refused = BodyTooLarge(
            f"the body is larger than {self._max_body_bytes // 1024} kB, the most this server reads"
        )
        declared = _header(scope, b"content-length") or b"0"
        if declared.isdigit() and int(declared) > self._max_body_bytes:
            raise refused
        chunks: list[bytes] = []
        size = 0
        more = True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return _replay(message, receive)
            chunk = message.get("body", b"")
            size += len(chunk)
            if size > self._max_body_bytes:
                raise refused
            chunks.append(chunk)
            more = message.get("more_body", False)
        return _replay({"type": "http.request", "body": b"".join(chunks)}, receive)


def _replay(first: Message, receive: Receive) -> Receive:
    pending: list[Message] = [first]

    async def replayed() -> Message:
        return pending.pop() if pending else await receive()

    return replayed


def _route(scope: Scope) -> str:
    """The pattern that the router found; a path that it did not is anybody's text."""
    return getattr(scope.get("route"), "path", "unmatched")


def _request_id(scope: Scope) -> str:
    given = _header(scope, b"x-request-id")
    return given.decode() if given and _GIVEN_ID.fullmatch(given) else token_hex(16)


def _header(scope: Scope, wanted: bytes) -> bytes | None:
    return next((value for name, value in scope["headers"] if name == wanted), None)


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
    error_responses.install(app)
    app.add_middleware(RequestFrame, max_body_bytes=max_body_bytes, metrics=state.metrics)
    return app
