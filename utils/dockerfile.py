"""A Dockerfile as instructions and stages, and what its build context holds.

It reads what ours has, and no more: instructions with continued lines and comments, variables as
$NAME and ${NAME}, COPY of files and folders, and a .dockerignore whose last match wins.
"""

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

_VARIABLE: Final = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


class Instruction(NamedTuple):
    name: str
    text: str


def read_dockerfile(path: Path) -> list[Instruction]:
    """Return the instructions, each on one line."""
    lines = [
        line
        for line in path.read_text("utf-8").splitlines()
        if line.strip() and not line.lstrip().startswith("#")
    ]
    whole = "\n".join(lines).replace("\\\n", " ")
    split = (line.strip().partition(" ") for line in whole.splitlines())
    return [Instruction(name.upper(), text.strip()) for name, _, text in split]


def stages(
    instructions: Sequence[Instruction],
) -> tuple[dict[str, str], list[tuple[str, list[Instruction]]]]:
    """Return the arguments before the first stage, and each stage's name and instructions."""
    preamble: dict[str, str] = {}
    found: list[tuple[str, list[Instruction]]] = []
    for each in instructions:
        if each.name == "FROM":
            _, _, name = each.text.partition(" AS ")
            found.append((name.strip(), []))
        elif found:
            found[-1][1].append(each)
        else:
            name, _, default = each.text.partition("=")
            preamble[name] = default
    return preamble, found


def expand(text: str, variables: Mapping[str, str]) -> str:
    """Fill in variables; what is not known is empty, as Docker has it."""
    return _VARIABLE.sub(lambda found: variables.get(found[1] or found[2], ""), text)


@dataclass(frozen=True, slots=True)
class Context:
    """The files that a build may copy: all of a folder that its .dockerignore leaves."""

    folder: Path

    def holds(self, path: PurePosixPath) -> bool:
        """Return whether a file, by its path in the folder, is part of it."""
        held = True
        above = [path, *path.parents][:-1]
        for pattern in self._patterns():
            wanted = pattern.lstrip("!")
            if any(_matches(each, wanted) for each in above):
                held = pattern.startswith("!")
        return held

    def files(self, source: str) -> Iterator[PurePosixPath]:
        """Yield the files of it below a path, links as such."""
        start = self.folder / source
        found = start.rglob("*") if start.is_dir() else [start]
        for path in sorted(found):
            inner = PurePosixPath(path.relative_to(self.folder))
            if (path.is_symlink() or path.is_file()) and self.holds(inner):
                yield inner

    def copy(self, source: str, place: Path) -> None:
        """Copy a file to a place, or what is in a folder into it. Raises `FileNotFoundError`."""
        files = list(self.files(source))
        if not files:
            raise FileNotFoundError(f"the build context has no {source}")
        for file in files:
            inner = file.relative_to(source)
            target = place if inner == PurePosixPath() else place / inner
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self.folder / file, target, follow_symlinks=False)

    def _patterns(self) -> list[str]:
        lines = (self.folder / ".dockerignore").read_text("utf-8").splitlines()
        return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def _matches(path: PurePosixPath, pattern: str) -> bool:
    if pattern.startswith("**/"):
        return fnmatchcase(path.name, pattern[3:])
    parts = PurePosixPath(pattern).parts
    return len(parts) == len(path.parts) and all(
        fnmatchcase(part, wanted) for part, wanted in zip(path.parts, parts, strict=True)
    )
