"""`serve` with several workers: what is made ready for all of them, and what each does.

Imported only once `METRICS_VARIABLE` is set, since prometheus_client reads it when it is imported.
"""

import asyncio
import gc
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import typer
import uvicorn
import uvloop
from fastapi import FastAPI
from prometheus_client import multiprocess, values

import server.app  # noqa: F401  once for all workers
from server import __version__
from server.api.connections import ConnectionCount, HttpServer, within_descriptors
from server.cli import options
from server.cli.allocator import limit_arenas
from server.cli.application import collect_again, create_api, end_process, http_config, say_serving
from server.cli.logs import set_up_logging
from server.cli.output import failures_as_messages
from server.cli.supervisor import Plan, Seat, Supervisor
from server.errors import OrbitError
from server.metrics.metrics import Metrics
from server.providers.embeddings.local import load_encoders_ahead
from server.providers.embeddings.local_models import load_now
from server.workers.parent import Parent


class StartNeeded(OrbitError):
    """What changed in the configuration needs a stop and a start."""

    code = "start_needed"


def serve_with_workers(
    found: options.Configured,
    listening: socket.socket,
    config: Path,
    read: Callable[[], options.Configured],
    *,
    watches: bool,
) -> None:
    """Serve until a signal ends it. `read` reads the configuration, for workers that come later.

    What is imported and loaded here before the first fork is in memory once for all workers.
    """
    limit_arenas(os.environ)
    gc.disable()
    settings = found.settings
    set_up_logging(settings.logging)
    instance = uuid4().hex
    metrics = _metrics_of(slot=0)

    def plan(chosen: options.Configured) -> Plan:
        server = chosen.settings.server
        load_encoders_ahead(chosen.settings.embeddings, chosen.settings.adapters, load=load_now)

        def run(seat: Seat) -> None:
            _work(chosen, config, seat, instance, watches=watches)

        return Plan(chosen.settings.worker_count, server.shutdown_grace_s, run, server.drain_s)

    supervisor = Supervisor(
        listening,
        plan(found),
        ConnectionCount(within_descriptors(settings.server.connections), metrics),
        replan=lambda: plan(_unmoved(found, read())),
        serving=lambda: say_serving(listening, settings.worker_count),
        ended=_forget_gauges,
    )
    code = supervisor.run()
    if supervisor.stopped_by == signal.SIGINT:
        raise KeyboardInterrupt
    if code:
        sys.exit(code)


def _forget_gauges(slot: int) -> None:
    """Delete what an ended process said of itself, such as how many connections it has."""
    multiprocess.mark_process_dead(slot)  # type: ignore[no-untyped-call]


def _metrics_of(slot: int) -> Metrics:
    """Return metrics in files of a slot, which go on where the last process in it ended."""
    identified = values.MultiProcessValue(lambda: slot)  # type: ignore[no-untyped-call]
    values.ValueClass = identified
    return Metrics(__version__)


def _unmoved(before: options.Configured, now: options.Configured) -> options.Configured:
    """Return a configuration that workers may take over while the server runs, or StartNeeded."""
    old, new = before.settings, now.settings
    found = {
        "data_dir": (old.data_dir, new.data_dir),
        "server.host": (old.server.host, new.server.host),
        "server.port": (old.server.port, new.server.port),
        "access.database_url": (old.database_url, new.database_url),
        "server.workers, to one": (False, new.worker_count == 1),
    }
    changed = ", ".join(name for name, (was, is_now) in found.items() if was != is_now)
    if changed:
        raise StartNeeded(f"what changed needs a stop and a start: {changed}")
    return now


def _work(
    found: options.Configured, config: Path, seat: Seat, instance: str, *, watches: bool
) -> None:
    """Be a worker until the supervisor or a signal ends it."""
    signal.signal(signal.SIGTERM, end_process)
    set_up_logging(found.settings.logging, worker=seat.number)
    parent = Parent(seat.channel, number=seat.number, count=seat.count)
    work = _run(found, config, seat.slot, parent, instance, watches=watches)
    try:
        with failures_as_messages(), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(work)
    except typer.Exit as ending:
        raise SystemExit(ending.exit_code) from None
    except asyncio.CancelledError:
        return  # the supervisor was gone before anything was served


class _WorkerServer(HttpServer):
    """Serves what the supervisor accepts."""

    def __init__(
        self,
        config: uvicorn.Config,
        count: ConnectionCount,
        end_streams: Callable[[], None],
        parent: Parent,
    ) -> None:
        super().__init__(config, count, end_streams, stopping=parent.stopping.set)
        self._parent = parent

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._parent.serve(self._count_and_take, self._drain_soon, self.send_away)

    def _count_and_take(self, connection: socket.socket, host: str) -> None:
        self._count.enter(host)  # the supervisor has let it in: it counts those of all workers
        self.take(connection, host)

    def _drain_soon(self) -> None:
        self._draining = asyncio.create_task(self.drain())


async def _run(
    found: options.Configured,
    config: Path,
    slot: int,
    parent: Parent,
    instance: str,
    *,
    watches: bool,
) -> None:
    this, server = asyncio.current_task(), found.settings.server
    assert this is not None  # noqa: S101  it is running
    parent.attach(gone=this.cancel)
    api = create_api(
        found,
        config,
        metrics=_metrics_of(slot),
        watches=watches,
        parent=parent,
        instance=instance,
    )
    async with api.router.lifespan_context(api):
        opened = asyncio.create_task(_tell_ready(api, parent))
        count = ConnectionCount(server.connections, api.state.api.metrics, left=parent.left)
        http = _WorkerServer(http_config(api, server), count, api.state.mcp.end_streams, parent)
        parent.attach(gone=http.stop)
        await http.serve(sockets=[])
        opened.cancel()


async def _tell_ready(api: FastAPI, parent: Parent) -> None:
    await collect_again(api)
    parent.ready()
