"""The parent of several workers: whom it gives what comes, and what it does when one ends."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from server.cli.runfile import process_token
from tests.support.ports import free_port

CREW = Path(__file__).with_name("crew.py")
_PATIENCE_S = 20.0


class Client:
    """A connection to one worker."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE_S)
        self._lines = self._socket.makefile("rw")

    def ask(self, line: str) -> str:
        """Return what comes; nothing when the worker ended."""
        try:
            self._lines.write(f"{line}\n")
            self._lines.flush()
            return self._lines.readline().strip()
        except ConnectionError:
            return ""

    def close(self) -> None:
        with suppress(OSError):  # what could not be sent
            self._lines.close()
        self._socket.close()


class Crew:
    """A supervisor with its workers, and what it writes to its log."""

    def __init__(self, workers: int, behaviour: str) -> None:
        self.port = free_port()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.workers.crew", str(self.port), str(workers), behaviour],
            stderr=subprocess.PIPE,
            text=True,
        )
        self.log = ""
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()
        self.clients: list[Client] = []

    def open(self) -> Client:
        self.clients.append(client := Client(self.port))
        return client

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log += line

    def ask(self, line: str) -> str:
        client = Client(self.port)
        try:
            return client.ask(line)
        finally:
            client.close()

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def ended(self) -> int:
        """Wait for its end; the exit code."""
        code = self.process.wait(timeout=_PATIENCE_S)
        self._reading.join(timeout=_PATIENCE_S)
        return code

    def pids(self) -> dict[str, int]:
        """The process of each worker that takes connections, by its number."""
        clients = [self.open() for _ in range(6)]
        found = [answer.split() for client in clients if (answer := client.ask("who"))]
        for client in clients:
            client.close()
        return {number: int(pid) for number, pid in found}


def until(is_so: Callable[[], bool], why: Callable[[], str] = str) -> None:
    by = time.monotonic() + _PATIENCE_S
    while not is_so():
        assert time.monotonic() < by, why()
        time.sleep(0.02)


Start = Callable[..., Crew]


@pytest.fixture
def start() -> Iterator[Start]:
    crews: list[Crew] = []

    def start(workers: int = 2, behaviour: str = "good", *, waits: bool = True) -> Crew:
        crews.append(crew := Crew(workers, behaviour))
        if waits:
            until(lambda: crew.log.count("is ready") >= workers, lambda: crew.log)
        return crew

    yield start
    for crew in crews:
        for client in crew.clients:
            client.close()
        if crew.process.poll() is None:
            crew.process.terminate()
            crew.process.wait(timeout=_PATIENCE_S)
        assert crew.process.stderr is not None
        crew.ended()
        crew.process.stderr.close()


def test_each_connection_goes_to_the_worker_that_has_fewest(start: Start) -> None:
    crew = start(3)
    clients = [crew.open() for _ in range(12)]
    assert Counter(client.ask("who").split()[0] for client in clients) == {"1": 4, "2": 4, "3": 4}
    left = [client for client in clients if client.ask("who").startswith("2")]
    for client in left:
        client.close()
    until(lambda: crew.ask("who").startswith("2"))


def test_an_address_has_its_most_connections_over_all_workers(start: Start) -> None:
    crew = start(2)
    clients = [crew.open() for _ in range(20)]
    assert all(client.ask("who") for client in clients)
    with socket.create_connection(("127.0.0.1", crew.port)) as refused:
        assert refused.recv(100).startswith(b"HTTP/1.1 503 ")
    clients[0].close()
    until(lambda: crew.ask("who") != "")


def test_a_limit_is_exact_over_all_workers(start: Start) -> None:
    crew = start(2)
    passed: list[str] = []

    def take() -> None:
        client = crew.open()
        passed.extend(client.ask("take 100/hour") for _ in range(40))
        client.close()

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(passed) == {"passed": 100, "refused": 220}


def test_a_name_is_one_workers_until_that_worker_ends(start: Start) -> None:
    crew = start(2)
    first, second = crew.open(), crew.open()
    assert (first.ask("claim a"), second.ask("claim a")) == ("taken", "held")
    first.ask("die")
    until(lambda: second.ask("claim a") == "taken")


@pytest.mark.chaos
def test_a_worker_that_is_killed_is_replaced_and_named_and_others_go_on(start: Start) -> None:
    crew = start(2)
    before, other = crew.pids(), crew.open()
    number = other.ask("who").split()[0]
    victim = next(each for each in before if each != number)
    os.kill(before[victim], signal.SIGKILL)
    until(lambda: crew.pids().get(victim, before[victim]) != before[victim], lambda: crew.log)
    assert other.ask("who") == f"{number} {before[number]}"
    told = f"worker {victim} (pid {before[victim]}) was ended by signal 9; it is started anew"
    assert told in crew.log


@pytest.mark.chaos
def test_one_that_dies_again_and_again_is_given_more_and_more_time(start: Start) -> None:
    crew = start(1)
    for _ in range(3):
        until(lambda: crew.ask("who") != "")
        crew.ask("die")
    until(lambda: crew.log.count("started anew") == 3, lambda: crew.log)
    told = [line.partition("anew")[2] for line in crew.log.splitlines() if "anew" in line]
    assert told == ["", " in 0.5 s", " in 1 s"]


@pytest.mark.parametrize(
    ("behaviour", "code", "told"),
    [
        ("fails", 7, "worker 1 (pid {pid}) ended with exit code 7, and none has served"),
        ("killed", 1, "was ended by signal 9, and none has served"),
    ],
)
def test_a_start_fails_where_no_worker_ever_serves(
    start: Start, behaviour: str, code: int, told: str
) -> None:
    crew = start(2, behaviour, waits=False)
    assert crew.ended() == code
    assert told.partition("{pid}")[2] or told in crew.log
    assert "none has served" in crew.log


def test_every_worker_is_replaced_and_nobody_is_refused(start: Start) -> None:
    crew = start(2)
    before, failed, stopping = set(crew.pids().values()), [], threading.Event()

    def ask_on() -> None:
        while not stopping.is_set():
            try:
                answer = crew.ask("slow")
            except OSError as refused:
                answer = str(refused)
            if not answer[:1].isdigit():
                failed.append(answer)

    threads = [threading.Thread(target=ask_on) for _ in range(4)]
    for thread in threads:
        thread.start()
    crew.signal(signal.SIGHUP)
    until(lambda: "all workers are replaced" in crew.log, lambda: crew.log)
    until(lambda: not before & set(crew.pids().values()))
    stopping.set()
    for thread in threads:
        thread.join()
    assert (failed, len(crew.pids())) == ([], 2)


@pytest.mark.parametrize(
    ("behaviour", "why"),
    [
        ("unreadable", "the configuration cannot be used: no file is there"),
        ("second-fails", "ended with exit code 7 before it was ready"),
    ],
)
def test_where_new_workers_cannot_be_those_from_before_go_on(
    start: Start, behaviour: str, why: str
) -> None:
    crew = start(2, behaviour)
    before = crew.pids()
    crew.signal(signal.SIGHUP)
    until(lambda: "those that run go on" in crew.log, lambda: crew.log)
    assert why in crew.log
    assert crew.pids() == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_after_the_answers_that_are_under_way(start: Start, number: signal.Signals) -> None:
    crew = start(2)
    workers, client, answers = crew.pids().values(), crew.open(), list[str]()
    client.ask("who")
    asking = threading.Thread(target=lambda: answers.append(client.ask("slow")))
    asking.start()
    time.sleep(0.02)
    crew.signal(number)
    asking.join()
    assert crew.ended() == 0
    assert answers[0][:1].isdigit()
    assert not any(map(process_token, workers))
    with pytest.raises(ConnectionRefusedError):
        crew.open()


@pytest.mark.chaos
def test_workers_end_with_a_supervisor_that_is_killed(start: Start) -> None:
    crew = start(2)
    workers = crew.pids().values()
    crew.signal(signal.SIGKILL)
    crew.ended()
    until(lambda: not any(map(process_token, workers)))
    with socket.create_server(("127.0.0.1", crew.port)):
        pass


@pytest.mark.slow
def test_workers_that_do_not_end_in_time_are_killed(start: Start) -> None:
    crew = start(2, "stubborn")
    workers = crew.pids().values()
    crew.signal(signal.SIGTERM)
    assert crew.ended() == 0
    assert not any(map(process_token, workers))
    assert crew.log.count("did not end in time, and is killed") == 2
