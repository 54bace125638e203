"""What is found wrong while a library is read, collected in one place."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from server.core.suggestions import join_words
from server.errors import Fix, Location, Problem, Severity
from server.settings.documents import Document, Keys


@dataclass(slots=True)
class ProblemCollector:
    """Problems as they are found; the same unused key is one problem for each file."""

    problems: list[Problem] = field(default_factory=list)
    _unused: dict[tuple[str, str, str], list[Location]] = field(default_factory=dict)

    def add(
        self,
        kind: str,
        what: str,
        where: Location,
        severity: Severity = "error",
        fix: Fix | None = None,
    ) -> None:
        self.problems.append(Problem(what, where, kind, severity, fix=fix))

    @contextmanager
    def about(self, template: str) -> Iterator[None]:
        """Mark the problems that are found in this context with the id of a template."""
        before = len(self.problems)
        yield
        found = self.problems[before:]
        self.problems[before:] = [replace(problem, template=template) for problem in found]

    def add_unused(self, part: str, name: str, where: Location) -> None:
        """Note a key that other kinds of adapter read, and this one does not."""
        self._unused.setdefault((where.file, part, name), []).append(where)

    def all(self) -> tuple[Problem, ...]:
        """Return every problem by file and line; an unused key is one warning for each file."""
        warnings = [
            Problem(
                f"{name!r} of {part} is not used by this kind of adapter"
                + (f" (written {len(places)} times)" if len(places) > 1 else ""),
                places[0],
                "unused-key",
                "warning",
            )
            for (_, part, name), places in self._unused.items()
        ]
        found = [*self.problems, *warnings]
        files = {file: n for n, file in enumerate(dict.fromkeys(p.where.file for p in found))}
        return tuple(sorted(found, key=lambda p: (files[p.where.file], p.where.line)))

    @property
    def failed(self) -> bool:
        """Whether there is an error that does not belong to a single template."""
        return any(problem.is_error and problem.template is None for problem in self.problems)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a document, and where to report what is wrong with it."""

    document: Document
    keys: Keys
    collector: ProblemCollector

    def part(self, *keys: str | int) -> "Section":
        return Section(self.document, (*self.keys, *keys), self.collector)

    @property
    def value(self) -> Any:
        return self.document.at(self.keys)

    def where(self, *keys: str | int) -> Location:
        return self.document.where((*self.keys, *keys))

    def add(self, kind: str, what: str, *keys: str | int, fix: Fix | None = None) -> None:
        self.collector.add(kind, what, self.where(*keys), fix=fix)

    def warn(self, kind: str, what: str, *keys: str | int, fix: Fix | None = None) -> None:
        self.collector.add(kind, what, self.where(*keys), "warning", fix)

    def report_unused(self, part: str, not_used: Iterable[str]) -> None:
        """Note which of the keys `not_used` are written here; `part` says what this is."""
        written = self.value
        for name in not_used if isinstance(written, dict) else ():
            if name in written:
                self.collector.add_unused(part, name, self.where(name))


def one_spelling(written: BaseModel, at: Callable[[str], Section], *names: str) -> tuple[Any, str]:
    """Return the value of a key with several spellings, and the one used; two are a problem.

    `at` says where each of them stands.
    """
    given = (name for name in names if name in written.model_fields_set)
    used = [name for name in given if getattr(written, name) is not None]
    if len(used) > 1:
        both = join_words((name.rstrip("_") for name in used), "and")
        at(used[1].rstrip("_")).add("duplicate-key", f"{both} mean the same; keep one")
    name = used[0] if used else names[0]
    return getattr(written, name), name
