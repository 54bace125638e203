"""From the names in an adapter's settings to an embedder."""

from collections.abc import Callable
from typing import Any

from server import plugins
from server.core.ports import Embedder
from server.errors import PluginInvalid
from server.providers.embeddings.cached import CachedEmbedder
from server.settings.models import EmbeddingsSettings


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
