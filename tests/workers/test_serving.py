"""A whole server with two workers: which of them is asked makes no difference."""

import json
import os
import re
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.chaos.process import Server
from tests.support.configuring import adapter, configure, write_library

pytestmark = pytest.mark.slow

WITHIN_S = 60.0
FURTHER_WORKER_MB = 200


class Served(Server):
    """A server with two workers."""

    def __init__(self, folder: Path) -> None:
        library = write_library(folder / "library")
        configure(folder, [adapter("sums", library)], server={"workers": 2})
        super().__init__(folder / "config.yaml", folder / "data")

    def workers(self) -> dict[str, Any]:
        found: dict[str, Any] = httpx.get(f"{self.url}/ready", timeout=10).json()["workers"]
        return found

    def wait_for_workers(self, generation: int = 0, *, without: int = 0) -> None:
        """Wait until there are two of a generation and nobody else, `without` a process."""
        by = time.monotonic() + WITHIN_S
        while True:
            assert time.monotonic() < by, self.said()
            try:
                rows = self.workers()["processes"]
            except (httpx.TransportError, KeyError):
                rows = []
            good = [r for r in rows if r["state"] == "ready" and r["generation"] == generation]
            if len(good) == len(rows) == 2 and without not in {row["pid"] for row in rows}:
                return
            time.sleep(0.05)

    def key(self, *limits: str) -> dict[str, str]:
        options = [word for limit in limits for word in ("--limit", limit)]
        made = self.run("keys", "create", "--adapter", "sums", "--json", *options)
        return {"Authorization": f"Bearer {json.loads(made.stdout)['key']}"}

    def client_of_each(self, held: ExitStack, **how: Any) -> list[httpx.Client]:
        """A client with one connection for each worker."""
        found: dict[int, httpx.Client] = {}
        while len(found) < 2:
            client = held.enter_context(httpx.Client(base_url=self.url, timeout=10, **how))
            found.setdefault(client.get("/ready").json()["workers"]["answered_by"], client)
        return [found[number] for number in sorted(found)]


@contextmanager
def running(server: Served) -> Iterator[Served]:
    server.start()
    try:
        server.wait_for_workers()
        yield server
    finally:
        assert server.stop() == 0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with running(Served(tmp_path_factory.mktemp("workers"))) as server:
        yield server


def ask(client: httpx.Client, message: str, session: str | None = None) -> httpx.Response:
    return client.post("/chat", json={"message": message, "session_id": session})


def test_a_follow_up_may_come_to_another_worker_at_once(server: Served) -> None:
    with ExitStack() as held:
        clients = server.client_of_each(held, headers=server.key())
        answers = []
        for number in range(20):
            first, second = clients if number % 2 else clients[::-1]
            ask(first, f"What is 15% of {200 + number}?", f"talk-{number}")
            answers.append(ask(second, "and 20%?", f"talk-{number}").json()["content"])
    expected = [f"20% of {200 + n} is **{(200 + n) / 5:g}**" for n in range(20)]
    assert answers == expected


def test_what_was_said_last_is_what_the_next_start_knows(tmp_path: Path) -> None:
    with running(Served(tmp_path)) as server, ExitStack() as held:
        headers = server.key()
        clients = server.client_of_each(held, headers=headers)
        for number in range(10):
            ask(clients[number % 2], f"What is 15% of {200 + number}?", "one-talk")
            ask(clients[number % 2], f"What is 15% of {300 + number}?", f"talk-{number}")
    again = Served(tmp_path)
    with running(again), httpx.Client(base_url=again.url, headers=headers, timeout=10) as client:
        assert ask(client, "and 10%?", "one-talk").json()["content"] == "10% of 209 is **20.9**"
        assert ask(client, "and 10%?", "talk-4").json()["content"] == "10% of 304 is **30.4**"


def test_a_limit_is_exact_over_both(server: Served) -> None:
    statuses: list[int] = []
    with ExitStack() as held:
        clients = server.client_of_each(held, headers=server.key("50/hour"))

        def ask_on(client: httpx.Client) -> None:
            statuses.extend(ask(client, "What is 15% of 200?").status_code for _ in range(40))

        threads = [threading.Thread(target=ask_on, args=(each,)) for each in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert Counter(statuses) == {200: 50, 429: 30}


def test_metrics_are_of_both_whichever_is_asked(server: Served) -> None:
    with ExitStack() as held:
        clients = server.client_of_each(held, headers=server.key())
        before = [asked_so_far(client) for client in clients]
        for client, times in zip(clients, (3, 4), strict=True):
            for _ in range(times):
                assert ask(client, "What is 15% of 200?").status_code == 200
        assert [asked_so_far(client) for client in clients] == [each + 7 for each in before]
        names = set(re.findall(r"^(process_\w+) ", clients[0].get("/metrics").text, re.M))
    assert {"process_cpu_seconds_total", "process_resident_memory_bytes"} <= names


def asked_so_far(client: httpx.Client) -> int:
    counted = r'orbit_decisions_total\{adapter="sums",decision="call"\} (\S+)'
    found = re.search(counted, client.get("/metrics").text)
    return int(float(found.group(1))) if found else 0


def test_a_further_worker_takes_little_memory(server: Served) -> None:
    sizes = {}
    for row in server.workers()["processes"]:
        text = Path(f"/proc/{row['pid']}/smaps_rollup").read_text()
        sizes[row["number"]] = int(text.partition("\nPss:")[2].split()[0]) // 1024
    assert sizes[2] <= FURTHER_WORKER_MB, sizes


def test_every_worker_is_replaced_under_load_and_no_request_fails(server: Served) -> None:
    headers, failed, stopping = server.key(), list[str](), threading.Event()
    library = server.config.parent / "library" / "tools.yaml"
    asked = Counter[str]()

    def ask_on() -> None:
        with httpx.Client(base_url=server.url, headers=headers, timeout=30) as client:
            while not stopping.is_set():
                try:
                    answer = ask(client, "What is 15% of 200?")
                    asked[answer.json().get("content", answer.text)] += 1
                except httpx.HTTPError as error:
                    failed.append(repr(error))

    threads = [threading.Thread(target=ask_on) for _ in range(4)]
    for thread in threads:
        thread.start()
    templates = yaml.safe_load(library.read_text())
    templates["templates"][0]["response_template"] = "It is {{ result }}"
    library.write_text(yaml.safe_dump(templates))
    assert server.process is not None
    server.process.send_signal(signal.SIGHUP)
    server.wait_for_workers(generation=1)
    stopping.set()
    for thread in threads:
        thread.join()
    assert failed == []
    assert set(asked) == {"15% of 200 is **30**", "It is 30"}


@pytest.mark.chaos
def test_a_killed_worker_is_replaced_and_told(server: Served) -> None:
    before = server.workers()["processes"]
    generation = before[0]["generation"]
    os.kill(before[1]["pid"], signal.SIGKILL)
    server.wait_for_workers(generation, without=before[1]["pid"])
    assert server.workers()["processes"][1]["restarts"] == before[1]["restarts"] + 1
    assert f"worker 2 (pid {before[1]['pid']}) was ended by signal 9" in server.said()
    assert "worker 2 of 2" in server.run("status").stdout


def test_wrong_keys_are_counted_over_both_and_good_ones_known_to_one_go_on(server: Served) -> None:
    known, unknown = server.key(), server.key()
    with ExitStack() as held:
        first, second = server.client_of_each(held)
        assert first.get("/adapters/sums/tools", headers=known).status_code == 200
        wrong = {"Authorization": "Bearer wrong"}
        statuses = [
            each.get("/adapters/sums/tools", headers=wrong).status_code
            for each in [first, second] * 20
        ]
        assert statuses == [401] * 30 + [429] * 10
        assert second.get("/adapters/sums/tools", headers=known).status_code == 200
        assert second.get("/adapters/sums/tools", headers=unknown).status_code == 429
