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
    with mortal_postgresql() as server:
        yield server.url, server.pid


@contextmanager
def mortal_postgresql(*, durable: bool = False) -> Iterator["PostgreSQL"]:
    """The same, to be killed and started again; a `durable` one writes as those in service do."""
    # Not pytest's own folder: PostgreSQL refuses to run as root, who alone may enter that.
    with tempfile.TemporaryDirectory(prefix="orbit-tests-postgresql-") as folder:
        server = PostgreSQL(Path(folder), durable=durable)
        server.make()
        server.start()
        try:
            yield server
        finally:
            server.end()


class PostgreSQL:
    """One with a folder and a port of its own."""

    def __init__(self, folder: Path, *, durable: bool = False) -> None:
        self._folder = folder
        self._durable = durable
        self._data = folder / "cluster"
        self._log = folder / "log"
        self._owner: str | None = None
        self._port = free_port()
        self._server: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"postgresql+psycopg://{USER}:{PASSWORD}@127.0.0.1:{self._port}/postgres"

    @property
    def pid(self) -> int:
        assert self._server is not None
        return self._server.pid

    def make(self) -> None:
        programs, password = _programs(), self._folder / "password"
        assert programs is not None
        password.write_text(PASSWORD)
        self._owner = _owner(self._folder)
        subprocess.run(
            [
                programs / "initdb", "--pgdata", self._data, "--username", USER,
                "--pwfile", password, "--auth", "scram-sha-256", "--encoding", "UTF8",
                "--locale", "C", "--no-sync",
            ],
            check=True, capture_output=True, user=self._owner,
        )  # fmt: skip

    def start(self) -> None:
        """Start it, and return when it lets somebody in."""
        programs = _programs()
        assert programs is not None
        with self._log.open("ab") as written:
            self._server = subprocess.Popen(
                [
                    programs / "postgres", "-D", self._data, "-h", "127.0.0.1",
                    "-p", str(self._port), "-c", f"unix_socket_directories={self._data}",
                    "-c", f"fsync={'on' if self._durable else 'off'}",
                ],
                stdout=written, stderr=written, user=self._owner,
            )  # fmt: skip
        _wait_until_it_answers(self._port, self._log)

    def kill(self) -> None:
        """End it and all that it started, as SIGKILL does."""
        assert self._server is not None
        family = [self.pid, *_children(self.pid)]
        for each in family:
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        self._server.wait(20)
        for each in family[1:]:
            while Path(f"/proc/{each}").exists():
                time.sleep(0.01)

    def end(self) -> None:
        assert self._server is not None
        self._server.send_signal(signal.SIGINT)  # without waiting for those who are connected
        self._server.wait(20)


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
