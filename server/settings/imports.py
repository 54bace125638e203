"""The files that a configuration consists of: the first, and what `import:` adds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from server.core.problems import Problem
from server.settings.globs import expand, is_glob
from server.settings.models import Imports
from server.settings.source import Document, read_yaml, shown
from server.settings.validation import validate
from server.settings.wording import listed


@dataclass(slots=True)
class Files:
    """Documents in the order they are read, and what is wrong with how they import."""

    documents: list[Document] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def gather(path: Path, root: Path, environ: Mapping[str, str]) -> Files:
    """Read `path` and everything it imports, each file once."""
    files = Files()
    _visit(path, root, environ, (), set(), files)
    return files


def _visit(
    path: Path,
    root: Path,
    environ: Mapping[str, str],
    importers: tuple[Path, ...],
    seen: set[Path],
    files: Files,
) -> None:
    seen.add(path.resolve())
    # An imported file may be a list of adapters and nothing else.
    document = read_yaml(path, environ, top=(dict, list) if importers else (dict,))
    files.documents.append(document)
    if not isinstance(document.data, dict) or "import" not in document.data:
        return
    # The problems of the list come again, with those of the whole file.
    wanted: Imports = validate(Imports, document)[0] or Imports.model_construct()
    chain = (*importers, path)
    for number, pattern in enumerate(wanted.imports):
        where = document.where(("import", number))
        found, tried = _find(pattern, path, root)
        if not found:
            what = f"import: nothing at {listed(map(shown, tried))}"
            # A folder of adapters may well be empty; a file that is named may not be gone.
            severity: Literal["error", "warning"] = "warning" if is_glob(Path(pattern)) else "error"
            files.problems.append(Problem(what, where, "not-found", severity))
        for target in found:
            if target.resolve() in {importer.resolve() for importer in chain}:
                trail = " → ".join(shown(step) for step in (*chain, target))
                files.problems.append(Problem(f"import goes round: {trail}", where, "import-cycle"))
            elif target.resolve() not in seen:
                _visit(target, root, environ, chain, seen, files)


def _find(pattern: str, importer: Path, root: Path) -> tuple[list[Path], list[Path]]:
    """The files meant, and the places looked at: beside the importing file, then the root."""
    places = list(dict.fromkeys([importer.absolute().parent / pattern, root / pattern]))
    for place in places:
        found = [
            file for file in expand(place) if file != importer.absolute() or not is_glob(place)
        ]
        if found:
            return found, places
    return [], places
