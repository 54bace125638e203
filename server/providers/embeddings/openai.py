"""Provider `openai`: embeddings from OpenAI, or any server that speaks its protocol."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import numpy as np
from pydantic import Field, SecretStr

from server.core.ports import Vectors
from server.providers.embeddings.requests import call, unit_rows
from server.providers.failures import refused
from server.providers.spec import ProviderSpec
from server.settings.fields import Seconds, Strict


class OpenAIEmbeddingOptions(Strict):
    """Embeddings from OpenAI, or any server that speaks its protocol."""

    base_url: str = "https://api.openai.com/v1"
    """The API up to and with `/v1`."""
    api_key: SecretStr | None = None
    """Sent as a bearer token; write `${OPENAI_API_KEY}` rather than the key."""
    timeout_s: Seconds = 30.0
    """Seconds that one request may take."""
    max_retries: int = Field(default=2, ge=0, le=10)
    """How often a failed request is tried again."""
    batch_size: int = Field(default=128, ge=1, le=2048)
    """Texts in one request."""
    dimensions: int | None = Field(default=None, ge=1, le=65_536)
    """Length of the vectors to ask for, where the model offers a choice."""


class OpenAIEmbedder:
    """Posts to `{base_url}/embeddings`, `batch_size` texts at a time."""

    def __init__(self, model: str, options: OpenAIEmbeddingOptions) -> None:
        self._model = model
        host = urlsplit(options.base_url).netloc.rpartition("@")[2]
        self._host = host
        self._described = f"embedding provider 'openai' at {host}"
        self._url = f"{options.base_url.rstrip('/')}/embeddings"
        key = options.api_key.get_secret_value() if options.api_key else None
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.AsyncClient(timeout=options.timeout_s, headers=headers)
        self._max_retries = options.max_retries
        self._batch_size = options.batch_size
        self._dimensions = options.dimensions

    @property
    def name(self) -> str:
        return f"openai:{self._model}"

    @property
    def fingerprint(self) -> str:
        return f"{self.name}:{self._host}:{self._dimensions or 'full'}"

    async def warm(self) -> None:
        await self.embed(["warm"])

    async def embed(self, texts: Sequence[str]) -> Vectors:
        parts = [
            await self._embed_batch(texts[start : start + self._batch_size])
            for start in range(0, len(texts), self._batch_size)
        ]
        return np.vstack(parts) if parts else np.empty((0, 0), dtype=np.float32)

    async def close(self) -> None:
        await self._client.aclose()

    async def _embed_batch(self, texts: Sequence[str]) -> Vectors:
        rows = await call(self._described, lambda: self._post(texts), max_retries=self._max_retries)
        return unit_rows(rows, len(texts), self._described)

    async def _post(self, texts: Sequence[str]) -> list[Any]:
        body: dict[str, Any] = {"model": self._model, "input": list(texts)}
        if self._dimensions is not None:
            body["dimensions"] = self._dimensions
        response = await self._client.post(self._url, json=body)
        if not response.is_success:
            raise refused(
                self._described,
                response.status_code,
                model=self._model,
                missing_hint="check embedding_model and embeddings.openai.base_url",
            )
        items: list[Mapping[str, Any]] = response.json()["data"]
        return [item["embedding"] for item in sorted(items, key=lambda item: int(item["index"]))]


PROVIDER: Final = ProviderSpec(
    client=OpenAIEmbedder, options=OpenAIEmbeddingOptions, default_model="text-embedding-3-small"
)
