"""The lock: `requirements/*.txt`, what `orbit.sh` installs, with versions and hashes.

`base.txt` holds what Orbit needs, `NAME.txt` what the extra NAME needs beside it, and `build.txt`
what makes the package. One resolution covers all of them, so that a version never depends on the
extras. `ecosystem/NAME.txt` is all that a program of others needs, which the tests of
docs/ecosystem.md drive; each is resolved apart, since they do not agree with each other.
utils/scripts/lock-dependencies.sh runs it: `python -m utils.lock UV [UV'S OPTIONS]`.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
FOLDER: Final = ROOT / "requirements"
ECOSYSTEM: Final = FOLDER / "ecosystem"
PROJECT: Final = "orbit-server"

_ITSELF: Final = re.compile(rf"{PROJECT}\[(?P<extra>[\w-]+)\]")
_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]*")
_EVERYWHERE: Final = frozenset(
    {
        "python_full_version < '3.15'",
        "implementation_name == 'cpython'",
        "platform_python_implementation == 'CPython'",
        "(sys_platform == 'darwin' or sys_platform == 'linux')",
    }
)
"""What `environments` of pyproject.toml says of all packages alike; no pin need repeat it."""
_HEADER: Final = """\
# {what}
# Made from pyproject.toml by utils/scripts/lock-dependencies.sh. Do not edit.
"""


@dataclass(frozen=True, slots=True)
class Pin:
    """One version of a package, where its marker holds, and who asks for it."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]
    askers: tuple[str, ...]

    def __str__(self) -> str:
        first = f"{self.name}=={self.version}" + (f" ; {self.marker}" if self.marker else "")
        lines = [first, *(f"    --hash={each}" for each in self.hashes)]
        return " \\\n".join(lines) + f"\n    # for {', '.join(self.askers)}\n"


@dataclass(frozen=True, slots=True)
class Project:
    """What pyproject.toml says of dependencies; each as it is written there."""

    base: list[str]
    extras: dict[str, list[str]]
    groups: dict[str, list[str]]
    build: list[str]
    left_out: dict[str, list[str]]

    def declared(self, extra: str) -> list[str]:
        """The requirements of an extra, with those of the extras that it includes."""
        found = []
        for requirement in self.extras[extra]:
            included = _ITSELF.match(requirement)
            found += self.declared(included["extra"]) if included else [requirement]
        return found

    def excluded(self, declared: list[str]) -> list[str]:
        """What is left out where `declared` is installed beside the base: all but what it names."""
        named = {name_of(requirement) for requirement in [*self.base, *declared]}
        return sorted({name for names in self.left_out.values() for name in names} - named)


def read_project(path: Path = ROOT / "pyproject.toml") -> Project:
    said: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    return Project(
        base=said["project"]["dependencies"],
        extras=said["project"]["optional-dependencies"],
        groups=said["dependency-groups"],
        build=said["build-system"]["requires"],
        left_out=said["tool"]["orbit"]["left-out"],
    )


def name_of(requirement: str) -> str:
    """The normalized name at the beginning of a requirement."""
    found = _NAME.match(requirement)
    assert found is not None, requirement
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def pins(text: str) -> Iterator[Pin]:
    """Yield each pin of a requirements file, ours or uv's; a package may have several."""
    for entry in re.findall(r"^[A-Za-z0-9].*\n(?:[ \t]+.*\n)*", text, re.MULTILINE):
        first, *rest = (line.strip().removesuffix("\\").strip() for line in entry.splitlines())
        pinned, _, marker = first.partition(" ; ")
        name, _, version = pinned.partition("==")
        hashes = [line.removeprefix("--hash=") for line in rest if line.startswith("--hash=")]
        comments = [re.sub(r"^# *(via\b|for\b)? *", "", line) for line in rest if line[:1] == "#"]
        named = [asker for line in comments for asker in line.split(", ") if asker]
        askers = [name_of(asker) for asker in named if not asker.startswith("-c ")]
        yield Pin(name_of(name), version, _shortened(marker), tuple(hashes), tuple(askers))


def _shortened(marker: str) -> str:
    """The marker without conditions that hold wherever the lock is for."""
    outside = re.sub(r"\([^()]*\)", "", marker)
    if " or " in outside:
        return marker
    return " and ".join(part for part in marker.split(" and ") if part not in _EVERYWHERE)


def read_lock(name: str) -> list[Pin]:
    """The pins of `base`, `build` or an extra."""
    return list(pins((FOLDER / f"{name}.txt").read_text("utf-8")))


class Locker:
    """uv, asked for one file after another, in a folder for what lies between."""

    def __init__(self, uv: str, project: Project, work: Path) -> None:
        self._uv = uv
        self._project = project
        self._work = work
        self._everything = work / "everything.txt"

    def lock(self, options: list[str]) -> None:
        """Write every file anew. Pins that still hold stay, unless `options` say otherwise."""
        project = self._project
        every_extra = [each for extra in project.extras for each in project.declared(extra)]
        kept = [file.read_text("utf-8") for file in sorted(FOLDER.glob("*.txt"))]
        self._everything.write_text("".join(kept), "utf-8")
        self._compile(
            "everything", "--all-extras", *options, excluded=project.excluded(every_extra)
        )

        agreed = ("--constraints", str(self._everything))
        base = self._compile("base", *agreed, excluded=project.excluded([]))
        self._write("base", "What Orbit needs.", base)
        for extra in project.extras:
            excluded = project.excluded(project.declared(extra))
            found = self._compile(extra, *agreed, "--extra", extra, excluded=excluded)
            there = {(pin.name, pin.version, pin.marker) for pin in base}
            beside = [pin for pin in found if (pin.name, pin.version, pin.marker) not in there]
            self._write(extra, f"What the extra `{extra}` needs beside base.txt.", beside)

        self._lock_alone(
            "build", "What makes the package; nothing of it stays.", project.build, options
        )
        for group, dependencies in project.groups.items():
            what = f"What the group `{group}` needs, for the recipes of docs/ecosystem.md."
            self._lock_alone(f"ecosystem/{group}", what, dependencies, options)
        for folder, names in (
            (FOLDER, {"base", "build", *project.extras}),
            (ECOSYSTEM, project.groups),
        ):
            for file in folder.glob("*.txt"):
                if file.stem not in names:
                    file.unlink()

    def _lock_alone(
        self, name: str, what: str, dependencies: list[str], options: list[str]
    ) -> None:
        """Lock what has nothing to do with Orbit's own libraries."""
        # The same form, so that who asks is told in the same way.
        source = self._work / "pyproject.toml"
        about = f'name = "{PROJECT}"\nversion = "0"\ndependencies = {dependencies}'
        source.write_text(f"[project]\n{about}\n", "utf-8")
        if (FOLDER / f"{name}.txt").is_file():  # uv keeps what it finds
            (self._work / name).parent.mkdir(exist_ok=True)
            shutil.copy(FOLDER / f"{name}.txt", self._work / f"{name}.txt")
        self._write(name, what, self._compile(name, *options, source=source, excluded=[]))

    def _compile(
        self,
        name: str,
        *options: str,
        excluded: list[str],
        source: Path = ROOT / "pyproject.toml",
    ) -> list[Pin]:
        output, excludes = self._work / f"{name}.txt", self._work / f"{name}.excludes"
        output.parent.mkdir(exist_ok=True)
        excludes.write_text("\n".join(excluded), "utf-8")
        command = [self._uv, "pip", "compile", str(source), "--quiet", "--no-header"]
        command += ["--universal", "--python-version", "3.11", "--generate-hashes"]
        command += ["--excludes", str(excludes), "--output-file", str(output), *options]
        subprocess.run(command, cwd=ROOT, check=True)
        return list(pins(output.read_text("utf-8")))

    def _write(self, name: str, what: str, found: list[Pin]) -> None:
        lines = "".join(map(str, found))
        (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / f"{name}.txt").write_text(_HEADER.format(what=what) + lines, "utf-8")
        print(f"requirements/{name}.txt: {len({pin.name for pin in found})} packages")


def main() -> None:
    uv, *options = sys.argv[1:]
    with tempfile.TemporaryDirectory() as work:
        try:
            Locker(uv, read_project(), Path(work)).lock(options)
        except subprocess.CalledProcessError as failure:
            sys.exit(failure.returncode)  # uv has said why


if __name__ == "__main__":
    main()
