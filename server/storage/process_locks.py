"""What one process of an installation does at a time, by name.

Processes of a machine go by a locked file of the data folder, which the system unlocks when its
holder ends, however that happens. Those of several machines go by a lease in the database as
well, which is renewed while its holder lives and is over soon after.
"""

import asyncio
import fcntl
import logging
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from time import monotonic, time
from typing import Final

import sqlalchemy as sa

from server.errors import StoreUnavailable
from server.storage.database import Database
from server.storage.files import make_private

_log = logging.getLogger(__name__)

_LEASE_S: Final = 10.0
_RENEW_EVERY_S: Final = 2.5
_TRY_EVERY_S: Final = 0.1
_TRY_LEASE_EVERY_S: Final = 0.5
_TOLD_AFTER_S: Final = 3.0

LEASES: Final = sa.Table(
    "leases",
    sa.MetaData(),
    sa.Column("name", sa.String(128), primary_key=True),
    sa.Column("holder", sa.String(32), nullable=False),
    sa.Column("until_s", sa.Float, nullable=False),
)
"""`until_s` is in seconds of the epoch; a lease that is over may be taken by anybody."""


class ProcessLocks:
    """Locks of a folder, and leases of a `database` that several machines share."""

    def __init__(
        self,
        folder: Path,
        holder: str,
        database: Database | None = None,
        *,
        lease_s: float = _LEASE_S,
    ) -> None:
        """`holder` names this process among those on the database."""
        self._folder = folder
        self._holder = holder
        self._database = database
        self._lease_s = lease_s

    def of_machine(self) -> "ProcessLocks":
        """Return the same locks for what each machine does for itself."""
        return ProcessLocks(self._folder, self._holder)

    @asynccontextmanager
    async def held(self, name: str) -> AsyncIterator[None]:
        """Wait until no other process holds `name`, and hold it for the block.

        Where neither file nor lease can be had, since the folder or the database cannot be
        used, the block runs all the same: what two do at once is done twice, and no harm.
        """
        waiting = _Waiting(name)
        async with self._held_file(name, waiting), self._held_lease(name, waiting):
            yield

    @asynccontextmanager
    async def _held_file(self, name: str, waiting: "_Waiting") -> AsyncIterator[None]:
        try:
            descriptor = await asyncio.to_thread(self._open, name)
        except OSError as failure:
            _log.warning("%s is done without a lock: %s", name, failure)
            yield
            return
        try:
            while not _try_lock(descriptor):
                await waiting.pause(_TRY_EVERY_S)
            yield
        finally:
            os.close(descriptor)  # which unlocks it

    def _open(self, name: str) -> int:
        make_private(self._folder)
        return os.open(self._folder / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    @asynccontextmanager
    async def _held_lease(self, name: str, waiting: "_Waiting") -> AsyncIterator[None]:
        database = self._database
        if database is None:
            yield
            return
        try:
            while not await database.run(lambda c: self._take(c, name)):
                await waiting.pause(_TRY_LEASE_EVERY_S)
        except StoreUnavailable as failure:
            _log.warning("%s is done without a lease: %s", name, failure)
            yield
            return
        renewing = asyncio.create_task(self._renew(database, name))
        try:
            yield
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
            with suppress(StoreUnavailable):  # it is over soon in any case
                await database.run(lambda c: self._give_back(c, name))

    async def _renew(self, database: Database, name: str) -> None:
        while True:
            await asyncio.sleep(min(_RENEW_EVERY_S, self._lease_s / 4))
            with suppress(StoreUnavailable):
                await database.run(lambda c: self._take(c, name))

    def _take(self, connection: sa.Connection, name: str) -> bool:
        """Take or renew a lease; False when another process holds it."""
        now_s, columns = time(), LEASES.c
        until_s = now_s + self._lease_s
        free = sa.or_(
            columns.holder == self._holder,
            columns.until_s <= now_s,
            columns.until_s > now_s + 10 * self._lease_s,  # a clock was set back since
        )
        mine = {"holder": self._holder, "until_s": until_s}
        take = LEASES.update().where(columns.name == name, free).values(mine)
        if connection.execute(take).rowcount:
            return True
        if connection.execute(sa.select(columns.name).where(columns.name == name)).first():
            return False
        try:
            with connection.begin_nested():
                connection.execute(LEASES.insert(), {"name": name, **mine})
        except sa.exc.IntegrityError:  # another process was faster
            return False
        return True

    def _give_back(self, connection: sa.Connection, name: str) -> None:
        mine = sa.and_(LEASES.c.name == name, LEASES.c.holder == self._holder)
        connection.execute(LEASES.delete().where(mine))


class _Waiting:
    """Waits in short pauses, and says so once when it takes longer."""

    def __init__(self, name: str, clock_s: Callable[[], float] = monotonic) -> None:
        self._name = name
        self._clock_s = clock_s
        self._since_s = clock_s()
        self._told = False

    async def pause(self, pause_s: float) -> None:
        if not self._told and self._clock_s() - self._since_s >= _TOLD_AFTER_S:
            self._told = True
            _log.info("%s: another process is doing this, and is waited for", self._name)
        await asyncio.sleep(pause_s)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as unsupported:  # a file system without locks
        _log.warning("files cannot be locked here: %s", unsupported)
    return True
