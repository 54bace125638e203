"""Provider `ollama`: embeddings from an Ollama server."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeVar

import ollama

from server.providers.embeddings.requests import RemoteEmbedder, RemoteEmbeddingOptions
from server.providers.failures import refused
from server.providers.spec import ProviderSpec

_T = TypeVar("_T")


class OllamaEmbeddingOptions(RemoteEmbeddingOptions):
    """Embeddings from an Ollama server."""

    base_url: str = "http://localhost:11434"
    """Where Ollama listens."""


class OllamaEmbedder(RemoteEmbedder):
    """Uses the client of Ollama."""

    def __init__(self, model: str, options: OllamaEmbeddingOptions) -> None:
        super().__init__("ollama", model, options)
        self._client = ollama.AsyncClient(host=options.base_url, timeout=options.timeout_s)
        self._digest = "unknown"

    @property
    def fingerprint(self) -> str:
        return f"{self.name}:{self._digest}"

    async def warm(self) -> None:
        """Learn the model's digest, so that a model pulled anew is indexed anew."""
        listed = await self._call(self._client.list)
        for model in listed.models:
            if model.model in {self._model, f"{self._model}:latest"} and model.digest:
                self._digest = model.digest
        await super().warm()

    async def close(self) -> None:
        await self._client.close()  # type: ignore[no-untyped-call]

    async def _post(self, texts: list[str]) -> Sequence[Any]:
        return (await self._client.embed(self._model, texts)).embeddings

    async def _attempt(self, request: Callable[[], Awaitable[_T]]) -> _T:
        try:
            return await request()
        except ollama.ResponseError as answered:
            raise refused(
                self._described,
                answered.status_code,
                model=self._model,
                missing_hint=f"run: ollama pull {self._model}",
            ) from None


PROVIDER: Final = ProviderSpec(
    client=OllamaEmbedder, options=OllamaEmbeddingOptions, default_model="nomic-embed-text"
)
