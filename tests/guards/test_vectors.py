"""The vectors of guard examples are kept in a file that does not grow with every change."""

from pathlib import Path

import numpy as np
import pytest

from server.guards import scorer
from server.guards.scorer import ExampleVectors
from tests.support.fake_embedder import FakeEmbedder

pytestmark = pytest.mark.anyio


def kept_in(folder: Path) -> int:
    (path,) = folder.iterdir()
    with np.load(path) as kept:
        return len(kept["keys"])


async def test_those_used_last_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scorer, "_MOST_KEPT", 3)
    encoder = FakeEmbedder()
    asked = (["a", "b"], ["b", "c"], ["b", "d", "b"], ["a", "b", "c", "d"], ["e"])
    embedded, kept = [], []
    for texts in asked:
        rows = await ExampleVectors(tmp_path, encoder).of(texts)
        assert np.array_equal(rows, await FakeEmbedder().embed(texts))
        embedded.append(encoder.batches.pop())
        kept.append(kept_in(tmp_path))
    assert embedded == [("a", "b"), ("c",), ("d",), ("a",), ("e",)]
    assert kept == [2, 3, 3, 4, 3]
