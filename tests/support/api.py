"""The HTTP edge over any adapters, and the whole server, with and without a socket."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp

from server.access.keys import KeyStore
from server.adapters.manager import AdapterManager
from server.adapters.registry import Adapters
from server.adapters.resources import SharedResources
from server.api.connections import ConnectionCount, HttpServer, within_descriptors
from server.api.factory import create_api
from server.api.requests import ApiState
from server.app import create_app
from server.authoring.saver import LibrarySaver
from server.evaluation.drafts import DraftDesk
from server.metrics.metrics import Metrics
from server.settings.models import AdapterSettings, ConnectionSettings, Settings

MAX_BODY_BYTES = 4096


@asynccontextmanager
async def api_state(
    adapters: Adapters, keys: KeyStore, data_dir: Path, **options: Any
) -> AsyncIterator[ApiState]:
    """What a server over these adapters has; there is nothing to reload and no guard."""
    settings = Settings(data_dir=data_dir, adapters=())
    resources = await SharedResources.open(settings, {})
    manager, changes = AdapterManager(adapters, resources, lambda: ()), resources.guardrails.changes
    desk = DraftDesk(resources)
    defaults: dict[str, Any] = {
        "max_message_chars": 200,
        "turn_timeout_s": 30.0,
        "proposals": resources.conversation.proposals,
        "audit": resources.audit,
        "transcripts": resources.conversation.transcripts,
    }
    yield ApiState(
        adapters=adapters,
        manager=manager,
        announcements=resources.announcements,
        guards=resources.guards,
        keys=keys,
        limits=resources.guardrails.limits,
        changes=changes,
        desk=desk,
        saver=LibrarySaver(manager, changes, data_dir / "backups"),
        metrics=resources.metrics,
        **(defaults | options),
    )
    await desk.close()
    await resources.close()


def api_over(state: ApiState, *, serve_metrics: bool = True) -> FastAPI:
    api = create_api(state.metrics, max_body_bytes=MAX_BODY_BYTES, serve_metrics=serve_metrics)
    api.state.api = state
    return api


def client_from(api: FastAPI, host: str) -> httpx.AsyncClient:
    """A client at that address, without a socket."""
    transport = httpx.ASGITransport(api, client=(host, 1))
    return httpx.AsyncClient(transport=transport, base_url="http://localhost")


@asynccontextmanager
async def served_on_loopback(api: FastAPI) -> AsyncIterator[str]:
    """Serve an application whose state is there already; its address."""
    server = uvicorn.Server(uvicorn.Config(api, log_config=None, lifespan="off"))
    listening = socket.create_server(("127.0.0.1", 0))
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving


@asynccontextmanager
async def served_within(
    app: ASGIApp, settings: ConnectionSettings, metrics: Metrics
) -> AsyncIterator[int]:
    """Serve an application as `serve` does; its port."""
    proxies = list(settings.trusted_proxies)
    config = uvicorn.Config(
        app,
        log_config=None,
        lifespan="off",
        ws="none",
        proxy_headers=bool(proxies),
        forwarded_allow_ips=proxies,
        timeout_graceful_shutdown=1,
    )
    server = HttpServer(config, ConnectionCount(within_descriptors(settings), metrics))
    listening = socket.create_server(("127.0.0.1", 0), backlog=2048)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        await serving


@asynccontextmanager
async def running(
    settings: Settings,
    environ: Mapping[str, str],
    reread: Callable[[], Sequence[AdapterSettings]] | None = None,
    **options: Any,
) -> AsyncIterator[FastAPI]:
    """The whole server, started."""
    app = create_app(settings, environ, reread, **options)
    async with app.router.lifespan_context(app):
        yield app
