"""Who serves from a database, as others see it."""

from pathlib import Path

import pytest

from server.storage.database import Database
from server.storage.presence import Presence

pytestmark = pytest.mark.anyio

LASTS_S = 8.0


class Clock:
    now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


async def test_a_process_is_gone_that_says_nothing_while_others_do(tmp_path: Path) -> None:
    database, clock = Database.open(f"sqlite:///{tmp_path / 'orbit.db'}"), Clock()
    one, two = (Presence(database, name, lasts_s=LASTS_S, clock_s=clock) for name in ("1", "2"))
    await two.look()
    for _ in range(8):
        assert await one.look() == frozenset()
        clock.now_s += 1
    assert await one.look() == {"2"}
    await two.look()
    assert await one.look() == frozenset()
    await database.close()


async def test_who_looks_again_after_a_while_begins_to_count_anew(tmp_path: Path) -> None:
    database, clock = Database.open(f"sqlite:///{tmp_path / 'orbit.db'}"), Clock()
    one, two = (Presence(database, name, lasts_s=LASTS_S, clock_s=clock) for name in ("1", "2"))
    await two.look()
    await one.look()
    clock.now_s += 60  # as when the database was away
    assert await one.look() == frozenset()
    await database.close()


async def test_who_is_forgotten_is_gone_no_more(tmp_path: Path) -> None:
    database, clock = Database.open(f"sqlite:///{tmp_path / 'orbit.db'}"), Clock()
    one, two = (Presence(database, name, lasts_s=0.0, clock_s=clock) for name in ("1", "2"))
    await two.look()
    assert await one.look() == {"2"}
    await one.forget({"2"})
    assert await one.look() == frozenset()
    await database.close()
