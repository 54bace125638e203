"""From a commit to its event, and to those who are told of it."""

import asyncio
import logging
from datetime import UTC, datetime, timedelta
from secrets import token_hex

import sqlalchemy as sa

from server.access.database import Database
from server.conversation.commits import outbox
from server.conversation.commits.event import COMMIT, CommitEvent
from server.settings.conversation import CommitsSettings

_log = logging.getLogger(__name__)


class Commits:
    """Makes events, keeps them, and says when there is one to be delivered."""

    def __init__(self, settings: CommitsSettings) -> None:
        self._logs = settings.log
        self._kept_for = timedelta(days=settings.keep_days)
        self.keeps = settings.outbox
        self.delivers = settings.webhook.url is not None
        self.fresh = asyncio.Event()
        """Set when there is an event that was not delivered yet."""

    async def tidy(self, database: Database) -> None:
        """Delete events that were kept long enough.

        Raises:
            StoreUnavailable: the table cannot be used.
        """
        end = datetime.now(UTC) - self._kept_for
        await database.run(lambda c: outbox.delete_before(c, end))

    def event(self, intent: str, target: str | None, session_id: str, at: datetime) -> CommitEvent:
        return CommitEvent(token_hex(16), at, intent, target, session_id)

    def write(self, connection: sa.Connection, event: CommitEvent) -> None:
        """Keep an event, within the transaction that commits what it tells of."""
        if self.keeps or self.delivers:
            outbox.insert(connection, event, to_deliver=self.delivers)

    def written(self, event: CommitEvent) -> None:
        """Tell those who need no delivery, once the transaction has ended well."""
        if self._logs:
            _log.info("%s %s", COMMIT, event.to_text())
        if self.delivers:
            self.fresh.set()
