"""From the names in an adapter's settings to an embedder."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np

from server.core.ports import Embedder, Vectors
from server.errors import PluginInvalid
from server.providers.spec import find_provider
from server.providers.wrappers import EmbedderWrapper
from server.settings.models import EmbeddingsSettings


class CachedEmbedder(EmbedderWrapper):
    """Another embedder, asked once for the same single text.

    Single texts are questions, and questions repeat; batches are libraries, and are
    passed through. Two that ask the same at the same time share one computation.
    """

    def __init__(self, embedder: Embedder, *, size: int) -> None:
        super().__init__(embedder)
        self._size = size
        self._known: OrderedDict[str, Vectors] = OrderedDict()
        self._underway: dict[str, asyncio.Task[Vectors]] = {}

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
            task.add_done_callback(_note_failure)
        # Shielded: one that gives up must not take the answer from another that waits.
        return (await asyncio.shield(task)).copy()

    async def close(self) -> None:
        for task in self._underway.values():
            task.cancel()
        await super().close()

    async def _fetch(self, text: str) -> Vectors:
        try:
            rows = await self._embedder.embed([text])
        finally:
            del self._underway[text]
        self._known[text] = np.array(rows)
        while len(self._known) > self._size:
            self._known.popitem(last=False)
        return rows


def _note_failure(task: asyncio.Task[Vectors]) -> None:
    """Mark a failure as seen when everybody who waited for it has given up."""
    if not task.cancelled():
        task.exception()


def build_embedder(
    provider: str,
    model: str | None,
    settings: EmbeddingsSettings,
    *,
    metered: Callable[[Embedder], Embedder] = lambda embedder: embedder,
) -> Embedder:
    """Return the embedder of a provider, with a cache in front of it.

    `metered` goes between the two, so that what the cache answers is no call. Raises
    `PluginInvalid`: `provider` names nothing that embeds.
    """
    spec = find_provider("embedding provider", provider)
    options = spec.options_in(settings.section(provider), {})
    client = spec.client(model or spec.default_model, options)
    if not isinstance(client, Embedder):
        raise PluginInvalid(
            f"embedding provider {provider!r} needs name, fingerprint, warm, embed and close"
        )
    return CachedEmbedder(metered(client), size=settings.query_cache_size)
