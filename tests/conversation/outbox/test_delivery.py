"""Commit events: what they say, where they go, and that none is lost."""

import asyncio
import hmac
import json
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import anyio
import pytest

from server.conversation import outbox
from server.conversation.outbox import Commits, Delivery, Webhook, open_delivery
from server.metrics.metrics import Metrics
from server.settings.models import CommitsSettings, WebhookSettings
from tests.conversation.confirmations.shopfloor import Clock, Floor, floor
from tests.tools.http.upstream import Asked, Upstream, reply, upstream

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SECRET = "s" * 32


def settings(url: str, **more: Any) -> CommitsSettings:
    webhook = {"url": url, "secret": SECRET, "timeout_s": 5}
    return CommitsSettings.model_validate({"webhook": webhook, **more})


@asynccontextmanager
async def receiver(*statuses: int) -> AsyncIterator[Upstream]:
    """A service that answers with `statuses`, one after the other, and then with 200."""
    left = list(statuses)

    async def answer(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(reply({}, status=left.pop(0) if left else 200))

    async with upstream(answer) as found:
        yield found


def delivery_of(
    shop: Floor, chosen: CommitsSettings, *, metrics: Metrics | None = None
) -> Delivery:
    webhook = chosen.webhook
    assert webhook.url is not None
    sender = Webhook(webhook.url, SECRET.encode(), 5, clock_s=lambda: 1_738_324_800.9)
    return Delivery(
        shop.database, Commits(chosen), sender, webhook, metrics or Metrics(), now=shop.clock
    )


async def committed(shop: Floor, *names: str) -> None:
    for name in names:
        await shop.say(f"erase {name}")
        await shop.say("yes")


def bodies(asked: Sequence[Asked]) -> list[Any]:
    return [request.json["target"] for request in asked]


async def test_an_event_is_sent_as_it_is_documented(tmp_path: Path) -> None:
    async with receiver() as hook:
        chosen = settings(f"{hook.origin}/v1/kernel/commit")
        async with floor(tmp_path, commits=chosen) as shop:
            await committed(shop, "all")
            delivery = delivery_of(shop, chosen)
            assert await delivery.deliver_due() == 1
            await delivery.close()
            (row,) = await shop.events()
    (asked,) = hook.asked
    assert (asked.method, asked.path) == ("POST", "/v1/kernel/commit")
    assert asked.json == {
        "event": "J01",
        "id": row["id"],
        "time": "2025-01-31T12:00:00.000+00:00",
        "intent": "erase",
        "target": "all",
        "session_id": "s",
        "status": "COMMITTED",
    }
    signed = hmac.new(SECRET.encode(), b"1738324800." + asked.body, sha256).hexdigest()
    assert asked.headers["x-orbit-signature"] == f"t=1738324800,v1={signed}"
    assert asked.headers["idempotency-key"] == row["id"]
    assert (row["due_at"], row["delivered_at"]) == (None, shop.clock.at)


async def test_one_that_is_not_taken_is_sent_again_later_and_later(tmp_path: Path) -> None:
    async with receiver(500, 503, 404) as hook:
        chosen = settings(hook.origin)
        async with floor(tmp_path, commits=chosen) as shop:
            await committed(shop, "all")
            delivery = delivery_of(shop, chosen)
            pauses = []
            for _ in range(4):
                assert await delivery.deliver_due() == 1
                assert await delivery.deliver_due() == 0
                (row,) = await shop.events()
                pauses.append(row["due_at"] and (row["due_at"] - shop.clock.at).total_seconds())
                shop.clock.at = row["due_at"] or shop.clock.at
            assert pauses == [1, 2, 4, None]
            assert {asked.headers["idempotency-key"] for asked in hook.asked} == {row["id"]}
            await delivery.close()


async def test_one_of_before_the_clock_was_set_back_is_sent_all_the_same(tmp_path: Path) -> None:
    async with receiver(500) as hook:
        chosen = settings(hook.origin)
        async with floor(tmp_path, commits=chosen) as shop:
            await committed(shop, "all")
            delivery = delivery_of(shop, chosen)
            for _ in range(2):  # before it was ever tried, and while it waits to be tried again
                shop.clock.at -= timedelta(days=1)
                assert await delivery.deliver_due() == 1
            assert await delivery.deliver_due() == 0
            await delivery.close()


async def test_one_that_nobody_takes_is_given_up_at_last(tmp_path: Path) -> None:
    async with receiver(*[500] * 5) as hook:
        chosen = settings(hook.origin)
        async with floor(tmp_path, commits=chosen) as shop:
            await committed(shop, "all")
            delivery = delivery_of(shop, chosen)
            await delivery.deliver_due()
            shop.clock.at += timedelta(hours=72)
            await delivery.deliver_due()
            shop.clock.at += timedelta(hours=72)
            assert await delivery.deliver_due() == 0
            (row,) = await shop.events()
            assert (row["failure"], row["delivered_at"], len(hook.asked)) == (
                "it answered 500", None, 2,
            )  # fmt: skip
            await delivery.close()


async def test_a_receiver_that_is_not_there_loses_nothing(tmp_path: Path) -> None:
    chosen = settings("http://127.0.0.1:1/")
    async with floor(tmp_path, commits=chosen) as shop:
        await committed(shop, "all")
        delivery = delivery_of(shop, chosen)
        await delivery.deliver_due()
        (row,) = await shop.events()
        assert (row["failure"], row["attempts"]) == ("it cannot be reached (ConnectError)", 1)
        await delivery.close()
    async with receiver() as hook:
        chosen = settings(hook.origin)
        async with floor(tmp_path, clock=Clock(shop.clock.at + timedelta(minutes=5))) as later:
            delivery = delivery_of(later, chosen)
            await delivery.deliver_due()
            await delivery.close()
    assert bodies(hook.asked) == ["all"]


async def test_several_servers_share_the_work(tmp_path: Path) -> None:
    async with receiver() as hook:
        chosen = settings(hook.origin)
        async with floor(tmp_path, commits=chosen) as shop:
            await committed(shop, *"abcdefghij")
            servers = [delivery_of(shop, chosen) for _ in range(4)]
            while sum(await asyncio.gather(*(each.deliver_due() for each in servers))):
                pass
            for each in servers:
                await each.close()
    assert sorted(bodies(hook.asked)) == list("abcdefghij")


async def test_what_a_server_leased_when_it_ended_is_sent_by_another(tmp_path: Path) -> None:
    async with receiver() as hook:
        chosen = settings(hook.origin)
        async with floor(tmp_path, commits=chosen) as shop:
            await committed(shop, "all")
            now = shop.clock.at
            lease = timedelta(seconds=25)
            leased = await shop.database.run(
                lambda c: outbox.claim(c, "ended", now, lease=lease, longest=lease, most=8)
            )
            delivery = delivery_of(shop, chosen)
            assert (len(leased), await delivery.deliver_due()) == (1, 0)
            shop.clock.at += lease
            assert await delivery.deliver_due() == 1
            await delivery.close()
    assert bodies(hook.asked) == ["all"]


async def test_it_is_sent_at_once_by_the_worker(tmp_path: Path) -> None:
    async with receiver(503) as hook:
        chosen = settings(hook.origin)
        chosen = chosen.model_copy(
            update={"webhook": chosen.webhook.model_copy(update={"first_retry_s": 0.01})}
        )
        async with floor(tmp_path, commits=chosen) as shop:
            commits = Commits(chosen)
            metrics = Metrics()
            opened = open_delivery(shop.database, commits, chosen, metrics)
            assert opened is not None
            working = asyncio.create_task(opened.run())
            event = commits.event("erase", "all", "s", datetime.now(UTC))
            await shop.database.run(lambda c: commits.write(c, event))
            commits.written(event)
            with anyio.fail_after(20):
                while len(hook.asked) < 2:  # noqa: ASYNC110  the wire tells nobody
                    await asyncio.sleep(0.01)
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
            await opened.close()
    counted = metrics.text().decode()
    assert 'orbit_commit_deliveries_total{outcome="failed"} 1.0' in counted


@pytest.mark.parametrize(
    ("chosen", "kept"),
    [({"outbox": True}, ["all"]), ({"outbox": False}, [])],
    ids=["kept", "not kept"],
)
async def test_the_table_keeps_events_where_it_shall(
    tmp_path: Path, chosen: dict[str, Any], kept: list[str]
) -> None:
    async with receiver() as hook:
        found = settings(hook.origin, **chosen)
        async with floor(tmp_path, commits=found) as shop:
            await committed(shop, "all")
            delivery = delivery_of(shop, found)
            await delivery.deliver_due()
            await delivery.close()
            assert [row["target"] for row in await shop.events()] == kept
    async with floor(tmp_path, commits=CommitsSettings.model_validate(chosen)) as shop:
        await committed(shop, "more")
        targets = [row["target"] for row in await shop.events()]
        assert targets == ([*kept, "more"] if chosen["outbox"] else [])


async def test_the_log_tells_of_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "server.conversation.outbox"):
        async with floor(tmp_path) as shop:
            await committed(shop, "all")
            (row,) = await shop.events()
        async with floor(tmp_path, commits=CommitsSettings(log=False)) as shop:
            await committed(shop, "more")
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("J01 {")
    assert json.loads(line.removeprefix("J01 "))["id"] == row["id"]


async def test_old_events_are_deleted_once_nothing_is_left_to_do(tmp_path: Path) -> None:
    chosen = CommitsSettings(keep_days=1)
    async with floor(tmp_path, commits=chosen) as shop:
        await committed(shop, "all")
        await Commits(chosen).tidy(shop.database)  # what happened in 2025 is older than a day
        assert await shop.events() == []


@pytest.mark.parametrize(
    ("webhook", "problem"),
    [
        ({"url": "https://kernel.example/"}, "needs a secret"),
        ({"url": "kernel.example", "secret": SECRET}, "of the form https://host/path"),
        ({"url": "file:///etc/passwd", "secret": SECRET}, "of the form https://host/path"),
    ],
)
def test_a_webhook_that_cannot_work_is_refused(webhook: dict[str, str], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        WebhookSettings.model_validate(webhook)
