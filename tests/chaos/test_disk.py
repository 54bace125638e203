"""A disk that is full or read-only: a sentence that says so, nothing lost, and then it goes on."""

import asyncio
import shutil
import time
from pathlib import Path

import anyio
import pytest

from tests.chaos.disks import filled, read_only, small_disk
from tests.chaos.shop import Shop, opened_shop

pytestmark = pytest.mark.anyio

DISK_KB = 64 * 1024


async def test_a_disk_that_fills_up_under_load(full: bool, tmp_path: Path) -> None:
    with small_disk(DISK_KB) as disk:
        async with opened_shop(tmp_path, data=disk / "data") as shop:
            shop.server.start()
            assert await shop.server.ready()
            with shop.claims.watching():
                for _ in range(5 if full else 1):
                    async with shop.customers(4):
                        await asyncio.sleep(3)
                        shop.claims.remember_memory()
                        with filled(disk):
                            await asyncio.sleep(3)
                        assert (503, "store_unavailable") in shop.claims.answers
                    await _cancels_again(shop)
                    await shop.check_conversations(time.monotonic(), most=50)
                await shop.settle()
            shop.claims.check()


async def _cancels_again(shop: Shop) -> None:
    done = len(shop.ledger.done)
    async with shop.client() as client:
        with anyio.fail_after(10):
            while len(shop.ledger.done) == done:
                await shop.cancel_one(client)


async def test_a_start_on_a_disk_that_is_full(full: bool, tmp_path: Path) -> None:
    """With any room it serves, or says why not; with room enough it then starts by itself."""
    ended = []
    for free_kb in (0, 4, 16, 64, 128, 256, 512, 1024) if full else (0, 64, 256):
        folder = tmp_path / str(free_kb)
        folder.mkdir()
        with small_disk(DISK_KB) as disk:
            async with opened_shop(folder, data=folder / "data") as shop:
                shutil.copytree(folder / "data", disk / "data")
                for made in ("orbit.db", "secret") if free_kb % 128 == 0 else ():
                    (disk / "data" / made).unlink()
                shop.server.data = disk / "data"
                with filled(disk, free_kb=free_kb), anyio.move_on_after(5):
                    shop.server.start()
                    await shop.server.ready()
                said = shop.server.said()
                ended.append(not shop.server.runs())
                if ended[-1]:
                    assert "No space left on device" in said or "disk is full" in said
                    shop.server.start()
                assert await shop.server.ready(), shop.server.said()
                shop.claims.check()
    assert any(ended)


async def test_a_data_folder_that_can_only_be_read(tmp_path: Path) -> None:
    async with opened_shop(tmp_path) as shop:
        used, empty = shop.server.data, tmp_path / "empty"
        empty.mkdir()
        shop.server.start()
        assert await shop.server.ready()
        assert shop.server.stop() == 0
        for folder in (used, empty):
            with read_only(folder) as shop.server.data:
                for command in ("start", "serve", "keys list", "keys create --adapter shop"):
                    done = shop.server.run(*command.split())
                    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
                    assert "Read-only file system" in done.stderr or (
                        f"{shop.server.data} can only be read" in done.stderr
                    )
