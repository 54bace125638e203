"""What a process that serves is made of, whether it is the only one or one of several."""

import gc
import os
import socket
import sys
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final, NoReturn

from server.cli import options
from server.cli.output import say

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

    from server.metrics.metrics import Metrics
    from server.settings.models import ServerSettings
    from server.workers.parent import Parent

_GARBAGE_AFTER: Final = 10_000
"""New objects after which garbage is looked for: those of a question or two, and not of a tenth."""


def create_api(
    found: options.Configured,
    config: Path,
    *,
    watches: bool,
    metrics: "Metrics | None" = None,
    parent: "Parent | None" = None,
    instance: str | None = None,
) -> "FastAPI":
    """Return the application; `metrics`, `parent` and `instance` are those of a worker."""
    from server.app import create_app
    from server.settings.loader import load_settings

    tells = sys.stderr.isatty() and (parent is None or parent.number == 1)
    return create_app(
        found.settings,
        found.environ,
        lambda: options.configured(config).settings.adapters,
        lambda: load_settings(config, os.environ).sources,
        watches=watches,
        say=say if tells else None,
        metrics=metrics,
        parent=parent,
        instance=instance,
    )


def say_serving(listening: socket.socket, workers: int = 1) -> None:
    host, port = listening.getsockname()[:2]
    where = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    among = f" with {workers} workers" if workers > 1 else ""
    say(f"Serving on {where}{among} (Ctrl-C to stop)")


def http_config(api: "FastAPI", settings: "ServerSettings") -> "uvicorn.Config":
    """Return how uvicorn serves the application, whose lifespan is ours."""
    import uvicorn

    proxies = settings.connections.trusted_proxies
    return uvicorn.Config(
        api,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="off",
        ws="none",
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
        timeout_graceful_shutdown=round(settings.shutdown_grace_s),
    )


async def collect_again(api: "FastAPI") -> None:
    """Look for garbage from the first question on, and not among what stays for good."""
    await api.state.api.adapters.every_one_tried()
    gc.freeze()
    gc.set_threshold(_GARBAGE_AFTER)
    gc.enable()


def end_process(_signal: int, _frame: FrameType | None) -> NoReturn:
    """Handle a signal: end through every `finally`."""
    raise SystemExit(0)
