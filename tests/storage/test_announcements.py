"""What one process announces, all others on its database take up, once each."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from server.errors import ProviderUnavailable, StoreUnavailable
from server.storage import announcements
from server.storage.announcements import ANNOUNCEMENTS, Announcement, Announcements, Announcer, Kind
from server.storage.database import Database, open_database, utc_now
from tests.support.databases import Databases, end_connections, needs_postgresql
from tests.support.postgresql import mortal_postgresql

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

KINDS: tuple[Kind, ...] = ("adapters", "guards", "keys", "log")
LOOK_EVERY_S = 0.01


class Process:
    """One that announces, and writes down what it takes up; while `broken` it cannot."""

    def __init__(self, name: str, database: Database) -> None:
        self.announcer = Announcer(name, f"process {name}")
        self.database = database
        self.told = Announcements(database, self.announcer, look_every_s=LOOK_EVERY_S)
        self.broken: set[str] = set()
        self._heard = asyncio.Queue[Announcement]()
        for kind in KINDS:
            self.told.hear(kind, self._take)

    async def _take(self, heard: Announcement) -> None:
        if heard.subject in self.broken:
            raise ProviderUnavailable("nobody answers")
        self._heard.put_nowait(heard)

    async def hears(self, *expected: tuple[str, str]) -> None:
        """Wait for these, by kind and subject, and assert that it heard nothing else."""
        async with asyncio.timeout(10):
            heard = [await self._heard.get() for _ in expected]
        assert [(each.kind, each.subject) for each in heard] == list(expected)
        assert self._heard.empty()

    async def looks(self) -> None:
        await self.told.look()
        await asyncio.sleep(0)


@asynccontextmanager
async def process(name: str, url: str, *, serves: bool = False) -> AsyncIterator[Process]:
    database = Database.open(url, threads=1)
    made = Process(name, database)
    await made.told.begin()
    serving = asyncio.create_task(made.told.serve()) if serves else None
    try:
        yield made
    finally:
        if serving is not None:
            serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving
            await database.run(lambda _: None)  # what was cancelled has ended
        await database.close()


async def test_what_one_announces_every_other_hears_and_itself_does_not(url: str) -> None:
    async with (
        process("1", url, serves=True) as one,
        process("2", url, serves=True) as two,
        process("3", url, serves=True) as three,
    ):
        assert await one.told.announce("adapters", "sums")
        for other in (two, three):
            await other.hears(("adapters", "sums"))
        assert await two.told.announce("keys")
        for other in (one, three):
            await other.hears(("keys", ""))


async def test_a_change_and_its_announcement_are_both_made_or_neither(url: str) -> None:
    def change(connection: sa.Connection) -> None:
        one.announcer.write(connection, "guards", "shop")
        raise StoreUnavailable("it was taken back")

    async with process("1", url) as one, process("2", url) as two:
        with pytest.raises(StoreUnavailable):
            await one.database.run(change)
        await one.told.announce("keys")
        await two.looks()
        await two.hears(("keys", ""))


async def test_who_begins_later_does_not_hear_what_was_announced_before(url: str) -> None:
    async with process("1", url) as one:
        await one.told.announce("adapters", "sums")
        async with process("2", url) as two:
            await one.told.announce("adapters", "shop")
            await two.looks()
            await two.hears(("adapters", "shop"))


@pytest.mark.parametrize(
    ("levels", "heard"),
    [
        (["debug", "info"], ["debug", "info"]),
        (["debug", "debug"], ["debug"]),
        (["debug", "info", "debug"], ["info", "debug"]),
    ],
)
async def test_of_many_at_once_the_last_is_taken_up_last(
    url: str, levels: list[str], heard: list[str]
) -> None:
    async with process("1", url) as one, process("2", url) as two:
        for level in levels:
            await one.told.announce("log", level)
        await two.looks()
        await two.hears(*(("log", level) for level in heard))


@needs_postgresql
async def test_what_is_committed_after_a_higher_number_is_heard(
    made: Databases, tmp_path: Path
) -> None:
    url = made.empty("postgresql", tmp_path)
    engine = open_database(url)
    async with process("1", url) as one, process("2", url) as two:
        with engine.begin() as late:
            one.announcer.write(late, "adapters", "late")
            await one.told.announce("adapters", "early")
            await two.looks()
            await two.hears(("adapters", "early"))
            async with process("3", url) as three:
                late.commit()
                for other in (two, three):
                    await other.looks()
                    await other.hears(("adapters", "late"))
    engine.dispose()


@needs_postgresql
async def test_nothing_is_missed_when_connections_are_lost(made: Databases, tmp_path: Path) -> None:
    url = made.empty("postgresql", tmp_path)
    async with process("1", url) as one, process("2", url, serves=True) as two:
        for subject in ("sums", "shop"):
            await one.told.announce("adapters", subject)
            await two.hears(("adapters", subject))
            end_connections(url)


@needs_postgresql
@pytest.mark.chaos
async def test_nothing_is_missed_while_the_database_is_killed_and_started(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(announcements, "_TRY_AGAIN_S", 0.05)
    with mortal_postgresql(durable=True) as server:
        async with process("1", server.url) as one, process("2", server.url, serves=True) as two:
            await one.told.announce("adapters", "before")
            await two.hears(("adapters", "before"))
            server.kill()
            assert not await one.told.announce("adapters", "meanwhile")
            while "changes of other processes are not seen yet" not in caplog.text:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            server.start()
            await one.told.announce("adapters", "after")
            await two.hears(("adapters", "after"))


async def test_what_cannot_be_taken_up_is_tried_again_and_keeps_nothing_else_back(
    url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(announcements, "_TRY_AGAIN_S", 0.05)
    async with process("1", url) as one, process("2", url, serves=True) as two:
        two.broken.add("shop")
        for subject in ("shop", "sums"):
            await one.told.announce("guards", subject)
        await two.hears(("guards", "sums"))
        two.broken.clear()
        await two.hears(("guards", "shop"))
    said = "a change of guards by process 1 is not taken up yet: nobody answers"
    assert caplog.messages == [said]


async def test_what_waits_to_be_tried_again_does_not_keep_what_comes_meanwhile(
    url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(announcements, "_TRY_AGAIN_S", 3600.0)
    async with process("1", url) as one, process("2", url, serves=True) as two:
        two.broken.add("shop")
        await one.told.announce("guards", "shop")
        async with asyncio.timeout(10):
            while not caplog.messages:  # noqa: ASYNC110
                await asyncio.sleep(LOOK_EVERY_S)
        await one.told.announce("guards", "sums")
        await two.hears(("guards", "sums"))
        two.broken.clear()
        await one.told.announce("guards", "shop")
        await two.hears(("guards", "shop"))


async def test_what_fails_without_a_reason_is_logged_and_ends_nothing(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(_: Announcement) -> None:
        raise RuntimeError("surprise")

    async with process("1", url) as one, process("2", url, serves=True) as two:
        two.told.hear("guards", fail)
        await one.told.announce("guards", "shop")
        await one.told.announce("keys")
        await two.hears(("keys", ""))
        async with asyncio.timeout(10):
            while "a change of guards by process 1 is not taken up" not in caplog.text:  # noqa: ASYNC110
                await asyncio.sleep(LOOK_EVERY_S)


async def test_old_ones_are_deleted_and_numbers_never_given_again(url: str) -> None:
    async with process("1", url) as one, process("2", url) as two:
        for subject in ("old", "new"):
            await one.told.announce("adapters", subject)
        late = ANNOUNCEMENTS.c.subject == "old"
        age = ANNOUNCEMENTS.update().where(late).values(at=utc_now() - timedelta(days=2))
        await one.database.run(lambda c: c.execute(age))
        await one.told.tidy()
        assert await subjects(one.database) == ["new"]
        await two.looks()
        await two.hears(("adapters", "new"))
        await one.database.run(lambda c: c.execute(ANNOUNCEMENTS.delete()))
        await one.told.announce("adapters", "newest")
        await two.looks()
        await two.hears(("adapters", "newest"))


async def subjects(database: Database) -> list[str]:
    asked = sa.select(ANNOUNCEMENTS.c.subject).order_by(ANNOUNCEMENTS.c.id)
    return await database.run(lambda c: list(c.execute(asked).scalars()))


async def test_who_looks_for_long_reads_only_what_may_still_be_new(
    url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now_s = 1000.0
    monkeypatch.setattr(announcements, "monotonic", lambda: now_s)
    async with process("1", url) as one, process("2", url) as two:
        for number in range(150):
            await one.told.announce("adapters", str(number))
            await two.looks()
            await two.hears(("adapters", str(number)))
            now_s += 1
        assert len(two.told._seen) <= 31
        caplog.set_level(logging.WARNING)
        now_s += 60
        await two.looks()
        await one.told.announce("adapters", "last")
        await two.looks()
        await two.hears(("adapters", "last"))
