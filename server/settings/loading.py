"""A configuration file, with what it imports, into `Settings`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from server.core.problems import Problem
from server.settings.adapters import AdapterSettings
from server.settings.environment import with_env_file
from server.settings.imports import gather
from server.settings.models import Settings
from server.settings.source import Document, Keys
from server.settings.validation import validate


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """Settings, or None when a problem is an error.

    `environ` is what placeholders were filled from, for the files that adapters name.
    `from_environment` are the values that were filled in, which no log should show.
    """

    settings: Settings | None
    problems: tuple[Problem, ...]
    environ: Mapping[str, str] = field(repr=False)
    from_environment: frozenset[str] = field(repr=False)


def root_of(config_path: Path) -> Path:
    """The folder that relative paths start from: the one that holds `config/`."""
    folder = config_path.absolute().parent
    return folder.parent if folder.name == "config" else folder


def load_settings(path: Path, environ: Mapping[str, str]) -> LoadedSettings:
    """Read the configuration at `path`; variables come from `environ`, then from `.env`."""
    root = root_of(path)
    variables, problems = with_env_file(root / ".env", environ)
    files = gather(path, root, variables)
    merged = _Merged(root)
    for document in files.documents:
        merged.add(document)
    found = (*problems, *files.problems, *merged.problems)
    return LoadedSettings(
        settings=None if any(p.severity == "error" for p in found) else merged.settings(),
        problems=found,
        environ=variables,
        from_environment=frozenset().union(*(d.from_environment for d in files.documents)),
    )


class _Merged:
    """What several files set together. A section comes from one file; adapters add up."""

    def __init__(self, root: Path) -> None:
        self.problems: list[Problem] = []
        self._context = {"root": root}
        self._sections: dict[str, Any] = {}
        self._set_by: dict[str, Document] = {}
        self._adapters: dict[str, AdapterSettings] = {}

    def add(self, document: Document) -> None:
        bare_list = isinstance(document.data, list)
        at: Keys = () if bare_list else ("adapters",)
        entries = document.at(at)
        disabled = [(*at, i) for i, e in enumerate(entries or ()) if _disabled(e)]
        found = list(document.problems_outside(disabled))
        if bare_list:
            parts = [
                validate(AdapterSettings, document, (number,), context=self._context)
                for number in range(len(entries))
            ]
            complete = all(adapter is not None for adapter, _ in parts)
            found += [problem for _, problems in parts for problem in problems]
            adapters = [adapter for adapter, _ in parts if adapter is not None]
        else:
            settings, problems = validate(Settings, document, context=self._context)
            complete = settings is not None
            found += problems
            adapters = list(settings.adapters) if settings is not None else []
            if settings is not None:
                self._take_sections(settings, document)
        if not complete and not any(p.severity == "error" for p in found):
            # A part that is switched off must still be readable, and misses a variable.
            found = list(document.problems)
        self.problems += found
        if complete:
            self._take_adapters(adapters, document, at)

    def _take_sections(self, settings: Settings, document: Document) -> None:
        for name in sorted(settings.model_fields_set - {"adapters", "imports"}):
            first = self._set_by.setdefault(name, document)
            if first is document:
                self._sections[name] = getattr(settings, name)
            else:
                what = f"{name!r} is set twice; first at {first.where((name,))}"
                where = document.where((name,))
                self.problems.append(Problem(what, where, "duplicate-section"))

    def _take_adapters(
        self, adapters: Sequence[AdapterSettings], document: Document, at: Keys
    ) -> None:
        for number, adapter in enumerate(adapters):
            where = document.where((*at, number))
            other = self._adapters.setdefault(adapter.name, adapter.at(where))
            if other.where != where:
                what = f"adapter {adapter.name!r} is defined twice; first at {other.where}"
                self.problems.append(Problem(what, where, "duplicate-adapter"))

    def settings(self) -> Settings:
        defaults = Settings.model_validate({}, context=self._context)
        adapters = tuple(self._adapters.values())
        return defaults.model_copy(update={**self._sections, "adapters": adapters})


def _disabled(entry: Any) -> bool:
    return isinstance(entry, dict) and entry.get("enabled") is False
