"""How much a cluster bears: what two replicas answer, a third that joins them, and many clients."""

import asyncio
import itertools
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from server.access.models import NewKey
from utils.bench._client import Connection
from utils.bench._machine import percentiles
from utils.bench.chat import new_questions
from utils.cluster.judge import Figure, Verdict
from utils.cluster.services import ADAPTER, Balancer, Cluster

CLIENTS: Final = 16
MANY: Final = 256
LOAD_SHARE: Final = 0.8
SHARE_WITHIN_S: Final = 10.0
P99_OF_A_TURN: Final = 2.0
"""Of what each waits when all take turns, at what the machine answers in a second."""
STARVED_SHARE: Final = 0.25
"""Of what a client gets on average; one that gets less is starved."""
_SECONDS: Final = 8.0
_WARM_S: Final = 3.0
_GIVEN_UP_S: Final = 30.0
_FAIR: Final = 0.9
"""Of an equal share of all requests; a replica that gets more has its share."""


@dataclass
class Measured:
    """Answers, the milliseconds that each took, how many each client got, and refusals."""

    seconds: float = 0.0
    taken_ms: list[float] = field(default_factory=list)
    refused: int = 0
    by_client: Counter[int] = field(default_factory=Counter)

    @property
    def per_second(self) -> float:
        return len(self.taken_ms) / self.seconds

    async def ask(self, connection: Connection, question: str, number: int = 0) -> None:
        begun = time.perf_counter()
        reply = await connection.post("/chat", {"message": question})
        if reply.status == 200:
            self.taken_ms.append((time.perf_counter() - begun) * 1000)
            self.by_client[number] += 1
        else:
            self.refused += 1


async def measure_capacity(cluster: Cluster) -> Verdict:
    """Measure with the load generator on the same machine, which has its part of the cores."""
    key = await cluster.new_key(NewKey(ADAPTER))
    url, fresh, third = cluster.balancer.url, new_questions(), cluster.replicas[-1]
    await asyncio.to_thread(third.kill)
    await flood(url, key, fresh, CLIENTS, _WARM_S)
    two = await flood(url, key, fresh, CLIENTS, _SECONDS)
    rate = two.per_second * LOAD_SHARE
    async with steady(url, key, fresh, rate) as joining:
        await asyncio.sleep(_WARM_S)
        joining.taken_ms.clear()
        begun = time.monotonic()
        third.start()
        share_s = await until_it_has_its_share(cluster.balancer, third.name, begun)
        joined = percentiles(joining.taken_ms)
    await flood(url, key, fresh, CLIENTS, _WARM_S)
    three = await flood(url, key, fresh, CLIENTS, _SECONDS)
    many = await flood(url, key, fresh, MANY, _SECONDS * 2)
    asked = joining.refused + len(joining.taken_ms)
    least = min(many.by_client[n] for n in range(MANY)) * MANY / len(many.taken_ms)
    ended = percentiles(many.taken_ms)
    turn_ms = MANY / many.per_second * 1000
    return Verdict(
        [
            Figure(f"two replicas, {CLIENTS} clients: answers a second", two.per_second),
            Figure(f"three replicas, {CLIENTS} clients: answers a second", three.per_second),
            Figure(
                "a third at 80 % load has its share after", share_s, most=SHARE_WITHIN_S, unit="s"
            ),
            Figure("meanwhile, p99 of an answer", joined["p99"], unit="ms"),
            Figure("meanwhile refused, of all", joining.refused / asked * 100, unit="%"),
            Figure(f"{MANY} clients: answers a second", many.per_second),
            Figure(f"{MANY} clients: p50", ended["p50"], unit="ms"),
            Figure(f"{MANY} clients: p99", ended["p99"], unit="ms"),
            Figure(
                f"{MANY} clients: p99, of what all taking turns wait",
                ended["p99"] / turn_ms,
                most=P99_OF_A_TURN,
            ),
            Figure(f"{MANY} clients: refused", many.refused, most=0),
            Figure(f"{MANY} clients: fewest answers, of the average", least, least=STARVED_SHARE),
        ]
    )


async def flood(
    url: str, key: str, questions: Iterator[str], clients: int, seconds: float
) -> Measured:
    """Have clients ask without pause, each the next question when it has an answer."""
    measured, end = Measured(seconds), time.perf_counter() + seconds

    async def ask_on(number: int) -> None:
        connection = await Connection.open(url, key)
        while time.perf_counter() < end:
            await measured.ask(connection, next(questions), number)
        await connection.close()

    await asyncio.gather(*(ask_on(number) for number in range(clients)))
    return measured


@asynccontextmanager
async def steady(
    url: str, key: str, questions: Iterator[str], rate: float
) -> AsyncIterator[Measured]:
    """Have questions asked at that rate, whatever becomes of earlier ones."""
    measured = Measured()
    free: list[Connection] = []
    asking: set[asyncio.Task[None]] = set()

    async def ask() -> None:
        connection = free.pop() if free else await Connection.open(url, key)
        await measured.ask(connection, next(questions))
        free.append(connection)

    async def arrive() -> None:
        chance, due = random.Random(17), time.perf_counter()
        for _ in itertools.count():
            due += chance.expovariate(rate)
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            task = asyncio.create_task(ask())
            asking.add(task)
            task.add_done_callback(asking.discard)

    arriving = asyncio.create_task(arrive())
    try:
        yield measured
    finally:
        arriving.cancel()
        await asyncio.gather(arriving, return_exceptions=True)
        await asyncio.gather(*asking)
        for connection in free:
            await connection.close()


async def until_it_has_its_share(balancer: Balancer, name: str, begun: float) -> float | None:
    """Return after how many seconds a replica first got its share of all requests of a second."""
    before = balancer.seen()
    while time.monotonic() < begun + _GIVEN_UP_S:
        await asyncio.sleep(1)
        seen = balancer.seen()
        sent = {each: seen[each].requests - before[each].requests for each in seen}
        if sent[name] >= _FAIR * sum(sent.values()) / len(sent) > 0:
            return time.monotonic() - begun
        before = seen
    return None
