"""What is found wrong while a library is read, collected in one place."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal

from server.errors import Location, Problem
from server.settings.documents import Document, Keys


@dataclass(slots=True)
class ProblemCollector:
    """Problems as they are found; the same unused key is one problem a file."""

    problems: list[Problem] = field(default_factory=list)
    _unused: dict[tuple[str, str, str], list[Location]] = field(default_factory=dict)

    def add(
        self,
        kind: str,
        what: str,
        where: Location,
        severity: Literal["error", "warning"] = "error",
    ) -> None:
        self.problems.append(Problem(what, where, kind, severity))

    @contextmanager
    def about(self, template: str) -> Iterator[None]:
        """What is found meanwhile is about the template of this id."""
        before = len(self.problems)
        yield
        found = self.problems[before:]
        self.problems[before:] = [replace(problem, template=template) for problem in found]

    def warn(self, kind: str, what: str, where: Location) -> None:
        self.add(kind, what, where, "warning")

    def unused(self, part: str, document: Document, keys: Keys, not_used: Iterable[str]) -> None:
        """Note the keys at `keys` that other kinds of adapter read, and this one does not."""
        written = document.at(keys)
        if not isinstance(written, dict):
            return
        for name in not_used:
            if name in written:
                places = self._unused.setdefault((document.file, part, name), [])
                places.append(document.where((*keys, name)))

    def all(self) -> tuple[Problem, ...]:
        """Every problem by file and line; a key that nothing reads is one warning a file."""
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
        """Whether something is wrong that is not the matter of a template alone."""
        return any(problem.is_error and problem.template is None for problem in self.problems)
