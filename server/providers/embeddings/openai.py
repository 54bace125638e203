"""Provider `openai`: embeddings from OpenAI, or any server that speaks its protocol."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import httpx
from pydantic import Field, SecretStr

from server.providers.embeddings.requests import RemoteEmbedder, RemoteEmbeddingOptions
from server.providers.failures import refused
from server.providers.spec import ProviderSpec


class OpenAIEmbeddingOptions(RemoteEmbeddingOptions):
    """Embeddings from OpenAI, or any server that speaks its protocol."""

    base_url: str = "https://api.openai.com/v1"
    """The API up to and with `/v1`."""
    api_key: SecretStr | None = None
    """Sent as a bearer token; write `${OPENAI_API_KEY}` rather than the key."""
    batch_size: int = Field(default=128, ge=1, le=2048)
    """Texts in one request."""
    dimensions: int | None = Field(default=None, ge=1, le=65_536)
    """Length of the vectors to ask for, where the model offers a choice."""


class OpenAIEmbedder(RemoteEmbedder):
    """Posts to `{base_url}/embeddings`."""

    def __init__(self, model: str, options: OpenAIEmbeddingOptions) -> None:
        super().__init__("openai", model, options)
        self.fingerprint = f"{self.name}:{self._host}:{options.dimensions or 'full'}"
        self._url = f"{options.base_url.rstrip('/')}/embeddings"
        key = options.api_key.get_secret_value() if options.api_key else None
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.AsyncClient(timeout=options.timeout_s, headers=headers)
        self._dimensions = options.dimensions

    async def close(self) -> None:
        await self._client.aclose()

    async def _post(self, texts: list[str]) -> Sequence[Any]:
        body: dict[str, Any] = {"model": self._model, "input": texts}
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
