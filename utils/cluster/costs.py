"""What a question costs, by what it is: processor time, database, Redis and bytes on the wire.

    .venv/bin/python -m utils.cluster.costs [--questions 200] [--stores sqlite postgresql] [--json]

Starts a server of its own, on SQLite and on a real PostgreSQL and Redis, and asks it one question
after the other. Processor time is that of threads, as Linux counts it, so that other work on the
machine adds little to it. What a called service takes is no part of it: the write here calls a
tool in the process.

`utils/cluster/model.py` reads the JSON.
"""

import argparse
import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from statistics import mean
from typing import Any, Final

import httpx
from prometheus_client.parser import text_string_to_metric_families

from server.core.ports import Embedder
from server.providers.embeddings.factory import build_embedder
from server.settings.models import EmbeddingsSettings
from utils.bench._client import Connection
from utils.bench._machine import describe_machine, percentiles
from utils.bench.chat import new_questions
from utils.cluster._counted import make_counts, read_counts
from utils.cluster._replicas import SHOP, Bed, Replica, Stores, opened_bed, port_of, wire_to

KINDS: Final = ("new wording", "known wording", "follow-up", "proposal", "confirmation", "refusal")
BATCHES: Final = (1, 2, 4, 8, 16, 32)
_WARM: Final = 30
_BEHIND_S: Final = 1.5
"""What is written behind the answers is written by then."""
_IDLE_S: Final = 5.0

Request = tuple[str, dict[str, Any]]


@dataclass(slots=True)
class Talk:
    """One client, and what it says of each kind."""

    agent: Connection
    shop: Connection
    numbers: Iterator[int]
    fresh: Iterator[str]

    def connection(self, kind: str) -> Connection:
        return self.shop if kind in ("proposal", "confirmation") else self.agent

    async def request(self, kind: str) -> Request:
        """Return what is to be measured, after what has to be said before it."""
        n = next(self.numbers)
        match kind:
            case "new wording":
                return "/chat", {"message": next(self.fresh)}
            case "known wording":
                return "/chat", {"message": "What is 15% of 200?"}
            case "follow-up":
                session = f"follow-up-{n}"
                first = {"message": "What is 15% of 200?", "session_id": session}
                await self.agent.post("/chat", first)
                return "/chat", {"message": f"and of {n}?", "session_id": session}
            case "proposal":
                return "/chat", {"message": f"Cancel order {n}", "session_id": f"order-{n}"}
            case "confirmation":
                asked = {"message": f"Cancel order {n}", "session_id": f"order-{n}"}
                reply = await self.shop.post("/chat", asked)
                proposal = json.loads(reply.body)["metadata"]["proposal"]["proposal_id"]
                yes = {"session_id": asked["session_id"], "proposal_id": proposal, "accept": True}
                return "/chat/confirm", yes
            case "refusal":
                return "/chat", {"message": f"Who won the chess championship in {1000 + n % 1000}?"}
        raise ValueError(f"{kind!r} is not one of {', '.join(KINDS)}")


def judge(kind: str, answer: Mapping[str, Any]) -> None:
    """Raises SystemExit: the answer is none of its kind, so its cost would say nothing."""
    metadata = answer["metadata"]
    proposal = metadata.get("proposal", {}).get("status")
    right = {
        "proposal": proposal == "held",
        "confirmation": proposal == "done",
        "refusal": "tool_execution" not in metadata,
    }.get(kind, metadata.get("tool_execution", {}).get("status") == "success")
    if not right:
        raise SystemExit(f"a {kind} was answered otherwise: {json.dumps(answer)[:900]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=200, help="of each kind")
    parser.add_argument("--stores", nargs="+", choices=("sqlite", "postgresql"))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = {
        "machine": describe_machine(),
        "encoder": asyncio.run(encoder_costs(max(1, options.questions // 10))),
        "stores": {
            stores: costs_on(stores, options.questions)
            for stores in options.stores or ("sqlite", "postgresql")
        },
    }
    print(json.dumps(figures) if options.json else as_text(figures))


async def encoder_costs(rounds: int) -> dict[str, list[dict[str, float]]]:
    """Seconds and processor seconds of batches by their size, apart from any server."""
    embedder = build_embedder("local", None, EmbeddingsSettings(query_cache_size=0))
    fresh = new_questions()
    found: dict[str, list[dict[str, float]]] = {}
    try:
        await embedder.warm()
        for size in BATCHES:
            found[str(size)] = [
                await _encoded(embedder, list(islice(fresh, size))) for _ in range(rounds)
            ]
    finally:
        await embedder.close()
    return found


async def _encoded(embedder: Embedder, texts: Sequence[str]) -> dict[str, float]:
    began, used = time.perf_counter(), time.process_time()
    await embedder.embed(texts)
    return {"wall_s": time.perf_counter() - began, "cpu_s": time.process_time() - used}


def costs_on(stores: Stores, questions: int) -> dict[str, Any]:
    with opened_bed(stores, program=("-m", "utils.cluster._counted")) as bed:
        counts = bed.folder / "counts"
        os.environ |= make_counts(counts)
        replica = bed.add()
        return asyncio.run(_measured(bed, replica, counts, questions))


async def _measured(bed: Bed, replica: Replica, counts: Path, questions: int) -> dict[str, Any]:
    async with _talk(bed, replica) as talk:
        for kind in KINDS:
            for _ in range(_WARM):
                await _ask(talk, kind)
        kinds = {kind: await _kind(bed, replica, counts, talk, kind, questions) for kind in KINDS}
    return {"kinds": kinds, "idle": await _idle(bed, replica, counts)}


@asynccontextmanager
async def _talk(bed: Bed, replica: Replica) -> AsyncIterator[Talk]:
    agent = await Connection.open(replica.url, bed.key())
    shop = await Connection.open(replica.url, bed.key(SHOP))
    yield Talk(agent, shop, count(10_001), new_questions())
    await agent.close()
    await shop.close()


async def _ask(talk: Talk, kind: str) -> None:
    path, asked = await talk.request(kind)
    reply = await talk.connection(kind).post(path, asked)
    judge(kind, json.loads(reply.body))


async def _kind(
    bed: Bed, replica: Replica, counts: Path, talk: Talk, kind: str, questions: int
) -> dict[str, Any]:
    """What questions of a kind cost: samples where they are of one question, else means.

    What is written behind the answers, shortly after them, is in the means alone.
    """
    requests = [await talk.request(kind) for _ in range(questions)]
    await asyncio.sleep(_BEHIND_S)
    samples: dict[str, list[float]] = {name: [] for name in ("wall_s", "loop_s", "threads_s")}
    samples |= {"statements": [], "database_s": []}
    before = _stages(replica)
    first, database_cpu, redis_cpu = replica.cpu(), bed.database_cpu_s(), bed.redis_cpu_s()
    asked_first, redis_first = read_counts(counts), bed.redis_commands()
    to_database, to_redis = bed.to_database(), bed.to_redis()
    to_server = wire_to(port_of(replica.url))
    for path, asked in requests:
        cpu, stood = replica.cpu(), read_counts(counts)
        since = time.perf_counter()
        reply = await talk.connection(kind).post(path, asked)
        samples["wall_s"].append(time.perf_counter() - since)
        stands = read_counts(counts).since(stood)
        used = replica.cpu()
        judge(kind, json.loads(reply.body))
        samples["loop_s"].append(used.loop_s - cpu.loop_s)
        samples["threads_s"].append(used.threads_s - cpu.threads_s)
        samples["statements"].append(stands.statements)
        samples["database_s"].append(stands.seconds)
    on_the_wire = wire_to(port_of(replica.url)).since(to_server)
    await asyncio.sleep(_BEHIND_S)
    last, asked_last = replica.cpu(), read_counts(counts).since(asked_first)
    database, redis = bed.to_database().since(to_database), bed.to_redis().since(to_redis)
    return {
        "samples": samples,
        "means": {
            "loop_s": (last.loop_s - first.loop_s) / questions,
            "threads_s": (last.threads_s - first.threads_s) / questions,
            "statements": asked_last.statements / questions,
            "transactions": asked_last.transactions / questions,
            "database_cpu_s": (bed.database_cpu_s() - database_cpu) / questions,
            "database_messages": database.messages / questions,
            "database_bytes": (database.sent + database.received) / questions,
            "redis_cpu_s": (bed.redis_cpu_s() - redis_cpu) / questions,
            "redis_messages": redis.messages / questions,
            "redis_commands": (bed.redis_commands() - redis_first) / questions,
            "redis_bytes": (redis.sent + redis.received) / questions,
            "bytes_in": on_the_wire.sent / questions,
            "bytes_out": on_the_wire.received / questions,
        },
        "stages_ms": _difference(_stages(replica), before),
    }


async def _idle(bed: Bed, replica: Replica, counts: Path) -> dict[str, float]:
    """What a replica that nobody asks costs in a second."""
    await asyncio.sleep(_BEHIND_S)
    cpu, asked, commands = replica.cpu(), read_counts(counts), bed.redis_commands()
    await asyncio.sleep(_IDLE_S)
    used, told = replica.cpu(), read_counts(counts).since(asked)
    return {
        "cpu_s": (sum(used) - sum(cpu)) / _IDLE_S,
        "statements": told.statements / _IDLE_S,
        "redis_commands": (bed.redis_commands() - commands) / _IDLE_S,
    }


def _stages(replica: Replica) -> dict[str, tuple[float, float]]:
    """Seconds and number of every stage so far, of all adapters, as `/metrics` tells them."""
    text = httpx.get(f"{replica.url}/metrics").text
    found: dict[str, tuple[float, float]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples if family.name == "orbit_stage_seconds" else ():
            seconds, times = found.get(name := sample.labels["stage"], (0.0, 0.0))
            if sample.name.endswith("_sum"):
                found[name] = (seconds + sample.value, times)
            elif sample.name.endswith("_count"):
                found[name] = (seconds, times + sample.value)
    return found


def _difference(
    after: Mapping[str, tuple[float, float]], before: Mapping[str, tuple[float, float]]
) -> dict[str, float]:
    """Milliseconds of each stage that was taken between the two."""
    found = {}
    for name, (seconds, times) in after.items():
        then, so_often = before.get(name, (0.0, 0.0))
        if times > so_often:
            found[name] = round((seconds - then) / (times - so_often) * 1000, 3)
    return found


_COLUMNS: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "p50 ms": lambda c: f"{percentiles(c['samples']['wall_s'])['p50'] * 1000:.1f}",
    "loop CPU ms": lambda c: f"{c['means']['loop_s'] * 1000:.2f}",
    "other CPU ms": lambda c: f"{c['means']['threads_s'] * 1000:.2f}",
    "statements": lambda c: f"{mean(c['samples']['statements']):.1f}",
    "with those behind": lambda c: f"{c['means']['statements']:.1f}",
    "transactions": lambda c: f"{c['means']['transactions']:.1f}",
    "messages": lambda c: f"{c['means']['database_messages']:.1f}",
    "database CPU ms": lambda c: f"{c['means']['database_cpu_s'] * 1000:.2f}",
    "database kB": lambda c: f"{c['means']['database_bytes'] / 1000:.1f}",
    "Redis messages": lambda c: f"{c['means']['redis_messages']:.1f}",
    "Redis commands": lambda c: f"{c['means']['redis_commands']:.1f}",
    "Redis CPU ms": lambda c: f"{c['means']['redis_cpu_s'] * 1000:.2f}",
    "bytes in": lambda c: f"{c['means']['bytes_in']:.0f}",
    "bytes out": lambda c: f"{c['means']['bytes_out']:.0f}",
}


def as_text(figures: Mapping[str, Any]) -> str:
    lines = [str(figures["machine"])]
    lines += ["", "| texts at once | ms | CPU ms |", "|---|---|---|"]
    for size, samples in figures["encoder"].items():
        wall, cpu = (percentiles([s[name] for s in samples])["p50"] for name in samples[0])
        lines.append(f"| {size} | {wall * 1000:.1f} | {cpu * 1000:.1f} |")
    for stores, found in figures["stores"].items():
        lines += ["", f"| {stores} | {' | '.join(_COLUMNS)} |", "|---" * (len(_COLUMNS) + 1) + "|"]
        for kind, costs in found["kinds"].items():
            cells = (show(costs) for show in _COLUMNS.values())
            lines.append(f"| {kind} | {' | '.join(cells)} |")
        idle = ", ".join(f"{name} {value:.3f}" for name, value in found["idle"].items())
        lines += ["", f"idle, in a second: {idle}", "", "stages in ms:"]
        lines += [f"  {kind}: {costs['stages_ms']}" for kind, costs in found["kinds"].items()]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
