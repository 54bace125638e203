"""A Redis of the tests' own, on a free port and in a folder of its own."""

import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.ports import free_port

_PROGRAM = shutil.which("redis-server")


def why_not() -> str | None:
    """Why none can be started here; None when one can."""
    if _PROGRAM is None:
        return "there is no redis-server here; Debian's package has that name"
    return None


@dataclass
class Redis:
    """One that can be killed and started again in the same place. `keeps` is over its death."""

    folder: Path
    keeps: bool = False
    port: int = field(default_factory=free_port)
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start it, and return when it takes connections."""
        assert _PROGRAM is not None
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", ""]
        options += ["--dir", str(self.folder), "--appendonly", "yes" if self.keeps else "no"]
        options += ["--appendfsync", "always"]
        self.process = subprocess.Popen([_PROGRAM, *options], stdout=subprocess.DEVNULL)
        for _ in range(200):
            with closing(socket.socket()) as trying:
                if trying.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise RuntimeError("redis-server takes no connections")

    def signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)
        if number == signal.SIGKILL:
            self.process.wait(10)

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait(10)


@contextmanager
def redis(folder: Path, *, keeps: bool = False) -> Iterator[Redis]:
    """Run one until the block ends."""
    started = Redis(folder, keeps=keeps)
    started.start()
    try:
        yield started
    finally:
        started.stop()
