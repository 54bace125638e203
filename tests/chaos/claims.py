"""What holds of a server whatever is done to it, claimed the same way by every test."""

import http.client
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.chaos.process import Server

MAX_HEALTH_S = 0.5
_TRACEBACK = re.compile(r"^Traceback.*\n(?:[ ].*\n)*.*", re.MULTILINE)
MAX_GROWTH = 1.1


@dataclass
class Claims:
    """No 500, no traceback, `/health` at once, memory as before, nothing lost, nothing twice.

    `answers` counts status and code of what came back; `problems` are what did not hold.
    """

    server: Server
    answers: Counter[tuple[int, str]] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    slowest_health_s: float = 0.0
    _memory_mb: float = 0.0

    def note(self, answer: httpx.Response) -> httpx.Response:
        """Take an answer into account; every refusal has the one error shape."""
        code = ""
        if answer.status_code >= 400:
            try:
                error = answer.json()["error"]
                code, whole = error["code"], {"code", "message", "request_id"} <= error.keys()
            except (ValueError, KeyError, TypeError):
                whole = False
            if not whole or answer.status_code == 500:
                where = f"{answer.request.method} {answer.request.url.path}"
                self.problems.append(f"{where}: {answer.status_code} {answer.text[:200]}")
        self.answers[answer.status_code, code] += 1
        return answer

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Ask `/health` without pause, in a thread, as a supervisor would."""
        over = threading.Event()
        watching = threading.Thread(target=self._watch, args=(over,))
        watching.start()
        try:
            yield
        finally:
            over.set()
            watching.join()

    def remember_memory(self) -> None:
        """Take what the server holds now, warm and at rest, for what it must come back to."""
        self._memory_mb = self.server.memory_mb()

    def check(self) -> None:
        """End the server, if it runs, as an operator would; raise for all that did not hold."""
        if self.server.runs():
            self._check_memory()
            if code := self.server.stop():
                self.problems.append(f"stopped, it ended with exit code {code}")
        self.problems += _TRACEBACK.findall(self.server.said())
        if self.slowest_health_s > MAX_HEALTH_S:
            self.problems.append(f"/health took {self.slowest_health_s:.2f} s")
        assert not self.problems, "\n".join(self.problems)

    def _check_memory(self) -> None:
        if not self._memory_mb:
            return
        grown = self.server.memory_mb() / self._memory_mb
        if grown > MAX_GROWTH:
            self.problems.append(f"memory is {grown:.2f} times of what it was")

    def _waited_for_a_core_s(self) -> float:
        """How long others kept the server's first thread and this one from running at all."""
        process = self.server.process
        return waited_for_a_core_s(*([f"/proc/{process.pid}"] if process else []))

    def _watch(self, over: threading.Event) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        while not over.wait(0.01):
            since = time.perf_counter() - self._waited_for_a_core_s()
            try:
                connection.request("GET", "/health")
                answer = connection.getresponse()
                answer.read()
            except (OSError, http.client.HTTPException):
                connection.close()  # it is down, as tests want it to be
                continue
            took_s = time.perf_counter() - self._waited_for_a_core_s() - since
            self.slowest_health_s = max(self.slowest_health_s, took_s)
            if answer.status != 200:
                self.problems.append(f"/health: {answer.status}")
        connection.close()


def waited_for_a_core_s(*processes: str) -> float:
    """How long others kept the first thread of processes, and this one, from running at all."""
    waited_ns = 0
    for each in (*processes, "/proc/thread-self"):
        with suppress(OSError, IndexError):
            waited_ns += int(Path(each, "schedstat").read_text().split()[1])
    return waited_ns / 1e9
