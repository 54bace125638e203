"""`serve`: the server in the foreground."""

import asyncio
import gc
import os
import shutil
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from server.cli import options
from server.cli.application import (
    collect_again,
    create_api,
    end_process,
    http_config,
    say_serving,
)
from server.cli.ports import listen
from server.cli.runfile import Launch, recorded
from server.storage.files import make_private
from server.workers import METRICS_VARIABLE

if TYPE_CHECKING:
    from fastapi import FastAPI


def serve(
    host: options.Host = None,
    port: options.Port = None,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    workers: options.Workers = None,
    watch: options.Watch = False,
) -> None:
    """Serve in the foreground until Ctrl-C; requests in flight finish first."""

    def read() -> options.Configured:
        return options.configured(config, data=data, host=host, port=port, workers=workers)

    found = read()
    server = found.settings.server
    # The port first, before anything slow, so that a taken one is said at once.
    listening = listen(server.host, server.port)
    launch = Launch(
        host=server.host,
        port=listening.getsockname()[1],
        config=config,
        data_dir=found.settings.data_dir,
        shutdown_grace_s=server.shutdown_grace_s,
        drain_s=server.drain_s,
        watches=watch,
        workers=found.settings.worker_count,
        asked_workers=workers,
    )
    with recorded(launch):
        if found.settings.worker_count == 1:
            _serve(found, listening, lambda: create_api(found, config, watches=watch))
        else:
            _share_metrics(found.settings.data_dir)
            from server.cli.workers import serve_with_workers

            serve_with_workers(found, listening, config, read, watches=watch)


def _share_metrics(data_dir: Path) -> None:
    """Have all processes that are to come write their metrics into one folder, empty now."""
    folder = data_dir / "run" / "metrics"
    shutil.rmtree(folder, ignore_errors=True)
    make_private(folder)
    os.environ[METRICS_VARIABLE] = str(folder)


def _serve(
    found: options.Configured, listening: socket.socket, create: "Callable[[], FastAPI]"
) -> None:
    import uvloop

    from server.cli.allocator import limit_arenas
    from server.cli.logs import set_up_logging
    from server.providers.embeddings.local import load_encoders_ahead

    limit_arenas(os.environ)
    set_up_logging(found.settings.logging)
    gc.disable()  # a start makes much and throws away little, until `collect_again`
    load_encoders_ahead(found.settings.embeddings, found.settings.adapters)
    # uvicorn handles SIGTERM while it serves, then raises it again: this ends the process
    # through every `finally`, before, during and after.
    signal.signal(signal.SIGTERM, end_process)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_run(found, listening, create))


async def _run(
    found: options.Configured, listening: socket.socket, create: "Callable[[], FastAPI]"
) -> None:
    from server.api.connections import ConnectionCount, HttpServer, within_descriptors

    server = found.settings.server
    api = create()
    async with api.router.lifespan_context(api):  # not by uvicorn: a failure here has a message
        say_serving(listening)
        opened = asyncio.create_task(collect_again(api))
        count = ConnectionCount(within_descriptors(server.connections), api.state.api.metrics)
        http = HttpServer(
            http_config(api, server),
            count,
            api.state.mcp.end_streams,
            drain_s=server.drain_s,
            stopping=api.state.api.stopping.set,
        )
        await http.serve(sockets=[listening])
        opened.cancel()
