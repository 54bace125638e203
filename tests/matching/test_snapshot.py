"""A start that finds everything as it was left needs no ChromaDB."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from server.errors import IndexUnavailable
from server.matching.index.store import TemplateStore
from server.matching.index.template_index import load_snapshot, save_snapshot
from server.matching.matcher import Matcher
from server.settings.models import VectorStoreSettings
from tests.matching.libraries import PLACES, library_of
from tests.support.fake_embedder import FakeEmbedder

pytestmark = pytest.mark.anyio

TRAVEL = library_of(PLACES)
GROWN = library_of({**PLACES, "taxis": ("Call me a cab",)})


class Watched(TemplateStore):
    """A store that tells how often ChromaDB was asked."""

    asked = 0

    async def run(self, work: Any) -> Any:
        self.asked += 1
        return await super().run(work)


async def opened(folder: Path, library: Any = TRAVEL) -> tuple[Matcher, int]:
    """A matcher over a store of its own, as after a restart, and how often it was asked."""
    store = Watched(VectorStoreSettings(), folder)
    matcher = await Matcher.open(
        "travel", library, FakeEmbedder(), store, state_dir=folder / "heads"
    )
    await store.close()
    return matcher, store.asked


async def test_an_unchanged_library_is_opened_without_chroma(tmp_path: Path) -> None:
    first, asked = await opened(tmp_path)
    again, asked_again = await opened(tmp_path)
    assert (asked > 0, asked_again) == (True, 0)
    assert again.stats() == first.stats() | {"embedded": 0, "reused": 15, "head": "read"}
    assert await again.rank("rain", limit=3) == await first.rank("rain", limit=3)


async def test_a_change_and_its_undoing_both_go_to_chroma(tmp_path: Path) -> None:
    await opened(tmp_path)
    asked = [(await opened(tmp_path, library))[1] > 0 for library in (GROWN, GROWN, TRAVEL, TRAVEL)]
    assert asked == [True, False, True, False]


async def test_a_chroma_that_is_gone_is_filled_again(tmp_path: Path) -> None:
    await opened(tmp_path)
    (tmp_path / "chroma").rename(tmp_path / "elsewhere")
    matcher, asked = await opened(tmp_path)
    assert (asked > 0, matcher.stats()["embedded"]) == (True, 15)


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 cut short", b"not ours"])
async def test_a_damaged_file_is_read_from_chroma_again(tmp_path: Path, damage: bytes) -> None:
    first, _ = await opened(tmp_path)
    (path,) = (tmp_path / "heads").glob("*.vectors.npz")
    path.write_bytes(damage)
    again, asked = await opened(tmp_path)
    assert (asked > 0, again.stats()["reused"]) == (True, 15)
    assert await again.rank("rain", limit=3) == await first.rank("rain", limit=3)


@pytest.mark.parametrize("cut_at", [0, 100, 5000, 60_000])
async def test_a_damaged_chroma_is_put_aside_and_built_anew(
    tmp_path: Path, cut_at: int, caplog: pytest.LogCaptureFixture
) -> None:
    first, _ = await opened(tmp_path)
    database = tmp_path / "chroma" / "chroma.sqlite3"
    whole = database.read_bytes()
    database.write_bytes(whole[:cut_at] + b"\x55" * (len(whole) - cut_at))
    (vectors,) = (tmp_path / "heads").glob("*.vectors.npz")
    vectors.unlink()
    again, _ = await opened(tmp_path)
    assert again.stats()["embedded"] == 15
    assert await again.rank("rain", limit=3) == await first.rank("rain", limit=3)
    assert (tmp_path / "chroma.damaged" / "chroma.sqlite3").stat().st_size == len(whole)
    assert f"{tmp_path / 'chroma'} is damaged and is built anew" in caplog.text


async def test_a_chroma_that_cannot_be_opened_is_tried_again(tmp_path: Path) -> None:
    """As on a disk that was full for a while."""
    store = TemplateStore(VectorStoreSettings(), tmp_path)
    in_the_way = tmp_path / "chroma" / "chroma.sqlite3"
    in_the_way.mkdir(parents=True)
    for _ in range(2):
        with pytest.raises(IndexUnavailable, match="cannot be opened"):
            await store.warm()
    in_the_way.rmdir()
    await store.warm()
    await store.close()


async def test_without_a_generation_vectors_are_read_again(tmp_path: Path) -> None:
    await opened(tmp_path)
    (generation,) = (tmp_path / "chroma").glob("*.generation")
    generation.write_bytes(b"")
    assert [(await opened(tmp_path))[1] > 0 for _ in range(2)] == [True, False]


def test_vectors_of_other_ids_or_another_state_are_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    vectors = np.eye(2, dtype=np.float32)
    save_snapshot(path, ["a", "b"], "now", vectors)
    kept = load_snapshot(path, ["a", "b"], "now")
    assert kept is not None
    np.testing.assert_array_equal(kept, vectors)
    for ids, generation in ((["b", "a"], "now"), (["a", "b"], "later"), (["a", "b"], None)):
        assert load_snapshot(path, ids, generation) is None


def test_a_collection_that_others_may_write_to_is_never_kept(tmp_path: Path) -> None:
    save_snapshot(tmp_path / "v.npz", ["a"], None, np.eye(1, dtype=np.float32))
    assert not (tmp_path / "v.npz").exists()
    shared = TemplateStore(VectorStoreSettings(mode="server"), tmp_path)
    shared.renew_generation("c")
    assert shared.generation("c") is None
