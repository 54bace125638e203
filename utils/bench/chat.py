"""What `/chat` costs: one client in turn, then many at once, over real HTTP on loopback.

    .venv/bin/python -m utils.bench.chat [--clients 16] [--seconds 10] [--questions 2000]
        [--config FILE] [--json]

Starts a server of its own in a temporary data folder. "Without embedding" asks questions
whose vectors the server remembers; "new questions" asks each question once only.
"""

import argparse
import asyncio
import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import httpx

from utils.bench._client import Connection
from utils.bench._machine import describe_machine, installed_environment, percentiles

ROOT = Path(__file__).resolve().parents[2]
ADAPTER = "intent-agent-example"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--questions", type=int, default=2000, help="asked one after the other")
    parser.add_argument("--config", type=Path, default=ROOT / "config" / "config.yaml")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="orbit-bench-") as data:
        place = ["--data", data, "--config", str(options.config)]
        first_start_s, process, _ = start(place)
        stop(process)
        warm_start_s, process, url = start(place)
        try:
            figures = asyncio.run(measure(url, make_key(place), options))
            figures["resident_mb"] = round(resident_mb(process.pid), 1)
        finally:
            stop(process)
    figures = {
        "machine": describe_machine(),
        "first_start_s": round(first_start_s, 2),
        "warm_start_s": round(warm_start_s, 2),
        **figures,
    }
    print(json.dumps(figures, indent=2) if options.json else as_text(figures))


def start(
    place: list[str], *, program: Sequence[str] = ("-m", "server")
) -> tuple[float, subprocess.Popen[str], str]:
    """Start a server on a free port; seconds until `/ready` answers 200."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *program, "serve", "--port", "0", *place],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        env=installed_environment() | {"NO_COLOR": "1"},
    )
    assert process.stderr is not None
    url = ""
    for line in process.stderr:
        found = re.search(r"http://\S+?:\d+", line)
        if found and "Serving" in line:
            url = found.group()
            break
    if not url:
        raise SystemExit("the server did not start")
    while True:
        ready = httpx.get(f"{url}/ready")
        if ready.json()["status"] == "ready":
            return time.perf_counter() - begin, process, url
        if ready.json()["status"] == "unavailable":
            stop(process)
            raise SystemExit(f"the adapter could not be opened: {ready.text}")
        time.sleep(0.02)


def stop(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)


def make_key(place: list[str], adapter: str = ADAPTER, *more: str) -> str:
    made = subprocess.run(
        [
            *(sys.executable, "-m", "server", "keys", "create", "--json"),
            *("--adapter", adapter, *more, *place),
        ],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    key: str = json.loads(made.stdout)["key"]
    return key


def resident_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    return int(found.group(1)) / 1024 if found else float("nan")


def new_questions() -> Iterator[str]:
    """Questions whose words differ, so that no vector of an earlier one fits.

    They differ in words that bear nothing, or each would have a word that nobody can read.
    """
    said = (
        *("actually", "basically", "currently", "really", "simply"),
        *("quickly", "anyway", "already", "exactly", "still"),
    )
    for n in count():
        four = (said[n // 10**place % 10] for place in range(4))
        yield f"what is {' '.join(four)} {n % 90 + 1}% of {n + 100}?"


async def measure(url: str, key: str, options: argparse.Namespace) -> dict[str, Any]:
    clients, many = options.clients, options.questions
    client = await Connection.open(url, key)
    await latencies(client, ["What is 15% of 200?"] * max(1, many // 40))
    known = await latencies(client, ["What is 15% of 200?"] * many)
    fresh = new_questions()
    new = await latencies(client, [next(fresh) for _ in range(max(1, many * 3 // 20))])
    await client.close()
    throughput = await flood(url, key, fresh, clients, options.seconds)
    return {
        "without_embedding_ms": percentiles(known),
        "new_questions_ms": percentiles(new),
        "clients": clients,
        **throughput,
    }


async def latencies(client: Connection, questions: list[str]) -> list[float]:
    """Milliseconds for each question, one after the other."""
    taken = []
    for question in questions:
        begin = time.perf_counter()
        await client.ask(question)
        taken.append((time.perf_counter() - begin) * 1000)
    return taken


async def flood(
    url: str, key: str, questions: Iterator[str], clients: int, seconds: float
) -> dict[str, Any]:
    end = time.perf_counter() + seconds
    taken: list[float] = []

    async def ask_on() -> None:
        client = await Connection.open(url, key)
        while time.perf_counter() < end:
            taken.extend(await latencies(client, [next(questions)]))
        await client.close()

    begin = time.perf_counter()
    await asyncio.gather(*(ask_on() for _ in range(clients)))
    return {
        "answers_per_second": round(len(taken) / (time.perf_counter() - begin), 1),
        "under_load_ms": percentiles(taken),
    }


def as_text(figures: dict[str, Any]) -> str:
    return "\n".join(f"{name:<22} {value}" for name, value in figures.items())


if __name__ == "__main__":
    main()
