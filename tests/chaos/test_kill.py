"""A server that is killed at any moment under load starts again by itself, and nothing is lost."""

import asyncio
import random
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from server.audit.entry import AuditSeal, verify_chain
from server.audit.table import TableSink
from server.cli.runfile import read_running
from server.storage.files import load_or_create_secret
from tests.chaos.shop import Shop, opened_shop

pytestmark = pytest.mark.anyio

CUSTOMERS = 6


async def test_kill_9_at_any_moment(
    full: bool, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    kills = 20 if full else 4
    chance = random.Random(17)
    async with opened_shop(tmp_path) as shop:
        ended = time.monotonic()
        for number in range(kills):
            await _begin_again(shop, ended)
            with shop.claims.watching():
                async with shop.customers(CUSTOMERS):
                    await asyncio.sleep(chance.uniform(0.5, 3))
                    shop.server.kill()
                    ended = time.monotonic()
            if number % 4 == 1:  # and then in the middle of its start
                shop.server.start()
                await asyncio.sleep(chance.uniform(0, 3))
                shop.server.kill()
        await _begin_again(shop, ended)
        assert read_running(shop.server.data) is not None
        await shop.settle()
        record_property("kill -9", f"{kills} times, {len(shop.ledger.done)} confirmed writes")
        assert len(shop.ledger.done) > 2 * kills
        shop.claims.check()
        _check_database(shop)


async def _begin_again(shop: Shop, ended: float) -> None:
    shop.server.start()
    assert await shop.server.ready(), shop.server.said()[-3000:]
    await shop.check_conversations(ended)


def _check_database(shop: Shop) -> None:
    """It is whole, the audit's chain holds, and every write was entered before it was made."""
    file = shop.server.data / "orbit.db"
    with sqlite3.connect(file) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    seal = AuditSeal(load_or_create_secret(shop.server.data / "secret")[0])
    sink = TableSink(f"sqlite:///{file}", seal)
    assert verify_chain(sink, seal).problems == ()
    events = [entry.event for entry in sink.entries()]
    sink.close()
    writes = [event for event in events if event["operation"] == "cancel_order"]
    started = {e["call_id"]: e["arguments"]["order"] for e in writes if e["outcome"] == "started"}
    ended = {e["call_id"]: e["outcome"] for e in writes if e["call_id"] in started}
    assert {int(asked.path.split("/")[2]) for asked in shop.orders.asked} <= {*started.values()}
    assert "started" not in ended.values()
    made = {order for call, order in started.items() if ended[call] == "success"}
    assert shop.ledger.done <= made
