"""From the names in an adapter's settings to a model, with all that stands before it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic import SecretStr

from server import plugins
from server.core.ports import ChatModel
from server.errors import PluginInvalid
from server.providers.chat.resilience import (
    BoundedChatModel,
    Breaker,
    BreakingChatModel,
    RetryingChatModel,
)
from server.providers.chat.structured import StructuredChatModel
from server.settings.chat_models import ChatProviderSettings, ModelsSettings

PROVIDER_VARIABLE: Final = "LLM_PROVIDER"
DEFAULT_PROVIDER: Final = "ollama"

DEFAULT_MODELS: Final[Mapping[str, str]] = {
    "ollama": "llama3.2",
    "openai": "gpt-4o-mini",
    "gemini": "gemini-2.5-flash",
    "llama_cpp": "smollm2-135m-instruct",
}

_THIS_MACHINE: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_FILE_ENDINGS: Final = frozenset({".gguf", ".yaml", ".yml", ".json"})


def resolve_model(
    provider: str | None,
    model: str | None,
    settings: ModelsSettings,
    environ: Mapping[str, str],
) -> tuple[str, str | None]:
    """The provider and model to use where one of the two, or both, are left out.

    A provider of an operator's own keeps a model of None, and chooses itself.
    """
    chosen = provider or settings.provider or environ.get(PROVIDER_VARIABLE, "").strip()
    chosen = chosen or DEFAULT_PROVIDER
    if model:
        return chosen, model
    variable = f"{chosen.upper()}_MODEL"
    match chosen:
        case "ollama":
            written = settings.ollama.model
        case "openai":
            written = settings.openai.model
        case "gemini":
            written = settings.gemini.model
        case "llama_cpp":
            written = settings.llama_cpp.model
        case _:
            return chosen, None
    return chosen, written or environ.get(variable, "").strip() or DEFAULT_MODELS[chosen]


def key_for(
    written: SecretStr | None, environ: Mapping[str, str], variable: str, base_url: str, home: str
) -> str | None:
    """The key to send: the one in the settings, else that of the environment.

    A variable holds the key of `home`, the provider's own host: it is sent there and to
    this machine, and never to another server that a `base_url` happens to name.
    """
    if written is not None:
        return written.get_secret_value() or None
    if urlsplit(base_url).hostname in {home, *_THIS_MACHINE}:
        return environ.get(variable, "").strip() or None
    return None


def located(model: str | None, folder: Path) -> str | None:
    """A model that is a file, as an absolute path; any other name as it is."""
    if model is None or Path(model).suffix.lower() not in _FILE_ENDINGS:
        return model
    return str(folder / Path(model).expanduser())


_DEFAULTS: Final = ChatProviderSettings()


def build_chat_model(
    provider: str,
    model: str | None,
    settings: ModelsSettings,
    environ: Mapping[str, str],
    *,
    folder: Path,
    metered: Callable[[ChatModel], ChatModel] = lambda model: model,
) -> ChatModel:
    """The model of a provider: bounded, left alone when it fails, tried again, and checked.

    Nothing is loaded or reached yet. `folder` is where paths of model files start. A
    provider of an operator's own, named by dotted path, is called with `model` alone.

    Raises:
        PluginInvalid: `provider` names nothing that speaks.
    """
    kind = plugins.resolve("chat provider", provider)
    made = kind(located(model, folder), **_options(provider, settings, environ))
    if not isinstance(made, ChatModel):
        raise PluginInvalid(
            f"chat provider {provider!r} needs name, warm, complete, stream and close"
        )
    limits: ChatProviderSettings = _limits(provider, settings)
    bounded = BoundedChatModel(
        made, max_concurrent=limits.max_concurrent, timeout_s=limits.timeout_s
    )
    breaker = Breaker(max_failures=limits.max_failures, pause_s=limits.pause_s)
    breaking = BreakingChatModel(bounded, breaker)
    retrying = RetryingChatModel(breaking, max_retries=limits.max_retries)
    return StructuredChatModel(metered(retrying))


def _options(provider: str, settings: ModelsSettings, environ: Mapping[str, str]) -> dict[str, Any]:
    match provider:
        case "ollama":
            ollama = settings.ollama
            return {
                "base_url": ollama.base_url,
                "timeout_s": ollama.timeout_s,
                "temperature": ollama.temperature,
                "max_tokens": ollama.max_tokens,
                "context_tokens": ollama.context_tokens,
                "keep_alive": ollama.keep_alive,
            }
        case "openai":
            openai = settings.openai
            home = (openai.base_url, "api.openai.com")
            return {
                "base_url": openai.base_url,
                "api_key": key_for(openai.api_key, environ, "OPENAI_API_KEY", *home),
                "timeout_s": openai.timeout_s,
                "temperature": openai.temperature,
                "max_tokens": openai.max_tokens,
            }
        case "gemini":
            gemini = settings.gemini
            home = (gemini.base_url, "generativelanguage.googleapis.com")
            return {
                "base_url": gemini.base_url,
                "api_key": key_for(gemini.api_key, environ, "GEMINI_API_KEY", *home),
                "timeout_s": gemini.timeout_s,
                "temperature": gemini.temperature,
                "max_tokens": gemini.max_tokens,
            }
        case "llama_cpp":
            llama_cpp = settings.llama_cpp
            return {
                "temperature": llama_cpp.temperature,
                "max_tokens": llama_cpp.max_tokens,
                "context_tokens": llama_cpp.context_tokens,
                "threads": llama_cpp.threads,
            }
    return {}


def _limits(provider: str, settings: ModelsSettings) -> ChatProviderSettings:
    match provider:
        case "ollama":
            return settings.ollama
        case "openai":
            return settings.openai
        case "gemini":
            return settings.gemini
        case "llama_cpp":
            # One call at a time, and what fails in this process fails again.
            timeout_s = settings.llama_cpp.timeout_s
            return ChatProviderSettings(timeout_s=timeout_s, max_retries=0, max_concurrent=1)
    return _DEFAULTS
