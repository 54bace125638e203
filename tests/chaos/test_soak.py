"""Reloads under load: memory stays where it was, and everybody is answered."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from server.access.keys import KeyStore
from server.access.models import NewKey
from tests.support.configuring import adapter, configure, write_library
from tests.support.ports import free_port

ROOT = Path(__file__).parents[2]
PLACEHOLDER = ROOT / "examples/intent-templates/jsonplaceholder"
SHORT, LONG = (5, 20), (20, 200)
"""Reloads after which the server is warm, and reloads in all."""
MOST_GROWTH = 1.10
MOST_HEALTH_S = 0.5
MOST_FILES = 40
ASKED = ("What is 15% of 200?", "What time is it?", "20 percent of 31", "hello", "what of it?")

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="resident memory is read from /proc"
)


@dataclass
class Served:
    """A server in a process of its own, with what its clients have seen of it."""

    client: httpx.AsyncClient
    pid: int
    statuses: set[int] = field(default_factory=set)
    slowest_health_s: float = 0.0

    def resident_kb(self) -> int:
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))

    async def reload(self) -> None:
        answer = await self.client.post("/admin/reload")
        self.statuses.add(answer.status_code)
        assert {row["reloaded"] for row in answer.json()["adapters"]} == {True}

    async def ask(self) -> None:
        """Ask one question after the other, until cancelled."""
        while True:
            for message in ASKED:
                answer = await self.client.post("/chat", json={"message": message})
                self.statuses.add(answer.status_code)
                await asyncio.sleep(0.05)

    async def watch(self) -> None:
        while True:
            since = time.perf_counter()
            self.statuses.add((await self.client.get("/health")).status_code)
            self.slowest_health_s = max(self.slowest_health_s, time.perf_counter() - since)
            await asyncio.sleep(0.02)


def write_libraries(folder: Path, number: int) -> list[dict[str, Any]]:
    """The libraries of two adapters, with an example that no other number has."""
    domain, templates = (
        yaml.safe_load((PLACEHOLDER / name).read_text())
        for name in ("domain.yaml", "templates.yaml")
    )
    first, *others = templates["templates"]
    examples = [*first["nl_examples"], f"the letters of {number}"]
    library = [{**first, "nl_examples": examples}, *others]
    config = {"http": {"private_hosts": ["127.0.0.1"]}}
    implementation = "retrievers.implementations.intent.IntentHTTPRetriever"
    return [
        adapter("sums", write_library(folder / "sums")),
        adapter(
            "placeholder",
            write_library(folder / "placeholder", library, domain),
            config=config,
            implementation=implementation,
        ),
    ]


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[Served]:
    found = configure(folder, write_libraries(folder, 0))
    keys = await KeyStore.open(found.settings.database_url, found.settings.secret_path)
    key, _ = await keys.create(NewKey("sums", role="admin"))
    await keys.close()
    port, config = free_port(), str(folder / "config.yaml")
    command = ("-m", "server", "serve", "--config", config, "--port", str(port))
    with (folder / "log").open("wb") as log:
        server = await asyncio.create_subprocess_exec(
            sys.executable, *command, cwd=ROOT, stdout=log, stderr=log, env=dict(os.environ)
        )
    try:
        async with httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", headers={"X-API-Key": key}, timeout=30
        ) as client:
            while not await is_ready(client):
                assert server.returncode is None, (folder / "log").read_text()
                await asyncio.sleep(0.1)
            yield Served(client, server.pid)
    finally:
        server.terminate()
        await server.wait()
    assert "Traceback" not in (folder / "log").read_text()


async def is_ready(client: httpx.AsyncClient) -> bool:
    try:
        return bool((await client.get("/ready")).json()["status"] == "ready")
    except httpx.TransportError:
        return False


async def soaked(folder: Path, warm: int, reloads: int) -> tuple[Served, int, int]:
    """Reload under load; the server, and its memory when it was warm and in the end, in kB."""
    warm_kb = 0
    async with served(folder) as server:
        clients = [asyncio.create_task(server.ask()) for _ in range(2)]
        clients.append(asyncio.create_task(server.watch()))
        for number in range(1, reloads + 1):
            write_libraries(folder, number)
            await server.reload()
            if number == warm:
                warm_kb = server.resident_kb()
        for client in clients:
            client.cancel()
        ended = await asyncio.gather(*clients, return_exceptions=True)
        assert {type(end) for end in ended} == {asyncio.CancelledError}
        return server, warm_kb, server.resident_kb()


def test_reloads_under_load_leave_memory_as_it_was(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    warm, reloads = LONG if request.config.getoption("--full", default=False) else SHORT
    server, warm_kb, end_kb = asyncio.run(soaked(tmp_path, warm, reloads))
    figures = f"{warm_kb // 1024} MB after {warm} reloads, {end_kb // 1024} MB after {reloads}"
    assert end_kb <= MOST_GROWTH * warm_kb, figures
    assert server.statuses == {200}
    assert server.slowest_health_s < MOST_HEALTH_S
    kept = [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
    assert len(kept) <= MOST_FILES
