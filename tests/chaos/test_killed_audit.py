"""A server that is killed at any moment: what it answered stands in its audit."""

import asyncio
import itertools
import os
import random
import signal
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
import yaml

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.cli.options import configured
from tests.e2e.test_commits_survive import server
from tests.support.audit import audited
from tests.support.configuring import PERCENTAGE, adapter, write_library
from tests.tools.http.upstream import Asked, Upstream, reply, upstream

pytestmark = pytest.mark.anyio

KILLS = 3
CLIENTS = 6
NOTED_WITHIN_S = 2.0
"""After a fifth of a second reads are written; the rest is for a machine that is busy."""

ASKED = {
    "write": "Cancel order {}",
    "read": "What is 15% of {}?",
    "refusal": "Refund order {}",
}
OUTCOMES = {"write": "success", "read": "success", "refusal": "role_forbids"}


def order_template(verb: str, origin: str, **more: Any) -> dict[str, Any]:
    return {
        "id": f"{verb}_order",
        "description": f"{verb} an order",
        "tool_type": "function",
        "effect": "write",
        "confirm": False,
        "nl_examples": [f"{verb} order 001", f"Please {verb} order 17", f"{verb} order 5"],
        "function_schema": {
            "name": f"{verb}_order",
            "parameters": [{"name": "order", "type": "integer", "required": True}],
        },
        "execution": {
            "type": "http_call",
            "http_method": "POST",
            "endpoint_template": f"{origin}/orders/{{order}}/{verb}",
        },
        **more,
    }


@dataclass
class Load:
    """What clients were answered, by the id of the request, and when."""

    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(100))
    answered: dict[str, tuple[str, float]] = field(default_factory=dict)
    kinds: Iterator[str] = field(default_factory=lambda: itertools.cycle(ASKED))

    async def ask_until_it_dies(self, client: httpx.AsyncClient) -> None:
        while True:
            kind, number = next(self.kinds), next(self.numbers)
            body = {"message": ASKED[kind].format(number)}
            try:
                answer = await client.post("/chat", json=body)
            except httpx.TransportError:
                return
            policy = answer.json()["metadata"].get("policy", {"outcome": "success"})
            assert policy["outcome"] == OUTCOMES[kind], answer.text
            self.answered[answer.headers["x-request-id"]] = kind, time.monotonic()


@pytest.fixture
async def orders() -> AsyncIterator[Upstream]:
    async def cancel(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.02)
        writer.write(reply({"status": "cancelled"}))

    async with upstream(cancel) as shop:
        yield shop


@pytest.mark.parametrize("sink", ["sql", "jsonl"])
async def test_what_was_answered_before_kill_9_is_in_the_audit(
    sink: str, orders: Upstream, tmp_path: Path
) -> None:
    folder, chance, load = tmp_path, random.Random(17), Load()
    http = {"http": {"private_hosts": ["127.0.0.1"]}}
    templates = [
        PERCENTAGE,
        order_template("Cancel", orders.origin),
        order_template("Refund", orders.origin, allowed_roles=["admin"]),
    ]
    shop = adapter("shop", write_library(folder / "shop", templates), config=http)
    audit = {"access": {"audit": {"sink": sink}}}
    (folder / "config.yaml").write_text(yaml.safe_dump({"adapters": [shop], **audit}))
    settings = configured(folder / "config.yaml", data=folder / "data").settings
    keys = await KeyStore.open(settings.database_url, settings.secret_path)
    key, _ = await keys.create(NewKey("shop"))
    await keys.close()

    for _ in range(KILLS):
        load.answered.clear()
        async with server(folder, key) as (client, pid):
            asking = [asyncio.create_task(load.ask_until_it_dies(client)) for _ in range(CLIENTS)]
            with anyio.fail_after(60):
                while len(load.answered) < 20:  # noqa: ASYNC110  clients tell nobody
                    await asyncio.sleep(0.01)
            await asyncio.sleep(chance.random())
            os.kill(pid, signal.SIGKILL)
            killed_at = time.monotonic()
            await asyncio.gather(*asking)
        check_answers(load, audited(settings, kind="call"), killed_at)

    async with server(folder, key):
        with anyio.fail_after(30):
            while not all_ended(audited(settings)):  # noqa: ASYNC110  the trail tells nobody
                await asyncio.sleep(0.2)
    check_orders(orders, audited(settings, template_id="Cancel_order"))


def check_answers(load: Load, events: list[dict[str, Any]], killed_at: float) -> None:
    outcomes: dict[str, list[str]] = {}
    for event in events:
        outcomes.setdefault(event["request_id"], []).append(event["outcome"])
    for request_id, (kind, at) in load.answered.items():
        expected = ["started", "success"] if kind == "write" else [OUTCOMES[kind]]
        if kind == "write" or at < killed_at - NOTED_WITHIN_S:
            assert outcomes.get(request_id) == expected, kind


def all_ended(events: list[dict[str, Any]]) -> bool:
    started = {e["call_id"] for e in events if e["outcome"] == "started"}
    ended = {e["call_id"] for e in events if e["outcome"] != "started"}
    return started <= ended


def check_orders(orders: Upstream, events: list[dict[str, Any]]) -> None:
    """Whatever reached the shop had been written down, and each has one word on its end."""
    by_order: dict[int, list[str]] = {}
    for event in events:
        by_order.setdefault(event["arguments"]["order"], []).append(event["outcome"])
    reached = [int(asked.path.split("/")[2]) for asked in orders.asked]
    assert len(set(reached)) == len(reached) > 0
    assert set(reached) <= set(by_order)
    for outcomes in by_order.values():
        assert outcomes in (["started", "success"], ["started", "interrupted"])
