"""Virtual environments of the programs of others, each with what its lock names, and kept."""

import hashlib
import re
import subprocess
import sys
import venv
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from utils.lock import ECOSYSTEM, ROOT, name_of, read_project

FOLDER = ROOT / "data" / "ecosystem"
GROUPS = read_project().groups
_makers = ThreadPoolExecutor(2)
_NOT_HERE = re.compile(
    r"No matching distribution found for \S+|Max retries exceeded|Retrying \(Retry"
)


def group_of(installs: list[str]) -> str:
    """The group of pyproject.toml with what a recipe says to install."""
    wanted = {(name_of(each), frozenset(Requirement(each).extras)) for each in installs}
    found = [
        name
        for name, group in GROUPS.items()
        if {(name_of(each), frozenset(Requirement(each).extras)) for each in group} == wanted
    ]
    assert len(found) == 1, f"no group of pyproject.toml has {', '.join(installs)} and no more"
    return found[0]


@cache
def make(group: str) -> "Future[Path]":
    """Have a group's environment made beside what else is under way, if it is not as locked."""
    return _makers.submit(_make, group)


def programs_of(group: str) -> Path:
    """The folder with the programs of a group's environment."""
    return make(group).result()


def _make(group: str) -> Path:
    lock, place = ECOSYSTEM / f"{group}.txt", FOLDER / group
    digest = hashlib.sha256(lock.read_bytes() + sys.version.encode()).hexdigest()
    stamp = place / "made-from"
    if not stamp.is_file() or stamp.read_text("utf-8") != digest:
        venv.create(place, clear=True, symlinks=True)
        pip = [sys.executable, "-m", "pip", "--no-input", "--disable-pip-version-check"]
        pip += ["--python", str(place / "bin" / "python"), "install", "--quiet", "--no-deps"]
        pip += ["--no-compile"]  # most of it is never imported
        made = subprocess.run(
            [*pip, "--require-hashes", "--requirement", str(lock)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode and (missing := _NOT_HERE.search(made.stderr)):
            pytest.skip(f"{group} cannot be installed here: {missing[0]}")
        assert made.returncode == 0, made.stderr
        stamp.write_text(digest, "utf-8")
    return place / "bin"
