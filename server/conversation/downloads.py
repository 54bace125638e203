"""Links to all rows of an answer that was cut: the call behind each, for whom, and until when."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from server.conversation.serialization import arguments_from_json, arguments_to_json
from server.conversation.store import conversation_key_columns
from server.core.turn import Caller
from server.errors import DownloadUnknown
from server.metrics.metrics import Metrics
from server.storage.database import BATCH_TIMEOUT_S, Database, UtcTime, utc_now
from server.storage.write_behind import WriteBehind

_WRITE_EVERY_S: Final = 0.2

DOWNLOADS: Final = sa.Table(
    "downloads",
    sa.MetaData(),
    sa.Column("download_id", sa.String(64), primary_key=True),
    *conversation_key_columns(nullable=False),
    sa.Column("library", sa.String(255), nullable=False),
    sa.Column("template_id", sa.String(255), nullable=False),
    sa.Column("template_hash", sa.String(64), nullable=False),
    sa.Column("arguments", sa.Text, nullable=False),
    sa.Column("intent", sa.String(255)),
    sa.Column("expires_at", UtcTime, nullable=False, index=True),
    sa.Index("downloads_of_session", "key_id", "user_id", "session_id"),
)


@dataclass(frozen=True, slots=True)
class Download:
    """A call that was answered, as it will run again; `library` is the adapter that answered."""

    download_id: str
    key_id: str
    adapter: str
    user_id: str
    session_id: str
    library: str
    template_id: str
    template_hash: str
    arguments: Mapping[str, Any]
    intent: str | None
    expires_at: datetime

    def is_of(self, caller: Caller) -> bool:
        whose = self.key_id, self.adapter, self.user_id
        return whose == (caller.key_id, caller.adapter, caller.user_id or "")


class DownloadStore:
    """Downloads in the database of keys, so that any server on it finds them.

    On SQLite, which one server writes, they are written shortly after the answer.
    """

    def __init__(
        self,
        database: Database,
        *,
        now: Callable[[], datetime] = utc_now,
        metrics: Metrics | None = None,
        one_process: bool | None = None,
    ) -> None:
        """`one_process` says that no other reads them; unsaid, that is so on SQLite."""
        self._database = database
        self._one_process = database.is_sqlite if one_process is None else one_process
        self._now = now
        self._behind = WriteBehind[str, Download](
            self._write, what="downloads", every_s=_WRITE_EVERY_S, metrics=metrics
        )

    async def keep(self, download: Download) -> None:
        """Keep a download until it expires; raise StoreUnavailable if that fails."""
        if self._one_process:
            self._behind.note(download.download_id, download)
        else:
            await self._write({download.download_id: download})

    async def find(self, caller: Caller, download_id: str) -> Download:
        """Return a download of the caller's own.

        Raises:
            DownloadUnknown: there is none, it is somebody else's, or it has expired.
            StoreUnavailable: the database cannot be read.
        """
        found = self._behind.get(download_id)
        if found is None:
            asked = sa.select(DOWNLOADS).where(DOWNLOADS.c.download_id == download_id)
            row = await self._database.run(lambda c: c.execute(asked).mappings().first())
            if row is not None:
                found = Download(**{**row, "arguments": arguments_from_json(row["arguments"])})
        if found is None or not found.is_of(caller) or found.expires_at <= self._now():
            raise DownloadUnknown("this key has no download of that id, or not any more")
        return found

    async def forget(self, caller: Caller, session_id: str) -> None:
        """Forget the downloads of a conversation; raise StoreUnavailable if that fails."""
        await self._behind.flush()
        mine = sa.and_(
            DOWNLOADS.c.key_id == caller.key_id,
            DOWNLOADS.c.adapter == caller.adapter,
            DOWNLOADS.c.user_id == (caller.user_id or ""),
            DOWNLOADS.c.session_id == session_id,
        )
        await self._database.run(lambda c: c.execute(DOWNLOADS.delete().where(mine)))

    async def tidy(self) -> None:
        """Delete what has expired; raise StoreUnavailable if that fails."""
        late = DOWNLOADS.c.expires_at <= self._now()
        await self._database.run(
            lambda c: c.execute(DOWNLOADS.delete().where(late)), timeout_s=BATCH_TIMEOUT_S
        )

    async def close(self) -> None:
        """Write what waits; others may go on using the database."""
        await self._behind.close()

    async def _write(self, batch: Mapping[str, Download]) -> None:
        rows = [
            asdict(each) | {"arguments": arguments_to_json(dict(each.arguments))}
            for each in batch.values()
        ]
        await self._database.run(
            lambda c: c.execute(DOWNLOADS.insert(), rows), timeout_s=BATCH_TIMEOUT_S
        )
