"""What one process has changed and all others shall take up: a table that each looks at.

docs/decisions/replicas.md says why it is a table, and not a notice of the database.
"""

import asyncio
import logging
import os
import socket
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic
from typing import Final, Literal
from uuid import uuid4

import sqlalchemy as sa

from server.errors import OrbitError, StoreUnavailable
from server.storage.database import BATCH_TIMEOUT_S, Database, UtcTime, utc_now

_log = logging.getLogger(__name__)

Kind = Literal["adapters", "guards", "keys", "log"]

_LOOK_EVERY_S: Final = 0.5
_TRY_AGAIN_S: Final = 2.0
_LONGEST_PAUSE_S: Final = 60.0
_TIDY_EVERY_S: Final = 3600.0
_KEPT_FOR: Final = timedelta(days=1)

_UNDER_WAY_S: Final = 30.0
"""For how long a lower number may still appear: numbers are given before a transaction ends."""
_NUMBERS_UNDER_WAY: Final = 100

ANNOUNCEMENTS: Final = sa.Table(
    "announcements",
    sa.MetaData(),
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("at", UtcTime, nullable=False, index=True),
    sa.Column("instance", sa.String(32), nullable=False),
    sa.Column("origin", sa.String(255), nullable=False),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("subject", sa.String(255), nullable=False),
    sqlite_autoincrement=True,  # no number is given twice, even when all rows were deleted
)
"""`instance` is the start of a server that announces, `origin` says to people which."""


@dataclass(frozen=True, slots=True)
class Announcement:
    """Something that another process changed; `subject` says which, empty for all of a kind."""

    kind: Kind
    subject: str
    origin: str


@dataclass(frozen=True, slots=True)
class Announcer:
    """Who announces; one for each start of a server, made after it has become a process."""

    instance: str
    origin: str

    @classmethod
    def of_process(cls, instance: str | None = None) -> "Announcer":
        origin = f"process {os.getpid()} on {socket.gethostname()}"
        return cls(instance or uuid4().hex, origin[:255])

    def write(self, connection: sa.Connection, kind: Kind, subject: str = "") -> None:
        """Announce in the transaction that makes the change, so that there is both or neither."""
        row = {"at": utc_now(), "instance": self.instance, "origin": self.origin}
        connection.execute(ANNOUNCEMENTS.insert(), row | {"kind": kind, "subject": subject})


Take = Callable[[Announcement], Awaitable[None]]


class Announcements:
    """Hands what other processes announce to who takes it up here, within a second or two.

    One kind does not wait for another; of one kind, one follows the other. What cannot be taken
    up for an `OrbitError` is tried again, less and less often, after the others of its kind.
    """

    def __init__(
        self, database: Database, announcer: Announcer, *, look_every_s: float = _LOOK_EVERY_S
    ) -> None:
        self._database = database
        self._announcer = announcer
        self._look_every_s = look_every_s
        self._takers: dict[str, Take] = {}
        self._waiting: dict[str, dict[str, Announcement]] = {}
        self._taking: dict[str, asyncio.Task[None]] = {}
        self._came: dict[str, asyncio.Event] = {}
        self._floor = 0
        self._seen: set[int] = set()
        self._newest: deque[tuple[float, int]] = deque()
        self._away = False

    def hear(self, kind: Kind, take: Take) -> None:
        self._takers[kind] = take

    async def announce(self, kind: Kind, subject: str = "") -> bool:
        """Tell all other processes of a change that was made; return whether they can know."""
        try:
            await self._database.run(lambda c: self._announcer.write(c, kind, subject))
        except StoreUnavailable as failure:
            _log.warning("other processes are not told of a change of %s: %s", kind, failure)
            return False
        return True

    async def begin(self) -> None:
        """Hear what is announced from now on; whatever is read after this is not older.

        Raises `StoreUnavailable`.
        """
        newest = sa.select(sa.func.max(ANNOUNCEMENTS.c.id))
        last = await self._database.run(lambda c: c.execute(newest).scalar()) or 0
        self._floor = max(0, last - _NUMBERS_UNDER_WAY)
        self._seen = {row.id for row in await self._read()}

    async def serve(self) -> None:
        """Look for announcements, and delete old ones, until it is cancelled."""
        tidy_at_s = monotonic() + _TIDY_EVERY_S
        try:
            while True:
                await asyncio.sleep(_TRY_AGAIN_S if self._away else self._look_every_s)
                try:
                    await self.look()
                    if monotonic() >= tidy_at_s:
                        tidy_at_s = monotonic() + _TIDY_EVERY_S
                        await self.tidy()
                except StoreUnavailable as failure:
                    if not self._away:
                        _log.warning("changes of other processes are not seen yet: %s", failure)
                    self._away = True
                else:
                    self._away = False
        finally:
            for task in (taking := list(self._taking.values())):
                task.cancel()
            await asyncio.gather(*taking, return_exceptions=True)

    async def look(self) -> None:
        """Begin to take up what is new; raise `StoreUnavailable` if that cannot be seen."""
        now_s = monotonic()
        rows = await self._read()
        new = [row for row in rows if row.id not in self._seen]
        self._seen |= {row.id for row in new}
        if rows:
            self._newest.append((now_s, rows[-1].id))
        while self._newest and self._newest[0][0] <= now_s - _UNDER_WAY_S:
            self._floor = self._newest.popleft()[1]
        self._seen = {number for number in self._seen if number > self._floor}
        for row in new:
            if row.instance != self._announcer.instance and row.kind in self._takers:
                waiting = self._waiting.setdefault(row.kind, {})
                waiting.pop(row.subject, None)  # what is said again is taken up in its last place
                waiting[row.subject] = Announcement(row.kind, row.subject, row.origin)
                if row.kind in self._came:
                    self._came[row.kind].set()
        for kind in self._waiting:
            if kind not in self._taking and self._waiting[kind]:
                self._taking[kind] = asyncio.create_task(self._take_all(kind))

    async def tidy(self) -> None:
        """Delete what every process has seen long ago; raise `StoreUnavailable` if that fails."""
        late = ANNOUNCEMENTS.c.at < utc_now() - _KEPT_FOR
        await self._database.run(
            lambda c: c.execute(ANNOUNCEMENTS.delete().where(late)), timeout_s=BATCH_TIMEOUT_S
        )

    async def _read(self) -> list[sa.Row[tuple[int, str, str, Kind, str]]]:
        columns = ANNOUNCEMENTS.c
        asked = (
            sa.select(columns.id, columns.instance, columns.origin, columns.kind, columns.subject)
            .where(columns.id > self._floor)
            .order_by(columns.id)
        )
        return await self._database.run(lambda c: list(c.execute(asked)))

    async def _take_all(self, kind: str) -> None:
        waiting, told, pause_s = self._waiting[kind], dict[str, str](), _TRY_AGAIN_S
        try:
            while waiting:
                untried = (subject for subject in waiting if subject not in told)
                subject = next(untried, next(iter(waiting)))
                heard = waiting[subject]
                try:
                    await self._takers[kind](heard)
                except OrbitError as failed:
                    if str(failed) != told.get(subject):
                        told[subject] = str(failed)
                        what = f"a change of {kind} by {heard.origin}"
                        _log.warning("%s is not taken up yet: %s", what, failed)
                    if waiting.get(subject) is heard:
                        waiting[subject] = waiting.pop(subject)
                    if waiting.keys() <= told.keys():
                        await self._pause(kind, pause_s)
                        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
                    continue
                except Exception:  # one change that cannot be taken up must not end all others
                    _log.exception("a change of %s by %s is not taken up", kind, heard.origin)
                told.pop(subject, None)
                if waiting.get(subject) is heard:  # else it was announced again meanwhile
                    del waiting[subject]
        finally:
            del self._taking[kind]

    async def _pause(self, kind: str, pause_s: float) -> None:
        """Wait, at the longest until something more of a kind is announced."""
        came = self._came[kind] = asyncio.Event()
        with suppress(TimeoutError):
            async with asyncio.timeout(pause_s):
                await came.wait()
