"""Delivering commit events in the background, at least once each."""

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from secrets import token_hex
from typing import Final

from server.access.database import Database
from server.conversation.commits import outbox
from server.conversation.commits.commits import Commits
from server.conversation.commits.outbox import Parcel
from server.conversation.commits.webhook import Undelivered, Webhook
from server.errors import StoreUnavailable
from server.metrics.metrics import Metrics
from server.settings.conversation import CommitsSettings, WebhookSettings

_log = logging.getLogger(__name__)

_LOOK_EVERY_S: Final = 2.0
"""How often is looked for what others left, or what is to be tried again."""
_AT_ONCE: Final = 8
_LEASE_MARGIN_S: Final = 20.0


class Delivery:
    """Takes events out of the table and sends them; any number of servers may do so at once.

    An event is leased while it is being sent, so that no other server sends it needlessly.
    Where the sender is ended in between, or the answer is lost, it is sent again: a receiver
    that must act once goes by the event's `id`, which is also the idempotency key.
    """

    def __init__(
        self,
        database: Database,
        commits: Commits,
        webhook: Webhook,
        settings: WebhookSettings,
        metrics: Metrics,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        look_every_s: float = _LOOK_EVERY_S,
    ) -> None:
        self._database = database
        self._commits = commits
        self._webhook = webhook
        self._settings = settings
        self._metrics = metrics
        self._now = now
        self._look_every_s = look_every_s
        self._worker = token_hex(8)

    async def run(self) -> None:
        """Deliver whatever is due, and wait for more; ends only when it is cancelled."""
        while True:
            self._commits.fresh.clear()
            try:
                tried = await self.deliver_due()
            except StoreUnavailable as failure:
                _log.warning("commit events cannot be delivered yet: %s", failure)
                tried = 0
            if tried < _AT_ONCE:
                await self._until_there_may_be_more()

    async def deliver_due(self) -> int:
        """Try what is due now, once; return how many that were.

        Raises:
            StoreUnavailable: the table cannot be used.
        """
        lease = timedelta(seconds=self._settings.timeout_s + _LEASE_MARGIN_S)
        now = self._now()
        parcels = await self._database.run(
            lambda c: outbox.claim(c, self._worker, now, lease=lease, most=_AT_ONCE)
        )
        await asyncio.gather(*map(self._deliver, parcels))
        self._metrics.commits_waiting(await self._database.run(outbox.waiting))
        return len(parcels)

    async def close(self) -> None:
        await self._webhook.close()

    async def _until_there_may_be_more(self) -> None:
        try:
            async with asyncio.timeout(self._look_every_s):
                await self._commits.fresh.wait()
        except TimeoutError:
            pass

    async def _deliver(self, parcel: Parcel) -> None:
        try:
            await self._webhook.send(parcel.id, parcel.body)
        except Undelivered as failed:
            await self._put_off(parcel, str(failed))
            return
        self._metrics.commit_delivery("delivered")
        now, keep = self._now(), self._commits.keeps
        await self._database.run(lambda c: outbox.delivered(c, parcel.id, now, keep=keep))

    async def _put_off(self, parcel: Parcel, why: str) -> None:
        now = self._now()
        pause_s = min(
            self._settings.first_retry_s * 2.0 ** min(parcel.attempts - 1, 30),
            self._settings.longest_retry_s,
        )
        again_at: datetime | None = now + timedelta(seconds=pause_s)
        if now - parcel.at >= timedelta(hours=self._settings.give_up_after_h):
            again_at = None
            _log.error("commit event %s is given up: %s", parcel.id, why)
        elif parcel.attempts == 1:
            _log.warning("commit event %s: the receiver is tried again: %s", parcel.id, why)
        self._metrics.commit_delivery("failed" if again_at is not None else "given_up")
        await self._database.run(lambda c: outbox.failed(c, parcel, self._worker, why, again_at))


def open_delivery(
    database: Database, commits: Commits, settings: CommitsSettings, metrics: Metrics
) -> Delivery | None:
    """The delivery that the settings ask for; None without a receiver."""
    webhook = settings.webhook
    if webhook.url is None or webhook.secret is None:
        return None
    secret = webhook.secret.get_secret_value().encode()
    sender = Webhook(webhook.url, secret, webhook.timeout_s)
    return Delivery(database, commits, sender, webhook, metrics)
