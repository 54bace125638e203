"""Which provider and model are meant, and with which key: settings first, then variables."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from pydantic import SecretStr

from server.settings.chat_models import ModelsSettings

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


def names(
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
