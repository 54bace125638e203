"""From the names in an adapter's settings to a model, with all that stands before it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from server.core.ports import ChatModel
from server.errors import PluginInvalid
from server.providers.chat.resilience import ResilientChatModel
from server.providers.chat.structured import StructuredChatModel
from server.providers.spec import find_provider
from server.settings.models import PROVIDER_VARIABLE, ModelsSettings

DEFAULT_PROVIDER: Final = "ollama"

_FILE_ENDINGS: Final = frozenset({".gguf", ".yaml", ".yml", ".json"})


def named_provider(settings: ModelsSettings, environ: Mapping[str, str]) -> str | None:
    """Return the provider that the settings name for all, else the environment, else None."""
    return settings.provider or environ.get(PROVIDER_VARIABLE, "").strip() or None


def resolve_model(
    provider: str | None, model: str | None, settings: ModelsSettings, environ: Mapping[str, str]
) -> tuple[str, str | None]:
    """Return the provider and model to use where one of the two, or both, are left out.

    A provider of an operator's own may keep a model of None, and choose itself. Raises
    `PluginInvalid`: there is no such provider.
    """
    chosen = provider or named_provider(settings, environ) or DEFAULT_PROVIDER
    if model:
        return chosen, model
    spec = find_provider("chat provider", chosen)
    return chosen, spec.model_for(spec.options_in(settings.section(chosen), environ), environ)


def absolute_model(model: str | None, folder: Path) -> str | None:
    """Return a model that is a file as an absolute path, and any other name as it is."""
    if model is None or Path(model).suffix.lower() not in _FILE_ENDINGS:
        return model
    return str(folder / Path(model).expanduser())


def build_chat_model(
    provider: str,
    model: str | None,
    settings: ModelsSettings,
    environ: Mapping[str, str],
    *,
    folder: Path,
    metered: Callable[[ChatModel], ChatModel] = lambda model: model,
) -> ChatModel:
    """Return the model of a provider: bounded, left alone when it fails, tried again, and checked.

    Nothing is loaded or reached yet. `folder` is where paths of model files start. Raises
    `PluginInvalid`: `provider` names nothing that speaks.
    """
    spec = find_provider("chat provider", provider)
    options = spec.options_in(settings.section(provider), environ)
    named = model or spec.model_for(options, environ)
    client = spec.client(absolute_model(named, folder), options)
    if not isinstance(client, ChatModel):
        raise PluginInvalid(
            f"chat provider {provider!r} needs name, warm, complete, stream and close"
        )
    return StructuredChatModel(metered(ResilientChatModel(client, spec.limits_of(options))))
