"""Replicas as a queueing model, fitted to what one replica was measured to do.

    .venv/bin/python -m utils.cluster.costs --json > costs.json
    .venv/bin/python -m utils.cluster.throughput --json > throughput.json
    .venv/bin/python -m utils.cluster.audit --json > audit.json
    .venv/bin/python -m utils.cluster.model costs.json throughput.json [audit.json]
        [--rates 1000 10000 100000] [--json]

A replica is one thread of Python at a time (its event loop, and the threads that speak with the
database), and one of the encoder, which answers all that wait in one computation, as soon as Python
has nothing else to do. Replicas, stores and the load generator need cores to work on, which here
they share. How long each takes is drawn from the measurements of single questions. Two numbers are
taken from one replica under load: by how much processor time stretches (or shrinks, since a busy
processor's caches are warm), which was measured; and how much longer than that Python is held,
since a thread that wants it waits until another gives it up, which is fitted, so that this replica
answers as many questions as it did.

Needs SimPy, which the extra `test` brings.
"""

import argparse
import json
import random
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from statistics import mean
from typing import Any, Final, NamedTuple

import simpy

from utils.bench._machine import percentiles

MIX: Final[Mapping[str, float]] = {
    "new wording": 0.55,
    "known wording": 0.15,
    "follow-up": 0.2,
    "refusal": 0.06,
    "proposal": 0.02,
    "confirmation": 0.02,
}
"""What of a hundred requests are of which kind, for what many questions a second take."""
CORES_OF_REPLICA: Final = 2
UTILIZATION: Final = 0.6
"""Of what a replica bears at most, so that it goes on when others are replaced."""
_SLICE_S: Final = 0.001
_WARM_S: Final = 1.0
_MAX_BATCH: Final = 64
_AT_ONCE: Final = 0
_WHEN_IDLE: Final = 1
"""Who is given Python first."""
_SIMULATED_TO: Final = 20_000
"""Questions a second up to which the answer times are simulated."""
_PLENTY: Final = 1_000_000
_FLUSHES_PER_S: Final = 5.0
"""Batches that a replica appends to the audit, when there is always something to append."""

Wait = Generator[simpy.Event, Any, None]


class Demand(NamedTuple):
    """What one question needs, in seconds; processor time but for `away_s`."""

    loop_s: float
    storage_s: float
    encodes: bool
    transactions: int
    database_s: float
    away_s: float
    """In which the database waits for its disk, for each transaction."""
    redis_s: float


class Costs:
    """Demands drawn from the samples of `utils.cluster.costs`."""

    def __init__(self, figures: Mapping[str, Any], chance: random.Random) -> None:
        self._kinds: Mapping[str, Any] = figures["stores"]["postgresql"]["kinds"]
        self._chance = chance
        self._encoder: dict[int, list[float]] = {
            int(size): [each["cpu_s"] for each in samples]
            for size, samples in figures["encoder"].items()
        }
        self._alone_s = mean(self._encoder[1])

    def draw(self, kind: str) -> Demand:
        found = self._kinds[kind]
        samples, means = found["samples"], found["means"]
        at = self._chance.randrange(len(samples["loop_s"]))
        # What is done behind the answers is in the means alone.
        loop = samples["loop_s"][at] * _behind(found, "loop_s")
        threads = samples["threads_s"][at] * _behind(found, "threads_s")
        encodes = kind in ("new wording", "proposal", "refusal")
        transactions = max(1, round(means["transactions"]))
        database = means["database_cpu_s"]
        away = max(0.0, samples["database_s"][at] - database) / transactions
        storage = max(0.0, threads - (self._alone_s if encodes else 0.0))
        return Demand(loop, storage, encodes, transactions, database, away, means["redis_cpu_s"])

    def encoding_s(self, size: int) -> float:
        """Draw the time of a batch, between those of the sizes that were measured."""
        sizes = sorted(self._encoder)
        low = max(each for each in sizes if each <= size)
        high = min((each for each in sizes if each >= size), default=low)
        of_low = self._chance.choice(self._encoder[low])
        if high == low:
            return of_low * size / low
        share = (size - low) / (high - low)
        more: float = mean(self._encoder[high]) - mean(self._encoder[low])
        return of_low + share * max(0.0, more)

    def mean_of(self, name: str, mix: Mapping[str, float]) -> float:
        found: float = sum(share * self._kinds[kind]["means"][name] for kind, share in mix.items())
        return found


def _behind(found: Mapping[str, Any], name: str) -> float:
    return float(found["means"][name] / max(mean(found["samples"][name]), 1e-9))


class Cores:
    """Cores that take turns, a slice of time for each who wants one."""

    def __init__(self, env: simpy.Environment, cores: int, stretch: float) -> None:
        self._env = env
        self._cores = simpy.Resource(env, cores)
        self._stretch = stretch

    def work(self, seconds: float) -> Wait:
        left = seconds * self._stretch
        while left > 0:
            with self._cores.request() as core:
                yield core
                now = min(left, _SLICE_S)
                yield self._env.timeout(now)
                left -= now


class Beside(NamedTuple):
    """How long questions take beside others, of what they take one after the other."""

    stretch: float = 1.0
    """Processor time, of what was measured."""
    handover: float = 0.0
    """For which Python is held besides, without a processor."""


ALONE: Final = Beside()


@dataclass(slots=True)
class Machine:
    """The stores and the balancer, with cores of their own or the same as the replicas."""

    database: Cores
    redis: Cores
    client: Cores
    client_s: float


class Replica:
    """One thread of Python at a time, and one of the encoder."""

    def __init__(
        self,
        env: simpy.Environment,
        cores: Cores,
        machine: Machine,
        costs: Costs,
        beside: "Beside",
    ) -> None:
        self._env, self._cores, self._machine, self._costs = env, cores, machine, costs
        self._beside = beside
        self._python = simpy.PriorityResource(env, 1)
        self._waiting: deque[simpy.Event] = deque()
        self._encoding = False
        self.in_flight = 0

    def answer(self, needs: Demand) -> Wait:
        """Take a question from its first byte to its last."""
        self.in_flight += 1
        pauses: list[Callable[[], Wait]] = [lambda: self._machine.redis.work(needs.redis_s)]
        if needs.encodes:
            pauses.append(self._encode)
        pauses += [lambda: self._transaction(needs)] * needs.transactions
        part = needs.loop_s / (len(pauses) + 1)
        for pause in pauses:
            yield from self._run(part)
            yield from pause()
        yield from self._run(part)
        self.in_flight -= 1

    def _run(self, seconds: float) -> Wait:
        with self._python.request(_AT_ONCE) as turn:
            yield turn
            yield from self._cores.work(seconds)
            yield self._env.timeout(seconds * self._beside.handover)

    def _transaction(self, needs: Demand) -> Wait:
        yield from self._run(needs.storage_s / needs.transactions)
        yield from self._machine.database.work(needs.database_s / needs.transactions)
        yield self._env.timeout(needs.away_s)

    def _encode(self) -> Wait:
        done = self._env.event()
        self._waiting.append(done)
        if not self._encoding:
            self._encoding = True
            self._env.process(self._drain())
        yield done

    def _drain(self) -> Wait:
        while self._waiting:
            if len(self._waiting) < _MAX_BATCH:
                with self._python.request(_WHEN_IDLE) as turn:
                    yield turn
            size = min(_MAX_BATCH, len(self._waiting))
            batch = [self._waiting.popleft() for _ in range(size)]
            yield from self._cores.work(self._costs.encoding_s(size))
            for done in batch:
                done.succeed()
        self._encoding = False


@dataclass(frozen=True, slots=True)
class Setup:
    """What is simulated; with `shared_cores`, all of it shares them, as on one machine."""

    replicas: int
    mix: Mapping[str, float]
    clients: int = 0
    rate: float = 0.0
    seconds: float = 5.0
    shared_cores: int = 0
    database_cores: int = 8
    redis_cores: int = 1
    """As many servers: each has one thread."""
    client_s: float = 0.0
    beside: Beside = ALONE
    seed: int = 7


@dataclass(slots=True)
class Outcome:
    answers_per_second: float
    ms: dict[str, float]
    in_flight: float
    """Mean number of requests in a replica."""


@dataclass(slots=True)
class _Noted:
    taken: list[float] = field(default_factory=list)


def simulate(figures: Mapping[str, Any], setup: Setup) -> Outcome:
    """Clients that ask on and on, each at its own replica, or questions that come as they come."""
    chance = random.Random(setup.seed)
    costs, env, noted = Costs(figures, chance), simpy.Environment(), _Noted()
    shared = _shared_cores(env, setup)
    machine = Machine(
        database=shared or Cores(env, setup.database_cores, 1.0),
        redis=shared or Cores(env, setup.redis_cores, 1.0),
        client=shared or Cores(env, _PLENTY, 1.0),
        client_s=setup.client_s,
    )
    replicas = [
        Replica(
            env,
            shared or Cores(env, CORES_OF_REPLICA, setup.beside.stretch),
            machine,
            costs,
            setup.beside,
        )
        for _ in range(setup.replicas)
    ]
    kinds = _kinds(setup.mix, chance)
    sending = simpy.Resource(env, 1 if shared else _PLENTY)

    def ask(replica: Replica) -> Wait:
        since = env.now
        with sending.request() as turn:  # the load generator is one thread
            yield turn
            yield from machine.client.work(machine.client_s)
        yield from replica.answer(costs.draw(next(kinds)))
        if env.now > _WARM_S:
            noted.taken.append(env.now - since)

    def ask_on(replica: Replica) -> Wait:
        while True:
            yield from ask(replica)

    def come() -> Wait:
        while True:
            yield env.timeout(chance.expovariate(setup.rate))
            env.process(ask(_least_connections(replicas, chance)))

    for number in range(setup.clients):
        env.process(ask_on(replicas[number % len(replicas)]))
    if setup.rate:
        env.process(come())
    env.run(until=_WARM_S + setup.seconds)
    per_second = len(noted.taken) / setup.seconds
    ms = percentiles([each * 1000 for each in noted.taken])
    return Outcome(per_second, ms, per_second * ms["mean"] / 1000 / setup.replicas)


def _shared_cores(env: simpy.Environment, setup: Setup) -> Cores | None:
    if not setup.shared_cores:
        return None
    return Cores(env, setup.shared_cores, setup.beside.stretch)


def _least_connections(replicas: Sequence[Replica], chance: random.Random) -> Replica:
    least = min(replica.in_flight for replica in replicas)
    return chance.choice([replica for replica in replicas if replica.in_flight == least])


def _kinds(mix: Mapping[str, float], chance: random.Random) -> Iterator[str]:
    while True:
        yield from chance.choices(list(mix), list(mix.values()), k=1000)


def fit(figures: Mapping[str, Any], measured: Mapping[str, Any], setup: Setup) -> Beside:
    """Return what one replica's processor time says, and what its answers a second say besides."""
    mean_loop_s = Costs(figures, random.Random(setup.seed)).mean_of("loop_s", setup.mix)
    stretch = measured["cpu_ms"]["loop"] / 1000 / mean_loop_s
    low, high = 0.0, 4.0  # far beyond what is ever so
    for _ in range(12):
        middle = (low + high) / 2
        tried = replace(setup, beside=Beside(stretch, middle))
        got = simulate(figures, tried).answers_per_second
        low, high = (middle, high) if got > measured["answers_per_second"] else (low, middle)
    return Beside(stretch, (low + high) / 2)


@dataclass(frozen=True, slots=True)
class Check:
    """A measurement, and what the model says of it."""

    replicas: int
    clients: int
    fitted: bool
    measured: Mapping[str, float]
    predicted: Mapping[str, float]

    def errors(self) -> dict[str, float]:
        return {name: self.predicted[name] / self.measured[name] - 1 for name in self.measured}


def checks(figures: Mapping[str, Any], throughput: Mapping[str, Any]) -> tuple[Beside, list[Check]]:
    """Fit to one replica with a middling number of clients, and predict all the others."""
    rows = throughput["rows"]
    alone = [row for row in rows if row["replicas"] == 1]
    fitted = sorted(alone, key=lambda row: row["clients"])[len(alone) // 2]
    mix = {"new wording": 1.0}
    base = Setup(
        replicas=1, mix=mix, clients=fitted["clients"], shared_cores=throughput["machine"]["cores"],
        client_s=mean(row["cpu_ms"]["client"] for row in rows) / 1000,
    )  # fmt: skip
    beside = fit(figures, fitted, base)
    found = []
    for row in rows:
        setup = replace(base, replicas=row["replicas"], clients=row["clients"], beside=beside)
        found.append(
            Check(
                row["replicas"],
                row["clients"],
                row is fitted,
                _shown(row["answers_per_second"], row["ms"]),
                _shown((got := simulate(figures, setup)).answers_per_second, got.ms),
            )
        )
    return beside, found


def _shown(answers_per_second: float, ms: Mapping[str, float]) -> dict[str, float]:
    return {"answers/s": answers_per_second, "p50 ms": ms["p50"], "p99 ms": ms["p99"]}


@dataclass(frozen=True, slots=True)
class Capacity:
    """What so many questions a second take."""

    rate: float
    replicas: int
    busy_cores: float
    """Of all replicas, in the mean."""
    p50_ms: float | None
    p99_ms: float | None
    in_flight: float | None
    database: Mapping[str, float]
    redis: Mapping[str, float]
    network_mbit_per_s: float
    audit: Mapping[str, float]


def bears(figures: Mapping[str, Any], beside: Beside) -> float:
    """Return how many questions of the mix a second a replica on cores of its own answers."""
    setup = Setup(replicas=1, mix=MIX, clients=64, beside=beside)
    return simulate(figures, setup).answers_per_second


def capacity(
    figures: Mapping[str, Any], audit: Mapping[str, Any] | None, beside: Beside, rate: float
) -> Capacity:
    costs = Costs(figures, random.Random(7))
    replicas = max(2, ceil(rate / (bears(figures, beside) * UTILIZATION)))
    redis_cores = rate * costs.mean_of("redis_cpu_s", MIX)
    outcome = None
    if rate <= _SIMULATED_TO:
        setup = Setup(
            replicas=replicas,
            mix=MIX,
            rate=rate,
            beside=beside,
            seconds=min(5.0, 20_000 / rate),
            redis_cores=ceil(redis_cores / UTILIZATION),
            database_cores=_PLENTY,
        )
        outcome = simulate(figures, setup)
    writes = rate * MIX["confirmation"]
    appends = min(rate, replicas * _FLUSHES_PER_S) + 2 * writes
    return Capacity(
        rate=rate,
        replicas=replicas,
        busy_cores=rate
        * beside.stretch
        * (costs.mean_of("loop_s", MIX) + costs.mean_of("threads_s", MIX)),
        p50_ms=outcome.ms["p50"] if outcome else None,
        p99_ms=outcome.ms["p99"] if outcome else None,
        in_flight=outcome.in_flight if outcome else None,
        database={
            "transactions/s": rate * costs.mean_of("transactions", MIX),
            "statements/s": rate * costs.mean_of("statements", MIX)
            + replicas * figures["stores"]["postgresql"]["idle"]["statements"],
            "cores": rate * costs.mean_of("database_cpu_s", MIX),
            "MB/s": rate * costs.mean_of("database_bytes", MIX) / 1e6,
        },
        redis={
            "messages/s": rate * costs.mean_of("redis_messages", MIX),
            "cores": redis_cores,
            "servers": ceil(redis_cores / UTILIZATION),
        },
        network_mbit_per_s=rate
        * (costs.mean_of("bytes_in", MIX) + costs.mean_of("bytes_out", MIX))
        * 8
        / 1e6,
        audit={"appends/s": appends, **_audit_limit(audit, rate / appends)},
    )


def _audit_limit(audit: Mapping[str, Any] | None, entries: float) -> dict[str, float]:
    """The most appends a second that were measured, of batches about as large."""
    if audit is None:
        return {}
    rows = [row for row in audit["rows"] if row["chains"] == 1]
    near = min({row["batch"] for row in rows}, key=lambda batch: abs(batch - entries))
    most = max(row["appends_per_second"] for row in rows if row["batch"] == near)
    return {"entries at once": entries, "appends/s that were measured": most}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("costs", type=Path)
    parser.add_argument("throughput", type=Path)
    parser.add_argument("audit", type=Path, nargs="?")
    parser.add_argument("--rates", type=float, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures, throughput = (
        json.loads(path.read_text()) for path in (options.costs, options.throughput)
    )
    audit = json.loads(options.audit.read_text()) if options.audit else None
    beside, checked = checks(figures, throughput)
    found = {
        **beside._asdict(),
        "checks": checked,
        "bears": bears(figures, beside),
        "capacities": [capacity(figures, audit, beside, rate) for rate in options.rates],
    }
    print(json.dumps(found, default=_as_dict) if options.json else as_text(found))


def _as_dict(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


def as_text(found: Mapping[str, Any]) -> str:
    lines = [
        f"beside others, processor time is {found['stretch']:.2f} of what it is alone, "
        f"and Python is held for {found['handover']:.2f} more",
        "",
        "| replicas | clients | | answers/s | p50 ms | p99 ms |",
        "|---|---|---|---|---|---|",
    ]
    for check in found["checks"]:
        errors = check.errors()
        cells = (
            f"{check.measured[name]:.0f} → {check.predicted[name]:.0f} ({errors[name]:+.0%})"
            for name in errors
        )
        how = "fitted" if check.fitted else "predicted"
        lines.append(f"| {check.replicas} | {check.clients} | {how} | {' | '.join(cells)} |")
    lines += [
        "",
        f"a replica on {CORES_OF_REPLICA} cores bears {found['bears']:.0f} of the mix a second",
    ]
    each: Capacity
    for each in found["capacities"]:
        lines += ["", f"{each.rate:,.0f} questions a second:"]
        lines.append(
            f"  {each.replicas} replicas at {UTILIZATION:.0%}, {each.busy_cores:.0f} cores busy"
        )
        if each.p50_ms is not None:
            lines.append(
                f"  p50 {each.p50_ms:.1f} ms, p99 {each.p99_ms:.1f} ms, "
                f"{each.in_flight:.1f} in flight in each"
            )
        for name in ("database", "redis", "audit"):
            told = ", ".join(f"{what} {value:,.1f}" for what, value in getattr(each, name).items())
            lines.append(f"  {name}: {told}")
        lines.append(f"  network: {each.network_mbit_per_s:,.0f} Mbit/s")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
