"""Paths that may be globs."""

from glob import has_magic
from pathlib import Path


def is_glob(path: Path) -> bool:
    return has_magic(str(path))


def expand(path: Path) -> list[Path]:
    """The files that a path or glob stands for, sorted; a path is itself if it is there."""
    if not is_glob(path):
        return [path] if path.exists() else []
    anchor = Path(path.anchor)
    return sorted(file for file in anchor.glob(str(path.relative_to(anchor))) if file.is_file())
