"""Problems of a library as they are sent: by the ids of its files."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from server.adapters.authored import AuthoredFile
from server.errors import Problem
from server.settings.documents import shown_path

_HINTS: Final = {
    "rename": "write {new!r} for {old!r}",
    "remove": "take the second one out",
    "indent": "indent with spaces",
}


def ids_by_place(files: Mapping[str, AuthoredFile]) -> dict[str, str]:
    """The ids of files by what problems call them."""
    return {shown_path(file.path): file.id for file in files.values()}


def problem_rows(
    problems: Sequence[Problem], files: Mapping[str, AuthoredFile]
) -> list[dict[str, Any]]:
    """Return a row for each problem: `kind` says how bad it is, `rule` which one it is."""
    ids = ids_by_place(files)
    return [_problem_row(problem, ids.get(problem.where.file)) for problem in problems]


def _problem_row(problem: Problem, file: str | None) -> dict[str, Any]:
    row: dict[str, Any] = {
        "what": problem.what,
        "id": file,
        "line": problem.where.line or None,
        "kind": problem.severity,
        "rule": problem.kind,
        "template": problem.template,
    }
    if file is None:
        row["where"] = str(problem.where)
    if problem.fix is not None:
        row["hint"] = _HINTS[problem.fix.action].format(old=problem.fix.old, new=problem.fix.new)
    return row
