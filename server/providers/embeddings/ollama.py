"""Provider `ollama`: embeddings from an Ollama server."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar
from urllib.parse import urlsplit

import numpy as np
import ollama
from pydantic import Field

from server.core.ports import Vectors
from server.providers.embeddings.requests import call, unit_rows
from server.providers.failures import refused
from server.providers.spec import ProviderSpec
from server.settings.fields import Seconds, Strict

_T = TypeVar("_T")


class OllamaEmbeddingOptions(Strict):
    """Embeddings from an Ollama server."""

    base_url: str = "http://localhost:11434"
    """Where Ollama listens."""
    timeout_s: Seconds = 30.0
    """Seconds that one request may take."""
    max_retries: int = Field(default=2, ge=0, le=10)
    """How often a failed request is tried again."""
    batch_size: int = Field(default=32, ge=1, le=2048)
    """Texts in one request."""


class OllamaEmbedder:
    """Asks `base_url` for vectors, `batch_size` texts at a time."""

    def __init__(self, model: str, options: OllamaEmbeddingOptions) -> None:
        self._model = model
        host = urlsplit(options.base_url).netloc.rpartition("@")[2]
        self._described = f"embedding provider 'ollama' at {host}"
        self._client = ollama.AsyncClient(host=options.base_url, timeout=options.timeout_s)
        self._max_retries = options.max_retries
        self._batch_size = options.batch_size
        self._digest = "unknown"

    @property
    def name(self) -> str:
        return f"ollama:{self._model}"

    @property
    def fingerprint(self) -> str:
        return f"{self.name}:{self._digest}"

    async def warm(self) -> None:
        """Learn the model's digest, so that a model pulled anew is indexed anew."""
        listed = await self._call(self._client.list)
        wanted = {self._model, f"{self._model}:latest"}
        for model in listed.models:
            if model.model in wanted and model.digest:
                self._digest = model.digest
        await self.embed(["warm"])

    async def embed(self, texts: Sequence[str]) -> Vectors:
        parts = [
            await self._embed_batch(texts[start : start + self._batch_size])
            for start in range(0, len(texts), self._batch_size)
        ]
        return np.vstack(parts) if parts else np.empty((0, 0), dtype=np.float32)

    async def close(self) -> None:
        await self._client.close()  # type: ignore[no-untyped-call]

    async def _embed_batch(self, texts: Sequence[str]) -> Vectors:
        response = await self._call(lambda: self._client.embed(self._model, list(texts)))
        return unit_rows(response.embeddings, len(texts), self._described)

    async def _call(self, request: Callable[[], Awaitable[_T]]) -> _T:
        async def attempt() -> _T:
            try:
                return await request()
            except ollama.ResponseError as answered:
                raise refused(
                    self._described,
                    answered.status_code,
                    model=self._model,
                    missing_hint=f"run: ollama pull {self._model}",
                ) from None

        return await call(self._described, attempt, max_retries=self._max_retries)


PROVIDER: Final = ProviderSpec(
    client=OllamaEmbedder, options=OllamaEmbeddingOptions, default_model="nomic-embed-text"
)
