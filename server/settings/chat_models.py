"""Settings of the models that speak: one section a provider."""

from pydantic import Field, SecretStr

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


class OpenAIModels(ChatProviderSettings):
    """Models of OpenAI, or any server that speaks its protocol."""

    model: str | None = None
    """Model where none is named; without one, `OPENAI_MODEL`, else `gpt-4o-mini`."""
    base_url: str = "https://api.openai.com/v1"
    """The API up to and with `/v1`."""
    api_key: SecretStr | None = None
    """Sent as a bearer token; without one, `OPENAI_API_KEY`, to OpenAI and this machine only."""


class GeminiModels(ChatProviderSettings):
    """Models of Google Gemini."""

    model: str | None = None
    """Model where none is named; without one, `GEMINI_MODEL`, else `gemini-2.5-flash`."""
    base_url: str = "https://generativelanguage.googleapis.com/v1beta"
    """The API up to and with its version."""
    api_key: SecretStr | None = None
    """Sent as `x-goog-api-key`; without one, `GEMINI_API_KEY`, to Google and this machine only."""


class LlamaCppModels(Strict):
    """A model in the server's own process."""

    model: str | None = None
    """Name or GGUF file where none is named; without one, `LLAMA_CPP_MODEL`, else SmolLM2."""
    timeout_s: Seconds = 60.0
    """Seconds until an answer, until the first word of a stream, and between its words."""
    temperature: float = Field(default=0.0, ge=0, le=2)
    """How freely words are chosen; 0 takes the likeliest, so that answers repeat."""
    max_tokens: int = Field(default=512, ge=1, le=1_000_000)
    """Most tokens of one reply."""
    context_tokens: int = Field(default=2048, ge=128, le=1_000_000)
    """Tokens that the model keeps in view, question and answer together."""
    threads: int | None = Field(default=None, ge=1, le=256)
    """Threads for one computation; without a number, one for each core."""


class ModelsSettings(Strict):
    """One section for each provider of models; adapters name the provider they use."""

    provider: str | None = None
    """Provider where a model is named without one; left out, `LLM_PROVIDER`, else `ollama`."""
    ollama: OllamaModels = OllamaModels()
    """Provider `ollama`."""
    openai: OpenAIModels = OpenAIModels()
    """Provider `openai`."""
    gemini: GeminiModels = GeminiModels()
    """Provider `gemini`."""
    llama_cpp: LlamaCppModels = LlamaCppModels()
    """Provider `llama_cpp`."""
