"""What one, two and three replicas bear together, on one machine with PostgreSQL and Redis.

    .venv/bin/python -m utils.cluster.throughput [--replicas 1 2 3] [--clients 4 16 64]
        [--rounds 5] [--seconds 2] [--json]

Each client has a connection to one replica, the next client to the next, and asks questions whose
wording is new, one after the other. All replicas run from the beginning, and as many as are
measured are asked. Everything is measured in each round, and of the rounds the median counts, since
a machine that others use too changes its speed. All of it shares the cores of this machine with the
client: the figures say how replicas share work, and what `utils/cluster/model.py` predicts is
compared with them; they do not say what as many machines bear.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from utils.bench._client import Connection
from utils.bench._machine import describe_machine, percentiles
from utils.bench.chat import latencies, new_questions
from utils.cluster._replicas import Bed, Cpu, opened_bed

_WARM_S = 0.5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replicas", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--clients", type=int, nargs="+", default=[4, 16, 64])
    parser.add_argument("--rounds", type=int, default=5, help="of which the median counts")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each, in a round")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    machine = describe_machine()
    fresh = new_questions()
    with opened_bed("postgresql") as bed:
        for _ in range(max(options.replicas)):
            bed.add()
        key = bed.key()
        loads = [(n, clients) for n in sorted(options.replicas) for clients in options.clients]
        rounds: dict[tuple[int, int], list[dict[str, Any]]] = {load: [] for load in loads}
        for _ in range(options.rounds):
            for load, measured in rounds.items():
                asyncio.run(_flood(bed, key, fresh, *load, _WARM_S))
                measured.append(asyncio.run(_flood(bed, key, fresh, *load, options.seconds)))
    rows = [_median(measured) for measured in rounds.values()]
    figures = {"machine": machine, "rows": rows}
    print(json.dumps(figures, indent=2) if options.json else as_text(figures))


def _median(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The round in the middle by its answers; the lower one of two."""
    ordered = sorted(rows, key=lambda row: float(row["answers_per_second"]))
    return ordered[(len(ordered) - 1) // 2]


async def _flood(
    bed: Bed, key: str, questions: Iterator[str], replicas: int, clients: int, seconds: float
) -> dict[str, Any]:
    targets = [bed.replicas[n % replicas] for n in range(clients)]
    taken: list[float] = []

    async def ask_on(connection: Connection) -> None:
        while time.perf_counter() < end:
            taken.extend(await latencies(connection, [next(questions)]))
        await connection.close()

    connections = [await Connection.open(target.url, key) for target in targets]
    cpu, database, redis = _cpu(bed), bed.database_cpu_s(), bed.redis_cpu_s()
    begin, own = time.perf_counter(), time.process_time()
    end = begin + seconds
    await asyncio.gather(*map(ask_on, connections))
    lasted, own = time.perf_counter() - begin, time.process_time() - own
    used = Cpu(*(now - then for now, then in zip(_cpu(bed), cpu, strict=True)))
    return {
        "replicas": replicas,
        "clients": clients,
        "answers_per_second": round(len(taken) / lasted, 1),
        "ms": percentiles(taken),
        "cpu_ms": {
            "loop": used.loop_s * 1000 / len(taken),
            "threads": used.threads_s * 1000 / len(taken),
            "database": (bed.database_cpu_s() - database) * 1000 / len(taken),
            "redis": (bed.redis_cpu_s() - redis) * 1000 / len(taken),
            "client": own * 1000 / len(taken),
        },
    }


def _cpu(bed: Bed) -> Cpu:
    each = [replica.cpu() for replica in bed.replicas]
    return Cpu(sum(cpu.loop_s for cpu in each), sum(cpu.threads_s for cpu in each))


def as_text(figures: Mapping[str, Any]) -> str:
    lines = [
        str(figures["machine"]),
        "",
        "| replicas | clients | answers/s | p50 ms | p99 ms | CPU ms of an answer, by whom |",
        "|---|---|---|---|---|---|",
    ]
    lines += [_row(row) for row in figures["rows"]]
    return "\n".join(lines)


def _row(row: Mapping[str, Any]) -> str:
    cpu = ", ".join(f"{name} {value:.2f}" for name, value in row["cpu_ms"].items())
    cells: Sequence[str] = (
        *(str(row["replicas"]), str(row["clients"]), f"{row['answers_per_second']:.0f}"),
        *(f"{row['ms']['p50']:.1f}", f"{row['ms']['p99']:.1f}", cpu),
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
