"""Provider `openai`: embeddings from OpenAI, or any server that speaks its protocol."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import numpy as np

from server.core.ports import Vectors
from server.providers.embeddings.requests import call, unit_rows
from server.providers.failures import refused

DEFAULT_MODEL: Final = "text-embedding-3-small"


class OpenAIEmbedder:
    """Posts to `{base_url}/embeddings`, `batch_size` texts at a time."""

    def __init__(
        self,
        model: str | None = None,
        *,
        base_url: str = "https://api.openai.com/v1",
        api_key: str | None = None,
        timeout_s: float = 30.0,
        max_retries: int = 2,
        batch_size: int = 128,
        dimensions: int | None = None,
    ) -> None:
        self._model = model or DEFAULT_MODEL
        host = urlsplit(base_url).netloc.rpartition("@")[2]
        self._host = host
        self._described = f"embedding provider 'openai' at {host}"
        self._url = f"{base_url.rstrip('/')}/embeddings"
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._client = httpx.AsyncClient(timeout=timeout_s, headers=headers)
        self._max_retries = max_retries
        self._batch_size = batch_size
        self._dimensions = dimensions

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
