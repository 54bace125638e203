"""Provider `local`: an encoder in this process, in a thread of its own."""

from collections.abc import Sequence

import numpy as np

from server.core.ports import Vectors
from server.errors import ProviderError, ProviderRejected
from server.providers.embeddings.batching import Batcher
from server.providers.embeddings.local_models import DEFAULT_MODEL, LoadedModel, load
from server.providers.embeddings.vectors import unit_rows


class LocalEmbedder:
    """Loaded on first use, or by `warm`. Nothing is ever downloaded."""

    def __init__(self, model: str | None = None, *, threads: int | None = None) -> None:
        self._model = model or DEFAULT_MODEL
        self._threads = threads
        self._loaded: LoadedModel | None = None
        self._batcher = Batcher(self._encode)

    @property
    def name(self) -> str:
        return f"local:{self._model}"

    @property
    def fingerprint(self) -> str:
        revision = self._loaded.revision if self._loaded else "not loaded"
        return f"{self.name}:{revision}"

    async def warm(self) -> None:
        await self._batcher.run(self._load)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, 0), dtype=np.float32)
        return await self._batcher.embed(texts)

    async def close(self) -> None:
        self._batcher.close()

    def _load(self) -> None:
        if self._loaded is None:
            self._loaded = load(self._model, self._threads)

    def _encode(self, texts: list[str]) -> Vectors:
        self._load()
        assert self._loaded is not None  # noqa: S101  _load sets it or raises
        try:
            raw = self._loaded.encode(texts)
        except ProviderError:
            raise
        except Exception as failed:  # an encoder's own code may raise anything
            raise ProviderRejected(f"{self.name} could not embed: {failed}") from failed
        return unit_rows(raw, len(texts), self.name)
