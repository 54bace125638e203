"""A shop whose customers cancel orders: each is to be cancelled once, whatever happens."""

import asyncio
import itertools
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.cli.options import configured
from tests.chaos.claims import Claims
from tests.chaos.process import Server
from tests.support.configuring import PERCENTAGE, adapter, configure, write_library
from tests.tools.http.upstream import Asked, Upstream, reply, upstream

SECRET = "s" * 32
WRITTEN_WITHIN_S = 1.0
"""Conversations are written a fraction of a second after the answer (docs/conversations.md)."""
TOLD_WITHIN_S = 60
_ORDERS = itertools.count(10_001)


@dataclass
class Ledger:
    """What customers asked for and were told."""

    proposed: dict[int, dict[str, Any]] = field(default_factory=dict)
    """What would confirm each cancellation that was proposed."""
    done: set[int] = field(default_factory=set)
    """Orders that a customer was told are cancelled."""
    talked: dict[str, float] = field(default_factory=dict)
    """Conversations that were answered, and when."""


@dataclass
class Shop:
    """A server, its services, its customers, and what has to hold."""

    server: Server
    claims: Claims
    key: str
    orders: Upstream
    kernel: Upstream
    ledger: Ledger = field(default_factory=Ledger)

    @asynccontextmanager
    async def customers(self, count: int) -> AsyncIterator[None]:
        """Let that many do their business until the block ends."""
        over = asyncio.Event()
        tasks = [asyncio.create_task(self._customer(over)) for _ in range(count)]
        try:
            yield
        finally:
            over.set()
            await asyncio.gather(*tasks)

    def client(self) -> httpx.AsyncClient:
        headers = {"X-API-Key": self.key}
        return httpx.AsyncClient(base_url=self.server.url, headers=headers, timeout=60)

    async def _customer(self, over: asyncio.Event) -> None:
        async with self.client() as client:
            while not over.is_set():
                try:
                    await self.cancel_one(client)
                    await self.talk(client)
                except httpx.TransportError:
                    await asyncio.sleep(0.05)  # the server is down

    async def cancel_one(self, client: httpx.AsyncClient) -> None:
        """Have an order cancelled: a proposal, and a yes to it."""
        order = next(_ORDERS)
        asked = {"message": f"Cancel order {order}", "session_id": f"order-{order}"}
        answer = self.claims.note(await client.post("/chat", json=asked))
        if answer.status_code != 200:
            return
        proposal = answer.json()["metadata"].get("proposal")
        if proposal is None:
            self.claims.problems.append(f"nothing was proposed: {answer.text[:300]}")
            return
        yes = {"session_id": asked["session_id"], "proposal_id": proposal["proposal_id"]}
        self.ledger.proposed[order] = yes | {"accept": True}
        await self.confirm(client, order)

    async def confirm(self, client: httpx.AsyncClient, order: int) -> httpx.Response:
        body = self.ledger.proposed[order]
        answer = self.claims.note(await client.post("/chat/confirm", json=body))
        if answer.status_code == 200:
            metadata = answer.json()["metadata"]
            if metadata["proposal"]["status"] == "done":
                self.ledger.done.add(order)
        return answer

    async def talk(self, client: httpx.AsyncClient) -> None:
        """Ask something that a later message can continue."""
        session = f"talk-{next(_ORDERS)}"
        asked = {"message": "What is 15% of 200?", "session_id": session}
        answer = self.claims.note(await client.post("/chat", json=asked))
        if answer.status_code == 200:
            self.ledger.talked[session] = time.monotonic()

    async def check_conversations(self, ended: float, *, most: int = 3) -> None:
        """Claim that what was answered long enough before the server ended goes on."""
        known = [name for name, at in self.ledger.talked.items() if at < ended - WRITTEN_WITHIN_S]
        async with self.client() as client:
            for session in known[-most:]:
                asked = {"message": "and of 400?", "session_id": session}
                answer = self.claims.note(await client.post("/chat", json=asked))
                if "is **60**" not in answer.text:
                    self.claims.problems.append(f"conversation {session}: {answer.text[:300]}")
        self.ledger.talked.clear()

    async def settle(self, *, expired: bool = False) -> None:
        """Say yes again to everything, and claim that each order was cancelled once.

        With `expired` a yes may come too late for what nobody was told to be done.
        """
        async with self.client() as client:
            for order in self.ledger.proposed:
                allowed = {409} if order in self.ledger.done else {200, 409}
                allowed |= {410} if expired else set()
                again = await self.confirm(client, order)
                if again.status_code not in allowed:
                    self.claims.problems.append(f"order {order}: {again.text[:300]}")
        with anyio.move_on_after(TOLD_WITHIN_S):
            while not self._cancelled() <= self._told().keys():  # noqa: ASYNC110  others tell
                await asyncio.sleep(0.1)
        cancelled = Counter(_order(asked) for asked in self.orders.asked)
        told = self._told()
        self.claims.problems += [
            *(f"cancelled twice: {order}" for order, n in cancelled.items() if n > 1),
            *(f"lost: {order}" for order in self.ledger.done - cancelled.keys()),
            *(f"nobody was told: {order}" for order in self._cancelled() - told.keys()),
            *(f"told as two: {order}" for order, ids in told.items() if len(ids) > 1),
        ]

    def _cancelled(self) -> set[int]:
        return {_order(asked) for asked in self.orders.asked}

    def _told(self) -> dict[int, set[str]]:
        """The ids of the events by their order."""
        told: defaultdict[int, set[str]] = defaultdict(set)
        for asked in self.kernel.asked:
            told[int(asked.json["target"])].add(asked.json["id"])
        return told


def _order(asked: Asked) -> int:
    return int(asked.path.split("/")[2])


def _cancel_order(origin: str) -> dict[str, Any]:
    return {
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
            "endpoint_template": f"{origin}/orders/{{order}}/cancel",
        },
    }


@asynccontextmanager
async def opened_shop(
    folder: Path, *, data: Path | None = None, limits: tuple[str, ...] = (), **sections: Any
) -> AsyncIterator[Shop]:
    """A shop with a key; its server is not started yet, and killed when the block ends."""

    async def cancelled(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.02)
        writer.write(reply({"status": "cancelled"}))

    async def taken(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(reply({}))

    data = data or folder / "data"
    async with upstream(cancelled) as orders, upstream(taken) as kernel:
        library = write_library(folder / "library", [_cancel_order(orders.origin), PERCENTAGE])
        hook = {"url": f"{kernel.origin}/commit", "secret": SECRET, "first_retry_s": 0.2}
        sections = {"conversation": {"commits": {"webhook": hook}}} | sections
        http = {"http": {"private_hosts": ["127.0.0.1"]}}
        configure(folder, [adapter("shop", library, config=http)], **sections)
        server = Server(folder / "config.yaml", data)
        key = await new_key(server, NewKey("shop", limits=limits))
        try:
            yield Shop(server, Claims(server), key, orders, kernel)
        finally:
            server.kill()


async def new_key(server: Server, new: NewKey) -> str:
    """Make a key as the command line does."""
    settings = configured(server.config, data=server.data).settings
    keys = await KeyStore.open(settings.database_url, settings.secret_path)
    raw, _ = await keys.create(new)
    await keys.close()
    return raw
