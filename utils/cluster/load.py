"""Who asks a cluster: people with questions and follow-ups, people who change things, a counter.

All of them behave as careful people do. Where a connection ends without an answer, or the answer is
503, they ask the same again a moment later; before they ask for a change anew, they look at what
became of it. Every attempt is written into the journal, and what must not happen into its problems.
"""

import asyncio
import itertools
import json
import random
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from utils.bench._client import Connection
from utils.cluster.services import status_of, weight_of

Kind = Literal["question", "follow-up", "lookup", "proposal", "yes", "counted"]
Outcome = Literal["right", "wrong", "refused", "broken", "limited", "waits"]

PATIENCE_S: Final = 60.0
"""For which somebody asks the same again; nothing may take longer."""
LOOKS_AFTER_S: Final = 2.0
"""For which somebody waits who is told that the change is being made already."""
SETTLER: Final = "settler 0"
_PAUSE_S: Final = 0.1
_SETTLES_EVERY_S: Final = 0.3
_LOST: Final = (OSError, asyncio.IncompleteReadError)
_FORMS: Final = (
    "What is {}% of {}?",
    "Calculate {} percent of {}",
    "Find {}% of {}",
    "What's {} percent of {}?",
)


class Attempt(NamedTuple):
    """One request, from when until when, by `time.monotonic`, and what came of it."""

    client: str
    kind: Kind
    begun: float
    ended: float
    outcome: Outcome
    code: str = ""


@dataclass
class Journal:
    attempts: list[Attempt] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    proposed: dict[int, dict[str, Any]] = field(default_factory=dict)
    """What would confirm the latest proposal for each order."""
    done: dict[int, float] = field(default_factory=dict)
    """Orders that somebody knows to be cancelled, and how long it took from the first yes on."""
    undecided: dict[int, float] = field(default_factory=dict)
    """Orders of which nobody knows that yet, and when the first yes was said."""
    weighs: bool = False
    """Whether the library that weighs orders is the one that serves."""

    def count(self, outcome: Outcome, *kinds: Kind) -> int:
        return sum(
            each.outcome == outcome and (not kinds or each.kind in kinds) for each in self.attempts
        )


class Answer(NamedTuple):
    status: int
    body: dict[str, Any]

    @property
    def code(self) -> str:
        return str(self.body["error"]["code"]) if self.status >= 400 else ""

    @property
    def content(self) -> str:
        return str(self.body.get("content", ""))

    @property
    def metadata(self) -> dict[str, Any]:
        return dict(self.body.get("metadata", {}))

    @property
    def proposal(self) -> dict[str, Any]:
        return dict(self.metadata.get("proposal") or {})


Judge = Callable[[Answer], Outcome]


class Client:
    """One connection, which is opened again when it ends, and the journal of what it is told."""

    def __init__(self, name: str, url: str, key: str, journal: Journal) -> None:
        self.name = name
        self._url = url
        self._key = key
        self._journal = journal
        self._connection: Connection | None = None

    async def ask(self, kind: Kind, asked: dict[str, Any], judge: Judge) -> Answer | None:
        """Ask once; None where there was no answer, or a refusal for now."""
        begun = time.monotonic()
        answer = await self._post("/chat/confirm" if kind == "yes" else "/chat", asked)
        outcome: Outcome = "broken" if answer is None else self._judge(answer, judge)
        code = "" if answer is None else answer.code
        if outcome == "wrong" and answer is not None:
            self._journal.problems.append(f"{kind} {asked}: {answer.status} {answer.body}"[:700])
        self._journal.attempts.append(
            Attempt(self.name, kind, begun, time.monotonic(), outcome, code)
        )
        return None if outcome in ("broken", "refused") else answer

    async def insist(self, kind: Kind, asked: dict[str, Any], judge: Judge) -> Answer | None:
        """Ask until there is an answer; None where there is none for a minute, which is noted."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            answer = await self.ask(kind, asked, judge)
            if answer is not None:
                return answer
            await asyncio.sleep(_PAUSE_S)
        self._journal.problems.append(f"no answer for {PATIENCE_S:g} s: {asked}")
        return None

    async def close(self) -> None:
        if self._connection is not None:
            self._connection.abandon()
            self._connection = None

    async def _post(self, path: str, asked: dict[str, Any]) -> Answer | None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                if self._connection is None:
                    self._connection = await Connection.open(self._url, self._key)
                status, body = await self._connection.post(path, asked)
        except (*_LOST, TimeoutError):
            await self.close()
            return None
        if self._connection.is_over:
            await self.close()
        try:
            answer = Answer(status, json.loads(body))
            if (
                status >= 400
                and not {"code", "message", "request_id"} <= answer.body["error"].keys()
            ):
                raise KeyError
        except (ValueError, KeyError, TypeError, AttributeError):
            self._journal.problems.append(f"not in the shape of errors: {status} {body[:300]!r}")
            return None
        return None if answer.code == "replica_lost" else answer

    def _judge(self, answer: Answer, judge: Judge) -> Outcome:
        if answer.status == 503:
            return "refused"
        if answer.status == 429:
            return "limited"
        policy = answer.metadata.get("policy") or {}
        if policy.get("outcome") in ("audit_unavailable", "commit_unavailable"):
            return "refused"
        return judge(answer)


def says(text: str) -> Judge:
    """Judge an answer by what it has to say."""
    return lambda answer: "right" if answer.status == 200 and text in answer.content else "wrong"


@dataclass
class Load:
    """Clients of one address, which ask until they are told that it is over."""

    url: str
    key: str
    counted_key: str
    journal: Journal = field(default_factory=Journal)
    pause_s: float = 0.05
    _chance: random.Random = field(default_factory=lambda: random.Random(17))
    _orders: Iterator[int] = field(default_factory=lambda: itertools.count(100_001))
    _sessions: Iterator[int] = field(default_factory=itertools.count)
    _busy: set[int] = field(default_factory=set)
    """Orders whose writers still wait."""

    @asynccontextmanager
    async def running(self, *, askers: int, writers: int, counted: int) -> AsyncIterator[None]:
        over = asyncio.Event()
        roles: Sequence[tuple[str, int, str, Callable[[Client], Any]]] = (
            ("asker", askers, self.key, self._talk),
            ("writer", writers, self.key, self._cancel_one),
            ("counted", counted, self.counted_key, self._count),
            ("settler", 1, self.key, self._settle_all),
        )
        tasks = [
            asyncio.create_task(self._repeat(over, f"{role} {n}", key, work))
            for role, many, key, work in roles
            for n in range(many)
        ]
        try:
            yield
        finally:
            over.set()
            await asyncio.gather(*tasks)

    async def settle(self, within_s: float) -> None:
        """Find out what became of every change of which nobody knows, and ask anew for the rest."""
        client = Client(SETTLER, self.url, self.key, self.journal)
        until = time.monotonic() + within_s
        while self.journal.undecided and time.monotonic() < until:
            await self._settle_all(client)
        await client.close()

    async def _settle_all(self, client: Client) -> None:
        """Look after the changes that their writers have left."""
        for order in [*self.journal.undecided]:
            is_left = order in self.journal.undecided and order not in self._busy
            if is_left and await self._confirm(client, order) == "propose":
                await self._propose(client, order)
        await asyncio.sleep(_SETTLES_EVERY_S)

    async def _repeat(
        self, over: asyncio.Event, name: str, key: str, work: Callable[[Client], Any]
    ) -> None:
        client = Client(name, self.url, key, self.journal)
        while not over.is_set():
            await work(client)
            await asyncio.sleep(self.pause_s * self._chance.uniform(0.5, 1.5))
        await client.close()

    async def _talk(self, client: Client) -> None:
        """Two questions with a follow-up each, what an order is like, and perhaps its weight."""
        session = f"talk-{next(self._sessions)}"
        for _ in range(2):
            percent, value, other = (
                self._chance.randrange(1, 99),
                self._chance.randrange(1, 99) * 100,
                self._chance.randrange(1, 99) * 100,
            )
            text = self._chance.choice(_FORMS).format(percent, value)
            asked = {"message": text, "session_id": session}
            await client.insist("question", asked, says(f"is **{percent * value // 100}**"))
            asked = {"message": f"and of {other}?", "session_id": session}
            await client.insist("follow-up", asked, says(f"is **{percent * other // 100}**"))
        order = self._chance.randrange(1000, 90_000)
        await self._look(client, order, says(f"**{status_of(order)}**"))
        if self.journal.weighs:
            asked = {"message": f"How heavy is order {order}?"}
            await client.insist("question", asked, says(f"weighs **{weight_of(order)}** kg"))

    async def _count(self, client: Client) -> None:
        await client.ask("counted", {"message": "What is 15% of 200?"}, says("is **30**"))

    async def _look(self, client: Client, order: int, judge: Judge) -> Answer | None:
        return await client.insist("lookup", {"message": f"Status of order {order} please"}, judge)

    async def _cancel_one(self, client: Client) -> None:
        order = next(self._orders)
        self._busy.add(order)
        await self._propose(client, order)
        until = time.monotonic() + LOOKS_AFTER_S
        while order in self.journal.undecided and time.monotonic() < until:
            if await self._confirm(client, order) == "propose":
                await self._propose(client, order)
            else:
                await asyncio.sleep(_PAUSE_S)
        self._busy.discard(order)

    async def _propose(self, client: Client, order: int) -> None:
        def judge(answer: Answer) -> Outcome:
            arguments = answer.proposal.get("arguments", {})
            return "right" if arguments == {"order": order} else "wrong"

        session = f"order-{order}"
        asked = {"message": f"Please cancel order {order}", "session_id": session}
        answer = await client.insist("proposal", asked, judge)
        if answer is not None and answer.proposal:
            yes = {"session_id": session, "proposal_id": answer.proposal["proposal_id"]}
            self.journal.proposed[order] = yes | {"accept": True}
            self.journal.undecided.setdefault(order, time.monotonic())

    async def _confirm(self, client: Client, order: int) -> Literal["wait", "known", "propose"]:
        """Say yes, or say it again, and read what became of it."""
        answer = await client.ask("yes", self.journal.proposed[order], _judge_yes)
        if answer is None:
            return "wait"
        state = _state_of(answer)
        if state in ("done", "done before"):
            self.journal.done[order] = time.monotonic() - self.journal.undecided.pop(order)
            return "known"
        if state in ("under way", "held"):
            return "wait"
        # It expired, or nobody knows: whoever asks anew has to look first.
        await asyncio.sleep(1)
        status = await self._look(client, order, says(f"Order {order} is **"))
        if status is not None and "cancelled" in status.content:
            self.journal.done[order] = time.monotonic() - self.journal.undecided.pop(order)
            return "known"
        return "propose"


_SAID: Final = {
    "being carried out already": "under way",
    "carried out before": "done before",
    "unknown whether it was done": "unknown",
    "has expired": "expired",
}


def _state_of(answer: Answer) -> str:
    """What a yes was answered, in a word; empty for what should not come."""
    if answer.status == 200:
        done = answer.metadata.get("tool_execution", {}).get("status") == "success"
        status = str(answer.proposal.get("status"))
        return status if (status == "done" and done) or status == "held" else ""
    message = str(answer.body.get("error", {}).get("message"))
    return next((state for words, state in _SAID.items() if words in message), "")


def _judge_yes(answer: Answer) -> Outcome:
    state = _state_of(answer)
    return "wrong" if not state else "right" if state.startswith("done") else "waits"
