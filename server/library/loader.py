"""A domain file and template files, into one library or all that is wrong with them."""

import gc
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from server.errors import Location, Problem, first_of
from server.library.composed_sql import data_template
from server.library.domain import build_domain
from server.library.earlier import EarlierTexts, is_standing_domain, standing_templates
from server.library.model import Domain, LeftOut, Library, StandIn, Template
from server.library.problems import ProblemCollector
from server.library.templates import build_templates, by_id
from server.settings.documents import Document, parse_yaml, read_yaml, shown_path
from server.settings.fields import expand


@dataclass(frozen=True, slots=True)
class LoadedLibrary:
    """The templates that can be used, or None when there are none, or the domain is broken.

    `readable` holds all that could be read, so that more can be said of it.
    `from_environment` are the values that placeholders brought in, which no log should
    show. `texts` are the files that could be read, as they were, and `unreadable` says what is
    wrong with each other that is there.
    """

    library: Library | None
    problems: tuple[Problem, ...]
    readable: Library | None = None
    from_environment: frozenset[str] = field(default=frozenset(), repr=False)
    texts: Mapping[Path, bytes] = field(default_factory=dict, repr=False)
    unreadable: tuple[Problem, ...] = ()


def load_library(
    domain_path: Path,
    template_paths: Sequence[Path],
    environ: Mapping[str, str],
    *,
    base_url: str = "",
    earlier: EarlierTexts | None = None,
) -> LoadedLibrary:
    """Read a library; `template_paths` are files or globs. Never raises for what they hold.

    A `base_url` stands in place of the domain's own, and `earlier` texts in place of files that
    are there and cannot be read, as far as those still agree with them.
    """
    with _COLLECTION.rare():
        return _read_library(domain_path, template_paths, environ, base_url, earlier)


class _Collection:
    """Looks for garbage less often while libraries are read, in however many threads.

    Nothing that is made of a file is garbage yet, and looking is a third of the time.
    """

    def __init__(self) -> None:
        self._lock, self._readers = threading.Lock(), 0
        self._usual = gc.get_threshold()

    @contextmanager
    def rare(self) -> Iterator[None]:
        with self._lock:
            self._readers += 1
            if self._readers == 1:
                self._usual = gc.get_threshold()
                gc.set_threshold(_RARELY, *self._usual[1:])
        try:
            yield
        finally:
            with self._lock:
                self._readers -= 1
                if not self._readers:
                    gc.set_threshold(*self._usual)


_COLLECTION: Final = _Collection()
_RARELY: Final = 200_000
"""Objects that are made before the next look, of which a template is some hundred."""


def _read_library(
    domain_path: Path,
    template_paths: Sequence[Path],
    environ: Mapping[str, str],
    base_url: str,
    earlier: EarlierTexts | None,
) -> LoadedLibrary:
    collector = ProblemCollector()
    reader = _Reader(environ, collector, earlier)
    # Templates are judged by themselves when the domain cannot be read, so that an
    # author sees everything at once; nothing of the domain is then held against them.
    domain = build_domain(reader.domain(domain_path), collector, base_url=base_url)
    built: list[tuple[Template, bool]] = []
    found = _template_files(template_paths, collector)
    for file in found:
        document = reader.templates(file)
        aside = ProblemCollector() if domain is None else collector
        read = build_templates(document, domain or Domain(name=""), aside)
        if domain is None:
            collector.problems += [p for p in aside.problems if p.kind not in _NEED_THE_DOMAIN]
        built += reader.standing(file, read)
    if domain is not None and domain.data is not None:
        built.append((data_template(domain.data), True))
    templates = by_id([template for template, _ in built], collector)
    if not any(problem.is_error for problem in collector.problems) and not templates:
        where = Location(shown_path(found[-1] if found else domain_path))
        collector.add("empty-library", "there is no template that can be used", where)
    problems = collector.all()
    readable, library = None, None
    if domain is not None:
        readable = Library(domain, templates)
        sound = {t.id: t for t, usable in built if usable and templates[t.id] is t}
        if sound and not collector.failed:
            stand_ins = tuple(reader.stand_ins)
            library = Library(domain, sound, templates_left_out(problems), stand_ins)
    secrets = frozenset(reader.from_environment)
    texts, unreadable = reader.texts, tuple(reader.unreadable)
    return LoadedLibrary(library, problems, readable, secrets, texts, unreadable)


def templates_left_out(problems: Iterable[Problem]) -> tuple[LeftOut, ...]:
    """The templates that have errors; each error of unknown templates counts for itself."""
    found: dict[str | Problem, list[Problem]] = {}
    for problem in problems:
        if problem.is_error and problem.template is not None:
            found.setdefault(problem.template or problem, []).append(problem)
    return tuple(LeftOut(errors[0].template or None, first_of(errors)) for errors in found.values())


_NEED_THE_DOMAIN = frozenset({"unknown-parameter-type", "format-template-missing", "no-base-url"})


def _template_files(paths: Sequence[Path], collector: ProblemCollector) -> list[Path]:
    files: dict[Path, Path] = {}
    for path in paths:
        found = expand(path)
        if not found:
            collector.add("not-found", "there is no such file", Location(shown_path(path)))
        for file in found:
            files.setdefault(file.resolve(), file)
    return list(files.values())


class _Reader:
    """Reads the files of a library, or the earlier versions of those that cannot be read."""

    def __init__(
        self, environ: Mapping[str, str], collector: ProblemCollector, earlier: EarlierTexts | None
    ) -> None:
        self.texts: dict[Path, bytes] = {}
        self.unreadable: list[Problem] = []
        self.from_environment: set[str] = set()
        self.stand_ins: list[StandIn] = []
        self._environ, self._collector, self._earlier = environ, collector, earlier
        self._standing: dict[Path, tuple[Problem, Mapping[str, bool]]] = {}

    def domain(self, path: Path) -> Document:
        return self._read(path, (dict,), _domain_objection)

    def templates(self, path: Path) -> Document:
        def objection(broken: Document, before: Document) -> str:
            standing = standing_templates(_text(broken), _text(before), list(_ids(before)))
            self._standing[path] = broken.problems[0], standing
            return "" if any(standing.values()) else "no template is still there as it was"

        return self._read(path, (dict, list), objection)

    def standing(
        self, path: Path, read: list[tuple[Template, bool]]
    ) -> list[tuple[Template, bool]]:
        """Return the templates of `path` without those that only an earlier version of it has.

        One that was changed since, in a way that nobody can read, is left out.
        """
        if path not in self._standing:
            return read
        problem, standing = self._standing[path]
        for name in (name for name, unchanged in standing.items() if not unchanged):
            what = f"{name!r} was changed, and cannot be read: its file {problem.what}"
            self._collector.problems.append(replace(problem, what=what, template=name))
        kept = ((template, usable) for template, usable in read if template.id in standing)
        return [(template, usable and standing[template.id]) for template, usable in kept]

    def _read(
        self,
        path: Path,
        top: tuple[type, ...],
        objection: Callable[[Document, Document], str],
    ) -> Document:
        document = read_yaml(path, self._environ, top=top)
        if document.readable:
            self.texts[path] = document.raw
        elif document.raw:
            self.unreadable += document.problems
            document = self._earlier_or(document, path, top, objection)
        self.from_environment |= document.from_environment
        return document

    def _earlier_or(
        self,
        broken: Document,
        path: Path,
        top: tuple[type, ...],
        objection: Callable[[Document, Document], str],
    ) -> Document:
        earlier = self._earlier
        if earlier is None or path not in earlier.texts:
            return broken
        version = f"its version of {earlier.version}"
        file = f"{broken.file}, {version}"
        before = parse_yaml(earlier.texts[path], file, self._environ, top=top)
        why = earlier.withheld or objection(broken, before)
        (keys, first), *others = broken.placed
        if why:
            told = replace(first, what=f"{first.what}; {version} is not served: {why}")
            return replace(broken, placed=((keys, told), *others))
        told = replace(first, what=f"{first.what}; {version} is served", severity="warning")
        self._collector.problems.append(told)
        self.stand_ins.append(StandIn(broken.file, earlier.version, str(first)))
        return before


def _domain_objection(broken: Document, before: Document) -> str:
    if is_standing_domain(_text(broken), _text(before)):
        return ""
    return "what it says of api_config, authentication or unused_values has changed"


def _ids(document: Document) -> Iterator[str]:
    data = document.data
    entries = data.get("templates") if isinstance(data, dict) else data
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("id"), str):
            yield entry["id"]


def _text(document: Document) -> str:
    return document.raw.decode("utf-8-sig", errors="replace")
