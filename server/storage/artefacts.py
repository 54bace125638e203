"""What was learnt from libraries, kept in the database, so that other machines need not learn it.

Anything here can be made again: what is missing, damaged or altered counts as not there.
"""

import asyncio
import hmac
import logging
from datetime import timedelta
from time import monotonic
from typing import Any, Final

import sqlalchemy as sa

from server.errors import StoreUnavailable
from server.storage.database import BATCH_TIMEOUT_S, Database, UtcTime, utc_now

_log = logging.getLogger(__name__)

_PART_BYTES: Final = 4_000_000
_MOST_BYTES: Final = 256_000_000
"""Of one artefact. What is larger is made, or read from a ChromaDB server, by each machine."""
_KEPT_OF_NAME: Final = 4
"""Several, since servers with an older and a newer library may start in turns."""
_KEPT_UNUSED: Final = timedelta(days=30)
_TIDY_EVERY_S: Final = 86_400.0
_NOTE_USE_AFTER: Final = timedelta(days=1)

ARTEFACTS: Final = sa.Table(
    "artefacts",
    sa.MetaData(),
    sa.Column("name", sa.String(128), primary_key=True),
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("part", sa.Integer, primary_key=True),
    sa.Column("parts", sa.Integer, nullable=False),
    sa.Column("seal", sa.String(64), nullable=False),
    sa.Column("content", sa.LargeBinary, nullable=False),
    sa.Column("made_at", UtcTime, nullable=False),
    sa.Column("used_at", UtcTime, nullable=False, index=True),
)
"""`key` is a digest of all that decides the content; the `seal` of a part is also that of those
before it."""


class ArtefactStore:
    """Contents by name and key, sealed with the secret of the installation."""

    def __init__(self, database: Database, secret: bytes, *, most_bytes: int = _MOST_BYTES) -> None:
        self._database = database
        self._secret = hmac.digest(secret, b"artefacts", "sha256")
        self._most_bytes = most_bytes

    async def read(self, name: str, key: str) -> bytes | None:
        """Return what was written with this name and key; None where it is not there as it was."""
        columns = ARTEFACTS.c
        this = sa.and_(columns.name == name, columns.key == key)
        about = sa.select(columns.part, columns.parts, columns.used_at).where(this)
        content, seal = bytearray(), ""
        try:
            rows = await self._database.run(lambda c: c.execute(about).all())
            if not rows or len(rows) != rows[0].parts:
                return None
            for part in range(len(rows)):
                asked = sa.select(columns.seal, columns.content).where(this, columns.part == part)
                row = await self._run(lambda c, asked=asked: c.execute(asked).first())
                if row is not None:
                    seal = self._seal(name, key, part, len(rows), seal, row.content)
                if row is None or not hmac.compare_digest(row.seal.encode(), seal.encode()):
                    _log.warning("%s in the database is damaged, and is made again", name)
                    return None
                content += row.content
            now = utc_now()
            if now - rows[0].used_at > _NOTE_USE_AFTER:
                await self._run(
                    lambda c: c.execute(ARTEFACTS.update().where(this).values(used_at=now))
                )
        except StoreUnavailable as failure:
            _log.warning("%s cannot be read from the database: %s", name, failure)
            return None
        return bytes(content)

    async def write(self, name: str, key: str, content: bytes) -> None:
        """Keep a content for other machines, in the place of the oldest of its name."""
        if len(content) > self._most_bytes:
            told = name, len(content) / 1e6, self._most_bytes / 1e6
            _log.info("%s has %.0f MB, and only %.0f are kept in the database", *told)
            return
        now, starts = utc_now(), range(0, max(1, len(content)), _PART_BYTES)
        since_s = monotonic()

        def work(connection: sa.Connection) -> None:
            same = sa.and_(ARTEFACTS.c.name == name, ARTEFACTS.c.key == key)
            connection.execute(ARTEFACTS.delete().where(same))
            seal = ""
            for part, start in enumerate(starts):
                piece = content[start : start + _PART_BYTES]
                seal = self._seal(name, key, part, len(starts), seal, piece)
                row = {
                    "name": name,
                    "key": key,
                    "part": part,
                    "parts": len(starts),
                    "content": piece,
                    "made_at": now,
                    "used_at": now,
                    "seal": seal,
                }
                connection.execute(ARTEFACTS.insert(), row)
            _drop_older(connection, name)

        try:
            await self._run(work)
        except StoreUnavailable as failure:
            _log.warning("%s is not kept in the database: %s", name, failure)
            return
        _log.debug("%s is kept in the database, after %.1f s", name, monotonic() - since_s)

    async def serve(self) -> None:
        """Delete what is not used any more, every day, until it is cancelled."""
        while True:
            await asyncio.sleep(_TIDY_EVERY_S)
            try:
                await self.tidy()
            except StoreUnavailable as failure:
                _log.warning("%s", failure)

    async def tidy(self) -> None:
        """Delete what no server has used for long; raise `StoreUnavailable` if that fails."""
        late = ARTEFACTS.c.used_at < utc_now() - _KEPT_UNUSED
        await self._run(lambda c: c.execute(ARTEFACTS.delete().where(late)))

    async def _run(self, job: Any) -> Any:
        return await self._database.run(job, timeout_s=BATCH_TIMEOUT_S)

    def _seal(self, name: str, key: str, part: int, parts: int, before: str, content: bytes) -> str:
        """Return the seal of a part, `before` being that of the part before it."""
        about = f"{name}\n{key}\n{part} of {parts}\n{before}\n"
        digest = hmac.new(self._secret, about.encode(), "sha256")
        digest.update(content)
        return digest.hexdigest()


def _drop_older(connection: sa.Connection, name: str) -> None:
    columns = ARTEFACTS.c
    of_name = sa.select(columns.key).where(columns.name == name, columns.part == 0)
    newest = of_name.order_by(columns.used_at.desc(), columns.made_at.desc())
    older = connection.execute(newest.offset(_KEPT_OF_NAME)).scalars().all()
    if older:
        connection.execute(ARTEFACTS.delete().where(columns.name == name, columns.key.in_(older)))
