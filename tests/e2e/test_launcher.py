"""bin/orbit.sh on a small project of its own: a real venv, a real pip, no network."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
LAUNCHER = ROOT / "bin" / "orbit.sh"
KEY_SCRIPT = ROOT / "utils" / "scripts" / "generate-sample-api-keys.sh"

PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "orbit-server"
version = "1"

[project.optional-dependencies]
test = []
extra-one = []

[tool.ruff]
line-length = 100
"""

# The least that PEP 660 asks of a build backend, so that pip needs to fetch none.
BACKEND = """
import os, zipfile

def build_editable(folder, config_settings=None, metadata_directory=None):
    if os.path.exists("broken"):
        raise SystemExit("the build is broken on purpose")
    name, info = "orbit_server-1-py3-none-any.whl", "orbit_server-1.dist-info"
    files = {
        "orbit_here.pth": os.getcwd() + "\\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\\nName: orbit-server\\nVersion: 1\\n"
                            "Provides-Extra: test\\nProvides-Extra: extra-one\\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }
    record = "".join(f"{path},,\\n" for path in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        for path, text in {**files, f"{info}/RECORD": record}.items():
            wheel.writestr(path, text)
    return name
"""

ECHO = """
import json, os, sys
print(json.dumps({
    "args": sys.argv[1:],
    "cwd": os.getcwd(),
    "home": os.environ.get("ORBIT_HOME"),
    "command": os.environ.get("ORBIT_COMMAND"),
    "python": sys.prefix,
}))
sys.exit(int(os.environ.get("ECHO_EXIT", "0")))
"""


@dataclass(frozen=True, slots=True)
class Project:
    root: Path

    @property
    def launcher(self) -> Path:
        return self.root / "bin" / "orbit.sh"

    def start(
        self, *args: str, cwd: Path | None = None, via: Path | None = None, **env: str
    ) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [str(via or self.launcher), *args],
            cwd=cwd or self.root,
            env=clean_environment() | env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(
        self, *args: str, cwd: Path | None = None, via: Path | None = None, **env: str
    ) -> "subprocess.CompletedProcess[str]":
        process = self.start(*args, cwd=cwd, via=via, **env)
        out, err = process.communicate()
        return subprocess.CompletedProcess(args, process.returncode, out, err)


def clean_environment() -> dict[str, str]:
    """A PATH that finds this Python first, and a pip that may not look anywhere."""
    here = str(Path(sys.executable).parent)
    return {
        "PATH": os.pathsep.join([here, "/usr/local/bin", "/usr/bin", "/bin"]),
        "HOME": os.environ.get("HOME", "/"),
        "PIP_NO_INDEX": "1",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_CACHE_DIR": "1",
    }


def write_wheel(folder: Path, name: str, version: str, *needs: str) -> str:
    """Write a wheel of one module, and return the line that locks it."""
    about = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": "",
        f"{info}/METADATA": about + "".join(f"Requires-Dist: {need}\n" for need in needs),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for inside, text in files.items():
            wheel.writestr(inside, text)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return f"{name}=={version} \\\n    --hash=sha256:{digest}\n    # for orbit-server\n"


def write_project(root: Path) -> Project:
    (root / "bin").mkdir(parents=True)
    (root / "server").mkdir()
    shutil.copy(LAUNCHER, root / "bin" / "orbit.sh")
    (root / "pyproject.toml").write_text(PYPROJECT)
    (root / "backend.py").write_text(BACKEND)
    (root / "server" / "__init__.py").write_text("")
    (root / "server" / "__main__.py").write_text(ECHO)
    (root / "pytest.py").write_text(ECHO)
    return Project(root)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project in a folder with a space in its name, installed by its first command."""
    project = write_project(tmp_path_factory.mktemp("e2e") / "my project")
    first = project.run("ask", "two words")
    assert first.returncode == 0, first.stderr
    # Standard output is the command's alone; what the launcher did is told beside it.
    assert json.loads(first.stdout)["args"] == ["ask", "two words"]
    making, installing, installed = first.stderr.splitlines()
    assert making.startswith("Making .venv with Python 3.")
    assert installing == (
        f"Installing Orbit and the libraries it uses (log: {project.root}/.venv/install.log)"
    )
    assert installed.startswith("Installed in ")
    return project


def test_once_installed_it_hands_over_and_says_nothing(project: Project) -> None:
    again = project.run("status", "--json", "")
    assert again.stderr == ""
    assert json.loads(again.stdout) == {
        "args": ["status", "--json", ""],
        "cwd": str(project.root),
        "home": str(project.root),
        "command": str(project.launcher),
        "python": str(project.root / ".venv"),
    }


def test_it_needs_no_pip_and_no_other_python_once_installed(
    project: Project, tmp_path: Path
) -> None:
    for tool in ("awk", "bash", "cat", "cksum", "dirname", "env", "readlink"):
        found = shutil.which(tool)
        assert found is not None
        (tmp_path / tool).symlink_to(found)
    assert project.run("status", PATH=str(tmp_path)).returncode == 0


def test_the_exit_code_is_the_commands_own(project: Project) -> None:
    assert project.run("status", ECHO_EXIT="3").returncode == 3


def test_it_works_from_anywhere_through_a_symlink(project: Project, tmp_path: Path) -> None:
    elsewhere = tmp_path / "else where"
    (elsewhere / "server").mkdir(parents=True)
    (elsewhere / "server" / "__init__.py").write_text("raise SystemExit('the wrong server')")
    (elsewhere / "absolute").symlink_to(project.launcher)
    (elsewhere / "relative").symlink_to("absolute")
    for link in ("absolute", "relative"):
        seen = json.loads(project.run("ask", cwd=elsewhere, via=elsewhere / link).stdout)
        assert (seen["cwd"], seen["home"]) == (str(elsewhere), str(project.root))


def test_test_runs_pytest_in_the_projects_folder(project: Project, tmp_path: Path) -> None:
    ran = project.run("test", "tests/access", "-k", "a or b", cwd=tmp_path)
    seen = json.loads(ran.stdout)
    assert seen["args"][:2] == ["-n", "auto"]  # and further options that can be given anew
    assert (seen["args"][-3:], seen["cwd"]) == (["tests/access", "-k", "a or b"], str(project.root))
    assert "Installing Orbit with test and the libraries" in ran.stderr
    assert project.run("test").stderr == ""


def test_the_key_script_hands_over_to_the_launcher(project: Project, tmp_path: Path) -> None:
    script = project.root / "utils" / "scripts" / KEY_SCRIPT.name
    script.parent.mkdir(parents=True)
    shutil.copy(KEY_SCRIPT, script)
    made = project.run("--adapter", "a b", "--data", "d", cwd=tmp_path, via=script)
    seen = json.loads(made.stdout)
    assert seen["args"] == ["keys", "sample", "--adapter", "a b", "--data", "d"]
    assert (seen["cwd"], seen["home"]) == (str(tmp_path), str(project.root))
    shown = project.run("--help", via=script)
    assert shown.stdout.startswith("Usage: generate-sample-api-keys.sh --adapter NAME")


def test_install_names_the_extras_there_are(project: Project) -> None:
    refused = project.run("install", "extra-two")
    assert refused.returncode == 1
    assert refused.stderr == "error: there is no extra 'extra-two'; there are: test extra-one \n"
    shown = project.run("install", "--help")
    assert shown.stdout.splitlines()[-2:] == ["  test", "  extra-one"]


def test_only_a_change_that_matters_installs_again(project: Project) -> None:
    pyproject = project.root / "pyproject.toml"
    pyproject.write_text(PYPROJECT.replace("line-length = 100", "line-length = 80"))
    assert project.run("status").stderr == ""
    pyproject.write_text(PYPROJECT.replace("test = []", "test = []\nmore = []"))
    assert "Installed in " in project.run("status").stderr
    assert project.run("status").stderr == ""


def test_a_failing_pip_shows_the_end_of_its_log_and_breaks_nothing(project: Project) -> None:
    before = (project.root / "pyproject.toml").read_text()
    (project.root / "broken").touch()
    (project.root / "pyproject.toml").write_text(before.replace('version = "1"', 'version = "1.0"'))
    failed = project.run("ask", "x")
    (project.root / "broken").unlink()
    assert (failed.returncode, failed.stdout) == (1, "")
    assert "  the build is broken on purpose" in " ".join(failed.stderr.split("\n"))
    assert failed.stderr.splitlines()[-1] == (
        f"error: Orbit could not be installed; the whole log is {project.root}/.venv/install.log"
    )
    (project.root / "pyproject.toml").write_text(before)
    assert project.run("status").stderr == ""


def test_an_install_cut_short_begins_anew_and_two_at_once_take_turns(project: Project) -> None:
    (project.root / ".venv" / ".orbit-installing").touch()
    leftover = project.root / ".venv" / "half-a-package"
    leftover.touch()
    both = [project.start("ask", name) for name in ("one", "two")]
    outputs = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert [json.loads(out)["args"] for out, _ in outputs] == [["ask", "one"], ["ask", "two"]]
    said = "".join(err for _, err in outputs)
    assert said.count("Making .venv") == said.count("Installed in") == 1
    assert said.count("Another orbit.sh is installing; waiting for it to finish") == 1
    assert not leftover.exists()


def test_a_python_too_old_is_named(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("awk", "bash", "cat", "cksum", "dirname", "env", "readlink"):
        found = shutil.which(tool)
        assert found is not None
        (tools / tool).symlink_to(found)
    none = project.run("start", PATH=str(tools))
    assert (none.returncode, none.stdout) == (1, "")
    assert none.stderr.startswith(
        "error: Orbit needs Python 3.11 or newer; found: no Python at all."
    )
    old = tools / "python3"
    old.write_text('#!/bin/sh\ncase "$4" in *print*) echo 3.9.2 ;; *) exit 1 ;; esac\n')
    old.chmod(0o755)
    refused = project.run("start", PATH=str(tools))
    assert refused.stderr.startswith(
        f"error: Orbit needs Python 3.11 or newer; found: {old} is 3.9.2."
    )
    named = project.run("start", PATH=str(tools), ORBIT_PYTHON="/nowhere/python3.11")
    assert named.stderr == (
        "error: ORBIT_PYTHON must name a Python 3.11 or newer; /nowhere/python3.11 does not run\n"
    )


@pytest.mark.parametrize("found", ["compiled without optimisations", "optimised"])
def test_a_python_without_its_optimisations_is_taken_only_where_there_is_no_other(
    tmp_path: Path, found: str
) -> None:
    project = write_project(tmp_path / "project")
    real = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("awk", "bash", "cat", "cksum", "dirname", "env", "ls", "readlink"):
        where = shutil.which(tool)
        assert where is not None
        (tools / tool).symlink_to(where)
    slow, fast = tmp_path / "slow" / "python3.11", tmp_path / "fast" / "python3.12"
    for python, optimised in ((slow, 0), (fast, 1)):
        python.parent.mkdir()
        python.write_text(
            '#!/bin/sh\ncase "$*" in\n'
            f"  *CONFIG_ARGS*) exit {1 - optimised} ;;\n"
            "  *venv*) exit 1 ;;\n"  # which it is shows before anything is made
            f'esac\nexec "{real}" "$@"\n'
        )
        python.chmod(0o755)
    folders = [slow.parent, *([fast.parent] if found == "optimised" else []), tools]
    made = project.run("install", PATH=os.pathsep.join(map(str, folders)))
    taken = fast if found == "optimised" else slow
    assert made.stderr.splitlines()[0].endswith(f" ({taken})")


@dataclass(frozen=True, slots=True)
class Locked:
    """A project with a lock, and the folder where pip finds wheels."""

    project: Project
    wheels: Path

    def lock(self, name: str, *pins: str) -> None:
        folder = self.project.root / "requirements"
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.txt").write_text("# Made by hand.\n" + "".join(pins))

    def install(self, *args: str, lock: str = "on") -> str:
        """Install, and return what was said."""
        links = str(self.wheels)
        done = self.project.run("install", *args, PIP_FIND_LINKS=links, ORBIT_LOCK=lock)
        assert done.returncode == 0, done.stderr
        return done.stderr

    def packages(self) -> set[str]:
        (site,) = (self.project.root / ".venv" / "lib").glob("python3*/site-packages")
        found = (path.name.removesuffix(".dist-info") for path in site.glob("*.dist-info"))
        return {name for name in found if not name.startswith(("pip-", "orbit_server-"))}


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Locked:
    root = tmp_path_factory.mktemp("locked")
    locked = Locked(write_project(root / "my project"), root / "wheels")
    locked.wheels.mkdir()
    pyproject = locked.project.root / "pyproject.toml"
    newest = "environments = [\"python_full_version < '4.0' and sys_platform == 'linux'\"]"
    pyproject.write_text(f"{PYPROJECT}\n[tool.uv]\n{newest}\n")
    locked.lock("build", write_wheel(locked.wheels, "maker", "1"))
    write_wheel(locked.wheels, "thing", "2")
    locked.lock("base", write_wheel(locked.wheels, "thing", "1", "heavy"))
    locked.lock("extra-one", write_wheel(locked.wheels, "more", "1"))
    locked.lock("test")
    assert " what pip finds" not in locked.install()
    return locked


def test_what_is_locked_is_installed_and_nothing_that_it_asks_for(locked: Locked) -> None:
    assert locked.packages() == {"thing-1"}
    locked.install("extra-one")
    assert locked.packages() == {"thing-1", "more-1"}


def test_a_changed_lock_installs_again_and_removes_what_it_dropped(locked: Locked) -> None:
    own = write_wheel(locked.wheels, "own", "1").partition(" ")[0]
    pip = [str(locked.project.root / ".venv" / "bin" / "pip"), "install", "--quiet"]
    links = ["--find-links", str(locked.wheels)]
    subprocess.run([*pip, *links, own], env=clean_environment(), check=True)
    locked.lock("base", write_wheel(locked.wheels, "other", "1"))
    assert "Installed in " in locked.install()
    assert locked.packages() == {"other-1", "more-1", "own-1"}
    assert "Installed in " not in locked.install()


def test_a_lock_that_has_nothing_for_this_machine_is_left(locked: Locked) -> None:
    thing = write_wheel(locked.wheels, "thing", "1")
    locked.lock("base", thing.replace("thing==1", "thing==3"))
    assert (
        "What requirements/ locks cannot be installed here (No matching distribution found for "
        "thing==3): installing what pip finds\n"
    ) in locked.install()
    locked.lock("base", thing)
    pyproject = locked.project.root / "pyproject.toml"
    said = pyproject.read_text()
    pyproject.write_text(said.replace("'4.0'", "'3.11'"))
    assert "What requirements/ locks is not for CPython 3." in locked.install()
    pyproject.write_text(said)


def test_another_file_than_the_locked_one_is_refused(locked: Locked) -> None:
    locked.lock("base", write_wheel(locked.wheels, "swapped", "1"))
    write_wheel(locked.wheels, "swapped", "1", "thing")
    refused = locked.project.run("install", PIP_FIND_LINKS=str(locked.wheels))
    assert refused.returncode == 1
    assert "A file is not the one that requirements/ locks: it was damaged" in refused.stderr
    assert "swapped-1" not in locked.packages()
    assert "Installed in " in locked.install(lock="off")


def test_the_whole_check_refuses_what_it_does_not_know() -> None:
    check = ROOT / ".ci" / "run"
    done = subprocess.run(["bash", check, "--ful"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "usage: .ci/run [--full]\n")
