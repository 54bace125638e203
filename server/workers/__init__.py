"""Several processes that answer for one server: how they and their supervisor talk.

The supervisor, `server.cli.supervisor`, accepts connections and keeps what is one for all.
"""

import os
from typing import Final

MOST_WORKERS: Final = 256

METRICS_VARIABLE: Final = "PROMETHEUS_MULTIPROC_DIR"
"""Where the processes of one server write their metrics. It has to be set before prometheus_client
is imported, which reads it then, and never again."""


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
