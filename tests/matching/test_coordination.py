"""What one process learnt of a library others read: from files, or from PostgreSQL."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from server.core.ports import Vectors
from server.matching.coordination import Coordination
from server.matching.index.store import TemplateStore
from server.matching.matcher import Matcher
from server.settings.models import VectorStoreSettings
from server.storage import process_locks
from server.storage.artefacts import ArtefactStore
from server.storage.database import Database
from server.storage.process_locks import ProcessLocks
from tests.matching.libraries import PLACES, library_of
from tests.support.databases import Databases, databases, needs_postgresql
from tests.support.fake_embedder import FakeEmbedder

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

TRAVEL = library_of(PLACES)
GROWN = library_of({**PLACES, "taxis": ("Call me a cab",)})
TELLING = {"weather": ("rain", "forecast"), "trains": ("train", "platform")}
SECRET = b"s" * 64
LEARNT, READ = "learnt", "read"


class Slow(FakeEmbedder):
    """It lets others go on while it works, as one over the network does."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        await asyncio.sleep(0.01)
        return await super().embed(texts)


@dataclass
class Process:
    """One that opens libraries; `texts` is how many it had to embed."""

    folder: Path
    store: TemplateStore
    coordination: Coordination
    embedder: Slow = field(default_factory=Slow)

    async def open(self, library: Any = TRAVEL) -> Matcher:
        return await Matcher.open(
            "travel",
            library,
            self.embedder,
            self.store,
            state_dir=self.folder / "heads",
            telling=TELLING,
            coordination=self.coordination,
        )

    @property
    def texts(self) -> int:
        return sum(map(len, self.embedder.batches))


@asynccontextmanager
async def processes(
    *folders: Path, url: str = "", secret: bytes = SECRET
) -> AsyncIterator[list[Process]]:
    """Processes with these data folders, and the database at `url` where there is one."""
    async with AsyncExitStack() as closing:
        made = []
        for number, folder in enumerate(folders):
            database, artefacts = None, None
            if url:
                database = Database.open(url)
                closing.push_async_callback(database.close)
                artefacts = ArtefactStore(database, secret)
            locks = ProcessLocks(folder / "locks", str(number), database)
            store = TemplateStore(
                VectorStoreSettings(), folder, ProcessLocks(folder / "locks", str(number))
            )
            closing.push_async_callback(store.close)
            made.append(Process(folder, store, Coordination(locks, artefacts)))
        yield made


@pytest.fixture(scope="module")
def made() -> Iterator[Databases]:
    with databases() as made:
        yield made


@pytest.fixture(autouse=True)
def _tries_often(monkeypatch: pytest.MonkeyPatch) -> None:
    for pause in ("_TRY_EVERY_S", "_TRY_LEASE_EVERY_S"):
        monkeypatch.setattr(process_locks, pause, 0.02)


def heads(matchers: Sequence[Matcher]) -> list[str]:
    return sorted(matcher.stats()["head"] for matcher in matchers)


async def agree(one: Matcher, two: Matcher) -> bool:
    asked = ("rain in Rome", "a room for two", "the train to York", "sing a song")
    return [await one.rank(text, limit=3) for text in asked] == [
        await two.rank(text, limit=3) for text in asked
    ]


@needs_postgresql
async def test_a_replica_with_an_empty_folder_embeds_and_learns_nothing(
    made: Databases, tmp_path: Path
) -> None:
    url = made.empty("postgresql", tmp_path)
    async with processes(tmp_path / "1", tmp_path / "2", url=url) as (one, two):
        first, second = await one.open(), await two.open()
        assert (heads([first]), heads([second])) == ([LEARNT], [READ])
        assert one.texts > 15
        assert two.texts == 0
        assert not (tmp_path / "2" / "chroma").exists()
        assert await agree(first, second)


@needs_postgresql
async def test_of_replicas_that_start_at_once_one_learns(made: Databases, tmp_path: Path) -> None:
    url = made.empty("postgresql", tmp_path)
    folders = [tmp_path / str(number) for number in range(3)]
    async with processes(*folders, url=url) as replicas:
        opened = await asyncio.gather(*(each.open() for each in replicas))
        assert heads(opened) == [LEARNT, READ, READ]
        assert sorted(each.texts > 0 for each in replicas) == [False, False, True]
        assert await agree(opened[0], opened[1])
        assert await agree(opened[0], opened[2])


@needs_postgresql
async def test_older_and_newer_libraries_are_both_there_for_others(
    made: Databases, tmp_path: Path
) -> None:
    url = made.empty("postgresql", tmp_path)
    async with processes(tmp_path / "1", tmp_path / "2", url=url) as (one, two):
        for library in (TRAVEL, GROWN):
            await one.open(library)
        for library in (TRAVEL, GROWN, TRAVEL):
            assert heads([await two.open(library)]) == [READ]
        assert two.texts == 0


@needs_postgresql
async def test_what_another_installation_learnt_is_not_used(
    made: Databases, tmp_path: Path
) -> None:
    url = made.empty("postgresql", tmp_path)
    async with processes(tmp_path / "1", url=url) as (one,):
        await one.open()
    async with processes(tmp_path / "2", url=url, secret=b"t" * 64) as (other,):
        assert heads([await other.open()]) == [LEARNT]


async def test_of_workers_that_start_at_once_one_learns_and_chroma_is_open_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_now, most = 0, 0
    opening, closing = TemplateStore._open, TemplateStore._close_client

    def count_open(store: TemplateStore) -> Any:
        nonlocal open_now, most
        open_now += 1
        most = max(most, open_now)
        return opening(store)

    def count_closed(store: TemplateStore) -> None:
        nonlocal open_now
        was_open = store._client is not None
        closing(store)
        open_now -= was_open

    monkeypatch.setattr(TemplateStore, "_open", count_open)
    monkeypatch.setattr(TemplateStore, "_close_client", count_closed)
    async with processes(*[tmp_path] * 3) as workers:
        opened = await asyncio.gather(*(each.open() for each in workers))
        assert heads(opened) == [LEARNT, READ, READ]
        again = await asyncio.gather(*(each.open(GROWN) for each in workers))
        assert heads(again) == [LEARNT, READ, READ]
        names = await asyncio.gather(*(each.store.drop_unused("travel", ()) for each in workers))
        assert sum(map(len, names)) == 1
        async with workers[0].store.session():
            await workers[0].store.run(lambda _: None)
            assert held_open(tmp_path) != []
        assert (open_now, most) == (0, 1)
        async with asyncio.timeout(10):  # Chroma's own threads let go of its files
            while held_open(tmp_path):  # noqa: ASYNC110
                await asyncio.sleep(0.01)


def held_open(folder: Path) -> list[str]:
    """The files below a folder that this process has open."""
    found = list[str]()
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # that of the listing itself is gone
            target = os.readlink(descriptor)
            found += [target] if target.startswith(str(folder / "chroma")) else []
    return found
