"""What is done to a cluster meanwhile: replicas killed, stores restarted, a library changed."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import httpx

from utils.cluster.load import Client, Journal, Kind, says
from utils.cluster.services import NAMES, Cluster, Replica, weight_of

STARTED_AGAIN_AFTER_S: Final = 0.5
UP_WITHIN_S: Final = 30.0
_LOOK_EVERY_S: Final = 0.05
_NO_DATABASE: Final = "error: the key store at "
_COUNTED: Final[frozenset[Kind]] = frozenset({"counted"})
_OTHERS: Final[frozenset[Kind]] = frozenset({"question", "follow-up", "lookup", "proposal", "yes"})


@dataclass(frozen=True, slots=True)
class Plan:
    """When what happens, in seconds from the beginning of the load."""

    seconds: float
    reload_at: float
    postgresql_at: float
    redis_at: float
    redis_for_s: float
    stop_at: float
    kill_every_s: float = 10.0


SHORT: Final = Plan(
    seconds=46, reload_at=12, postgresql_at=24, stop_at=30, redis_at=34, redis_for_s=4
)
FULL: Final = Plan(
    seconds=180, reload_at=52, postgresql_at=84, stop_at=110, redis_at=123, redis_for_s=10
)


@dataclass
class Event:
    """Something that was done, and from when on everything has to be well again."""

    what: str
    begun: float
    over: float
    touches: frozenset[Kind]
    """The kinds of requests that may be refused or end without an answer meanwhile."""
    is_quiet: bool = False
    """Whether none may all the same: it was announced to the balancer."""
    noticed_s: float | None = None
    """After how long the balancer sent nothing more to a replica that was killed."""
    back_s: float | None = None
    """After how long, from its start on, it sent requests there again."""


@dataclass
class Trouble:
    cluster: Cluster
    journal: Journal
    admin_key: str
    events: list[Event] = field(default_factory=list)
    reload_s: float | None = None
    """How long after one replica had the changed library every other answered by it."""
    early_starts: int = 0
    """How many found no database, ended, and were begun again, as a supervisor does."""
    _killed: set[str] = field(default_factory=set)
    _calm: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Who holds it kills a replica, or relies on none being killed."""

    async def run(self, plan: Plan) -> None:
        """Do all that is planned, and return when its time is over."""
        begun = time.monotonic()
        async with self._kept_running():
            parts = [
                self._after(plan.reload_at, self._change_library),
                self._after(plan.postgresql_at, self._restart_postgresql),
                self._after(plan.stop_at, self._stop_one),
                self._after(plan.redis_at, lambda: self._stop_redis(plan.redis_for_s)),
                self._kill_in_turn(begun, plan),
            ]
            await asyncio.gather(*parts)
            await asyncio.sleep(max(0.0, begun + plan.seconds - time.monotonic()))

    def _note_end(self, replica: Replica) -> None:
        *_, last = replica.said().strip().splitlines() or [""]
        if last.startswith(_NO_DATABASE):
            self.early_starts += 1
        else:
            self.journal.problems.append(f"{replica.name} ended by itself: {last[:700]}")

    async def _after(self, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        await asyncio.sleep(seconds)
        await work()

    async def _kill_in_turn(self, begun: float, plan: Plan) -> None:
        number = 0
        while (at := (number + 0.5) * plan.kill_every_s) < plan.seconds - plan.kill_every_s / 2:
            await asyncio.sleep(max(0.0, begun + at - time.monotonic()))
            await self._kill(self.cluster.replicas[number % len(NAMES)])
            number += 1

    async def _kill(self, replica: Replica) -> None:
        self._killed.add(replica.name)
        async with self._calm:
            now = time.monotonic()
            event = Event(f"kill -9 of {replica.name}", now, now, _OTHERS | _COUNTED)
            self.events.append(event)
            await asyncio.to_thread(replica.kill)
            event.noticed_s = await self._until(replica, up=False) - event.begun
        await asyncio.sleep(max(0.0, event.begun + STARTED_AGAIN_AFTER_S - time.monotonic()))
        started = time.monotonic()
        replica.start()
        self._killed.discard(replica.name)
        event.back_s = await self._until(replica, up=True) - started

    async def _until(self, replica: Replica, *, up: bool) -> float:
        """Return when the balancer has seen that; after half a minute it is a problem."""
        until = time.monotonic() + UP_WITHIN_S
        while (now := time.monotonic()) < until:
            if self.cluster.balancer.seen()[replica.name].is_up == up:
                return now
            await asyncio.sleep(_LOOK_EVERY_S)
        state = "up" if up else "down"
        self.journal.problems.append(f"{replica.name} was not {state} within {UP_WITHIN_S:g} s")
        return now

    async def _restart_postgresql(self) -> None:
        begun, store = time.monotonic(), self.cluster.postgresql
        await asyncio.to_thread(store.end)
        await asyncio.to_thread(store.start)
        kinds = _OTHERS | _COUNTED
        self.events.append(Event("PostgreSQL restarted", begun, time.monotonic(), kinds))

    async def _stop_one(self) -> None:
        """Have a replica stop and start again, as for an upgrade: nobody may notice."""
        killed = sum(event.what.startswith("kill") for event in self.events)
        replica = self.cluster.replicas[
            (killed + 1) % len(NAMES)
        ]  # whose turn to be killed is last
        await self._until(replica, up=True)
        self._killed.add(replica.name)
        begun = time.monotonic()
        code = await asyncio.to_thread(replica.stop)
        if code:
            self.journal.problems.append(f"{replica.name} was stopped: exit code {code}")
        kinds, over = _OTHERS | _COUNTED, time.monotonic()
        event = Event(f"{replica.name} stopped", begun, over, kinds, is_quiet=True)
        self.events.append(event)
        await self._until(replica, up=False)
        started = time.monotonic()
        replica.start()
        self._killed.discard(replica.name)
        event.back_s = await self._until(replica, up=True) - started

    async def _stop_redis(self, seconds: float) -> None:
        """For the first half it hangs, for the second it is gone; what it counted is kept."""
        begun, store = time.monotonic(), self.cluster.redis
        store.signal(signal.SIGSTOP)
        await asyncio.sleep(seconds / 2)
        await asyncio.to_thread(store.signal, signal.SIGKILL)
        await asyncio.sleep(seconds / 2)
        await asyncio.to_thread(store.start)
        self.events.append(Event("Redis stopped", begun, time.monotonic(), _COUNTED))

    async def _change_library(self) -> None:
        """Have the library changed, and told to one replica, from which all others hear of it."""
        first, *others = self.cluster.replicas
        async with self._calm:  # what a killed one takes to start is another figure
            for replica in self.cluster.replicas:
                await self._until(replica, up=True)
            self.cluster.add_template()
            await self._reload(first)
            begun = time.monotonic()
            await asyncio.gather(*map(self._until_it_weighs, others))
            self.reload_s = time.monotonic() - begun
        self.journal.weighs = True

    async def _reload(self, replica: Replica) -> None:
        headers = {"X-API-Key": self.admin_key}
        async with httpx.AsyncClient(base_url=replica.url, headers=headers, timeout=30) as client:
            answer = await client.post("/admin/reload")
        if answer.status_code != 200:
            self.journal.problems.append(f"reload of {replica.name}: {answer.text[:300]}")

    async def _until_it_weighs(self, replica: Replica) -> None:
        apart = Journal()  # of a replica that is asked itself, and may be down
        client = Client("reload", replica.url, self.admin_key, apart)
        asked = {"message": "How heavy is order 4711?"}
        until = time.monotonic() + UP_WITHIN_S
        weighs = says(f"weighs **{weight_of(4711)}** kg")
        while time.monotonic() < until:
            await client.ask("question", asked, weighs)
            if apart.attempts[-1].outcome == "right":
                break
            await asyncio.sleep(_LOOK_EVERY_S)
        else:
            self.journal.problems.append(f"{replica.name} never answered by the changed library")
        await client.close()

    @asynccontextmanager
    async def _kept_running(self) -> AsyncIterator[None]:
        """Start replicas again that ended by themselves, as a supervisor would."""

        async def look() -> None:
            while True:
                for each in self.cluster.replicas:
                    if each.name not in self._killed and not each.runs():
                        self._note_end(each)
                        each.start()
                await asyncio.sleep(0.5)

        looking = asyncio.create_task(look())
        try:
            yield
        finally:
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)
