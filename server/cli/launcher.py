"""A server in the background: spawned, waited for, asked how it is, and ended."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from server.cli import runfile
from server.cli.logs import last_lines, log_path, make_room
from server.cli.output import Progress, fail, notice_interruption
from server.errors import OrbitError


@dataclass(frozen=True, slots=True)
class ServerReadiness:
    """`status` is ready, degraded, opening, unavailable or draining; `adapters` has a row for each.

    `workers` is what a server with several tells of them, and empty for any other.
    """

    status: str
    adapters: tuple[Mapping[str, Any], ...]
    workers: Mapping[str, Any] = field(default_factory=dict)

    @property
    def serves(self) -> bool:
        """Whether at least one adapter answers questions."""
        return self.status in ("ready", "degraded")

    @property
    def missing_workers(self) -> int:
        """How many workers are not ready yet."""
        rows = self.workers.get("processes", ())
        able = len([row for row in rows if row["state"] == "ready"])
        return max(0, int(self.workers.get("count", 0)) - able)

    def adapters_that_are(self, state: str) -> tuple[str, ...]:
        return tuple(str(row.get("name")) for row in self.adapters if row.get("state") == state)

    def complaints(self) -> Iterator[str]:
        """Yield a line for each adapter that does not serve, or not all that is written."""
        for row in self.adapters:
            if row.get("state") not in ("ready", "opening"):
                why = f": {row['why']}" if row.get("why") else ""
                yield f"adapter {row.get('name')} is {row.get('state')}{why}"
        for row in self.adapters:
            for line in fault_lines(row):
                yield f"adapter {row.get('name')}: {line}"
            for line in lock_lines(row):
                yield f"adapter {row.get('name')}: {line}"


def fault_lines(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a line for each thing that an adapter's row says it does not serve as written."""
    details = row.get("details") or {}
    lines = [
        f"the version of {each['version']} of {each['file']} is served: {each['why']}"
        for each in details.get("earlier") or ()
    ]
    lines += [
        f"{each['template'] or 'a template'} is left out: {each['why']}"
        for each in details.get("left_out") or ()
    ]
    if refused := details.get("not_reloaded"):
        lines.append(f"is not reloaded, and goes on as it was: {refused['why']}")
    return tuple(lines)


def lock_lines(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a line where an adapter's library is not what was judged when it was locked."""
    changed = ((row.get("details") or {}).get("lock") or {}).get("changed") or ()
    listed = ", ".join(map(str, changed))
    return (f"changed since it was locked: {listed}",) if changed else ()


def ask_readiness(url: str, *, timeout_s: float = 2.0) -> ServerReadiness | None:
    """Return what the server at `url` says; None when it does not answer (yet)."""
    try:
        body = _get(url, "/ready", timeout_s)
        rows = tuple(dict(row) for row in body["adapters"])
        return ServerReadiness(str(body["status"]), rows, dict(body.get("workers") or {}))
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        return None  # nothing answers there, or something else


def ask_instance(url: str, *, timeout_s: float = 2.0) -> str | None:
    """Return what tells this start of the server at `url` from any other; None as above."""
    try:
        return str(_get(url, "/health", timeout_s)["instance"])
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        return None


def _get(url: str, path: str, timeout_s: float) -> Any:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=timeout_s)
    try:
        connection.request("GET", path)
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


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

    def __init__(
        self, exit_code: int, what: str = "the server that was starting has been stopped"
    ) -> None:
        self.exit_code = exit_code
        super().__init__(f"interrupted; {what}")


def serve_command(wanted: runfile.Launch) -> list[str]:
    # A folder named "server" where the user stands must not pass for ours, unless it is ours.
    safe = [] if Path(sys.path[0]) == Path.cwd() else ["-P"]
    where = ["--host", wanted.host, "--port", str(wanted.port)]
    files = ["--config", str(wanted.config.absolute()), "--data", str(wanted.data_dir)]
    workers = [] if wanted.asked_workers is None else ["--workers", wanted.asked_workers]
    watch = ["--watch"] if wanted.watches else []
    return [sys.executable, *safe, "-m", "server", "serve", *where, *files, *workers, *watch]


def launch(
    wanted: runfile.Launch, command: Sequence[str]
) -> tuple[runfile.Running, ServerReadiness]:
    """Start a server with `command`, and wait until all its adapters are settled.

    May raise StartFailed or StartInterrupted, and then leaves no process behind.
    """
    log = log_path(wanted.data_dir)
    log_start = make_room(log)
    with notice_interruption() as signals, log.open("ab") as output:
        child = subprocess.Popen(  # noqa: S603  our own command
            command,
            env=os.environ | {runfile.IN_BACKGROUND: "1"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            running = runfile.describe_process(child.pid, wanted, log=log)
            if running is not None:
                runfile.write_running(wanted.data_dir, running)
            readiness = _wait(child, running, signals) if running else None
            if signals:
                raise StartInterrupted(128 + signals[0])  # what a shell expects
            if running is None or readiness is None:
                raise StartFailed(_why_failed(child, log, log_start))
        except BaseException:
            _stop_child(child, wanted.data_dir)
            raise
        child.returncode = 0  # it outlives this process, and is no longer its business
        return running, readiness


def _wait(
    child: "subprocess.Popen[bytes]", running: runfile.Running, signals: Sequence[int]
) -> ServerReadiness | None:
    with Progress("Starting") as progress:
        heard_at = time.monotonic()
        while not signals and child.poll() is None:
            readiness = ask_readiness(running.url)
            if readiness is not None:
                opening = readiness.adapters_that_are("opening")
                missing = readiness.missing_workers
                if not opening and not missing:
                    return readiness
                heard_at = time.monotonic()
                more = f"{missing} of {readiness.workers.get('count')} workers"
                progress.show(f"opening {', '.join(opening)}" if opening else f"starting {more}")
            elif time.monotonic() - heard_at > _SILENCE_S:
                return None
            else:
                progress.show()
            time.sleep(_POLL_S)
    return None


def _why_failed(child: "subprocess.Popen[bytes]", log: Path, log_start: int) -> str:
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


def _stop_child(child: "subprocess.Popen[bytes]", data_dir: Path) -> None:
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(timeout=5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
    runfile.forget_running(data_dir, child.pid)


_ROLL_POLL_S: Final = 0.2


def replace_workers(running: runfile.Running) -> str | None:
    """Have a server replace its workers one after the other, and wait until it has.

    Return why it has given that up, or None. May raise StartInterrupted, and the replacement
    goes on then.
    """
    generation = _generation(ask_readiness(running.url))
    with notice_interruption() as signals, Progress("Replacing workers") as progress:
        _signal(running, signal.SIGHUP)
        while running.is_alive():
            if signals:
                raise StartInterrupted(128 + signals[0], "workers are still being replaced")
            found = ask_readiness(running.url)
            workers = {} if found is None else found.workers
            if workers.get("failed"):
                return str(workers["failed"])
            if found and not workers.get("rolling") and _generation(found) > generation:
                return None
            rows = workers.get("processes", ())
            new = sum(r["generation"] > generation and r["state"] == "ready" for r in rows)
            progress.show(f"{new} of {workers.get('count', '?')}")
            time.sleep(_ROLL_POLL_S)
    return "the server has ended meanwhile"


def _generation(readiness: ServerReadiness | None) -> int:
    """After how many replacements the newest worker was started."""
    rows = () if readiness is None else readiness.workers.get("processes", ())
    return max((int(row["generation"]) for row in rows), default=0)


Ending = Literal["stopped", "killed", "left"]

_END_POLL_S: Final = 0.05
_WIND_DOWN_S: Final = 5.0
"""Beyond the grace for requests: closing providers, writing down what is pending."""


def stop_process(running: runfile.Running) -> Ending:
    """Ask a server to end, and wait while it finishes its requests.

    `killed` when its own time was over, `left` when somebody did not want to wait.
    """
    with notice_interruption() as signals, Progress("Stopping") as progress:
        _signal(running, signal.SIGTERM)
        begun = time.monotonic()
        deadline = begun + running.drain_s + running.shutdown_grace_s + _WIND_DOWN_S
        ending: Ending = "stopped"
        while running.is_alive():
            if signals:
                return "left"
            if ending == "stopped" and time.monotonic() > deadline:
                _signal(running, signal.SIGKILL)
                ending = "killed"
            drains = time.monotonic() < begun + running.drain_s
            progress.show("balancers may see it" if drains else "requests in flight may finish")
            time.sleep(_END_POLL_S)
        return ending


def _signal(running: runfile.Running, number: signal.Signals) -> None:
    """Signal that process, and no other that may have its pid by now."""
    if not running.is_alive():
        return
    try:
        os.kill(running.pid, number)
    except ProcessLookupError:
        return  # it ended in between
    except PermissionError:
        fail(f"pid {running.pid} belongs to another user, who has to stop it")
