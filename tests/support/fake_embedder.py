"""An embedder for unit tests: no model, no meaning, the same vector for the same words."""

import hashlib
from collections.abc import Sequence

import numpy as np

from server.core.ports import Vectors
from server.providers.embeddings.requests import unit_rows


class FakeEmbedder:
    """Each word has a direction of its own; a text is the sum of its words.

    `batches` keeps what was asked for, in order.
    """

    def __init__(self, *, dimensions: int = 64, revision: str = "1") -> None:
        self._dimensions = dimensions
        self._revision = revision
        self.batches: list[tuple[str, ...]] = []

    @property
    def name(self) -> str:
        return "fake"

    @property
    def fingerprint(self) -> str:
        return f"fake:{self._dimensions}:{self._revision}"

    async def warm(self) -> None:
        return None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.batches.append(tuple(texts))
        if not texts:
            return np.empty((0, self._dimensions), dtype=np.float32)
        return unit_rows([self._vector(text) for text in texts], len(texts), self.name)

    async def close(self) -> None:
        return None

    def _vector(self, text: str) -> list[float]:
        total = np.full(self._dimensions, 1e-3)
        for word in text.lower().split():
            seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
            total += np.random.default_rng(seed).standard_normal(self._dimensions)
        return [float(value) for value in total]
