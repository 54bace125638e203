"""What was learnt, kept in a database for others: read as written, or not at all."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from numpy.typing import NDArray

from server.errors import StoreUnavailable
from server.storage import artefacts
from server.storage.arrays import ArrayStore, NotKept
from server.storage.artefacts import ARTEFACTS, ArtefactStore
from server.storage.database import Database, open_engine, utc_now

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SECRET = b"s" * 64
CONTENT = bytes(range(256)) * 40
PART_BYTES = 4096


@pytest.fixture(autouse=True)
def _short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artefacts, "_PART_BYTES", PART_BYTES)


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    database = Database.open(url)
    yield database
    await database.close()


async def execute(database: Database, statement: Any) -> None:
    await database.run(lambda c: c.execute(statement))


async def rows(database: Database) -> int:
    count = sa.select(sa.func.count()).select_from(ARTEFACTS)
    return await database.run(lambda c: c.execute(count).scalar_one())


@pytest.mark.parametrize("content", [b"", b"x", CONTENT[:PART_BYTES], CONTENT])
async def test_what_is_written_is_read_by_others_of_the_installation(
    database: Database, content: bytes
) -> None:
    await ArtefactStore(database, SECRET).write("head", "k1", content)
    assert await ArtefactStore(database, SECRET).read("head", "k1") == content


@pytest.mark.parametrize(
    ("secret", "name", "key"),
    [(SECRET, "head", "k2"), (SECRET, "heads", "k1"), (b"t" * 64, "head", "k1")],
)
async def test_nobody_reads_it_by_another_name_key_or_secret(
    database: Database, secret: bytes, name: str, key: str
) -> None:
    await ArtefactStore(database, SECRET).write("head", "k1", CONTENT)
    assert await ArtefactStore(database, secret).read(name, key) is None


SECOND = ARTEFACTS.c.part == 1
DAMAGE = {
    "a byte is another": ARTEFACTS.update().where(SECOND).values(content=b"y" * PART_BYTES),
    "a part is cut short": ARTEFACTS.update().where(SECOND).values(content=CONTENT[:9]),
    "a part is missing": ARTEFACTS.delete().where(SECOND),
    "the last part is missing": ARTEFACTS.delete().where(ARTEFACTS.c.part == 2),
    "there are fewer parts, as is said": ARTEFACTS.update().values(parts=2),
    "the seal is another": ARTEFACTS.update().where(SECOND).values(seal="0" * 64),
    "the seal is of something else": ARTEFACTS.update().values(seal="ä"),
    "it has the key of another": ARTEFACTS.update().values(key="k2"),
    "it has the name of another": ARTEFACTS.update().values(name="other"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
async def test_what_is_damaged_or_forged_is_not_there_and_is_made_anew(
    database: Database, damage: Any
) -> None:
    store = ArtefactStore(database, SECRET)
    await store.write("head", "k1", CONTENT)
    await execute(database, damage)
    for name in ("head", "other"):
        for key in ("k1", "k2"):
            assert await store.read(name, key) is None
    await store.write("head", "k1", CONTENT)
    assert await store.read("head", "k1") == CONTENT


async def test_parts_of_two_versions_are_not_put_together(database: Database) -> None:
    store = ArtefactStore(database, SECRET)
    await store.write("head", "k1", CONTENT)
    before = sa.select(ARTEFACTS.c.content, ARTEFACTS.c.seal).where(SECOND)
    content, seal = await database.run(lambda c: c.execute(before).one())
    await store.write("head", "k1", b"z" * len(CONTENT))
    values = {"content": content, "seal": seal}
    await execute(database, ARTEFACTS.update().where(SECOND).values(values))
    assert await store.read("head", "k1") is None


async def test_a_name_keeps_the_last_few_and_what_is_too_large_is_left_out(
    database: Database,
) -> None:
    store = ArtefactStore(database, SECRET, most_bytes=len(CONTENT))
    for number in range(6):
        await store.write("head", f"k{number}", b"x")
    await store.write("words", "k0", b"x")
    found = [await store.read("head", f"k{number}") for number in range(6)]
    assert found == [None, None, b"x", b"x", b"x", b"x"]
    assert await store.read("words", "k0") == b"x"
    await store.write("head", "large", CONTENT + b"x")
    assert await store.read("head", "large") is None
    assert await rows(database) == 5


async def test_what_nobody_uses_for_a_month_is_deleted(database: Database) -> None:
    store = ArtefactStore(database, SECRET)
    for key in ("used", "unused"):
        await store.write("head", key, CONTENT)
    long_ago = utc_now() - timedelta(days=31)
    await execute(database, ARTEFACTS.update().values(used_at=long_ago))
    assert await store.read("head", "used") == CONTENT
    await store.tidy()
    assert await store.read("head", "unused") is None
    assert await store.read("head", "used") == CONTENT


async def test_without_the_database_nothing_is_there_and_nothing_fails(
    caplog: pytest.LogCaptureFixture,
) -> None:
    gone = Database(
        open_engine("postgresql+psycopg://nobody@127.0.0.1:1/none"), threads=1, timeout_s=1
    )
    store = ArtefactStore(gone, SECRET)
    await store.write("head", "k1", CONTENT)
    assert await store.read("head", "k1") is None
    with pytest.raises(StoreUnavailable):
        await store.tidy()
    assert [message.partition(": ")[0] for message in caplog.messages] == [
        "head is not kept in the database",
        "head cannot be read from the database",
    ]
    await gone.close()


ARRAYS: dict[str, NDArray[Any]] = {
    "meaning": np.arange(6, dtype=np.float32).reshape(2, 3),
    "bias": np.ones(3),
}


def same(found: Any) -> bool:
    return found is not None and all(
        np.array_equal(found[name], array) and found[name].dtype == array.dtype
        for name, array in ARRAYS.items()
    )


async def test_arrays_of_another_machine_are_read_and_copied_into_the_folder(
    database: Database, tmp_path: Path
) -> None:
    shared = ArtefactStore(database, SECRET)
    await ArrayStore(tmp_path / "1", shared).write("head", "k1", **ARRAYS)
    for store in (ArrayStore(tmp_path / "2", shared), ArrayStore(tmp_path / "2")):
        assert same(await store.read("head", "k1"))
        assert await store.read("head", "k2") is None
    assert await ArrayStore(tmp_path / "3").read("head", "k1") is None


@pytest.mark.parametrize("damaged", [b"", b"PK\x03\x04", b"no array"])
async def test_a_damaged_file_is_read_from_the_database_and_mended(
    database: Database, tmp_path: Path, damaged: bytes
) -> None:
    store = ArrayStore(tmp_path, ArtefactStore(database, SECRET))
    await store.write("head", "k1", **ARRAYS)
    (tmp_path / "head.npz").write_bytes(damaged)
    assert await ArrayStore(tmp_path).read("head", "k1") is None
    assert same(await store.read("head", "k1"))
    assert same(await ArrayStore(tmp_path).read("head", "k1"))


async def test_sealed_bytes_that_are_no_arrays_are_not_there(
    database: Database, tmp_path: Path
) -> None:
    shared = ArtefactStore(database, SECRET)
    for content in (b"", b"no array", CONTENT):
        await shared.write("head", "k1", content)
        assert await ArrayStore(tmp_path, shared).read("head", "k1") is None


async def test_objects_are_never_read_from_a_file(tmp_path: Path) -> None:
    pickled = np.array([{"an": "object"}], dtype=object)
    np.savez(tmp_path / "head.npz", key=np.array("k1"), made=pickled)
    assert await ArrayStore(tmp_path).read("head", "k1") is None


async def test_who_only_reads_may_not_make(tmp_path: Path) -> None:
    store = ArrayStore(tmp_path)
    store.check_may_make()
    with pytest.raises(NotKept):
        store.reading().check_may_make()
