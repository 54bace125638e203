"""From the names in an adapter's settings to an embedder."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from server import plugins
from server.core.ports import Embedder, Vectors
from server.errors import PluginInvalid
from server.settings.models import EmbeddingsSettings


class CachedEmbedder:
    """Another embedder, asked once for the same single text.

    Single texts are questions, and questions repeat; batches are libraries, and are
    passed through. Two that ask the same at the same time share one computation.
    """

    def __init__(self, embedder: Embedder, *, size: int) -> None:
        self._embedder = embedder
        self._size = size
        self._known: OrderedDict[str, Vectors] = OrderedDict()
        self._underway: dict[str, asyncio.Task[Vectors]] = {}

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    async def warm(self) -> None:
        await self._embedder.warm()

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if len(texts) != 1 or self._size == 0:
            return await self._embedder.embed(texts)
        (text,) = texts
        known = self._known.get(text)
        if known is not None:
            self._known.move_to_end(text)
            return known.copy()
        task = self._underway.get(text)
        if task is None:
            task = self._underway[text] = asyncio.create_task(self._fetch(text))
            task.add_done_callback(_look)
        # Shielded: one that gives up must not take the answer from another that waits.
        return (await asyncio.shield(task)).copy()

    async def close(self) -> None:
        for task in self._underway.values():
            task.cancel()
        await self._embedder.close()

    async def _fetch(self, text: str) -> Vectors:
        try:
            rows = await self._embedder.embed([text])
        finally:
            del self._underway[text]
        self._known[text] = np.array(rows)
        while len(self._known) > self._size:
            self._known.popitem(last=False)
        return rows


def _look(task: asyncio.Task[Vectors]) -> None:
    """Take note of a failure that all who waited for it have given up on."""
    if not task.cancelled():
        task.exception()


def build_embedder(
    provider: str,
    model: str | None,
    settings: EmbeddingsSettings,
    *,
    metered: Callable[[Embedder], Embedder] = lambda embedder: embedder,
) -> Embedder:
    """The embedder of a provider, with a cache in front of it.

    `metered` goes between the two, so that what the cache answers is no call.

    A provider of an operator's own, named by dotted path, is called with `model` alone.

    Raises:
        PluginInvalid: `provider` names nothing that embeds.
    """
    made = plugins.resolve("embedding provider", provider)(model, **_options(provider, settings))
    if not isinstance(made, Embedder):
        raise PluginInvalid(
            f"embedding provider {provider!r} needs name, fingerprint, warm, embed and close"
        )
    return CachedEmbedder(metered(made), size=settings.query_cache_size)


def _options(provider: str, settings: EmbeddingsSettings) -> dict[str, Any]:
    match provider:
        case "local":
            return {"threads": settings.local.threads}
        case "ollama":
            ollama = settings.ollama
            return {
                "base_url": ollama.base_url,
                "timeout_s": ollama.timeout_s,
                "max_retries": ollama.max_retries,
                "batch_size": ollama.batch_size,
            }
        case "openai":
            openai = settings.openai
            return {
                "base_url": openai.base_url,
                "api_key": openai.api_key.get_secret_value() if openai.api_key else None,
                "timeout_s": openai.timeout_s,
                "max_retries": openai.max_retries,
                "batch_size": openai.batch_size,
                "dimensions": openai.dimensions,
            }
    return {}
