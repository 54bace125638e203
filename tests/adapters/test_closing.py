"""A replaced adapter lives as long as a turn uses it, and no longer."""

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.api.requests import ApiState
from server.chat.adapter import Adapter
from server.core.turn import Caller
from tests.support.api import running
from tests.support.configuring import NOW, PERCENTAGE, adapter, configure, write_library
from tests.tools.http.upstream import Asked, reply, upstream

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

RELOADS = 5
SOON_S = 5.0
DOMAIN = {"domain": {"name": "orders", "description": "Orders of a shop", "version": "1.0"}}
LEADING = (
    "name: leading\ncategories:\n"
    "  orders: {action: route, patterns: ['order'], route_to: {adapter: orders}}\n"
)


@pytest.fixture(autouse=True)
def without_collector() -> Iterator[None]:
    """An adapter goes when nobody uses it, and waits for no search for cycles."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def orders(origin: str) -> list[dict[str, Any]]:
    number = {"name": "number", "type": "integer", "required": True}
    common: dict[str, Any] = {"parameters": [number], "endpoint": origin + "/{number}"}
    return [
        {
            "id": "show_order",
            "description": "Show an order by its number",
            "nl_examples": ["show order 7", "what is in order number 12", "show me order 3"],
            **common,
        },
        {
            "id": "cancel_order",
            "description": "Cancel an order by its number",
            "nl_examples": ["cancel order 7", "call off order number 12", "cancel order no. 3"],
            "method": "DELETE",
            "confirm": True,
            **common,
        },
    ]


@dataclass
class Shop:
    """A server with the adapters `orders` and `front`, and a service that answers when told."""

    state: ApiState
    client: httpx.AsyncClient
    keys: dict[str, str]
    folder: Path
    origin: str
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    answer: asyncio.Event = field(default_factory=asyncio.Event)
    seen: list["weakref.ref[Adapter]"] = field(default_factory=list)

    async def post(self, path: str, body: dict[str, Any], by: str = "orders") -> dict[str, Any]:
        found = await self.client.post(path, json=body, headers={"X-API-Key": self.keys[by]})
        answer: dict[str, Any] = found.json()
        return answer

    async def reload(self) -> None:
        """Reload the orders often, each time from another library and another domain."""
        for number in range(RELOADS):
            templates = orders(self.origin)
            templates[0]["nl_examples"].append(f"order {'abcdefgh'[number]} please")
            domain = {"domain": DOMAIN["domain"] | {"name": f"orders-{number}"}}
            write_library(self.folder / "orders", templates, domain)
            self.seen.append(weakref.ref(self.state.adapters.get("orders")))
            await self.state.manager.reload("orders", Caller("test", "orders", role="admin"))

    def kept(self) -> list[str]:
        """The files and folders that are kept for the orders."""
        data = self.folder / "data"
        return sorted(path.name for path in data.rglob("orbit-orders-*"))

    def alive(self) -> list[bool]:
        return [each() is not None for each in self.seen]

    def nobody_holds_one(self) -> bool:
        """What a retry of a call raises holds its own frames, until they are searched for."""
        gc.collect()
        return not any(self.alive())

    async def comes(self, wanted: Callable[[], bool]) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(SOON_S):
                while not wanted():  # noqa: ASYNC110  nothing says when an object is gone
                    await asyncio.sleep(0.01)
        return wanted()


@asynccontextmanager
async def shop_in(folder: Path, **server: float) -> AsyncIterator[Shop]:
    async def answering(_: Asked, writer: asyncio.StreamWriter) -> None:
        shop.asked.set()
        await shop.answer.wait()
        writer.write(reply({"state": "done"}))

    pack = folder / "guard.yaml"
    pack.write_text(LEADING)
    async with upstream(answering) as service:
        http: dict[str, Any] = {"http": {"private_hosts": ["127.0.0.1"]}}
        rows = [
            adapter(
                "orders",
                write_library(folder / "orders", orders(service.origin), DOMAIN),
                config=http,
                implementation="retrievers.implementations.intent.IntentHTTPRetriever",
            ),
            adapter(
                "front",
                write_library(folder / "front", [PERCENTAGE, NOW]),
                guards={"packs": [str(pack)]},
            ),
        ]
        found = configure(folder, rows, server=server)
        store = await KeyStore.open(found.settings.database_url, found.settings.secret_path)
        keys = {name: (await store.create(NewKey(name)))[0] for name in ("orders", "front")}
        await store.close()
        async with running(found.settings, found.environ) as api:
            transport = httpx.ASGITransport(api, client=("127.0.0.1", 1))
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as c:
                await api.state.api.adapters.every_one_tried()
                shop = Shop(api.state.api, c, keys, folder, service.origin)
                yield shop
                shop.answer.set()


async def test_reloads_leave_one_adapter(tmp_path: Path) -> None:
    async with shop_in(tmp_path) as shop:
        at_first = shop.kept()
        await shop.reload()
        assert await shop.comes(lambda: not any(shop.alive()))
        assert await shop.comes(lambda: len(shop.kept()) == len(at_first))
        assert not {*at_first} & {*shop.kept()}
        answer = await shop.post("/chat", {"message": "what is in it"})
        assert "content" in answer


@pytest.mark.parametrize("by", ["orders", "front"])
async def test_a_turn_keeps_the_adapter_that_answers_it(tmp_path: Path, by: str) -> None:
    async with shop_in(tmp_path) as shop:
        turn = asyncio.create_task(shop.post("/chat", {"message": "show order 7"}, by))
        await shop.asked.wait()
        await shop.reload()
        assert await shop.comes(lambda: shop.alive() == [True] + [False] * (RELOADS - 1))
        shop.answer.set()
        assert (await turn)["metadata"]["tool_execution"]["status"] == "success"
        del turn
        assert await shop.comes(lambda: not any(shop.alive()))


@pytest.mark.parametrize("by", ["orders", "front"])
async def test_a_turn_that_a_client_leaves_keeps_none(tmp_path: Path, by: str) -> None:
    async with shop_in(tmp_path) as shop:
        turn = asyncio.create_task(shop.post("/chat", {"message": "show order 7"}, by))
        await shop.asked.wait()
        turn.cancel()
        await asyncio.gather(turn, return_exceptions=True)
        del turn
        await shop.reload()
        assert await shop.comes(shop.nobody_holds_one)


async def test_a_turn_that_takes_too_long_keeps_none(tmp_path: Path) -> None:
    async with shop_in(tmp_path, turn_timeout_s=0.5) as shop:
        late = await shop.post("/chat", {"message": "show order 7"})
        assert late["error"]["code"] == "turn_timed_out"
        await shop.reload()
        assert await shop.comes(shop.nobody_holds_one)


async def test_a_confirmed_call_keeps_it_though_the_client_leaves(tmp_path: Path) -> None:
    async with shop_in(tmp_path) as shop:
        asked = await shop.post("/chat", {"message": "cancel order 7", "session_id": "s"})
        reply = {"session_id": "s", "proposal_id": asked["metadata"]["proposal"]["proposal_id"]}
        turn = asyncio.create_task(shop.post("/chat/confirm", {**reply, "accept": True}))
        await shop.asked.wait()
        turn.cancel()
        await asyncio.gather(turn, return_exceptions=True)
        del turn
        await shop.reload()
        assert await shop.comes(lambda: shop.alive() == [True] + [False] * (RELOADS - 1))
        shop.answer.set()
        assert await shop.comes(lambda: not any(shop.alive()))
        again = await shop.client.post(
            "/chat/confirm",
            json={**reply, "accept": True},
            headers={"X-API-Key": shop.keys["orders"]},
        )
        assert again.json()["error"]["code"] == "proposal_settled"
