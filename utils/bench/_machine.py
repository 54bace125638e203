"""What every benchmark says of itself: the machine it ran on, and its percentiles."""

import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def describe_machine() -> dict[str, Any]:
    """Return processor, usable cores, Python, system, and the load of the last minute.

    A load near or over the number of cores says that the figures are pessimistic.
    """
    return {
        "processor": _processor(),
        "cores": _usable_cores(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "load_1min": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def installed_environment() -> dict[str, str]:
    """The environment for a process whose start is timed: modules are compiled once, and kept.

    Build machines often forbid that, which no installation does.
    """
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def percentiles(samples: Sequence[float]) -> dict[str, float]:
    """Return count, mean, min, p50, p90, p99 and max, in the unit of the samples.

    A percentile is the nearest sample by rank, so it is always a value that occurred.
    """
    if not samples:
        raise ValueError("percentiles of no samples")
    ordered = sorted(samples)

    def at(share: float) -> float:
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    return {
        "count": len(ordered),
        "mean": sum(ordered) / len(ordered),
        "min": ordered[0],
        "p50": at(0.50),
        "p90": at(0.90),
        "p99": at(0.99),
        "max": ordered[-1],
    }


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processor() -> str:
    """The model name where the system tells it, else the architecture."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()
