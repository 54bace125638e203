"""A server in a process of its own, to be maltreated: killed, starved, cut off."""

import asyncio
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import httpx

from tests.support.ports import free_port

ROOT = Path(__file__).parents[2]
READY_WITHIN_S = 60


@dataclass
class Server:
    """`serve` with a configuration and a data folder; it may start as often as it is ended."""

    config: Path
    data: Path
    open_files: int | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        """What it said since it was first started, beside its configuration."""
        return self.config.with_suffix(".log")

    def said(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self._command("serve", "--port", str(self.port)),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=ROOT,
                env={**_environment(), **self.environment},
                preexec_fn=self._limit,
            )

    def run(self, *command: str) -> "subprocess.CompletedProcess[str]":
        """Another command with the same folders."""
        return subprocess.run(
            self._command(*command),
            cwd=ROOT, env=_environment(), stdin=subprocess.DEVNULL, capture_output=True,
            text=True, check=False,
        )  # fmt: skip

    async def ready(self) -> bool:
        """Wait until every adapter serves; False if the process ended instead, or it took long."""
        async with httpx.AsyncClient(base_url=self.url, timeout=10) as client:
            with anyio.move_on_after(READY_WITHIN_S):
                while self.runs():
                    if await _status(client) == "ready":
                        return True
                    await asyncio.sleep(0.05)
        return False

    def runs(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def stop(self) -> int:
        """Ask it to end; its exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    def memory_mb(self) -> float:
        assert self.process is not None
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def _command(self, *command: str) -> list[str]:
        options = ["--config", str(self.config), "--data", str(self.data)]
        return [sys.executable, "-m", "server", *command, *options]

    def _limit(self) -> None:
        if self.open_files is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (self.open_files, self.open_files))


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ORBIT_")}
    return kept | {"PYTHONDONTWRITEBYTECODE": "1"}


async def _status(client: httpx.AsyncClient) -> str:
    try:
        return str((await client.get("/ready")).json()["status"])
    except (httpx.TransportError, ValueError, KeyError):
        return ""
