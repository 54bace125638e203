"""A real store on a real SQLite file, with clocks that a test can set."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from server.access.keys import KeyStore

START = datetime(2025, 3, 4, 12, 0, tzinfo=UTC)


@dataclass(slots=True)
class Clock:
    """Wall clock and monotonic clock in one; it stands still until a test moves it."""

    now: datetime = START
    elapsed: timedelta = field(default_factory=timedelta)

    def move(self, by: timedelta) -> None:
        self.now += by
        self.elapsed += by

    def seconds(self) -> float:
        return self.elapsed.total_seconds()


OpenStore = Callable[[], AbstractAsyncContextManager[KeyStore]]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def open_store(folder: Path, clock: Clock) -> OpenStore:
    """Open a store in `folder`; opening it again is another process, as far as it knows."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[KeyStore]:
        store = await KeyStore.open(
            f"sqlite:///{folder}/orbit.db",
            folder / "secret",
            now=lambda: clock.now,
            clock_s=clock.seconds,
        )
        try:
            yield store
        finally:
            await store.close()

    return opened


@pytest.fixture(scope="module")
def shared_store_loop() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def shared_store(
    shared_store_loop: asyncio.Runner, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KeyStore]:
    """One store for a property test, whose examples leave nothing behind."""
    folder = tmp_path_factory.mktemp("shared")
    opening = KeyStore.open(f"sqlite:///{folder}/orbit.db", folder / "secret")
    store = shared_store_loop.run(opening)
    yield store
    shared_store_loop.run(store.close())
