"""A server that is to stop: what it says and does until then, in one process or in several."""

import json
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.chaos.process import Server
from tests.support.configuring import adapter, configure, write_library

pytestmark = pytest.mark.slow

WITHIN_S = 60.0
QUESTION = {"message": "What is 15% of 200?"}

Start = Callable[..., Server]


@pytest.fixture(params=[1, 2], ids=["one process", "two workers"])
def start(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Start]:
    """Start a server that drains for so many seconds, and wait until all of it serves."""
    started: list[Server] = []

    def start(drain_s: float) -> Server:
        sums = adapter("sums", write_library(tmp_path / "library"))
        configure(tmp_path, [sums], server={"workers": request.param, "drain_s": drain_s})
        server = Server(tmp_path / "config.yaml", tmp_path / "data")
        server.start()
        started.append(server)
        by = time.monotonic() + WITHIN_S
        while not serves(server, request.param):
            assert time.monotonic() < by, server.said()
            time.sleep(0.05)
        return server

    yield start
    for server in started:
        server.kill()


def serves(server: Server, workers: int) -> bool:
    try:
        found = readiness(server)
    except httpx.TransportError:
        return False
    rows = found.get("workers", {"processes": [{"state": "ready"}]})["processes"]
    return found["status"] == "ready" and [row["state"] for row in rows] == ["ready"] * workers


def readiness(server: Server) -> dict[str, Any]:
    found: dict[str, Any] = httpx.get(f"{server.url}/ready", timeout=10).json()
    return found


def send(server: Server, number: signal.Signals) -> float:
    """Send a signal; when that was."""
    assert server.process is not None
    server.process.send_signal(number)
    return time.monotonic()


def drains(server: Server) -> None:
    """Wait until it says so."""
    by = time.monotonic() + WITHIN_S
    while readiness(server)["status"] != "draining":
        assert time.monotonic() < by, server.said()


def seconds_to_end(server: Server, since_s: float) -> float:
    assert server.process is not None
    server.process.wait(WITHIN_S)
    return time.monotonic() - since_s


def test_until_it_stops_it_says_so_and_answers(start: Start) -> None:
    server = start(drain_s=3)
    made = server.run("keys", "create", "--adapter", "sums", "--json")
    key = {"Authorization": f"Bearer {json.loads(made.stdout)['key']}"}
    with httpx.Client(base_url=server.url, timeout=10) as kept:
        assert kept.get("/ready").status_code == 200
        asked_s = send(server, signal.SIGTERM)
        drains(server)
        told = kept.get("/ready")
        assert (told.status_code, told.json()["status"]) == (503, "draining")
        assert told.headers["connection"] == "close"  # so that who asks goes elsewhere
    for _ in range(4):  # each by a connection of its own, and so to any worker
        assert httpx.get(f"{server.url}/ready").status_code == 503
        assert httpx.get(f"{server.url}/health").status_code == 200
        answer = httpx.post(f"{server.url}/chat", json=QUESTION, headers=key, timeout=10)
        assert answer.json()["content"] == "15% of 200 is **30**"
    assert time.monotonic() - asked_s < 3
    assert seconds_to_end(server, asked_s) >= 3
    assert server.process is not None
    assert server.process.returncode == 0


def test_ctrl_c_again_ends_the_wait(start: Start) -> None:
    server = start(drain_s=600)
    asked_s = send(server, signal.SIGINT)
    drains(server)
    send(server, signal.SIGTERM)  # as a service manager may say twice
    drains(server)
    send(server, signal.SIGINT)
    assert seconds_to_end(server, asked_s) < 30


def test_stop_waits_for_it(start: Start) -> None:
    server = start(drain_s=2)
    begun_s = time.monotonic()
    stopped = server.run("stop")
    assert (stopped.returncode, " has stopped" in stopped.stderr) == (0, True), stopped.stderr
    assert time.monotonic() - begun_s >= 2
    assert server.process is not None
    assert server.process.wait(WITHIN_S) == 0
