"""Files that were cut short or overwritten: rebuilt, or refused in a sentence that says what to do.

Nothing that cannot be made again is replaced in silence.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from tests.chaos.shop import Shop, opened_shop

pytestmark = pytest.mark.anyio

Outcome = Literal["serves", "rebuilt", "refused", "told"]
"""`told`: it serves, and the log says what is gone."""

DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda whole: b"",
    "cut": lambda whole: whole[: len(whole) // 2],
    "overwritten": lambda whole: bytes((n * 7 + 13) % 256 for n in range(max(64, len(whole)))),
}


@dataclass(frozen=True)
class Damage:
    """What becomes of a server whose file was damaged, and a word of what it says."""

    file: str
    how: str
    outcome: Outcome
    says: str = ""

    def __str__(self) -> str:
        return f"{self.file} {self.how}"


TABLE = [
    Damage("orbit.db", "empty", "told", "orbit.db is new"),
    Damage("orbit.db", "cut", "refused", "restore it from a backup, together with the secret"),
    Damage("orbit.db", "overwritten", "refused", "restore it from a backup"),
    Damage("secret", "empty", "refused", "restore it from a backup"),
    Damage("secret", "cut", "refused", "32 of 64 hexadecimal digits; restore it from a backup"),
    Damage("secret", "overwritten", "refused", "is damaged; restore it from a backup"),
    Damage("chroma/chroma.sqlite3", "empty", "rebuilt"),
    Damage("chroma/chroma.sqlite3", "cut", "rebuilt", "is damaged and is built anew"),
    Damage("chroma/chroma.sqlite3", "overwritten", "rebuilt", "is damaged and is built anew"),
    *(
        Damage(f"chroma/*/{name}.bin", how, "rebuilt")
        for name in ("data_level0", "header", "length", "link_lists")
        for how in DAMAGES
    ),
    *(Damage("chroma/*.generation", how, "rebuilt") for how in DAMAGES),
    *(Damage("heads/*.npz", how, "serves") for how in DAMAGES),
    *(Damage("run/server.json", how, "serves") for how in DAMAGES),
    *(Damage("audit/audit.jsonl*", how, "serves") for how in DAMAGES),
]
SHORT = {
    "orbit.db empty", "orbit.db cut", "secret cut", "secret overwritten", "chroma/*/header.bin cut",
    "chroma/chroma.sqlite3 overwritten", "heads/*.npz cut", "run/server.json cut",
    "audit/audit.jsonl* cut",
}  # fmt: skip


async def test_what_is_damaged_is_rebuilt_or_refused(
    full: bool, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    table = [each for each in TABLE if full or str(each) in SHORT]
    whole = tmp_path / "whole"
    async with opened_shop(tmp_path, access={"audit": {"sink": "jsonl"}}) as shop:
        await _use(shop)
        shutil.copytree(shop.server.data, whole)
        problems = [why for each in table if (why := await _problem(shop, whole, each))]
        record_property("damaged files", len(table))
        assert problems == []


async def _use(shop: Shop) -> None:
    """Have a data folder in which everything is there, left by a server that was killed."""
    shop.server.start()
    assert await shop.server.ready()
    async with shop.client() as client:
        for _ in range(3):
            await shop.cancel_one(client)
    shop.server.kill()


async def _problem(shop: Shop, whole: Path, damage: Damage) -> str | None:
    data = shop.server.data
    shutil.rmtree(data)
    shutil.copytree(whole, data)
    files = sorted(data.glob(damage.file))
    assert files, damage
    for file in files:
        file.write_bytes(DAMAGES[damage.how](file.read_bytes()))
    if damage.outcome == "rebuilt":  # nothing else is left to read the vectors from
        for copy in (data / "heads").glob("*.vectors.npz"):
            copy.unlink()
    shop.server.log.unlink()
    shop.server.start()
    serves = await shop.server.ready()
    said = shop.server.said()
    answered = await _answered(shop) if serves else ""
    if serves and shop.server.stop():
        return f"{damage}: it did not stop"
    if serves != (damage.outcome != "refused") or damage.says not in said or "Traceback" in said:
        return f"{damage}: {said}"
    if serves and damage.outcome != "told" and "**30**" not in answered:
        return f"{damage}: {answered}"
    return None


async def _answered(shop: Shop) -> str:
    async with shop.client() as client:
        return (await client.post("/chat", json={"message": "What is 15% of 200?"})).text
