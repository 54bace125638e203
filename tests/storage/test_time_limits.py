"""Transactions that take too long: nobody waits for them, and they change nothing."""

import asyncio
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
import sqlalchemy as sa

from server.errors import StoreUnavailable
from server.storage.database import Database, open_engine
from server.storage.threads import BlockingCalls, CallTimedOut
from server.storage.write_behind import WriteBehind

pytestmark = pytest.mark.anyio

NOTES = sa.Table("notes", sa.MetaData(), sa.Column("text", sa.String(20)))


async def test_what_is_late_is_refused_and_not_done(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'x.db'}")
    NOTES.metadata.create_all(engine)
    database = Database(engine, threads=2, timeout_s=0.1)

    def slow(connection: sa.Connection) -> None:
        connection.execute(NOTES.insert(), {"text": "late"})
        time.sleep(0.6)

    with pytest.raises(StoreUnavailable, match="in time"):
        await database.run(slow)
    await database.run(slow, timeout_s=5.0)
    kept = await database.run(lambda c: c.execute(sa.select(NOTES)).scalars().all(), timeout_s=5.0)
    await database.close()
    assert kept == ["late"]


async def test_a_call_that_hangs_keeps_its_thread_and_no_more_are_made() -> None:
    calls, over = BlockingCalls(threads=2), threading.Event()
    before = set(threading.enumerate())
    for _ in range(10):
        with pytest.raises(CallTimedOut):
            await calls.run(over.wait, timeout_s=0.01)
    made = set(threading.enumerate()) - before
    over.set()
    assert [await calls.run(lambda: 7, timeout_s=5.0) for _ in range(3)] == [7] * 3
    calls.close()
    for thread in made:
        await asyncio.to_thread(thread.join, 5.0)
    assert [thread.is_alive() for thread in made] == [False, False]


async def test_a_failure_is_that_of_the_call() -> None:
    calls = BlockingCalls(threads=1)
    with pytest.raises(ZeroDivisionError):
        await calls.run(lambda: 1 / 0)
    calls.close()


async def test_what_cannot_be_written_holds_up_no_end_and_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def hang(_batch: Mapping[int, str]) -> None:
        await asyncio.Event().wait()

    behind = WriteBehind[int, str](hang, what="notes", every_s=60.0)
    behind.note(1, "one")
    behind.note(2, "two")
    began = time.monotonic()
    await behind.close(within_s=0.1)
    assert time.monotonic() - began < 30
    assert caplog.messages == ["2 notes could not be written at the end, and may be lost"]
