"""What a further worker brings and costs: the same questions with one worker and with two.

    .venv/bin/python -m utils.bench.workers [--workers 2] [--rounds 3] [--seconds 6] [--json]

Two servers run side by side, each in a temporary data folder, and are asked in turn, so that what
else the machine does falls on both alike. No question is asked twice: the words differ, so that no
vector is remembered. The load comes from this process, whose share of the cores is measured too,
since the servers cannot have it.
"""

import argparse
import asyncio
import json
import os
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import uvloop

from utils.bench._client import Connection
from utils.bench._machine import describe_machine, percentiles
from utils.bench.chat import ROOT, latencies, make_key, new_questions, start, stop

_CLOSED_AFTER_S = 0.5


class Server(NamedTuple):
    """A server that runs, and where it is asked."""

    workers: int
    pid: int
    url: str
    key: str


class Load(NamedTuple):
    """What came of some seconds of questions."""

    answers_per_s: float
    ms: dict[str, float]
    client_cores: float
    """How many cores this process itself took."""
    server_cores: float
    cpu_ms: float
    """What one answer took of the server's processor time, whatever else the machine did."""
    fewest: int
    """Answers of the client that got fewest."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=2, help="compared with one")
    parser.add_argument("--rounds", type=int, default=3, help="of which the median counts")
    parser.add_argument("--seconds", type=float, default=6.0, help="for each load of a round")
    parser.add_argument("--config", type=Path, default=ROOT / "config" / "config.yaml")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="orbit-bench-") as folder:
        figures = compare(Path(folder), options)
    figures = {"machine": describe_machine(), **figures}
    print(json.dumps(figures, indent=2) if options.json else as_text(figures))


def compare(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    processes, servers = [], []
    try:
        for workers in (1, options.workers):
            place = ["--data", str(folder / str(workers)), "--config", str(options.config)]
            _, process, url = start([*place, "--workers", str(workers)])
            processes.append(process)
            wait_for_workers(process.pid, workers)
            servers.append(Server(workers, process.pid, url, make_key(place)))
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            rounds = runner.run(ask_in_turn(servers, options))
        return {
            **{f"{s.workers}_workers": summary(rounds[s.workers]) for s in servers},
            "ratio": round(
                median(
                    more[16].answers_per_s / one[16].answers_per_s
                    for one, more in zip(rounds[1], rounds[options.workers], strict=True)
                ),
                2,
            ),
            "memory_mb": {str(s.workers): memory_mb(s.pid) for s in servers},
        }
    finally:
        for process in processes:
            stop(process)


def wait_for_workers(pid: int, workers: int) -> None:
    """Wait until a server has all its workers, and they have settled."""
    while workers > 1 and len(children(pid)) < workers:
        time.sleep(0.1)
    time.sleep(5.0)


async def ask_in_turn(
    servers: list[Server], options: argparse.Namespace
) -> dict[int, list[dict[int, Load]]]:
    """Answers by number of workers, then of rounds, then of clients."""
    fresh = new_questions()
    for server in servers:
        await load(server, fresh, 16, 2.0)
    rounds: dict[int, list[dict[int, Load]]] = {server.workers: [] for server in servers}
    for number in range(options.rounds):
        for server in servers if number % 2 == 0 else reversed(servers):
            asked = {n: await load(server, fresh, n, options.seconds) for n in (1, 16, 256)}
            rounds[server.workers].append(asked)
    return rounds


async def load(server: Server, questions: Iterator[str], clients: int, seconds: float) -> Load:
    opened = [await Connection.open(server.url, server.key) for _ in range(clients)]
    end = time.perf_counter() + seconds

    async def ask_on(client: Connection) -> list[float]:
        taken = await latencies(client, [next(questions)])
        while time.perf_counter() < end:
            taken += await latencies(client, [next(questions)])
        return taken

    pids = [server.pid, *children(server.pid)]
    begin, own, theirs = time.perf_counter(), time.process_time(), cpu_s(pids)
    taken = await asyncio.gather(*map(ask_on, opened))
    took = time.perf_counter() - begin
    own, theirs = time.process_time() - own, cpu_s(pids) - theirs
    for client in opened:
        await client.close()
    await asyncio.sleep(_CLOSED_AFTER_S)  # one address may have 256 connections, and no more
    every = [each for of_client in taken for each in of_client]
    fewest = min(map(len, taken))
    each_ms = theirs * 1000 / len(every)
    return Load(len(every) / took, percentiles(every), own / took, theirs / took, each_ms, fewest)


def children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(each) for each in found.split()]


def cpu_s(pids: list[int]) -> float:
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / int(os.sysconf("SC_CLK_TCK"))


def memory_mb(pid: int) -> dict[str, Any]:
    """What each process has: proportional (PSS), and what is its own alone."""
    found = {}
    for each in (pid, *children(pid)):
        text = Path(f"/proc/{each}/smaps_rollup").read_text()
        kb = {name: int(size) for name, size in re.findall(r"(\w+):\s+(\d+) kB", text)}
        own = kb["Private_Clean"] + kb["Private_Dirty"]
        name = "parent" if each == pid else f"worker {each}"
        found[name] = {"pss": kb["Pss"] // 1024, "own": own // 1024}
    return found


def summary(rounds: list[dict[int, Load]]) -> dict[str, Any]:
    def middle(clients: int, of: str) -> float:
        return round(float(median(getattr(each[clients], of) for each in rounds)), 2)

    return {
        "p50_ms_of_1_client": round(median(each[1].ms["p50"] for each in rounds), 2),
        "answers_per_s_of_16": middle(16, "answers_per_s"),
        "each_round": [round(each[16].answers_per_s) for each in rounds],
        "p99_ms_of_256": round(median(each[256].ms["p99"] for each in rounds), 1),
        "fewest_of_256": min(each[256].fewest for each in rounds),
        "cores_of_the_load": middle(16, "client_cores"),
        "cores_of_the_server": middle(16, "server_cores"),
        "cpu_ms_per_answer": {str(n): middle(n, "cpu_ms") for n in (1, 16, 256)},
    }


def as_text(figures: dict[str, Any]) -> str:
    return "\n".join(f"{name:<12} {value}" for name, value in figures.items())


if __name__ == "__main__":
    main()
