"""Which provider and model are meant: settings first, then variables, then defaults."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from server.settings.chat_models import ModelsSettings

PROVIDER_VARIABLE: Final = "LLM_PROVIDER"
DEFAULT_PROVIDER: Final = "ollama"

DEFAULT_MODELS: Final[Mapping[str, str]] = {
    "ollama": "llama3.2",
}

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
        case _:
            return chosen, None
    return chosen, written or environ.get(variable, "").strip() or DEFAULT_MODELS[chosen]


def located(model: str | None, folder: Path) -> str | None:
    """A model that is a file, as an absolute path; any other name as it is."""
    if model is None or Path(model).suffix.lower() not in _FILE_ENDINGS:
        return model
    return str(folder / Path(model).expanduser())
