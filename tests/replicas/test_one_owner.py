"""What is one process's at a time: events to deliver, and calls under way, also when it ends."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa

from server.audit.entry import to_row, verify_chain
from server.audit.table import TableSink
from server.audit.writer import AuditWriter
from server.conversation.outbox import CommitEvent, Commits, Delivery, Webhook
from server.metrics.metrics import Metrics
from server.settings.models import CommitsSettings
from server.storage import presence
from server.storage.database import Database
from server.storage.presence import Presence
from tests.audit.test_audit import EVENT
from tests.conversation.confirmations.shopfloor import Floor, floor, held_id
from tests.conversation.outbox.test_delivery import SECRET, bodies, receiver, settings
from tests.tools.policy.chains import SEAL

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

LASTS_S = 0.5
EVENTS = 40


@asynccontextmanager
async def deliverers(
    url: str, chosen: CommitsSettings, shop: Floor, count: int
) -> AsyncIterator[list[Delivery]]:
    """As many services that deliver, each with a database connection of its own."""
    webhook = chosen.webhook
    assert webhook.url is not None
    async with AsyncExitStack() as closing:
        made = []
        for _ in range(count):
            database = Database.open(url)
            closing.push_async_callback(database.close)
            sender = Webhook(webhook.url, SECRET.encode(), 5)
            delivery = Delivery(
                database, Commits(chosen), sender, webhook, Metrics(), now=shop.clock
            )
            closing.push_async_callback(delivery.close)
            made.append(delivery)
        yield made


def write(commits: Commits, event: CommitEvent, connection: sa.Connection) -> None:
    commits.write(connection, event)


async def test_each_event_is_delivered_once_by_whichever_service(url: str, tmp_path: Path) -> None:
    async with receiver() as hook:
        chosen = settings(hook.origin)
        commits = Commits(chosen)
        async with (
            floor(tmp_path, url=url, commits=chosen) as shop,
            deliverers(url, chosen, shop, 3) as services,
        ):
            for number in range(EVENTS):
                event = commits.event("erase", str(number), "s", shop.clock.at)
                await shop.database.run(partial(write, commits, event))
            while sum(await asyncio.gather(*(each.deliver_due() for each in services))):
                """Until nothing is due."""
    assert Counter(bodies(hook.asked)) == dict.fromkeys(map(str, range(EVENTS)), 1)


async def test_what_a_service_had_leased_when_it_was_killed_is_sent_by_another_later(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with receiver() as hook:
        chosen = settings(hook.origin)
        commits = Commits(chosen)
        async with (
            floor(tmp_path, url=url, commits=chosen) as shop,
            deliverers(url, chosen, shop, 2) as (killed, other),
        ):
            event = commits.event("erase", "all", "s", shop.clock.at)
            await shop.database.run(partial(write, commits, event))
            monkeypatch.setattr(killed, "_deliver", never)
            assert [await killed.deliver_due(), await other.deliver_due()] == [1, 0]
            shop.clock.at += timedelta(seconds=chosen.webhook.timeout_s + 20)
            assert [await other.deliver_due(), await other.deliver_due()] == [1, 0]
    assert bodies(hook.asked) == ["all"]


async def never(_: object) -> None:
    """Deliver nothing, as who was killed."""


@pytest.fixture
def _says_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "_SAID_EVERY_S", LASTS_S / 10)


async def states(shop: Floor) -> list[str]:
    return [row["state"] for row in await shop.rows()]


@pytest.mark.usefixtures("_says_often")
async def test_calls_of_the_living_are_left_alone_and_those_of_the_dead_ended(
    tmp_path: Path,
) -> None:
    url = f"sqlite:///{tmp_path / 'orbit.db'}"
    async with (
        floor(tmp_path, url=url, alone=False) as one,
        floor(tmp_path, url=url, alone=False) as two,
    ):
        first, second = [
            Presence(Database.open(url, threads=1), each.desk.owner, lasts_s=LASTS_S)
            for each in (one, two)
        ]
        first.begin(one.desk.recover)
        runs, taken = [await one.say(f"erase {name}", name) for name in ("runs", "taken")]
        await one.desk.commit(await one.desk.claim(one.caller, "runs", held_id(runs)))
        await one.desk.claim(one.caller, "taken", held_id(taken))

        await two.desk.recover()  # as one that starts
        second.begin(two.desk.recover)
        await two.desk.tidy()
        await asyncio.sleep(2 * LASTS_S)
        assert await states(two) == ["running", "taken"]

        assert first._saying is not None
        first._saying.cancel()  # as one that is killed: it takes no leave
        async with asyncio.timeout(20 * LASTS_S):
            while await states(two) != ["interrupted", "held"]:  # noqa: ASYNC110
                await asyncio.sleep(LASTS_S / 10)
        await two.confirm(held_id(taken), session="taken")
        assert two.tool.ran == [("erase", {"text": "taken"})]
        for each in (first, second):
            await each.close()


@pytest.mark.usefixtures("_says_often")
async def test_one_that_ends_in_order_is_forgotten_and_nothing_is_taken_over(
    tmp_path: Path,
) -> None:
    url = f"sqlite:///{tmp_path / 'orbit.db'}"
    gone: list[str] = []

    async def take_over(names: object) -> None:
        gone.append(str(names))

    first, second = [
        Presence(Database.open(url, threads=1), n, lasts_s=LASTS_S) for n in ("1", "2")
    ]
    for each in (first, second):
        each.begin(take_over)
    await asyncio.sleep(LASTS_S / 2)
    await first.close()
    await asyncio.sleep(2 * LASTS_S)
    assert await second.look() == frozenset()
    await second.close()
    assert gone == []


async def test_of_two_that_settle_the_audit_one_ends_what_a_third_left(url: str) -> None:
    sinks = [TableSink(url, SEAL) for _ in range(2)]
    trails = [AuditWriter(sink, one_process=False) for sink in sinks]
    fresh = replace(EVENT, outcome="started", call_id="living-1", at=datetime.now(UTC))
    old = replace(EVENT, outcome="started", call_id="dead-1")
    await asyncio.to_thread(sinks[0].append, [to_row(old), to_row(fresh)])
    serving = [asyncio.create_task(trail.serve(60)) for trail in trails]

    def ended() -> list[str]:
        entries = [entry.event for entry in sinks[1].entries()]
        return [str(e["call_id"]) for e in entries if e["outcome"] == "interrupted"]

    async with asyncio.timeout(20):
        while not await asyncio.to_thread(ended):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    await asyncio.sleep(0.2)  # and no second one
    assert await asyncio.to_thread(ended) == ["dead-1"]
    for task, trail in zip(serving, trails, strict=True):
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await trail.close()
    check = TableSink(url, SEAL)
    assert await asyncio.to_thread(lambda: verify_chain(check, SEAL).problems) == ()
    check.close()
