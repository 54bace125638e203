"""What `check` looks at, by what the path turns out to be."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from server.core.problems import Location, Problem
from server.evaluation.questions import load_questions
from server.guards.loading import load_guards
from server.guards.opening import guard_problems
from server.reading import read_library
from server.settings.adapters import AdapterConfig, AdapterSettings
from server.settings.environment import with_env_file
from server.settings.loading import load_settings, root_of
from server.settings.models import Settings
from server.settings.source import read_yaml

_DOMAIN: Final = "domain.yaml"
_QUESTIONS: Final = "questions"
_ENDINGS: Final = (".yaml", ".yml")


def check_path(path: Path) -> list[Problem]:
    """Every problem of a configuration, a library folder, or one file of a library."""
    if path.is_dir():
        for config in (path / "config" / "config.yaml", path / "config.yaml"):
            if config.is_file():
                return check_configuration(config)
        return check_library_folder(path)
    if not path.exists():
        return [Problem("there is no such file or folder", Location(str(path)), "not-found")]
    environ, problems = _environ(path)
    match _kind_of(path, environ):
        case "templates":
            return problems + _check_library(path.parent, [path], environ)
        case "domain":
            return problems + _check_library(path.parent, _template_files(path.parent), environ)
        case "guards":
            return problems + list(load_guards([path], environ).problems)
        case "questions":
            return problems + list(load_questions(path, None, environ)[1])
        case _:
            return check_configuration(path)


def check_configuration(config: Path) -> list[Problem]:
    """Settings, then the library and the questions of every enabled adapter."""
    loaded = load_settings(config, os.environ)
    problems = list(loaded.problems)
    if loaded.settings is None:
        return problems
    for adapter in loaded.settings.adapters:
        if adapter.enabled:
            problems += _check_adapter(adapter, loaded.environ, loaded.settings)
    return problems


def check_library_folder(folder: Path) -> list[Problem]:
    """A `domain.yaml` and the template and question files beside it."""
    environ, problems = _environ(folder / _DOMAIN)
    return problems + _check_library(folder, _template_files(folder), environ)


def _check_library(
    folder: Path, templates: list[Path], environ: Mapping[str, str]
) -> list[Problem]:
    domain = folder / _DOMAIN
    if not domain.is_file():
        what = f"holds no {_DOMAIN}, so there is no library to check"
        return [Problem(what, Location(str(folder)), "not-found")]
    if not templates:
        what = "holds no template file: one whose top is `templates:`"
        return [Problem(what, Location(str(folder)), "empty-library")]
    config = AdapterConfig.model_construct(
        domain_config_path=domain, template_library_path=tuple(templates)
    )
    adapter = AdapterSettings.model_construct(name=folder.name or "library", config=config)
    return _check_adapter(adapter, environ)


def _check_adapter(
    adapter: AdapterSettings, environ: Mapping[str, str], settings: Settings | None = None
) -> list[Problem]:
    read = read_library(adapter, settings.tools if settings else {}, environ, settings)
    problems = list(read.problems)
    if settings is not None:
        problems += guard_problems(adapter, read.library, settings, environ)
    # Which templates there are is only known when all of them can be read.
    known = read.library.templates if read.library else None
    for path in _question_files(adapter.config.domain_config_path.parent):
        problems += load_questions(path, known, environ)[1]
    return problems


def _question_files(folder: Path) -> Iterable[Path]:
    return sorted(path for path in folder.glob(f"{_QUESTIONS}*") if path.suffix in _ENDINGS)


def _template_files(folder: Path) -> list[Path]:
    """Every YAML file of a folder that is neither its domain nor its questions."""
    return sorted(
        path
        for path in folder.iterdir()
        if path.suffix in _ENDINGS and path.name != _DOMAIN and not path.stem.startswith(_QUESTIONS)
    )


def _kind_of(path: Path, environ: Mapping[str, str]) -> str:
    data = read_yaml(path, environ, top=(dict, list)).data
    if not isinstance(data, dict):
        return "configuration"
    for key, kind in (
        ("templates", "templates"),
        ("domain", "domain"),
        ("domain_name", "domain"),
        ("categories", "guards"),
        ("questions", "questions"),
    ):
        if key in data:
            return kind
    return "configuration"


def _environ(path: Path) -> tuple[Mapping[str, str], list[Problem]]:
    environ, problems = with_env_file(root_of(path) / ".env", os.environ)
    return environ, list(problems)
