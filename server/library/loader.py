"""A domain file and template files, into one library or all that is wrong with them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from server.errors import Location, Problem, first_of
from server.library.domain import build_domain
from server.library.model import Domain, LeftOut, Library, Template
from server.library.problems import ProblemCollector
from server.library.templates import build_templates, by_id
from server.settings.documents import Document, read_yaml, shown_path
from server.settings.fields import expand


@dataclass(frozen=True, slots=True)
class LoadedLibrary:
    """The templates that can be used, or None when there are none, or the domain is broken.

    `readable` holds all that could be read, so that more can be said of it.
    `from_environment` are the values that placeholders brought in, which no log should
    show.
    """

    library: Library | None
    problems: tuple[Problem, ...]
    readable: Library | None = None
    from_environment: frozenset[str] = field(default=frozenset(), repr=False)


def load_library(
    domain_path: Path,
    template_paths: Sequence[Path],
    environ: Mapping[str, str],
    *,
    base_url: str = "",
) -> LoadedLibrary:
    """Read a library; `template_paths` are files or globs. Never raises for what they hold.

    A `base_url` stands in place of the domain's own.
    """
    collector = ProblemCollector()
    documents = [read_yaml(domain_path, environ)]
    # Templates are judged by themselves when the domain cannot be read, so that an
    # author sees everything at once; nothing of the domain is then held against them.
    domain = build_domain(documents[0], collector, base_url=base_url)
    documents += _read_templates(template_paths, environ, collector)
    built: list[tuple[Template, bool]] = []
    for document in documents[1:]:
        found = ProblemCollector() if domain is None else collector
        built += build_templates(document, domain or Domain(name=""), found)
        if domain is None:
            collector.problems += [p for p in found.problems if p.kind not in _NEED_THE_DOMAIN]
    templates = by_id([template for template, _ in built], collector)
    if not any(problem.is_error for problem in collector.problems) and not templates:
        where = Location(documents[-1].file if len(documents) > 1 else shown_path(domain_path))
        collector.add("empty-library", "there is no template that can be used", where)
    problems = collector.all()
    readable, library = None, None
    if domain is not None:
        readable = Library(domain, templates)
        sound = {t.id: t for t, usable in built if usable and templates[t.id] is t}
        if sound and not collector.failed:
            library = Library(domain, sound, templates_left_out(problems))
    secrets = frozenset[str]().union(*(document.from_environment for document in documents))
    return LoadedLibrary(library, problems, readable, secrets)


def templates_left_out(problems: Iterable[Problem]) -> tuple[LeftOut, ...]:
    """The templates that have errors; each error of unknown templates counts for itself."""
    found: dict[str | Problem, list[Problem]] = {}
    for problem in problems:
        if problem.is_error and problem.template is not None:
            found.setdefault(problem.template or problem, []).append(problem)
    return tuple(LeftOut(errors[0].template or None, first_of(errors)) for errors in found.values())


_NEED_THE_DOMAIN = frozenset({"unknown-parameter-type", "format-template-missing", "no-base-url"})


def _read_templates(
    paths: Sequence[Path], environ: Mapping[str, str], collector: ProblemCollector
) -> list[Document]:
    files: dict[Path, Path] = {}
    for path in paths:
        found = expand(path)
        if not found:
            collector.add("not-found", "there is no such file", Location(shown_path(path)))
        for file in found:
            files.setdefault(file.resolve(), file)
    return [read_yaml(file, environ, top=(dict, list)) for file in files.values()]
