"""Proof that several replicas are one server: `utils/cluster/run [--full] [--json]`.

Three replicas behind HAProxy, with PostgreSQL, Redis and a Chroma server, all of them real and on
loopback. While people ask and change things, a replica is killed every ten seconds, PostgreSQL is
restarted, Redis stops, and the library changes. The short form takes a minute and a half; `--full`
has three minutes of load, and then measures capacity. Exit code 1: a figure was missed.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

from server.access.models import NewKey
from utils.bench._machine import describe_machine
from utils.cluster import judge
from utils.cluster.capacity import measure_capacity
from utils.cluster.load import Client, Journal, Load, says
from utils.cluster.services import ADAPTER, Cluster, missing, opened_cluster
from utils.cluster.trouble import FULL, SHORT, Plan, Trouble

SETTLED_WITHIN_S = 120.0
COUNTED_A_SECOND = 4.0
CALM_LIMIT = 400


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, prog="utils/cluster/run")
    parser.add_argument("--full", action="store_true", help="three minutes of load, and capacity")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--keep", type=Path, help="a folder for all logs, which is kept")
    options = parser.parse_args()
    if lacking := missing():
        raise SystemExit("error: the cluster needs\n" + "\n".join(f"- {each}" for each in lacking))
    if options.keep is not None:
        options.keep.mkdir(parents=True)
        verdict = asyncio.run(prove(options.keep, full=options.full))
    else:
        with tempfile.TemporaryDirectory(prefix="orbit-cluster-") as folder:
            verdict = asyncio.run(prove(Path(folder), full=options.full))
    if options.json:
        print(json.dumps({"machine": describe_machine(), **verdict.to_dict()}, indent=2))
    else:
        print(verdict)
        print("\nEverything holds." if verdict.holds else "\nMISSED.")
    sys.exit(not verdict.holds)


async def prove(folder: Path, *, full: bool) -> judge.Verdict:
    """Start everything, make trouble, and judge."""
    async with opened_cluster(folder) as cluster:
        await cluster.start()
        verdict = await under_trouble(cluster, FULL if full else SHORT)
        verdict = judge.merged([verdict, await counted_in_calm(cluster)])
        if full:
            verdict = judge.merged([verdict, await measure_capacity(cluster)])
        for replica in cluster.replicas:
            verdict.problems += judge.tracebacks(replica.said())
        return verdict


async def under_trouble(cluster: Cluster, plan: Plan) -> judge.Verdict:
    limit = round(plan.seconds * COUNTED_A_SECOND)
    key = await cluster.new_key(NewKey(ADAPTER))
    counted = await cluster.new_key(NewKey(ADAPTER, limits=(f"{limit}/hour",)))
    admin = await cluster.new_key(NewKey(ADAPTER, role="admin"))
    load = Load(cluster.balancer.url, key, counted)
    trouble = Trouble(cluster, load.journal, admin)
    began = time.monotonic()
    async with load.running(askers=6, writers=3, counted=1):
        await trouble.run(plan)
    await load.settle(SETTLED_WITHIN_S)
    await count_out(load.journal, cluster, counted, limit)
    return judge.merged(
        [
            judge.judge_answers(load.journal, trouble.events, began),
            judge.judge_trouble(trouble.reload_s, trouble.early_starts),
            judge.judge_writes(load.journal, cluster.shop, cluster.settings),
            judge.judge_limits(
                "a limit under trouble", limit, load.journal.count("right", "counted")
            ),
        ]
    )


async def counted_in_calm(cluster: Cluster) -> judge.Verdict:
    key = await cluster.new_key(NewKey(ADAPTER, limits=(f"{CALM_LIMIT}/hour",)))
    journal = Journal()
    await count_out(journal, cluster, key, CALM_LIMIT)
    return judge.judge_limits("a limit in calm", CALM_LIMIT, journal.count("right", "counted"))


async def count_out(journal: Journal, cluster: Cluster, key: str, limit: int) -> None:
    """Ask every replica at once until each refuses by the limit."""

    async def ask(name: str, url: str) -> None:
        client = Client(name, url, key, journal)
        for _ in range(limit):
            asked = {"message": "What is 15% of 200?"}
            await client.ask("counted", asked, says("is **30**"))
            if journal.attempts[-1].outcome == "limited":
                break
        await client.close()

    await asyncio.gather(
        *(ask(f"{each.name} {n}", each.url) for each in cluster.replicas for n in range(4))
    )


if __name__ == "__main__":
    main()
