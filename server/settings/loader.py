"""A configuration file, with what it imports, into `Settings`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from dotenv.parser import parse_stream

from server import plugins
from server.core.suggestions import did_you_mean, join_words
from server.errors import Location, PluginInvalid, Problem
from server.settings.adapters import AdapterSettings
from server.settings.documents import Document, Keys, read_yaml, shown_path
from server.settings.fields import expand, is_glob
from server.settings.models import (
    PROVIDER_VARIABLE,
    EmbeddingsSettings,
    Imports,
    ModelsSettings,
    Settings,
)
from server.settings.validation import validate


def with_env_file(
    path: Path, environ: Mapping[str, str]
) -> tuple[Mapping[str, str], tuple[Problem, ...]]:
    """Return `environ` on top of what the file at `path` sets, if there is one.

    Values of the file are taken as written: `${NAME}` inside them means nothing.
    """
    try:
        stream = path.open(encoding="utf-8-sig")
    except FileNotFoundError:
        return environ, ()
    except OSError as unreadable:
        why = f"cannot be read: {unreadable.strerror}"
        return environ, (Problem(why, Location(shown_path(path)), "unreadable"),)
    problems, found = [], {}
    with stream:
        try:
            bindings = list(parse_stream(stream))
        except UnicodeDecodeError:
            return environ, (Problem("is not UTF-8 text", Location(shown_path(path)), "not-utf8"),)
    for binding in bindings:
        if binding.error or (binding.key is not None and binding.value is None):
            # What stands there instead may well be a secret, so it is not shown.
            where = Location(shown_path(path), binding.original.line)
            problems.append(Problem("expected NAME=value", where, "bad-env-file"))
        elif binding.key is not None:
            found[binding.key] = binding.value or ""
    return {**found, **environ}, tuple(problems)


def _read_all(
    path: Path, root: Path, environ: Mapping[str, str]
) -> tuple[list[Document], list[Problem], tuple[Path, ...]]:
    """Read `path` and everything it imports, each file once; problems are those of imports.

    The last are the files, and every place where an import looked for more.
    """
    documents: list[Document] = []
    places: list[Path] = [path.absolute()]
    problems: list[Problem] = []
    seen: set[Path] = set()

    def visit(file: Path, importers: tuple[Path, ...]) -> None:
        seen.add(file.resolve())
        # An imported file may be a list of adapters and nothing else.
        document = read_yaml(file, environ, top=(dict, list) if importers else (dict,))
        documents.append(document)
        if not isinstance(document.data, dict) or "import" not in document.data:
            return
        # The problems of the list come again, with those of the whole file.
        wanted: Imports = validate(Imports, document)[0] or Imports.model_construct()
        chain = (*importers, file)
        for number, pattern in enumerate(wanted.imports):
            where = document.where(("import", number))
            found, tried = _find(pattern, file, root)
            places.extend(tried)
            if not found:
                what = f"import: nothing at {join_words(map(shown_path, tried))}"
                # A folder of adapters may well be empty; a file that is named may not be gone.
                problem = Problem(what, where, "not-found")
                is_warning = is_glob(Path(pattern))
                problems.append(replace(problem, severity="warning") if is_warning else problem)
            for target in found:
                if target.resolve() in {importer.resolve() for importer in chain}:
                    trail = " → ".join(shown_path(step) for step in (*chain, target))
                    problems.append(Problem(f"import goes round: {trail}", where, "import-cycle"))
                elif target.resolve() not in seen:
                    visit(target, chain)

    visit(path, ())
    return documents, problems, tuple(dict.fromkeys(places))


def _find(pattern: str, importer: Path, root: Path) -> tuple[list[Path], list[Path]]:
    places = list(dict.fromkeys([importer.absolute().parent / pattern, root / pattern]))
    for place in places:
        found = [
            file for file in expand(place) if file != importer.absolute() or not is_glob(place)
        ]
        if found:
            return found, places
    return [], places


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """Settings, or None when a problem is an error.

    `environ` is what placeholders were filled from, for the files that adapters name.
    `from_environment` are the values that were filled in, which no log should show. `sources`
    are the files and globs that were read, there or not.
    """

    settings: Settings | None
    problems: tuple[Problem, ...]
    environ: Mapping[str, str] = field(repr=False)
    from_environment: frozenset[str] = field(repr=False)
    sources: tuple[Path, ...] = ()


def root_of(config_path: Path) -> Path:
    """The folder that relative paths start from: the one that holds `config/`."""
    folder = config_path.absolute().parent
    return folder.parent if folder.name == "config" else folder


def load_settings(path: Path, environ: Mapping[str, str]) -> LoadedSettings:
    """Read the configuration at `path`; variables come from `environ`, then from `.env`."""
    root = root_of(path)
    variables, problems = with_env_file(root / ".env", environ)
    documents, import_problems, sources = _read_all(path, root, variables)
    merged = _MergedSettings(root)
    for document in documents:
        merged.add(document)
    found = (
        *problems,
        *import_problems,
        *merged.problems,
        *merged.child_problems(),
        *_provider_problems(variables),
    )
    return LoadedSettings(
        settings=None if any(p.is_error for p in found) else merged.settings(),
        problems=found,
        environ=variables,
        from_environment=frozenset().union(*(d.from_environment for d in documents)),
        sources=sources,
    )


_PROVIDER_SECTIONS: Final = (
    ("models", "chat provider", ModelsSettings),
    ("embeddings", "embedding provider", EmbeddingsSettings),
)


def _provider_problems(environ: Mapping[str, str]) -> Iterator[Problem]:
    """What is wrong with the provider of models that the environment names for all adapters."""
    named = environ.get(PROVIDER_VARIABLE, "").strip() or None
    for problem in _unknown_provider(named, Location("environment")):
        yield replace(problem, what=f"{PROVIDER_VARIABLE}: {problem.what}")


def _unknown_provider(named: object, where: Location) -> Iterator[Problem]:
    if not isinstance(named, str) or named in plugins.known("chat provider"):
        return
    try:
        plugins.resolve("chat provider", named)
    except PluginInvalid as unknown:
        yield Problem(str(unknown), where, "unknown-provider")


class _MergedSettings:
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
        disabled = [
            (*at, number)
            for number, entry in enumerate(entries if isinstance(entries, list) else ())
            if isinstance(entry, dict) and entry.get("enabled") is False
        ]
        found = list(document.problems_outside(disabled))
        adapters: list[AdapterSettings | None] = []
        if bare_list:
            for number in range(len(entries)):
                adapter, problems = validate(
                    AdapterSettings, document, (number,), context=self._context
                )
                adapters.append(adapter)
                found += problems
            complete = None not in adapters
        else:
            settings, problems = validate(Settings, document, context=self._context)
            options, misconfigured = self._provider_options(document)
            complete = settings is not None and not misconfigured
            found += sorted((*problems, *misconfigured), key=lambda found: found.where.line)
            if settings is not None:
                adapters.extend(settings.adapters)
                update = {
                    name: getattr(settings, name).model_copy(update=found)
                    for name, found in options.items()
                }
                self._take_sections(settings.model_copy(update=update), document)
        if not complete and not any(p.is_error for p in found):
            # A part that is switched off must still be readable, and misses a variable.
            found = list(document.problems)
        self.problems += found
        for number, adapter in enumerate(adapters):
            if adapter is not None and complete:
                self._take_adapter(adapter, document.where((*at, number)))

    def _provider_options(
        self, document: Document
    ) -> tuple[dict[str, dict[str, Any]], list[Problem]]:
        options: dict[str, dict[str, Any]] = {}
        problems: list[Problem] = []
        for section, kind, model in _PROVIDER_SECTIONS:
            written = document.at((section,))
            for name in written if isinstance(written, dict) else ():
                at = (section, name)
                if name in model.model_fields:
                    if name == "provider":
                        problems += _unknown_provider(written[name], document.where(at))
                    continue
                if name not in plugins.known(kind):
                    names = [*model.model_fields, *plugins.known(kind)]
                    what = f"unknown key {name!r}; {did_you_mean(name, names)}"
                    fix = document.renaming(at, names)
                    problems.append(Problem(what, document.where(at), "unknown-key", fix=fix))
                    continue
                spec = plugins.resolve(kind, name)
                found, amiss = validate(spec.options, document, at, context=self._context)
                options.setdefault(section, {})[name] = found
                problems += amiss
        return options, problems

    def _take_sections(self, settings: Settings, document: Document) -> None:
        for name in sorted(settings.model_fields_set - {"adapters", "imports"}):
            first = self._set_by.setdefault(name, document)
            if first is document:
                self._sections[name] = getattr(settings, name)
            else:
                what = f"{name!r} is set twice; first at {first.where((name,))}"
                where = document.where((name,))
                self.problems.append(Problem(what, where, "duplicate-section"))

    def _take_adapter(self, adapter: AdapterSettings, where: Location) -> None:
        other = self._adapters.setdefault(adapter.name, adapter.at(where))
        if other.where != where:
            first = f"first at {other.where}; keep one, or rename one"
            what = f"adapter {adapter.name!r} is defined twice; {first}"
            self.problems.append(Problem(what, where, "duplicate-adapter"))

    def child_problems(self) -> Iterator[Problem]:
        """Yield which of the adapters that others name as theirs cannot be one."""
        enabled = {name: each for name, each in self._adapters.items() if each.enabled}
        for adapter in enabled.values():
            others = [n for n, each in enabled.items() if not each.config.child_adapters]
            seen = set[str]()
            for name in (child.adapter for child in adapter.config.child_adapters):
                why = ""
                if name == adapter.name:
                    why = "is this adapter itself"
                elif name in seen:
                    why = "is named twice"
                elif name in enabled and enabled[name].config.child_adapters:
                    why = "asks other adapters itself; name those"
                elif name in self._adapters and name not in enabled:
                    why = "is not enabled"
                elif name not in enabled:
                    why = f"is no adapter; {did_you_mean(name, others)}"
                seen.add(name)
                if why:
                    what = f"child_adapters: {name!r} {why}"
                    yield Problem(what, adapter.where, "unknown-child")

    def settings(self) -> Settings:
        defaults = Settings.model_validate({}, context=self._context)
        adapters = tuple(self._adapters.values())
        return defaults.model_copy(update={**self._sections, "adapters": adapters})
