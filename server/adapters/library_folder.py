"""A folder that holds a library: alone, or as an adapter of a project around it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from server.settings.adapters import AdapterConfig, AdapterSettings
from server.settings.documents import read_yaml
from server.settings.loader import LoadedSettings, load_settings, root_of, with_env_file
from server.settings.models import Settings
from server.settings.place import config_file

DOMAIN: Final = "domain.yaml"
QUESTIONS: Final = "questions"
ENDINGS: Final = (".yaml", ".yml")
_MOST_LEVELS: Final = 4
"""How far above a library's folder its project may be."""


def load_place(place: Path, environ: Mapping[str, str]) -> LoadedSettings:
    """Read the configuration of a project, or make one for the library of a folder.

    A library that a project around it has for an adapter is that adapter. What is made for another
    is kept in `.orbit` beside it.
    """
    file = config_file(place)
    if file.is_file() or not (place / DOMAIN).is_file():
        return load_settings(file, environ)
    around = project_around(place)
    if around is not None:
        found = load_settings(around, environ)
        own = adapters_of(place, found.settings) if found.settings is not None else ()
        if found.settings is None or own:
            # Who names its folder means it, be it switched off.
            only = tuple(a.model_copy(update={"enabled": True}) for a in own)
            settings = found.settings and found.settings.model_copy(update={"adapters": only})
            return replace(found, settings=settings)
    variables, problems = with_env_file(root_of(place / DOMAIN) / ".env", environ)
    adapter = library_adapter(place, template_files(place, variables))
    update = {"data_dir": (place / ".orbit").absolute(), "adapters": (adapter,)}
    return LoadedSettings(
        Settings().model_copy(update=update), problems, variables, from_environment=frozenset()
    )


def template_files(folder: Path, environ: Mapping[str, str]) -> list[Path]:
    """The files of a library's folder that hold templates, or cannot be read."""
    return sorted(
        path
        for path in folder.iterdir()
        if path.suffix in ENDINGS
        and path.name != DOMAIN
        and not path.stem.startswith(QUESTIONS)
        and _may_hold_templates(read_yaml(path, environ, top=(dict, list)).data)
    )


def question_files(folder: Path) -> list[Path]:
    """The files of a library's folder that hold questions."""
    return sorted(path for path in folder.glob(f"{QUESTIONS}*") if path.suffix in ENDINGS)


def _may_hold_templates(data: Any) -> bool:
    if isinstance(data, dict):
        return "templates" in data
    entries = data if isinstance(data, list) else [{"id": ""}]
    return any(isinstance(entry, dict) and "id" in entry for entry in entries)


def library_adapter(folder: Path, templates: Sequence[Path]) -> AdapterSettings:
    """The adapter of a folder's library with default settings, called after the folder."""
    config = AdapterConfig.model_construct(
        domain_config_path=folder / DOMAIN, template_library_path=tuple(templates)
    )
    name = folder.absolute().name or "library"
    return AdapterSettings.model_construct(name=name, config=config)


def project_around(folder: Path) -> Path | None:
    """The configuration of the project that a library's folder stands in, if it does."""
    for above in folder.absolute().parents[:_MOST_LEVELS]:
        if (above / "config" / "config.yaml").is_file():
            return above / "config" / "config.yaml"
    return None


def adapters_of(folder: Path, settings: Settings) -> tuple[AdapterSettings, ...]:
    """The adapters of a project whose domain stands in a folder, switched off or not."""
    domain = (folder / DOMAIN).absolute()
    return tuple(a for a in settings.adapters if a.config.domain_config_path == domain)
