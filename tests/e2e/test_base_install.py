"""A base install from the lock: nothing misses what it leaves out, and nothing leaves the machine.

The servers here run without uvloop, so that every connection of Python's is seen.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.chroma import chroma_server
from tests.support.configuring import NOW, PERCENTAGE, adapter, write_library
from tests.support.ports import free_port
from utils.lock import PROJECT, name_of, read_lock

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
CONFINED = ROOT / "tests" / "support" / "base_install"
QUESTION, ANSWER = "What is 15% of 200?", "15% of 200 is **30**"


class BaseInstall:
    """The environment of a Python that has what base.txt locks and no more, and cannot get out."""

    def __init__(self, folder: Path) -> None:
        self.attempts = folder / "attempts"
        about = folder / "base_install.json"
        about.write_text(json.dumps({"missing": missing(), "attempts": str(self.attempts)}))
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ORBIT_")}
        self.environment = kept | {
            "ORBIT_HOME": str(ROOT),
            "PYTHONPATH": str(CONFINED),
            "BASE_INSTALL": str(about),
        }

    def run(self, *args: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, *args]
        return subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False
        )

    @contextmanager
    def server(self, *options: str) -> Iterator[httpx.Client]:
        port = free_port()
        command = [sys.executable, "-m", "server", "serve", "--port", str(port), *options]
        log = self.attempts.with_name("log").open("w")
        with (
            log,
            subprocess.Popen(
                command, cwd=ROOT, env=self.environment, stdout=log, stderr=log
            ) as process,
            httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client,
        ):
            try:
                for _ in range(600):
                    if process.poll() is not None or is_ready(client):
                        break
                    time.sleep(0.1)
                assert is_ready(client), Path(log.name).read_text("utf-8")
                yield client
            finally:
                process.terminate()


def missing() -> list[str]:
    """What can be imported here and could not where base.txt alone is installed."""
    there = {pin.name for pin in read_lock("base")} | {PROJECT}
    owners = metadata.packages_distributions()
    return sorted(top for top, names in owners.items() if there.isdisjoint(map(name_of, names)))


def is_ready(client: httpx.Client) -> bool:
    try:
        return client.get("/ready").is_success
    except httpx.TransportError:
        return False


@pytest.fixture
def base(tmp_path: Path) -> BaseInstall:
    return BaseInstall(tmp_path)


def test_nothing_left_out_can_be_imported_there_and_no_attempt_goes_unseen(
    base: BaseInstall,
) -> None:
    for name in ("kubernetes", "onnxruntime"):
        assert "No module named" in base.run("-c", f"import {name}").stderr
    tried = base.run("-c", "import socket; socket.create_connection(('192.0.2.1', 9))")
    assert "PermissionError" in tried.stderr
    assert base.attempts.read_text().splitlines() == ["socket.getaddrinfo 192.0.2.1"]


@pytest.mark.parametrize("mode", ["embedded", "server"])
def test_a_server_starts_and_answers_with_it(base: BaseInstall, tmp_path: Path, mode: str) -> None:
    with vectors_in(mode, tmp_path) as vector_store:
        options = write_config(tmp_path, vector_store)
        made = base.run("-m", "server", "keys", "sample", "--adapter", "sums", *options)
        assert made.stdout == "sums\n", made.stderr
        with base.server(*options) as client:
            headers = {"Authorization": "Bearer sums"}
            answer = client.post("/chat", json={"message": QUESTION}, headers=headers)
            without = client.post("/mcp", json={}, headers=headers)
    assert (answer.status_code, answer.json().get("content")) == (200, ANSWER)
    assert (without.status_code, without.json()["error"]["code"]) == (501, "extra_missing")
    assert not base.attempts.exists()
    assert (tmp_path / "data" / "chroma").exists() == (mode == "embedded")


def test_a_command_answers_with_it(base: BaseInstall, tmp_path: Path) -> None:
    options = write_config(tmp_path, {"mode": "embedded"})
    asked = base.run("-m", "server", "ask", QUESTION, *options)
    assert asked.stdout == f"{ANSWER}\n", asked.stderr
    assert not base.attempts.exists()


def write_config(folder: Path, vector_store: dict[str, Any]) -> list[str]:
    """The options of a server with one adapter, which asks Chroma for whatever it compares."""
    library = write_library(folder / "sums", [NOW, PERCENTAGE])
    config = folder / "config.yaml"
    matching = {"search": "chroma"}
    said = {
        "vector_store": vector_store,
        "matching": matching,
        "adapters": [adapter("sums", library)],
    }
    config.write_text(json.dumps(said))
    return ["--data", str(folder / "data"), "--config", str(config)]


@contextmanager
def vectors_in(mode: str, folder: Path) -> Iterator[dict[str, Any]]:
    """The settings for vectors in the server's process, or in a ChromaDB server beside it."""
    if mode == "embedded":
        yield {"mode": mode}
        return
    with chroma_server(folder / "chroma") as (port, _):
        yield {"mode": mode, "host": "127.0.0.1", "port": port}
