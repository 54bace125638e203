"""PostgreSQL and Redis that stop and die under load, while the server goes on."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx
import pytest

from tests.chaos.shop import Shop, opened_shop
from tests.support import postgresql, redis

pytestmark = pytest.mark.anyio

STORE_TIMEOUT_S = 0.5
SLACK_S = 1.5
LIMIT = 200


@pytest.mark.skipif(postgresql.why_not() is not None, reason=str(postgresql.why_not()))
async def test_a_postgresql_that_stops_and_dies(full: bool, tmp_path: Path) -> None:
    with postgresql.mortal_postgresql() as store:
        access = {"database_url": store.url, "store_timeout_s": STORE_TIMEOUT_S}
        async with opened_shop(tmp_path, access=access) as shop:
            shop.server.start()
            assert await shop.server.ready()
            with shop.claims.watching():
                async with shop.customers(4):
                    for number in range(6 if full else 2):
                        await asyncio.sleep(2)
                        shop.claims.remember_memory()
                        with postgresql.stopped(store.pid):
                            await asyncio.sleep(1 + number % 3)
                        await asyncio.sleep(1)
                        store.kill()
                        await asyncio.sleep(number % 3)
                        store.start()
                    assert (503, "store_unavailable") in shop.claims.answers
                    await asyncio.sleep(2)
                async with shop.client() as client:
                    done = len(shop.ledger.done)
                    await shop.cancel_one(client)
                    assert len(shop.ledger.done) == done + 1
                await shop.settle()
            shop.claims.check()


@pytest.mark.skipif(redis.why_not() is not None, reason=str(redis.why_not()))
async def test_a_redis_that_stops_and_dies(full: bool, tmp_path: Path) -> None:
    """Of so many calls an hour no more are answered, whatever becomes of the counts."""
    folder = tmp_path / "redis"
    folder.mkdir()
    with redis.redis(folder, keeps=True) as store:
        access = {"rate_limits": {"storage": store.url}}
        async with opened_shop(tmp_path, limits=(f"{LIMIT}/hour",), access=access) as shop:
            shop.server.start()
            assert await shop.server.ready()
            with shop.claims.watching():
                for _ in range(4 if full else 1):
                    async with _askers(shop, 4):
                        await asyncio.sleep(0.5)
                        store.signal(signal.SIGSTOP)
                        await asyncio.sleep(3)
                        store.signal(signal.SIGCONT)
                        await asyncio.sleep(0.5)
                        store.signal(signal.SIGKILL)
                        await asyncio.sleep(1)
                        store.start()
                        await asyncio.sleep(1)
                async with shop.client() as client, anyio.create_task_group() as asking:
                    for _ in range(LIMIT):
                        asking.start_soon(_ask, shop, client)
            assert shop.claims.answers[200, ""] <= LIMIT
            assert {(503, "store_unavailable"), (429, "rate_limited")} <= shop.claims.answers.keys()
            shop.claims.check()


@asynccontextmanager
async def _askers(shop: Shop, count: int) -> AsyncIterator[None]:
    """Have questions asked until the block ends, slowly enough to be counted all along."""

    async def ask() -> None:
        async with shop.client() as client:
            while True:
                await _ask(shop, client)
                await asyncio.sleep(0.1)

    async with anyio.create_task_group() as asking:
        for _ in range(count):
            asking.start_soon(ask)
        yield
        asking.cancel_scope.cancel()


async def _ask(shop: Shop, client: httpx.AsyncClient) -> httpx.Response:
    return shop.claims.note(await client.post("/chat", json={"message": "What is 15% of 200?"}))
