"""The ASGI application: routes, one error shape, the request frame."""

import logging
import re
from secrets import token_hex
from time import perf_counter
from typing import Final

from fastapi import FastAPI
from fastapi_offline import FastAPIOffline
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Lifespan, Message, Receive, Scope, Send

from server import __version__
from server.api.auth import host_of, is_address
from server.api.error_responses import (
    BodyTooLarge,
    ClientLeft,
    HostForeign,
    error_response,
    install_error_handlers,
    internal_error,
    json_response,
)
from server.api.routes import (
    adapters,
    audit,
    chat,
    completions,
    console,
    downloads,
    evaluations,
    files,
    guards,
    health,
    inbox,
    intents,
    keys,
    library,
    operate,
    usage,
)
from server.core.spans import NO_SPAN, Span, Tracer, traced_request
from server.metrics.metrics import METHODS, Metrics

_log = logging.getLogger(__name__)
_WITHOUT_BODY: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_CLIENT_LEFT: Final = 499
_UNTRACED: Final = frozenset({"/health", "/ready", "/metrics"})
"""What is asked every few seconds by who watches the server."""
_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")

_DESCRIPTION = """Plain questions in, safe and exact tool calls out.

Send your key as `Authorization: Bearer KEY` or `X-API-Key: KEY`; one key opens one
adapter. Every error has the shape `{"error": {"code", "message", "request_id"}}`.
"""


def create_api(
    metrics: Metrics,
    *,
    max_body_bytes: int,
    allowed_hosts: frozenset[str] | None = None,
    serve_metrics: bool = True,
    serve_console: bool = True,
    lifespan: Lifespan[FastAPI] | None = None,
) -> FastAPI:
    """Return the application; its `state.api` has to be an `ApiState` before it is asked.

    With `allowed_hosts` it answers to these names, to addresses and to `localhost` alone.
    """
    # FastAPIOffline brings its own copy of the documentation page, for readers without a network.
    app: FastAPI = FastAPIOffline(
        title="Orbit", version=__version__, description=_DESCRIPTION, lifespan=lifespan
    )
    for routes in (
        chat, downloads, completions, intents, adapters, library, evaluations, health, guards
    ):  # fmt: skip
        app.include_router(routes.router)
    app.include_router(adapters.admin_router)
    for admin_routes in (keys, audit, usage, operate, files, inbox):
        app.include_router(admin_routes.router)
    app.include_router(keys.key_router)
    if serve_metrics:
        app.include_router(health.metrics_router)
    if serve_console:
        app.include_router(console.router)
    install_error_handlers(app)
    app.add_middleware(
        RequestFrame, max_body_bytes=max_body_bytes, metrics=metrics, allowed_hosts=allowed_hosts
    )
    return app


class RequestFrame:
    """Pure ASGI middleware, the outermost layer.

    Gives every request an id, the client's `X-Request-ID` when that is plain, and returns it
    with the response. Reads the whole body first, at most `max_body_bytes`. Counts and times
    requests by route, and answers a failure that has no name without its details.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        max_body_bytes: int,
        metrics: Metrics,
        allowed_hosts: frozenset[str] | None = None,
    ) -> None:
        self._app = app
        self._allowed_hosts = allowed_hosts
        self._max_body_bytes = max_body_bytes
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        tracer = _tracer_of(scope)
        if tracer is None or scope["path"] in _UNTRACED:
            await self._serve(scope, receive, send, NO_SPAN)
            return
        parents = Headers(scope=scope).getlist("traceparent")
        parent = parents[0] if len(parents) == 1 else None
        with traced_request(tracer, _method_of(scope), parent) as span:
            await self._serve(scope, receive, send, span)

    async def _serve(self, scope: Scope, receive: Receive, send: Send, span: Span) -> None:
        headers = Headers(scope=scope)
        request_id = headers.get("x-request-id", "")
        if not _REQUEST_ID.fullmatch(request_id):
            request_id = token_hex(16)
        scope.setdefault("state", {})["request_id"] = request_id
        status: int | None = None
        since = perf_counter()

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                sent = message.setdefault("headers", [])
                sent.append((b"x-request-id", request_id.encode()))
                sent.extend(scope["state"].get("rate_headers", ()))
            await send(message)

        try:
            self._refuse_foreign_host(headers.get("host"))
            if scope["method"] not in _WITHOUT_BODY:
                receive = await self._read_body(headers, receive)
            await self._app(scope, receive, send_with_id)
        except BodyTooLarge as too_large:
            sent = _SentBeforeBody(receive, send_with_id)
            await error_response(too_large, request_id)(scope, receive, sent)
        except HostForeign as refused:
            await error_response(refused, request_id)(scope, receive, send_with_id)
        except (ClientLeft, ClientDisconnect):
            pass  # in the middle of its body: nobody reads an answer
        except Exception:
            _log.exception("request %s failed", request_id)
            if status is not None:
                raise
            await json_response(internal_error(request_id), 500)(scope, receive, send_with_id)
        finally:
            # The router's pattern, since a path may be any text; 499 for a client that left.
            route = getattr(scope.get("route"), "path", "unmatched")
            _describe(span, scope, route, status or _CLIENT_LEFT, request_id)
            self._metrics.request(
                scope["method"], route, status or _CLIENT_LEFT, perf_counter() - since
            )

    def _refuse_foreign_host(self, header: str | None) -> None:
        if self._allowed_hosts is None or header is None:
            return
        name = host_of(header)
        if name not in self._allowed_hosts and not is_address(name):
            raise HostForeign(
                "this server does not go by the name of the Host header; its operator can list "
                "names under server.allowed_hosts"
            )

    async def _read_body(self, headers: Headers, receive: Receive) -> Receive:
        """Return a `receive` that gives the whole body at once, or raise BodyTooLarge."""
        declared = headers.get("content-length", "")
        size = int(declared) if declared.isdecimal() else 0
        body = b""
        message: Message = {"type": "http.request", "more_body": True}
        while size <= self._max_body_bytes and message.get("more_body", False):
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientLeft("the client left before its body was there")
            body += message.get("body", b"")
            size = max(size, len(body))
        if size > self._max_body_bytes:
            most = self._max_body_bytes // 1024
            raise BodyTooLarge(f"the body is larger than {most} kB, the most this server reads")
        pending: list[Message] = [{"type": "http.request", "body": body}]

        async def receive_after_body() -> Message:
            return pending.pop() if pending else await receive()

        return receive_after_body


def _tracer_of(scope: Scope) -> Tracer | None:
    app = scope.get("app")
    if app is None:
        return None
    tracer: Tracer | None = app.state.api.tracer
    return tracer


def _method_of(scope: Scope) -> str:
    """The method of a request as spans have it, which a client may have made up."""
    return str(scope["method"]) if scope["method"] in METHODS else "HTTP"


def _describe(span: Span, scope: Scope, route: str, status: int, request_id: str) -> None:
    """Tell a span of a request by the semantic conventions of HTTP; paths may hold any text."""
    if span is NO_SPAN:
        return
    method = _method_of(scope)
    known = route != "unmatched"
    span.rename(f"{method} {route}" if known else method)
    span.set(
        {
            "http.request.method": "_OTHER" if method == "HTTP" else method,
            **({"http.route": route} if known else {}),
            "http.response.status_code": status,
            "url.scheme": str(scope.get("scheme", "http")),
            "network.protocol.version": str(scope.get("http_version", "1.1")),
            "orbit.request.id": request_id,
        }
    )
    if status >= 500:
        span.fail(str(status))


class _SentBeforeBody:
    """A `send` for a response that goes out while its request is still coming.

    The rest of the request is read before the response counts as ended: if a connection is closed
    on what nobody read, the client may lose the response that it was sent.
    """

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            await self._send({**message, "more_body": True})
            coming: Message = {"more_body": True}
            while coming.get("more_body", False):
                coming = await self._receive()
            message = {"type": "http.response.body", "body": b""}
        await self._send(message)
