"""The process file: which server runs with a data folder, and how to reach it."""

import fcntl
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from server.cli.sameness import code_token
from server.errors import OrbitError
from server.storage.files import make_private, written_whole

_PROC: Final = Path("/proc")
_STATE, _STARTED = 0, 19  # fields of /proc/PID/stat, counted from behind the name
_DEAD: Final = "ZX"


def process_token(pid: int) -> str | None:
    """Return what tells this process from every other that has or will have its pid.

    None when there is no such process, or only what is left of one that ended.
    """
    return _from_proc(pid) if (_PROC / "self" / "stat").exists() else _from_ps(pid)


def _from_proc(pid: int) -> str | None:
    try:
        stat = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
        boot = (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The name stands in parentheses and may hold anything, spaces and parentheses too.
    fields = stat.rpartition(")")[2].split()
    if fields[_STATE] in _DEAD:
        return None
    return f"{boot}:{fields[_STARTED]}"


def _from_ps(pid: int) -> str | None:
    shown = subprocess.run(  # noqa: S603  a number is all that varies
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)],  # noqa: S607  where ps is differs
        capture_output=True,
        text=True,
        env=os.environ | {"LC_ALL": "C"},
        check=False,
    )
    state, _, started = shown.stdout.strip().partition(" ")
    if not started or state[0] in _DEAD:
        return None
    return started.strip()


IN_BACKGROUND: Final = "ORBIT_IN_BACKGROUND"
"""Set for a server that `start` starts: `start` then writes the process file."""


class AlreadyRunning(OrbitError):
    """Another server runs with the same data folder."""

    code = "already_running"


@dataclass(frozen=True, slots=True)
class Launch:
    """What to start, with nothing left to be looked up."""

    host: str
    port: int
    config: Path
    data_dir: Path
    shutdown_grace_s: float
    drain_s: float = 0.0
    asked_host: str | None = None
    """`--host` as it was given, for a restart to give again."""
    asked_port: int | None = None
    watches: bool = False
    """Whether it reloads what is saved."""
    workers: int = 1
    asked_workers: str | None = None
    """`--workers` as it was given, for a restart to give again."""


@dataclass(frozen=True, slots=True)
class Running:
    """A server as its process file describes it. `log` is None for one in the foreground."""

    pid: int
    token: str
    host: str
    port: int
    config: str
    started_at: str
    shutdown_grace_s: float
    drain_s: float = 0.0
    log: str | None = None
    asked_host: str | None = None
    asked_port: int | None = None
    watches: bool = False
    workers: int = 1
    asked_workers: str | None = None
    code: str = ""
    """What `server.cli.sameness.code_token` was, where there are several workers."""

    @property
    def url(self) -> str:
        return url_of(self.host, self.port)

    def is_alive(self) -> bool:
        return process_token(self.pid) == self.token


def url_of(host: str, port: int) -> str:
    """Return where a client on this machine reaches a server that listens on `host`."""
    if host in ("", "0.0.0.0", "127.0.0.1"):  # noqa: S104  read, not bound
        host = "localhost"
    elif host in ("::", "::1"):
        host = "::1"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def describe_process(pid: int, launch: Launch, *, log: Path | None = None) -> Running | None:
    """Return what to write of a process; None when it has ended already."""
    token = process_token(pid)
    if token is None:
        return None
    return Running(
        pid=pid,
        token=token,
        host=launch.host,
        port=launch.port,
        config=str(launch.config.absolute()),
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        shutdown_grace_s=launch.shutdown_grace_s,
        drain_s=launch.drain_s,
        log=str(log) if log else None,
        asked_host=launch.asked_host,
        asked_port=launch.asked_port,
        watches=launch.watches,
        workers=launch.workers,
        asked_workers=launch.asked_workers,
        code=code_token() if launch.workers > 1 else "",
    )


def read_running(data_dir: Path) -> Running | None:
    """Return the server that runs with this data folder. A stale file counts as none."""
    try:
        running = Running(**json.loads(_file(data_dir).read_text(encoding="utf-8")))
    except (FileNotFoundError, NotADirectoryError, ValueError, TypeError):
        # A file that cannot be read was cut short, or written by another version.
        return None
    return running if running.is_alive() else None


def write_running(data_dir: Path, running: Running) -> None:
    file = _file(data_dir)
    make_private(file.parent)
    with written_whole(file) as written:
        written.write(json.dumps(asdict(running), indent=2).encode() + b"\n")


def forget_running(data_dir: Path, pid: int) -> None:
    """Remove the process file if it is about `pid`, or about no living process."""
    running = read_running(data_dir)
    if running is None or running.pid == pid:
        _file(data_dir).unlink(missing_ok=True)


@contextmanager
def recorded(launch: Launch) -> Iterator[None]:
    """Let other commands know of this process while it serves. May raise AlreadyRunning."""
    pid = os.getpid()
    data_dir = launch.data_dir
    running = read_running(data_dir)
    if running is not None and running.pid != pid:
        raise AlreadyRunning(
            f"Orbit is already running at {running.url} (pid {running.pid}) with the data folder "
            f"{data_dir}: stop it, or name another folder with --data"
        )
    this = describe_process(pid, launch)
    if IN_BACKGROUND not in os.environ and this is not None:
        write_running(data_dir, this)
    try:
        yield
    finally:
        forget_running(data_dir, pid)


@contextmanager
def one_at_a_time(data_dir: Path) -> Iterator[None]:
    """Hold the right to start a server with this data folder; wait for whoever has it."""
    path = data_dir / "run" / "start.lock"
    make_private(path.parent)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # given back by the kernel, however this ends
        yield


def _file(data_dir: Path) -> Path:
    return data_dir / "run" / "server.json"
