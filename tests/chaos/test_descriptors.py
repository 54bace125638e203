"""A server that may open few files, and clients that take all of them."""

import asyncio
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.chaos.shop import opened_shop

pytestmark = pytest.mark.anyio

MOST = 96


async def test_descriptors_are_exhausted(full: bool, tmp_path: Path) -> None:
    async with opened_shop(tmp_path) as shop:
        shop.server.open_files = MOST
        shop.server.start()
        assert await shop.server.ready()
        with shop.claims.watching():
            for _ in range(10 if full else 2):
                async with shop.customers(4):
                    await asyncio.sleep(1)
                    shop.claims.remember_memory()
                    with ExitStack() as taken:
                        for _ in range(3 * MOST):
                            address = ("127.0.0.1", shop.server.port)
                            taken.enter_context(socket.create_connection(address, timeout=5))
                        await asyncio.sleep(2)
                    await asyncio.sleep(1)
            async with shop.client() as client:
                done = len(shop.ledger.done)
                await shop.cancel_one(client)
                assert len(shop.ledger.done) == done + 1
            await shop.settle()
        assert "this process may open" in shop.server.said()
        shop.claims.check()
