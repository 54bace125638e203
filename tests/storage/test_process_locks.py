"""What one process does at a time: by a file on one machine, by a lease between several."""

import asyncio
import logging
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from server.storage import process_locks
from server.storage.database import Database, open_engine
from server.storage.process_locks import LEASES, ProcessLocks
from tests.support.databases import Databases, needs_postgresql

pytestmark = pytest.mark.anyio

LEASE_S = 1.0
HOLDER = """
import asyncio, sys
from pathlib import Path
from server.storage.database import Database
from server.storage.process_locks import ProcessLocks

async def hold(folder, url):
    database = Database.open(url) if url else None
    async with ProcessLocks(Path(folder), "other", database, lease_s=float(sys.argv[3])).held("it"):
        print("held", flush=True)
        await asyncio.to_thread(sys.stdin.read)
    if database:
        await database.close()

asyncio.run(hold(*sys.argv[1:3]))
"""


@pytest.fixture(autouse=True)
def _tries_often(monkeypatch: pytest.MonkeyPatch) -> None:
    for pause in ("_TRY_EVERY_S", "_TRY_LEASE_EVERY_S"):
        monkeypatch.setattr(process_locks, pause, 0.01)


@contextmanager
def held_elsewhere(folder: Path, url: str = "") -> Iterator["subprocess.Popen[str]"]:
    """Another process that holds `it`, until its input ends."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", HOLDER, str(folder), url, str(LEASE_S)]
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for end in (process.stdin, process.stdout):
            if end is not None:
                end.close()


@asynccontextmanager
async def machines(
    url: str, folder: Path, *, lease_s: float = LEASE_S
) -> AsyncIterator[tuple[ProcessLocks, ProcessLocks]]:
    """Two machines, each with a folder of its own."""
    async with AsyncExitStack() as closing:
        locks = []
        for name in ("1", "2"):
            database = Database.open(url)
            closing.push_async_callback(database.close)
            locks.append(ProcessLocks(folder / name, name, database, lease_s=lease_s))
        yield locks[0], locks[1]


async def count_at_once(*locks: ProcessLocks) -> int:
    """How many are in a block of the same name at once, at the most, when all want to be."""
    inside, most = 0, 0

    async def work(each: ProcessLocks) -> None:
        nonlocal inside, most
        async with each.held("it"):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0.02)
            inside -= 1

    async with asyncio.timeout(20):
        await asyncio.gather(*map(work, locks))
    return most


async def leases(url: str) -> list[tuple[str, str]]:
    engine = open_engine(url)
    with engine.connect() as connection:
        found = connection.execute(sa.select(LEASES.c.name, LEASES.c.holder)).all()
    engine.dispose()
    return [(row.name, row.holder) for row in found]


async def test_one_at_a_time_on_a_machine(tmp_path: Path) -> None:
    locks = [ProcessLocks(tmp_path, str(number)) for number in range(3)]
    assert await count_at_once(*locks, *locks) == 1
    async with asyncio.timeout(5), locks[0].held("one"), locks[1].held("another"):
        """Different names keep nobody waiting."""


async def test_one_at_a_time_between_machines(url: str, tmp_path: Path) -> None:
    async with machines(url, tmp_path) as (one, two):
        assert await count_at_once(one, two, one, two) == 1
        assert await leases(url) == []
        async with one.held("it"):
            assert await count_at_once(two.of_machine()) == 1


async def test_a_block_that_fails_or_is_cancelled_gives_it_back(url: str, tmp_path: Path) -> None:
    async with machines(url, tmp_path) as (one, two):
        with pytest.raises(ZeroDivisionError):
            async with one.held("it"):
                raise ZeroDivisionError
        async with one.held("it"):
            waiting = asyncio.create_task(count_at_once(two))
            await asyncio.sleep(0.05)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
        async with asyncio.timeout(LEASE_S / 2):
            assert await count_at_once(two, one) == 1


async def test_another_process_is_waited_for_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(process_locks, "_TOLD_AFTER_S", 0.0)
    caplog.set_level(logging.INFO)
    with held_elsewhere(tmp_path) as other:
        waiting = asyncio.create_task(count_at_once(ProcessLocks(tmp_path, "me")))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        assert other.stdin is not None
        other.stdin.close()
        assert await waiting == 1
        assert other.wait(20) == 0
    assert caplog.messages == ["it: another process is doing this, and is waited for"]


@pytest.mark.chaos
async def test_a_killed_process_gives_its_file_back_at_once(tmp_path: Path) -> None:
    with held_elsewhere(tmp_path) as other:
        other.kill()
        other.wait()
        async with asyncio.timeout(0.5):
            assert await count_at_once(ProcessLocks(tmp_path, "me")) == 1


@needs_postgresql
@pytest.mark.chaos
async def test_a_lease_of_a_killed_process_is_over_after_its_time(
    made: Databases, tmp_path: Path
) -> None:
    url = made.empty("postgresql", tmp_path)
    async with machines(url, tmp_path) as (one, _):
        with held_elsewhere(tmp_path / "other", url) as other:
            await asyncio.sleep(2 * LEASE_S)  # it is renewed while its holder lives
            assert await leases(url) == [("it", "other")]
            other.kill()
            other.wait()
            waiting = asyncio.create_task(count_at_once(one))
            await asyncio.sleep(0.05)
            assert not waiting.done()
            async with asyncio.timeout(2 * LEASE_S):
                assert await waiting == 1


async def test_a_lease_that_ends_far_in_the_future_is_of_a_clock_that_was_set_back(
    url: str, tmp_path: Path
) -> None:
    async with machines(url, tmp_path, lease_s=60) as (one, two), one.held("it"):
        engine = open_engine(url)
        with engine.begin() as connection:
            later = LEASES.update().values(until_s=LEASES.c.until_s + 86_400)
            connection.execute(later)
        engine.dispose()
        async with asyncio.timeout(10):
            assert await count_at_once(two) == 1


async def test_without_a_database_or_a_folder_the_work_is_done_all_the_same(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    gone = open_engine("postgresql+psycopg://nobody@127.0.0.1:1/none?connect_timeout=1")
    database = Database(gone, threads=1, timeout_s=1)
    no_folder = tmp_path / "file"
    no_folder.touch()
    for locks in (
        ProcessLocks(tmp_path, "1", database),
        ProcessLocks(no_folder, "1"),
        ProcessLocks(no_folder / "below", "1"),
    ):
        assert await count_at_once(locks) == 1
    assert [message.partition(": ")[0] for message in caplog.messages] == [
        "it is done without a lease",
        "it is done without a lock",
        "it is done without a lock",
    ]
    await database.close()
