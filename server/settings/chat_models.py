"""Settings of the models that speak: one section a provider."""

from pydantic import Field

from server.settings.fields import Seconds, Strict


class ChatProviderSettings(Strict):
    """What every provider of models has."""

    timeout_s: Seconds = 30.0
    """Seconds until an answer, until the first word of a stream, and between its words."""
    max_retries: int = Field(default=3, ge=0, le=10)
    """How often a request that failed in passing is tried again: after 1 s, 2 s, 4 s …"""
    max_concurrent: int = Field(default=4, ge=1, le=1000)
    """Requests at one time; others wait, for `timeout_s` at most."""
    max_failures: int = Field(default=5, ge=1, le=1000)
    """Failures in a row after which the provider is left alone for `pause_s`."""
    pause_s: Seconds = 30.0
    """Seconds without requests after so many failures; then one is tried."""
    temperature: float = Field(default=0.0, ge=0, le=2)
    """How freely words are chosen; 0 takes the likeliest, so that answers repeat."""
    max_tokens: int = Field(default=512, ge=1, le=1_000_000)
    """Most tokens of one reply."""


class OllamaModels(ChatProviderSettings):
    """Models of an Ollama server."""

    model: str | None = None
    """Model where none is named; without one, `OLLAMA_MODEL`, else `llama3.2`."""
    base_url: str = "http://localhost:11434"
    """Where Ollama listens."""
    context_tokens: int | None = Field(default=None, ge=128, le=10_000_000)
    """Tokens that the model keeps in view; without a number, Ollama chooses."""
    keep_alive: str | None = None
    """How long Ollama keeps the model loaded, as `10m`; without it, Ollama chooses."""


class ModelsSettings(Strict):
    """One section for each provider of models; adapters name the provider they use."""

    provider: str | None = None
    """Provider where a model is named without one; left out, `LLM_PROVIDER`, else `ollama`."""
    ollama: OllamaModels = OllamaModels()
    """Provider `ollama`."""
