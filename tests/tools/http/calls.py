"""Short ways to write an execution and to run it."""

import asyncio
from collections.abc import Mapping
from typing import Any

from server.library.http_model import (
    HttpBody,
    HttpExecution,
    HttpMethod,
    HttpRequest,
    HttpService,
    parse_endpoint,
)
from server.library.placeholders import parse_text, to_texts
from server.tools.http.egress import EgressPolicy
from server.tools.http.engine import HttpEngine
from tests.tools.http.upstream import Answering, Asked, Upstream, upstream

FAST = HttpService(backoff_s=0.001, timeout_s=5.0)

LOOPBACK = EgressPolicy(private_hosts=frozenset({"127.0.0.1", "localhost", "[::1]"}))


def request(
    method: HttpMethod,
    endpoint: str,
    *,
    base_url: str = "",
    query: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    json: Any = None,
    form: Mapping[str, Any] | None = None,
    text: str | None = None,
) -> HttpRequest:
    place = parse_endpoint(endpoint, base_url)
    body = None
    if json is not None:
        body = HttpBody("json", to_texts(json))
    elif form is not None:
        body = HttpBody("form", to_texts(form))
    elif text is not None:
        body = HttpBody("text", parse_text(text))
    return HttpRequest(
        method=method,
        origin=place.origin,
        path=place.path,
        query=place.query + tuple((n, parse_text(v)) for n, v in (query or {}).items()),
        headers=tuple((n, parse_text(v)) for n, v in (headers or {}).items()),
        body=body,
    )


def execution(
    method: HttpMethod, endpoint: str, *, service: HttpService = FAST, **more: Any
) -> HttpExecution:
    names = ("base_url", "query", "headers", "json", "form", "text")
    asking = {name: more.pop(name) for name in names if name in more}
    return HttpExecution("op", request(method, endpoint, **asking), service, **more)


def ask(
    answering: Answering,
    method: HttpMethod,
    path: str,
    arguments: Mapping[str, Any] | None = None,
    **more: Any,
) -> tuple[dict[str, Any], list[Asked]]:
    """Run one call against a service that answers like this; return result and requests."""

    async def run() -> tuple[dict[str, Any], list[Asked]]:
        async with upstream(answering) as service:
            result = await once(service, method, path, arguments, **more)
            return result, service.asked

    return asyncio.run(run())


async def once(
    there: Upstream,
    method: HttpMethod,
    path: str,
    arguments: Mapping[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    engine = HttpEngine(egress=LOOPBACK)
    try:
        call = execution(method, path, base_url=there.origin, **more)
        return await engine.run(call, arguments or {})
    finally:
        await engine.close()
