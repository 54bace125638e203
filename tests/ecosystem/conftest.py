"""A server as docs/ecosystem.md starts it, and what runs the page's programs against it."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.ecosystem import environments, model
from tests.ecosystem.page import RECIPES, Step
from tests.support.loopback import Answer, Service, serving
from tests.support.ports import free_port

ROOT = Path(__file__).parents[2]
LAUNCHER = """#!/bin/sh
exec "{python}" -m server "$@" --data "{data}"
"""
"""In place of the launcher, which would install Orbit first."""


@dataclass(frozen=True)
class Orbit:
    """A running server, the channel that its notifications go to, and an agent's model."""

    data: Path
    port: int
    channel: Service
    model: Service

    @property
    def environ(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ORBIT_")}
        address = f"{self.model.base_url}/v1"
        return kept | {
            "PYTHONPATH": str(ROOT),
            "DEMO_SERVICES_URL": self.channel.base_url,
            "OPENAI_API_KEY": "a model's",
            "OPENAI_BASE_URL": address,
            "OPENAI_API_BASE": address,  # LlamaIndex's name for it
        }

    def run(self, *args: str) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "server", *args, "--data", str(self.data)],
            cwd=ROOT,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def pytest_collection_finish(session: pytest.Session) -> None:
    """Have the environments made that the recipes need, while the first of them run."""
    if session.config.option.collectonly:
        return
    callspecs = [getattr(item, "callspec", None) for item in session.items]
    names = [spec.params.get("name") for spec in callspecs if spec is not None]
    for recipe in (RECIPES[name] for name in names if name in RECIPES):
        if recipe.installs:
            environments.make(environments.group_of(recipe.installs))


@pytest.fixture(scope="session")
def orbit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Orbit]:
    with serving(lambda asked: Answer(asked.body)) as channel, serving(model.answer) as thinking:
        orbit = Orbit(tmp_path_factory.mktemp("orbit") / "data", free_port(), channel, thinking)
        orbit.run("start", "--host", "127.0.0.1", "--port", str(orbit.port))
        try:
            orbit.run("keys", "sample", "--adapter", "intent-agent-example")
            yield orbit
        finally:
            orbit.run("stop")


@pytest.fixture(autouse=True)
def _nothing_was_asked_yet(orbit: Orbit) -> None:
    orbit.channel.asked.clear()


class Workplace:
    """A folder where the steps of one recipe run, with the programs of its environment."""

    def __init__(self, orbit: Orbit, folder: Path, group: str | None) -> None:
        self._orbit = orbit
        self._folder = folder
        self._environ = orbit.environ | {"LLM_USER_PATH": str(folder)}
        self._ports = {"8000": str(orbit.port), "4000": str(free_port())}
        self._started: list[subprocess.Popen[str]] = []
        programs = Path(sys.executable).parent
        if group is not None:
            programs = environments.programs_of(group)
            del self._environ["PYTHONPATH"]
        self._environ["PATH"] = f"{programs}{os.pathsep}{self._environ['PATH']}"
        self._python = str(programs / "python")
        for name in ("config", "examples"):
            (folder / name).symlink_to(ROOT / name)
        launcher = folder / "bin" / "orbit.sh"
        launcher.parent.mkdir()
        launcher.write_text(LAUNCHER.format(python=sys.executable, data=folder / "data"))
        launcher.chmod(0o755)

    def do(self, step: Step) -> str:
        """Write a file, or run a program: what it has printed."""
        code = step.code
        for written, port in self._ports.items():
            code = code.replace(f"127.0.0.1:{written}", f"127.0.0.1:{port}")
            code = code.replace(f"--port {written}", f"--port {port}")
        if step.language not in ("bash", "python"):
            (self._folder / step.file).write_text(code, encoding="utf-8")
            return ""
        if step.in_background:
            self._start(code.rstrip().removesuffix("&"))
            return ""
        command = ["bash", "-ec", code] if step.language == "bash" else [self._python, "-c", code]
        done = subprocess.run(
            command,
            cwd=self._folder,
            env=self._environ,
            input="yes\n",
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _start(self, command: str) -> None:
        """Run a server of somebody else's, and wait until it listens."""
        log = self._folder / "started.log"
        with log.open("w") as said:
            started = subprocess.Popen(
                ["bash", "-c", f"exec env {command}"],
                cwd=self._folder,
                env=self._environ,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                text=True,
            )
        self._started.append(started)
        until = time.monotonic() + 120
        while True:
            with suppress(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", int(self._ports["4000"]))).close()
                return
            assert started.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.2)

    def close(self) -> None:
        for started in self._started:
            started.terminate()
            started.wait(30)
