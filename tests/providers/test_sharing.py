"""What stands before an encoder: batches of those who wait, and a memory of questions."""

import asyncio
import threading
from collections.abc import Sequence

import numpy as np
import pytest

from server.core.ports import Embedder, Vectors
from server.errors import PluginInvalid, ProviderRejected, ProviderUnavailable
from server.providers.embeddings.factory import CachedEmbedder, build_embedder
from server.providers.embeddings.local import Batcher
from server.providers.embeddings.requests import unit_rows
from server.settings.models import EmbeddingsSettings
from tests.support.fake_embedder import FakeEmbedder

pytestmark = pytest.mark.anyio


class Held:
    """An encoder that waits for a word before each batch, and keeps what it was given."""

    def __init__(self) -> None:
        self.go = threading.Semaphore(0)
        self.batches: list[list[str]] = []
        self._begun = threading.Semaphore(0)

    async def begun(self) -> None:
        """Return when a further batch is being computed."""
        await asyncio.to_thread(self._begun.acquire)

    def __call__(self, texts: list[str]) -> Vectors:
        self._begun.release()
        self.go.acquire()
        self.batches.append(texts)
        if "bad" in texts:
            raise ProviderRejected("no")
        return np.array([[len(text)] for text in texts], dtype=np.float32)


async def test_those_who_wait_share_the_next_batch() -> None:
    held = Held()
    batcher = Batcher(held, max_batch=3)
    first = asyncio.create_task(batcher.embed(["a"]))
    await held.begun()
    rest = [asyncio.create_task(batcher.embed(["b" * n])) for n in range(2, 6)]
    await asyncio.sleep(0)
    for _ in range(3):
        held.go.release()
    rows = [float(row[0][0]) for row in await asyncio.gather(first, *rest)]
    batcher.close()
    assert rows == [1, 2, 3, 4, 5]
    assert held.batches == [["a"], ["bb", "bbb", "bbbb"], ["bbbbb"]]


async def test_those_who_come_while_the_loop_is_busy_share_the_first_batch() -> None:
    held = Held()
    batcher = Batcher(held)

    async def ask_after(steps: int) -> Vectors:
        for _ in range(steps):  # as reading a request takes some
            await asyncio.sleep(0)
        return await batcher.embed(["a" * (steps + 1)])

    held.go.release()
    await asyncio.gather(*(ask_after(steps) for steps in range(8)))
    batcher.close()
    assert held.batches == [["a" * n for n in range(1, 9)]]


async def test_a_failure_reaches_its_own_batch_only() -> None:
    held = Held()
    batcher = Batcher(held)
    failing = asyncio.create_task(batcher.embed(["bad"]))
    await held.begun()
    working = asyncio.create_task(batcher.embed(["good"]))
    for _ in range(2):
        held.go.release()
    with pytest.raises(ProviderRejected):
        await failing
    assert (await working).tolist() == [[4]]
    batcher.close()


async def test_one_that_gave_up_costs_nothing() -> None:
    held = Held()
    batcher = Batcher(held)
    first = asyncio.create_task(batcher.embed(["a"]))
    await held.begun()
    gone = asyncio.create_task(batcher.embed(["gone"]))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.sleep(0)
    held.go.release()
    await first
    last = asyncio.create_task(batcher.embed(["b"]))
    held.go.release()
    await last
    batcher.close()
    assert held.batches == [["a"], ["b"]]


async def test_a_question_is_embedded_once() -> None:
    inner = FakeEmbedder()
    cached = CachedEmbedder(inner, size=2)
    first = await cached.embed(["a"])
    first[:] = 0  # what one caller does to its rows is no one else's matter
    again = await cached.embed(["a"])
    assert inner.batches == [("a",)]
    assert np.linalg.norm(again) == pytest.approx(1)


async def test_the_question_asked_longest_ago_is_forgotten() -> None:
    inner = FakeEmbedder()
    cached = CachedEmbedder(inner, size=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        await cached.embed([text])
    assert inner.batches == [("a",), ("b",), ("c",), ("b",)]


async def test_the_same_question_at_once_is_computed_once() -> None:
    inner = FakeEmbedder()
    cached = CachedEmbedder(inner, size=10)
    await asyncio.gather(*(cached.embed(["same"]) for _ in range(50)))
    assert inner.batches == [("same",)]


async def test_a_failure_is_not_remembered() -> None:
    class Recovers(FakeEmbedder):
        async def embed(self, texts: Sequence[str]) -> Vectors:
            if not self.batches:
                self.batches.append(())
                raise ProviderUnavailable("down")
            return await super().embed(texts)

    cached = CachedEmbedder(Recovers(), size=10)
    with pytest.raises(ProviderUnavailable):
        await cached.embed(["a"])
    assert (await cached.embed(["a"])).shape == (1, 64)


@pytest.mark.parametrize("raw", [[[1.0]], [[1.0, 2.0], [3.0]], "text", [[[1.0]], [[2.0]]], 5])
def test_only_rows_of_numbers_are_vectors(raw: object) -> None:
    with pytest.raises(ProviderRejected, match="somebody"):
        unit_rows(raw, 2, "somebody")  # type: ignore[arg-type]


@pytest.mark.parametrize("provider", ["local", "ollama", "openai"])
async def test_every_provider_is_built_from_settings(provider: str) -> None:
    embedder = build_embedder(provider, None, EmbeddingsSettings())
    assert isinstance(embedder, Embedder)
    assert embedder.name.startswith(f"{provider}:")
    await embedder.close()


def test_a_provider_that_cannot_embed_is_refused() -> None:
    with pytest.raises(PluginInvalid, match="needs name, fingerprint, warm, embed and close"):
        build_embedder("builtins:str", "x", EmbeddingsSettings())
