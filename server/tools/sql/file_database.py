"""Databases that are files, SQLite and DuckDB: their drivers block, so they run in threads."""

import asyncio
import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, TypeVar

from sqlalchemy.exc import TimeoutError as NoConnection
from sqlalchemy.pool import PoolProxiedConnection, QueuePool

from server.errors import ToolError, ToolTimedOut
from server.tools.sql.address import DatabaseAddress
from server.tools.sql.database import (
    FETCHED_AT_ONCE,
    DatabaseFailed,
    FailureKind,
    HeldRows,
    Rows,
    failure,
)
from server.tools.sql.statement import Statement
from server.tools.workers import Workers, WorkersBusy

_log = logging.getLogger(__name__)

_T = TypeVar("_T")

_GRACE_S: Final = 2.0
"""How long a statement that was told to end may take to do so."""

_LONGEST_S: Final = 86_400.0


class FileDatabase(ABC):
    """One file, or several, read over a few connections."""

    begins_change: ClassVar[str] = "BEGIN"

    def __init__(self, address: DatabaseAddress, *, pool_size: int) -> None:
        self._address = address
        self._workers: Workers[Any] = Workers(f"database-{address.kind}", pool_size)
        self._size = pool_size
        self._pool: QueuePool | None = None
        self._opened: object = None
        self._lock = threading.Lock()
        self._free = asyncio.Semaphore(pool_size)

    @property
    def address(self) -> DatabaseAddress:
        return self._address

    @abstractmethod
    def connect(self) -> Any:
        """A connection that only reads."""

    @abstractmethod
    def connect_to_change(self) -> Any:
        """A connection that may change the database, with no transaction open."""

    @abstractmethod
    def failure_of(self, error: Exception) -> tuple[FailureKind, str]:
        """The kind of an error of the driver (see `database.failure`), and what may be said."""

    @abstractmethod
    def driver_errors(self) -> tuple[type[Exception], ...]: ...

    def identity(self) -> object:
        """What tells the file from another one that was put in its place."""
        found = []
        for path in self._address.files or (self._address.path,):
            if path is None or not path.exists():
                raise failure("missing")
            about = path.stat()
            found.append((about.st_dev, about.st_ino))
        return tuple(found)

    @asynccontextmanager
    async def rows(self, statement: Statement, *, deadline: float) -> AsyncIterator[Rows]:
        async with self._turn(deadline), self._opened_rows(statement, deadline) as found:
            yield found

    @asynccontextmanager
    async def _turn(self, deadline: float) -> AsyncIterator[None]:
        """One of as many statements as there are connections."""
        try:
            async with asyncio.timeout_at(deadline):
                await self._free.acquire()
        except TimeoutError:
            raise failure("busy") from None
        try:
            yield
        finally:
            self._free.release()

    @asynccontextmanager
    async def _opened_rows(self, statement: Statement, deadline: float) -> AsyncIterator[Rows]:
        opened = _Opened()

        def begin() -> None:
            opened.pool, opened.lent = self._lend()
            opened.connection = opened.lent.driver_connection
            opened.cursor = opened.connection.cursor()
            if opened.given_up:
                raise failure("busy")
            opened.cursor.execute(statement.text, statement.values)
            opened.columns = [each[0] for each in opened.cursor.description or ()]
            # With the first rows at once, most statements need no second turn of a thread.
            opened.first = opened.cursor.fetchmany(FETCHED_AT_ONCE)
            if len(opened.first) < FETCHED_AT_ONCE:
                opened.give_back()

        try:
            await self.in_thread(begin, opened, deadline)
            yield _FileRows(self, opened, deadline)
        except BaseException:
            opened.broken = True
            raise
        finally:
            # Always in a thread, since what returns a connection may wait for its last statement.
            if opened.lent is not None:
                opened.broken |= opened.pool is not self._pool
                try:
                    await asyncio.shield(self._workers.run(opened.give_back, timeout_s=_GRACE_S))
                except WorkersBusy:  # all are held by statements that nobody waits for
                    threading.Thread(target=opened.give_back, daemon=True).start()
                except Exception:
                    _log.debug("a connection came back late", exc_info=True)

    async def change(self, statement: Statement, *, deadline: float) -> tuple[Rows, int]:
        opened = _Opened()

        def run() -> tuple[list[str], list[Sequence[Any]], int]:
            connection = opened.connection = self.connect_to_change()
            try:
                connection.execute(self.begins_change)
                cursor = connection.execute(statement.text, statement.values)
                columns = [each[0] for each in cursor.description or ()]
                found = cursor.fetchall() if columns else []
                changed = getattr(cursor, "rowcount", -1)
                connection.execute("COMMIT")
            finally:
                connection.close()  # what was not committed is undone
            if self._address.kind == "duckdb" and columns == ["Count"] and len(found) == 1:
                return [], [], int(found[0][0])
            return columns, found, changed if changed >= 0 else len(found)

        async with self._turn(deadline):
            columns, found, changed = await self.in_thread(run, opened, deadline)
        return HeldRows(columns, found), changed

    async def close(self) -> None:
        with suppress(Exception):
            await self._workers.run(self.disconnect, timeout_s=_GRACE_S)
        self._workers.close()

    def disconnect(self) -> None:
        """Close the connections that nobody uses; the others are closed when they come back."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.dispose()

    def _lend(self) -> tuple[QueuePool, PoolProxiedConnection]:
        identity = self.identity()
        with self._lock:
            if self._pool is None or identity != self._opened:
                if self._pool is not None:
                    self._pool.dispose()
                self._pool = QueuePool(
                    self.connect,
                    pool_size=self._size,
                    max_overflow=self._size,
                    timeout=1.0,
                    reset_on_return=None,
                )
                self._opened = identity
            pool = self._pool
        return pool, pool.connect()

    async def in_thread(self, work: Callable[[], _T], opened: "_Opened", deadline: float) -> _T:
        """Run work in a thread until the deadline; a statement that takes longer is interrupted."""
        clock = asyncio.get_running_loop().time

        def alone() -> _T:
            with opened.in_use:
                return work()

        task = asyncio.create_task(self._workers.run(alone, timeout_s=_LONGEST_S))
        try:
            await asyncio.wait({task}, timeout=max(0.0, deadline - clock()))
            if not task.done():
                opened.interrupt()
                await asyncio.wait({task}, timeout=_GRACE_S)
                task.cancel()
                raise ToolTimedOut("the database did not answer in time")
            found: _T = task.result()
            return found
        except asyncio.CancelledError:
            opened.interrupt()
            task.cancel()
            raise
        except WorkersBusy as busy:
            raise failure("busy") from busy
        except ToolError:
            raise
        except NoConnection as none_free:
            raise failure("busy") from none_free
        except self.driver_errors() as error:
            opened.broken = True
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> DatabaseFailed:
        kind, said = self.failure_of(error)
        if kind == "other":
            _log.warning("database %s: %s", self._address.shown, error)
        return failure(kind, said)


@dataclass(slots=True)
class _Opened:
    """What one statement holds."""

    pool: QueuePool | None = None
    lent: PoolProxiedConnection | None = None
    connection: Any = None
    cursor: Any = None
    columns: Sequence[str] = ()
    first: Sequence[Sequence[Any]] = ()
    broken: bool = False
    given_up: bool = False
    in_use: threading.RLock = field(default_factory=threading.RLock)
    """Held by the thread that uses the connection: one that nobody waits for any more goes on for
    a moment, and a connection that is closed under it takes the process down."""

    def interrupt(self) -> None:
        self.given_up = self.broken = True
        for each in (self.cursor, self.connection):
            with suppress(Exception):  # one that is closed already, or cannot be interrupted
                each.interrupt()

    def give_back(self) -> None:
        with self.in_use:
            lent, self.lent = self.lent, None
            if lent is None:
                return
            with suppress(Exception):
                if self.cursor is not None:
                    self.cursor.close()
            if self.broken:
                lent.invalidate()
            lent.close()


class _FileRows:
    def __init__(self, database: FileDatabase, opened: _Opened, deadline: float) -> None:
        self._database, self._opened, self._deadline = database, opened, deadline
        self.columns, self._first = opened.columns, opened.first

    async def fetch(self, most: int) -> Sequence[Sequence[Any]]:
        if self._first:
            taken, self._first = self._first[:most], self._first[most:]
            return taken
        if self._opened.lent is None:
            return ()
        return await self._database.in_thread(
            lambda: self._opened.cursor.fetchmany(most), self._opened, self._deadline
        )
