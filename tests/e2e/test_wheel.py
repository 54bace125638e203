"""The package: what is in it, and that a fresh environment answers a question with two commands."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from pathlib import Path

import pytest

from tests.support.ports import free_port
from utils.lock import ROOT

pytestmark = pytest.mark.slow

EXAMPLE = Path("examples", "intent-templates", "agent-template")
BUILD = """
import sys
from setuptools import build_meta
getattr(build_meta, f"build_{sys.argv[1]}")(sys.argv[2])
"""
QUESTION, ANSWER = "What is 15% of 200?", "15% of 200 is **30**"


def make_venv(folder: Path) -> Path:
    """Make an environment with the system's own pip, and return its programs."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    return folder / "bin"


def environment(**more: str) -> dict[str, str]:
    """Return this one without what would lead to the sources; pip's settings stay."""
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("ORBIT_", "PYTHON"))}
    return kept | more


def copy_of_the_sources(folder: Path) -> Path:
    """Copy what a package is made from, so that building leaves nothing in the checkout."""
    unwanted = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in (Path("server"), EXAMPLE):
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=unwanted)
    for name in (Path("pyproject.toml"), Path("README.md")):
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist and the wheel, the wheel made from what the sdist holds."""
    work = tmp_path_factory.mktemp("package")
    programs, dist = make_venv(work / "tools"), work / "dist"
    dist.mkdir()
    needed = ["--require-hashes", "-r", str(ROOT / "requirements" / "build.txt")]
    subprocess.run([programs / "pip", "install", "-q", *needed], env=environment(), check=True)

    def build(kind: str, sources: Path) -> None:
        command = [str(programs / "python"), "-W", "error", "-c", BUILD, kind, str(dist)]
        run = subprocess.run(
            command, cwd=sources, env=environment(), capture_output=True, text=True
        )
        assert run.returncode == 0, run.stderr
        # setuptools says so of what it takes or leaves against what was meant.
        assert "deprecated" not in run.stderr.lower(), run.stderr

    build("sdist", copy_of_the_sources(work / "sources"))
    (sdist,) = dist.glob("*.tar.gz")
    subprocess.run(["tar", "-xzf", str(sdist)], cwd=work, check=True)
    build("wheel", work / sdist.name.removesuffix(".tar.gz"))
    return dist


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    (found,) = dist.glob("*.whl")
    return found


def sources() -> Iterator[str]:
    """Every file of the package, those of the example by the link that leads to it."""
    for folder, folders, names in os.walk(ROOT / "server", followlinks=True):
        folders[:] = [name for name in folders if name != "__pycache__"]
        yield from (str(Path(folder, name).relative_to(ROOT)) for name in names)


def test_the_wheel_holds_the_package_with_all_its_files_and_no_other(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    of_server = {name for name in names if name.startswith("server/")}
    assert of_server == set(sources())
    assert f"server/example/{EXAMPLE}/tools.yaml" in of_server
    (about,) = {name.split("/")[0] for name in names if name not in of_server}
    assert about.endswith(".dist-info")
    assert zipfile.ZipFile(wheel).read(f"{about}/top_level.txt") == b"server\n"


def test_its_description_is_whole(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        about = Parser().parsestr(archive.read(name).decode())
    assert about["Name"] == "orbit-server"
    assert about["Description-Content-Type"] == "text/markdown"
    assert about.get_payload() == (ROOT / "README.md").read_text("utf-8")


def test_two_commands_lead_to_an_answer(wheel: Path, tmp_path: Path) -> None:
    programs = make_venv(tmp_path / "venv")
    empty = tmp_path / "empty"
    # What lies where a command is typed is never taken for Orbit.
    (empty / "server").mkdir(parents=True)
    (empty / "server" / "__init__.py").write_text("raise SystemExit('not this one')")
    given = environment(HOME=str(tmp_path / "home"), ORBIT_PORT=str(free_port()))
    given.pop("XDG_DATA_HOME", None)

    def run(*command: str) -> "subprocess.CompletedProcess[str]":
        line = [str(programs / command[0]), *command[1:]]
        return subprocess.run(line, cwd=empty, env=given, capture_output=True, text=True)

    installed = run("pip", "install", "--quiet", str(wheel))
    assert installed.returncode == 0, installed.stderr
    before = files_in(tmp_path / "venv")
    asked = run("orbit", "ask", QUESTION)
    assert (asked.returncode, asked.stdout) == (0, f"{ANSWER}\n"), asked.stderr
    # The same over HTTP, by the lines that `start` prints.
    started = run("orbit", "start")
    try:
        assert started.returncode == 0, started.stderr
        key, curl = (shlex.split(line) for line in started.stderr.splitlines()[-2:])
        assert run(*key).returncode == 0
        answer = subprocess.run(curl, capture_output=True, text=True, check=True).stdout
        assert json.loads(answer)["content"] == ANSWER
    finally:
        stopped = run("orbit", "stop")
    assert "has stopped" in stopped.stderr
    assert (tmp_path / "home" / ".local" / "share" / "orbit" / "orbit.db").is_file()
    assert [path.name for path in empty.iterdir()] == ["server"]
    assert files_in(tmp_path / "venv") == before
    checked = run("orbit", "new", "shop"), run("orbit", "check", "shop")
    assert [each.returncode for each in checked] == [0, 0], checked
    assert "orbit.sh" not in "".join(each.stdout + each.stderr for each in (started, *checked))


def files_in(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"}
