"""A server that is killed between a yes and what follows loses nothing, and repeats nothing."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
import yaml

from server.access.keys import KeyStore
from server.access.models import NewKey
from tests.support.ports import free_port
from tests.tools.http.upstream import Asked, reply, upstream

pytestmark = [pytest.mark.anyio, pytest.mark.chaos]

SECRET = "s" * 32


def configure(folder: Path, order: str, hook: str) -> None:
    template = {
        "id": "cancel_order",
        "description": "Cancel an order",
        "tool_type": "function",
        "effect": "write",
        "nl_examples": ["Cancel order 001", "Please cancel order 17", "I want order 5 cancelled"],
        "function_schema": {
            "name": "cancel_order",
            "parameters": [{"name": "order", "type": "integer", "required": True}],
        },
        "execution": {
            "type": "http_call",
            "http_method": "POST",
            "endpoint_template": f"{order}/orders/{{order}}/cancel",
        },
    }
    (folder / "domain.yaml").write_text("domain: {name: shop}\n")
    (folder / "tools.yaml").write_text(yaml.safe_dump({"templates": [template]}))
    config = {
        "conversation": {
            "commits": {"webhook": {"url": hook, "secret": SECRET, "first_retry_s": 0.2}}
        },
        "adapters": [
            {
                "name": "shop",
                "config": {
                    "domain_config_path": "domain.yaml",
                    "template_library_path": "tools.yaml",
                    "http": {"private_hosts": ["127.0.0.1"]},
                },
            }
        ],
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(config))


def started(folder: Path, port: int) -> "subprocess.Popen[bytes]":
    options = ["--config", str(folder / "config.yaml"), "--data", str(folder / "data")]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ORBIT_")}
    with (folder / "server.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "server", "serve", "--port", str(port), *options],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=kept,
        )


@asynccontextmanager
async def server(folder: Path, key: str) -> AsyncIterator[tuple[httpx.AsyncClient, int]]:
    """A server process that is ready, and its pid; it is killed when the block ends."""
    port = free_port()
    process = started(folder, port)
    try:
        url = f"http://127.0.0.1:{port}"
        headers = {"X-API-Key": key}
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60) as client:
            with anyio.fail_after(120):
                while not await _ready(client):
                    assert process.poll() is None, (folder / "server.log").read_text()
                    await asyncio.sleep(0.1)
            yield client, process.pid
    finally:
        process.kill()
        process.wait()


async def _ready(client: httpx.AsyncClient) -> bool:
    try:
        return (await client.get("/ready")).status_code == 200
    except httpx.TransportError:
        return False


async def until(what: Any) -> None:
    with anyio.fail_after(60):
        while not what():  # noqa: ASYNC110  the wire tells nobody
            await asyncio.sleep(0.05)


async def hold(client: httpx.AsyncClient, message: str) -> dict[str, Any]:
    session = message.replace(" ", "-")
    asked = {"message": message, "session_id": session}
    answer = (await client.post("/chat", json=asked)).json()
    proposal_id = answer["metadata"]["proposal"]["proposal_id"]
    return {"session_id": session, "proposal_id": proposal_id, "accept": True}


async def test_kill_9_between_yes_and_delivery_loses_nothing_and_repeats_nothing(
    tmp_path: Path,
) -> None:
    taken = False
    hangs = asyncio.Event()

    async def order(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.path == "/orders/2/cancel":
            await hangs.wait()
        writer.write(reply({"status": "cancelled"}))

    async def hook(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(reply({}, status=200 if taken else 503))

    async with upstream(order) as orders, upstream(hook) as kernel:
        configure(tmp_path, orders.origin, f"{kernel.origin}/v1/kernel/commit")
        keys = await KeyStore.open(
            f"sqlite:///{tmp_path / 'data' / 'orbit.db'}", tmp_path / "data" / "secret"
        )
        key, _ = await keys.create(NewKey("shop"))
        await keys.close()

        async with server(tmp_path, key) as (client, pid):
            waits = await hold(client, "Cancel order 3")
            done = await hold(client, "Cancel order 1")
            answer = (await client.post("/chat/confirm", json=done)).json()
            assert answer["metadata"]["proposal"]["status"] == "done"
            under_way = await hold(client, "Cancel order 2")
            asking = asyncio.create_task(client.post("/chat/confirm", json=under_way))
            await until(lambda: len(orders.asked) == 2)
            os.kill(pid, signal.SIGKILL)
            with pytest.raises(httpx.TransportError):
                await asking

        hangs.set()
        taken = True
        refused = len(kernel.asked)
        async with server(tmp_path, key) as (client, _):
            again = [await client.post("/chat/confirm", json=body) for body in (done, under_way)]
            assert [answer.status_code for answer in again] == [409, 409]
            assert "it is unknown whether it was done" in again[1].json()["error"]["message"]
            assert (await client.post("/chat/confirm", json=waits)).status_code == 200
            await until(lambda: len({e.json["id"] for e in kernel.asked[refused:]}) == 3)

        events = {asked.json["id"]: asked.json["target"] for asked in kernel.asked}
        assert sorted(events.values()) == ["1", "2", "3"]
        assert [asked.path for asked in orders.asked] == [
            f"/orders/{number}/cancel" for number in (1, 2, 3)
        ]
