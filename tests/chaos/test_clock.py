"""A time of day that is set forward and back under load, for a server that sees no other."""

import asyncio
import random
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.chaos.shop import opened_shop

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler here"),
]

HOUR_S = 3600
JUMPS_S = (HOUR_S, -HOUR_S, 24 * HOUR_S, 60, -60, -24 * HOUR_S, 0)


class Clock:
    """The time of day of programs that start in `environment`."""

    def __init__(self, folder: Path) -> None:
        source = Path(__file__).with_name("clock.c")
        library = folder / "clock.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        self._ahead = folder / "ahead"
        self.set(0)
        self.environment = {"LD_PRELOAD": str(library), "CLOCK_AHEAD": str(self._ahead)}

    def set(self, ahead_s: int) -> None:
        with self._ahead.open("r+b" if self._ahead.exists() else "wb") as file:
            file.write(ahead_s.to_bytes(8, "little", signed=True))


async def test_a_clock_that_jumps(
    full: bool, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    clock, chance = Clock(tmp_path), random.Random(17)
    jumps = JUMPS_S if not full else JUMPS_S * 5
    async with opened_shop(tmp_path, limits=("100000/minute",)) as shop:
        shop.server.environment = clock.environment
        shop.server.start()
        assert await shop.server.ready()
        with shop.claims.watching():
            async with shop.customers(4):
                await asyncio.sleep(2)
                shop.claims.remember_memory()
                for ahead_s in jumps:
                    clock.set(ahead_s)
                    done = len(shop.ledger.done)
                    await asyncio.sleep(chance.uniform(0.5, 2))
                    assert len(shop.ledger.done) > done, f"nothing is done at {ahead_s} s"
            await shop.settle(expired=True)
        shop.claims.check()
    days = set(re.findall(r"^\d{4}-\d\d-\d\d", shop.server.said(), re.MULTILINE))
    assert time.strftime("%Y-%m-%d", time.gmtime(time.time() + 24 * HOUR_S)) in days
    record_property("jumps of the clock", len(jumps))
