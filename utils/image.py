"""What the Dockerfile does, without a container engine: its own steps, in chroots, and a trial.

    python -m utils.image [--base DIR] [--work DIR] [--keep]

As root on Linux, with debootstrap (or a base that is there) and what pip is configured to install
from. `dockerfile.py` reads the steps; here they are taken. The server then runs as it would in a
container that compose.yaml makes: another user without capabilities, a root that cannot be
written, a network of its own, and of its own nothing but a folder for data and a `/tmp`.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from utils.dockerfile import Context, Instruction, expand, read_dockerfile, stages

ROOT: Final = Path(__file__).parents[1]
LIMIT_MB: Final = 700
SUITE: Final = "bookworm"
PACKAGES: Final = "python3,python3-venv,ca-certificates"
PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ADAPTER: Final = "intent-agent-example"
QUESTION, ANSWER = "What is 15% of 200?", "15% of 200 is **30**"
_GRACE_S: Final = 30.0
_READY: Final = "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/ready')"
_CHAT: Final = """
import json, sys, urllib.request
request = urllib.request.Request(
    "http://127.0.0.1:8000/chat", json.dumps({"message": sys.argv[2]}).encode(),
    {"Authorization": "Bearer " + sys.argv[1], "Content-Type": "application/json"},
)
print(json.load(urllib.request.urlopen(request, timeout=60))["content"])
"""


class ImageWrong(Exception):
    """The image is not what it should be."""


@dataclass(slots=True)
class Stage:
    """A root file system on its way, and what the Dockerfile says of running it."""

    root: Path
    environment: dict[str, str] = field(default_factory=lambda: {"PATH": PATH})
    arguments: dict[str, str] = field(default_factory=dict)
    folder: str = "/"
    user: str = "0:0"
    volumes: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)

    @property
    def variables(self) -> dict[str, str]:
        return self.arguments | self.environment

    def inside(self, path: str) -> Path:
        """Return where a path of the image is on this machine."""
        return self.root / os.path.normpath(os.path.join(self.folder, path)).lstrip("/")


def say(text: str) -> None:
    print(text, flush=True)


def run(command: Sequence[str], **options: Any) -> str:
    """Run a command and return what it printed; raise `ImageWrong` with all of it otherwise."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        raise ImageWrong(
            f"{shlex.join(command)} ended with {done.returncode}:\n{done.stderr[-3000:]}"
        )
    return str(done.stdout)


def megabytes(folder: Path) -> int:
    return int(run(["du", "-sm", "--one-file-system", str(folder)]).split()[0])


def make_base(folder: Path) -> None:
    """Make what stands for the base image: Debian's smallest, with Python."""
    say(f"base: debootstrap {SUITE} with {PACKAGES}")
    run(["debootstrap", "--variant=minbase", f"--include={PACKAGES}", SUITE, str(folder)])
    for unneeded in ("var/cache/apt", "var/lib/apt/lists", "var/log", "usr/share/doc"):
        shutil.rmtree(folder / unneeded)


def pip_settings() -> tuple[dict[str, str], list[str]]:
    """Return pip's configuration here as variables, and the folders and files that it names."""
    variables, paths = {}, []
    for line in run([sys.executable, "-m", "pip", "config", "list"]).splitlines():
        name, _, value = line.partition("=")
        value = value.strip("'\"")
        variables["PIP_" + name.rpartition(".")[2].upper().replace("-", "_")] = value
        paths += [found for found in re.findall(r"(?:file://)?(/\S+)", value) if "//" not in found]
    # The files of an index may stand beside its list of them.
    folders = {str(Path(path).parent if path.endswith("/simple") else path) for path in paths}
    return variables, sorted(path for path in folders if Path(path).exists())


def build(dockerfile: Path, base: Path, work: Path) -> Stage:
    """Take every step of the Dockerfile; return the last stage."""
    context = Context(dockerfile.parent)
    made: dict[str, Stage] = {}
    stage = Stage(work)
    preamble, parts = stages(read_dockerfile(dockerfile))
    for number, (name, steps) in enumerate(parts):
        stage = Stage(work / f"stage{number}")
        run(["cp", "-a", "--reflink=auto", str(base), str(stage.root)])
        stage.arguments = dict(preamble)
        for step in steps:
            say(f"{name or number}: {step.name} {' '.join(step.text.split())[:100]}")
            take(step, stage, context, made)
        made[name or str(number)] = stage
    return stage


def take(step: Instruction, stage: Stage, context: Context, made: Mapping[str, Stage]) -> None:
    """Do what one instruction says."""
    text = expand(step.text, stage.variables)
    match step.name:
        case "ARG":
            name, _, default = text.partition("=")
            stage.arguments.setdefault(name, default.strip("\"'"))
        case "ENV":
            pairs = (word.partition("=") for word in shlex.split(text))
            stage.environment |= {name: value for name, _, value in pairs}
        case "WORKDIR":
            stage.folder = os.path.join(stage.folder, text)
            stage.inside(".").mkdir(parents=True, exist_ok=True)
        case "USER":
            stage.user = text
        case "VOLUME":
            stage.volumes.append(text)
        case "RUN":
            run_step(step.text, stage)
        case "COPY":
            copy_step(text, stage, context, made)
        case "HEALTHCHECK":
            stage.health = list(json.loads(step.text.partition("CMD")[2]))
        case "ENTRYPOINT":
            stage.entrypoint = list(json.loads(step.text))
        case "CMD":
            stage.command = list(json.loads(step.text))
        case "EXPOSE":
            pass
        case unknown:
            raise ImageWrong(f"utils/image.py does not know the instruction {unknown}")


def run_step(line: str, stage: Stage) -> None:
    """Run a line of shell in the stage, which finds the index that pip finds here."""
    variables, paths = pip_settings()
    mounts = [f"mount -t proc proc {stage.root}/proc", f"mount --bind /dev {stage.root}/dev"]
    names = [f"/etc/{name}" for name in ("resolv.conf", "hosts") if Path("/etc", name).exists()]
    before = set(stage.root.iterdir())
    for path in (*paths, *names):
        place = Path(f"{stage.root}{path}")
        if Path(path).is_dir():
            place.mkdir(parents=True, exist_ok=True)
        elif not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
        mounts.append(f"mount --bind {path} {place}")
    given = [f"{name}={value}" for name, value in (variables | stage.variables).items()]
    inside = ["env", "-i", "HOME=/root", *given, "sh", "-c", f"cd {stage.folder} && {line}"]
    script = " && ".join([*mounts, f"exec chroot {stage.root} {shlex.join(inside)}"])
    run(["unshare", "--mount", "--propagation", "private", "sh", "-c", script])
    for left in set(stage.root.iterdir()) - before:
        if any(path.startswith(f"/{left.name}/") for path in paths) and not any(
            each.is_file() for each in left.rglob("*")
        ):
            shutil.rmtree(left)


def copy_step(text: str, stage: Stage, context: Context, made: Mapping[str, Stage]) -> None:
    """Copy what is named, as Docker does: of a folder, what is in it."""
    words = text.split()
    given = dict(w[2:].split("=", 1) for w in words if w.startswith("--"))
    *sources, target = (word for word in words if not word.startswith("--"))
    place = stage.inside(target)
    for source in sources:
        if "from" in given:
            run(["cp", "-a", str(made[given["from"]].inside(source)), str(place)])
        else:
            context.copy(source, place / Path(source).name if target.endswith("/") else place)


def try_out(stage: Stage, data: Path) -> None:
    """Run the image as a container runs, in namespaces of its own."""
    spec = {
        "root": str(stage.root), "data": str(data), "user": stage.user, "folder": stage.folder,
        "environment": stage.environment, "volumes": stage.volumes, "health": stage.health,
        "server": [*stage.entrypoint, *stage.command], "program": stage.entrypoint,
    }  # fmt: skip
    namespaces = ["--mount", "--net", "--pid", "--ipc", "--uts", "--fork", "--kill-child"]
    inside = [sys.executable, "-m", "utils.image", "--inside", json.dumps(spec)]
    command = ["unshare", *namespaces, "--propagation", "private", *inside]
    if subprocess.run(command, cwd=ROOT, check=False).returncode:
        raise ImageWrong("the trial failed")


def trial(spec: dict[str, Any]) -> None:
    """Inside of the namespaces: mount, start, ask, stop."""
    root = spec["root"]
    for line in (
        ["ip", "link", "set", "lo", "up"],
        ["mount", "--bind", root, root],
        ["mount", "-t", "proc", "proc", f"{root}/proc"],
        ["mount", "-t", "tmpfs", "-o", "mode=755", "none", f"{root}/dev"],
        ["mount", "-t", "tmpfs", "-o", "mode=1777", "none", f"{root}/tmp"],
        *(["mount", "--bind", spec["data"], f"{root}{each}"] for each in spec["volumes"]),
        *(["mknod", "-m", "666", f"{root}/dev/{name}", "c", "1", minor]
          for name, minor in (("null", "3"), ("zero", "5"), ("random", "8"), ("urandom", "9"))),
        ["ln", "-s", "/proc/self/fd", f"{root}/dev/fd"],
        ["mkdir", f"{root}/dev/shm"],
        ["mount", "-t", "tmpfs", "-o", "mode=1777,size=64m", "none", f"{root}/dev/shm"],
        ["mount", "-o", "remount,bind,ro", root],
    ):  # fmt: skip
        run(line)
    user, _, group = spec["user"].partition(":")
    drop = [
        *("setpriv", "--reuid", user, "--regid", group or user, "--clear-groups"),
        *("--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"),
    ]
    variables = [f"{name}={value}" for name, value in spec["environment"].items()]
    within = ["chroot", root, *drop, "env", "-i", f"--chdir={spec['folder']}", *variables]
    program, health = [*within, *spec["program"]], [*within, *spec["health"]]

    say("the user, its capabilities, and where it may write:")
    status = run([*within, "cat", "/proc/self/status"])
    for name in ("Uid", "CapEff", "CapBnd", "NoNewPrivs"):
        say("  " + next(each for each in status.splitlines() if each.startswith(f"{name}:")))
    for folder in ("/", "/project", "/opt/orbit", "/data", "/tmp"):
        tried = subprocess.run([*within, "touch", f"{folder}/x"], capture_output=True, check=False)
        written = tried.returncode == 0
        say(f"  {folder}: {'written' if written else 'refused'}")
        if written != (folder in ("/tmp", *spec["volumes"])):
            raise ImageWrong(f"{folder} is not as it should be: {tried.stderr.decode()}")
    begun = time.monotonic()
    server = subprocess.Popen([*within, *spec["server"]])
    try:
        wait_for(health, server)
        say(f"HEALTHCHECK succeeded {time.monotonic() - begun:.1f} s after the start")
        wait_for([*within, "python3", "-c", _READY], server)
        key = json.loads(run([*program, "keys", "create", "--adapter", ADAPTER, "--json"]))["key"]
        answers = (
            run([*within, "python3", "-c", _CHAT, key, QUESTION]).strip(),
            run([*program, "ask", QUESTION]).strip(),
        )
        for how, answer in zip(("POST /chat", "orbit ask"), answers, strict=True):
            say(f"{how}: {QUESTION} {answer}")
            if answer != ANSWER:
                raise ImageWrong(f"{how} should have answered {ANSWER!r}")
    finally:
        server.send_signal(signal.SIGTERM)
        ended = server.wait(timeout=_GRACE_S)
    say(f"SIGTERM: it ended with {ended}")
    if ended:
        raise ImageWrong("it should end with 0")


def wait_for(command: Sequence[str], server: "subprocess.Popen[bytes]") -> None:
    """Run a command until it succeeds, which it must before long."""
    begun = time.monotonic()
    while (tried := subprocess.run(command, capture_output=True, check=False)).returncode:
        if server.poll() is not None or time.monotonic() - begun > _GRACE_S:
            raise ImageWrong(f"{shlex.join(command)} never succeeded: {tried.stderr.decode()}")
        time.sleep(0.5)


def owned(stage: Stage, work: Path) -> Iterator[Path]:
    """Yield the folder that a fresh volume is: what the image has there, with its owner."""
    for each in stage.volumes:
        place = work / "volumes" / each.strip("/").replace("/", "-")
        place.parent.mkdir(exist_ok=True)
        run(["cp", "-a", str(stage.inside(each)), str(place)])
        yield place


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--base", type=Path, help="a root with Python; made, if it is not there")
    parser.add_argument(
        "--work", type=Path, help="where the chroots go, instead of a folder in /tmp"
    )
    parser.add_argument("--keep", action="store_true", help="leave the chroots")
    parser.add_argument("--inside", type=json.loads, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        try:
            trial(given.inside)
        except ImageWrong as wrong:
            sys.exit(f"error: {wrong}")
        return
    work = Path(tempfile.mkdtemp(prefix="orbit-image-", dir=given.work))
    try:
        base = given.base or work / "base"
        if not base.is_dir():
            make_base(base)
        stage = build(ROOT / "Dockerfile", base, work)
        of_base, total = megabytes(base), megabytes(stage.root)
        say(f"size: {total} MB, of which {of_base} MB are the base")
        if total > LIMIT_MB:
            raise ImageWrong(f"it should be at most {LIMIT_MB} MB")
        (data,) = owned(stage, work)
        try_out(stage, data)
        say("The image is as it should be")
    except ImageWrong as wrong:
        sys.exit(f"error: {wrong}")
    finally:
        if not given.keep:
            shutil.rmtree(work)


if __name__ == "__main__":
    main()
