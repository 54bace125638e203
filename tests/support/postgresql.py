"""A PostgreSQL of the tests' own, on a free port and in a folder of its own."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

from tests.support.ports import free_port

USER = "orbit"
PASSWORD = "hunter2-of-the-tests"
_DEBIAN = Path("/usr/lib/postgresql")


def why_not() -> str | None:
    """Why none can be started here; None when one can."""
    if _programs() is None:
        return "there is no PostgreSQL server here; Debian's package is postgresql"
    if find_spec("psycopg") is None:
        return "psycopg is not installed: ./bin/orbit.sh install postgres"
    return None


@contextmanager
def postgresql() -> Iterator[str]:
    """Start one, and give the URL of an empty database with a user that needs a password."""
    with postgresql_process() as (url, _):
        yield url


@contextmanager
def postgresql_process() -> Iterator[tuple[str, int]]:
    """The same, with the id of its first process."""
    # Not pytest's own folder: PostgreSQL refuses to run as root, who alone may enter that.
    with tempfile.TemporaryDirectory(prefix="orbit-tests-postgresql-") as folder:
        yield from _started(Path(folder))


def _started(folder: Path) -> Iterator[tuple[str, int]]:
    programs = _programs()
    assert programs is not None
    data, password = folder / "cluster", folder / "password"
    password.write_text(PASSWORD)
    owner = _owner(folder)
    subprocess.run(
        [
            programs / "initdb", "--pgdata", data, "--username", USER, "--pwfile", password,
            "--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C", "--no-sync",
        ],
        check=True, capture_output=True, user=owner,
    )  # fmt: skip
    port = free_port()
    log = folder / "log"
    with log.open("wb") as written:
        server = subprocess.Popen(
            [
                programs / "postgres", "-D", data, "-h", "127.0.0.1", "-p", str(port),
                "-c", f"unix_socket_directories={data}", "-c", "fsync=off",
            ],
            stdout=written, stderr=written, user=owner,
        )  # fmt: skip
    try:
        _wait_until_it_answers(port, log)
        yield f"postgresql+psycopg://{USER}:{PASSWORD}@127.0.0.1:{port}/postgres", server.pid
    finally:
        server.send_signal(signal.SIGINT)  # without waiting for those who are connected
        server.wait(20)


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    """Stop it and what it started, as SIGSTOP does: connections stay, and nobody answers."""
    family = [pid, *_children(pid)]
    for each in family:
        os.kill(each, signal.SIGSTOP)
    try:
        yield
    finally:
        for each in family:
            os.kill(each, signal.SIGCONT)


def _children(pid: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(stat.parent.name))
    return found


def _programs() -> Path | None:
    """The folder of `initdb` and `postgres`, which Debian keeps off PATH."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else []
    folders += sorted(_DEBIAN.glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "postgres").exists()), None)


def _owner(folder: Path) -> str | None:
    """Whom it runs as; root gives the folder to the user that Debian's package makes."""
    if os.geteuid() != 0:
        return None
    for path in (folder, *folder.iterdir()):
        shutil.chown(path, "postgres")
    return "postgres"


def _wait_until_it_answers(port: int, log: Path) -> None:
    for _ in range(400):
        with closing(socket.socket()) as trying:
            if trying.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.05)
    else:
        raise RuntimeError(log.read_text())
    # It takes connections a moment before it lets anybody in.
    import psycopg

    for _ in range(400):
        try:
            psycopg.connect(
                host="127.0.0.1", port=port, user=USER, password=PASSWORD, dbname="postgres"
            ).close()
            return
        except psycopg.OperationalError:
            time.sleep(0.05)
    raise RuntimeError(log.read_text())
