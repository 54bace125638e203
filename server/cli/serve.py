"""`serve`: the server in the foreground."""

import asyncio
import gc
import os
import signal
import socket
import sys
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from server.cli import options
from server.cli.output import say
from server.cli.ports import listen
from server.cli.runfile import Launch, recorded

if TYPE_CHECKING:
    from fastapi import FastAPI


def serve(
    host: options.Host = None,
    port: options.Port = None,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    watch: options.Watch = False,
) -> None:
    """Serve in the foreground until Ctrl-C; requests in flight finish first."""
    found = options.configured(config, data=data, host=host, port=port)
    server = found.settings.server
    # The port first, before anything slow, so that a taken one is said at once.
    listening = listen(server.host, server.port)
    launch = Launch(
        host=server.host,
        port=listening.getsockname()[1],
        config=config,
        data_dir=found.settings.data_dir,
        shutdown_grace_s=server.shutdown_grace_s,
        watches=watch,
    )
    from server.settings.loader import load_settings

    def create() -> "FastAPI":
        from server.app import create_app

        return create_app(
            found.settings,
            found.environ,
            lambda: options.configured(config).settings.adapters,
            lambda: load_settings(config, os.environ).sources,
            watches=watch,
            say=say if sys.stderr.isatty() else None,
        )

    with recorded(launch):
        _serve(found, listening, create)


def _serve(
    found: options.Configured, listening: socket.socket, create: "Callable[[], FastAPI]"
) -> None:
    import uvloop

    from server.cli.allocator import limit_arenas
    from server.cli.logs import set_up_logging
    from server.providers.embeddings.local import load_encoders_ahead

    limit_arenas(os.environ)
    set_up_logging(found.settings.logging)
    gc.disable()  # a start makes much and throws away little, until `_collect_again`
    load_encoders_ahead(found.settings.embeddings, found.settings.adapters)
    # uvicorn handles SIGTERM while it serves, then raises it again: this ends the process
    # through every `finally`, before, during and after.
    signal.signal(signal.SIGTERM, _end)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_run(found, listening, create))


async def _run(
    found: options.Configured, listening: socket.socket, create: "Callable[[], FastAPI]"
) -> None:
    import uvicorn

    from server.api.connections import HttpServer

    settings = found.settings
    host, port = listening.getsockname()[:2]
    api = create()
    async with api.router.lifespan_context(api):  # not by uvicorn: a failure here has a message
        say(f"Serving on http://{f'[{host}]' if ':' in host else host}:{port} (Ctrl-C to stop)")
        proxies = settings.server.connections.trusted_proxies
        config = uvicorn.Config(
            api,
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            ws="none",
            proxy_headers=bool(proxies),
            forwarded_allow_ips=list(proxies),
            timeout_graceful_shutdown=round(settings.server.shutdown_grace_s),
        )
        opened = asyncio.create_task(_collect_again(api))
        limits, metrics = settings.server.connections, api.state.api.metrics
        server = HttpServer(config, limits, metrics, api.state.mcp.end_streams)
        await server.serve(sockets=[listening])
        opened.cancel()


async def _collect_again(api: "FastAPI") -> None:
    """Look for garbage from the first question on, and not among what stays for good."""
    await api.state.api.adapters.every_one_tried()
    gc.freeze()
    gc.enable()


def _end(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(0)
