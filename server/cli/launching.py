"""A server in the background: spawned, waited for, and taken back when it fails."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from server.cli.interruption import Interruption, noted
from server.cli.log_file import last_lines, log_path, make_room
from server.cli.progress import Progress
from server.cli.readiness import Readiness, ask_readiness
from server.cli.runfile import (
    IN_BACKGROUND,
    Running,
    describe_process,
    forget_running,
    write_running,
)
from server.errors import OrbitError

_POLL_S: Final = 0.1
_SILENCE_S: Final = 120.0
"""Longest wait for a server that runs but does not answer at all."""
_SHOWN_LINES: Final = 15


class StartFailed(OrbitError):
    """The server did not come up; the message has the end of its log."""

    code = "start_failed"


class StartInterrupted(OrbitError):
    """Somebody did not want to wait any longer; nothing is left running."""

    code = "start_interrupted"

    def __init__(self, exit_code: int) -> None:
        self.exit_code = exit_code
        super().__init__("interrupted; the server that was starting has been stopped")


@dataclass(frozen=True, slots=True)
class Launch:
    """What to start, with nothing left to be looked up."""

    host: str
    port: int
    config: Path
    data_dir: Path
    shutdown_grace_s: float
    asked_host: str | None = None
    asked_port: int | None = None


def serve_command(wanted: Launch) -> list[str]:
    """The command that serves in the foreground, as this process was started."""
    # -P is passed on: a folder named "server" where the user stands must not pass for ours.
    safe = ["-P"] if sys.flags.safe_path else []
    options = {
        "--host": wanted.host,
        "--port": str(wanted.port),
        "--config": str(wanted.config.absolute()),
        "--data": str(wanted.data_dir),
    }
    given = [part for option in options.items() for part in option]
    return [sys.executable, *safe, "-m", "server", "serve", *given]


def launch(wanted: Launch, command: Sequence[str]) -> tuple[Running, Readiness]:
    """Start a server with `command`, and wait until all its adapters are settled.

    Raises:
        StartFailed: it ended, or it does not answer.
        StartInterrupted: by a signal. In both cases no process is left behind.
    """
    log = log_path(wanted.data_dir)
    log_start = make_room(log)
    with noted() as interruption, log.open("ab") as output:
        child = subprocess.Popen(  # noqa: S603  our own command
            command,
            env=os.environ | {IN_BACKGROUND: "1"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        settled = False
        try:
            running = _remember(child, wanted, log)
            readiness = _wait(child, running, interruption) if running else None
            if interruption.signal is not None:
                raise StartInterrupted(interruption.exit_code)
            if running is None or readiness is None:
                raise StartFailed(_why(child, log, log_start))
            settled = True
            child.returncode = 0  # it outlives this process, and is no longer its business
            return running, readiness
        finally:
            if not settled:
                _take_back(child, wanted.data_dir)


def _remember(child: "subprocess.Popen[bytes]", wanted: Launch, log: Path) -> Running | None:
    running = describe_process(
        child.pid,
        host=wanted.host,
        port=wanted.port,
        config=wanted.config,
        shutdown_grace_s=wanted.shutdown_grace_s,
    )
    if running is None:
        return None
    running = replace(
        running,
        log=str(log),
        asked_host=wanted.asked_host,
        asked_port=wanted.asked_port,
    )
    write_running(wanted.data_dir, running)
    return running


def _wait(
    child: "subprocess.Popen[bytes]", running: Running, interruption: Interruption
) -> Readiness | None:
    """What the server says once its adapters are settled; None when that never comes."""
    with Progress("Starting") as progress:
        heard_at = time.monotonic()
        while interruption.signal is None and child.poll() is None:
            readiness = ask_readiness(running.url)
            if readiness is not None and not readiness.opening:
                return readiness
            if readiness is not None:
                heard_at = time.monotonic()
                progress.show(f"opening {', '.join(readiness.opening)}")
            elif time.monotonic() - heard_at > _SILENCE_S:
                return None
            else:
                progress.show()
            time.sleep(_POLL_S)
    return None


def _why(child: "subprocess.Popen[bytes]", log: Path, log_start: int) -> str:
    code = child.poll()
    if code is None:
        what = f"the server did not answer within {_SILENCE_S:.0f} s and has been stopped"
    elif code < 0:
        what = f"the server was ended by signal {-code} while starting"
    else:
        what = f"the server ended while starting (exit code {code})"
    lines = last_lines(log, _SHOWN_LINES, since=log_start)
    if not lines:
        return f"{what}; it wrote nothing to {log}"
    shown = "\n".join(f"  {line}" for line in lines)
    return f"{what}. The end of its log, {log}:\n{shown}"


def _take_back(child: "subprocess.Popen[bytes]", data_dir: Path) -> None:
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(timeout=5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
    forget_running(data_dir, child.pid)
