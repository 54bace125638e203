"""What conversations of one server share: memory, pending confirmations and commit events."""

import asyncio
import hmac
import logging
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Final, Self

from server.conversation.confirmations.pending_calls import CallSignature
from server.conversation.confirmations.service import ConfirmationService, Limits
from server.conversation.downloads import DownloadStore
from server.conversation.inbox import InboxStore
from server.conversation.outbox import Commits, Delivery, open_delivery
from server.conversation.store import ConversationStore
from server.core.transcript import TranscriptKey
from server.errors import StoreUnavailable
from server.metrics.metrics import Metrics
from server.settings.models import Settings
from server.storage.database import Database, open_database
from server.storage.installation import InstallationSecret, check_secret
from server.storage.presence import Presence
from server.text.replies import shipped_replies
from server.workers.parent import Parent

_log = logging.getLogger(__name__)

_TIDY_EVERY_S: Final = 30.0
_MARGIN_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class ConversationService:
    """The parts that share one database: `store` remembers, `proposals` wait, `delivery` sends.

    `inbox` keeps turns for somebody to look at; None where it is switched off.
    """

    store: ConversationStore
    proposals: ConfirmationService
    delivery: Delivery | None
    commits: Commits
    database: Database
    transcripts: TranscriptKey
    secret: InstallationSecret
    presence: Presence | None = None
    """Who else has calls under way; None where no other process does."""
    inbox: InboxStore | None = None
    downloads: DownloadStore | None = None
    """The calls behind the links of answers that were cut."""

    @classmethod
    def open(cls, settings: Settings, metrics: Metrics, parent: Parent | None = None) -> Self:
        """Open what is stored, for a worker with its `parent`. Blocks.

        Raises:
            StoreUnavailable: the database cannot be used.
            ConfigurationInvalid: the secret of the installation cannot be used, or is not the one
                that the database is used with.
        """
        conversation = settings.conversation
        secret = InstallationSecret.of(settings)
        found = secret.value
        limits = Limits(
            conversation.proposal_expires_after_s,
            conversation.max_held_per_key,
            longest_run_s=longest_call_s(settings),
        )
        shipped_replies()
        url, timeout_s, migrate = (
            settings.database_url,
            settings.store_timeout_s,
            settings.may_migrate,
        )
        engine = open_database(url, migrate=migrate)
        check_secret(engine, secret)
        database = Database(engine, threads=2, timeout_s=timeout_s)
        alone = settings.one_process
        store = ConversationStore.open(
            url,
            conversation,
            timeout_s=timeout_s,
            metrics=metrics,
            migrate=migrate,
            parent=parent,
        )
        commits = Commits(conversation.commits)
        inbox = InboxStore(
            database,
            settings.inbox,
            answered_last_h=conversation.expires_after_h,
            metrics=metrics,
        )
        proposals = ConfirmationService(
            database, CallSignature(found), commits, limits, one_process=alone
        )
        presence = None
        if not alone:  # with a thread of its own, which never waits for others
            saying = Database(engine, threads=1, timeout_s=timeout_s)
            presence = Presence(saying, proposals.owner)
        return cls(
            store,
            proposals,
            open_delivery(database, commits, conversation.commits, metrics),
            commits,
            database,
            TranscriptKey(hmac.digest(found, b"transcripts", "sha256")),
            secret,
            presence,
            inbox if settings.inbox.enabled else None,
            DownloadStore(database, metrics=metrics, one_process=alone),
        )

    async def serve(self) -> None:
        """Recover what an earlier server left; deliver events and tidy until cancelled."""
        await _log_failure(self.proposals.recover())
        if self.presence is not None:
            self.presence.begin(self.proposals.recover)
        delivering = asyncio.create_task(self.delivery.run()) if self.delivery else None
        try:
            while True:
                await _log_failure(self.proposals.tidy())
                await _log_failure(self.store.tidy())
                await _log_failure(self.commits.tidy(self.database))
                for each in (self.inbox, self.downloads):
                    if each is not None:
                        await _log_failure(each.tidy())
                await asyncio.sleep(_TIDY_EVERY_S)
        finally:
            if delivering is not None:
                delivering.cancel()
                await asyncio.gather(delivering, return_exceptions=True)

    async def deliver_once(self) -> None:
        """Try once to deliver what was committed here, for a process that ends soon."""
        if self.delivery is not None and self.commits.fresh.is_set():
            await _log_failure(self.delivery.deliver_due())

    async def close(self) -> None:
        """Wait for running calls, write what waits, and close the database."""
        await self.proposals.drain()
        if self.presence is not None:
            await self.presence.close()
        if self.delivery is not None:
            await self.delivery.close()
        await self.store.close()
        if self.inbox is not None:
            await self.inbox.close()
        if self.downloads is not None:
            await self.downloads.close()
        await self.database.close()


def longest_call_s(settings: Settings) -> float:
    """Return after how many seconds no call can be running that began before."""
    longest_tool_s = max((a.config.agent.tool_timeout for a in settings.adapters), default=0.0)
    return settings.server.turn_timeout_s + longest_tool_s + _MARGIN_S


async def _log_failure(work: Awaitable[object]) -> None:
    try:
        await work
    except StoreUnavailable as failure:
        _log.warning("%s", failure)
