"""A database that is worked with in threads, one transaction for each job."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final, Self, TypeVar

import sqlalchemy as sa
from anyio import to_thread
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from server.core.installation import install_command
from server.core.storable import storable_data
from server.errors import StoreUnavailable, ValueRefused
from server.storage.files import make_private
from server.storage.schema import MIGRATIONS
from server.storage.threads import BlockingCalls, CallTimedOut

_T = TypeVar("_T")

_BUSY_TIMEOUT_S: Final = 5.0
_MARGIN_S: Final = 0.25
"""For what a database says at the very end of its time, such as that it is busy."""

STORE_TIMEOUT_S: Final = 5.0
"""Seconds that a request waits for one transaction, unless the settings say otherwise."""

BATCH_TIMEOUT_S: Final = 20.0
"""The same for work in the background, for which no request waits."""

# What ends a connection to a server that is gone without a word. One that is merely stopped
# still answers for its machine: for this there is the time limit of each transaction.
_NETWORK_TIMEOUTS: Final = {
    "connect_timeout": 5,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}

_SIGNS_OF_DAMAGE: Final = ("disk image is malformed", "file is not a database")
"""What SQLite says of a file that is not as it wrote it."""

utc_now: Final[Callable[[], datetime]] = partial(datetime.now, UTC)
"""The clock of everything that is stored."""


class UtcTime(sa.types.TypeDecorator[datetime]):
    """An aware time. SQLite keeps no zone, so all of them are written in UTC."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, _dialect: sa.Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, _dialect: sa.Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Database:
    """An engine, and the threads that use it, each transaction within `timeout_s`."""

    def __init__(
        self, engine: sa.Engine, *, threads: int, timeout_s: float = STORE_TIMEOUT_S
    ) -> None:
        self._engine = engine
        self._calls = BlockingCalls(threads=threads)
        self._timeout_s = timeout_s
        self.is_sqlite = engine.dialect.name == "sqlite"
        """Whether it is a local file and not a server."""

    @classmethod
    def open(
        cls,
        url: str,
        *,
        threads: int = 2,
        timeout_s: float = STORE_TIMEOUT_S,
        migrate: bool = True,
    ) -> Self:
        """Open the database at a URL, as `open_database` does. Blocks."""
        return cls(open_database(url, migrate=migrate), threads=threads, timeout_s=timeout_s)

    async def run(
        self, job: Callable[[sa.Connection], _T], *, timeout_s: float | None = None
    ) -> _T:
        """Run a job in a thread and in one transaction.

        Raises `StoreUnavailable`: the database cannot be used, or not within `timeout_s`, else
        the time limit of this database. Nothing was changed; only of a commit that is itself
        late is this unknown.
        """
        limit_s = self._timeout_s if timeout_s is None else timeout_s
        call = partial(self._in_transaction, job, monotonic() + limit_s)
        try:
            return await self._calls.run(call, timeout_s=limit_s + _MARGIN_S)
        except CallTimedOut:
            raise self._late() from None

    def _in_transaction(self, job: Callable[[sa.Connection], _T], deadline_s: float) -> _T:
        try:
            with self._engine.begin() as connection:
                result = job(connection)
                if monotonic() > deadline_s:  # nobody waits for it, so it must not be done
                    raise self._late()
                return result
        except sa.exc.DBAPIError as failure:
            raise unavailable(self._engine, failure) from failure

    def _late(self) -> StoreUnavailable:
        place = self._engine.url.render_as_string(hide_password=True)
        return StoreUnavailable(f"the key store at {place} does not answer in time")

    async def close(self) -> None:
        self._calls.close()
        await to_thread.run_sync(self._engine.dispose)


def put(connection: sa.Connection, table: sa.Table, rows: list[dict[str, Any]]) -> None:
    """Insert rows, each over the one with the same primary key."""
    if connection.dialect.name == "sqlite":
        from sqlalchemy.dialects.sqlite import insert
    elif connection.dialect.name == "postgresql":
        from sqlalchemy.dialects.postgresql import insert  # type: ignore[assignment]
    else:
        same = [column == sa.bindparam(f"key_{column.name}") for column in table.primary_key]
        keys = [{f"key_{c.name}": row[c.name] for c in table.primary_key} for row in rows]
        connection.execute(table.delete().where(*same), keys)
        connection.execute(table.insert(), rows)
        return
    statement = insert(table)
    rest = {c.name: statement.excluded[c.name] for c in table.c if not c.primary_key}
    connection.execute(
        statement.on_conflict_do_update(index_elements=table.primary_key, set_=rest), rows
    )


def open_engine(url: str) -> sa.Engine:
    """Return an engine on `url`. Nothing is asked of the database yet.

    Raises `StoreUnavailable`: the URL is malformed, or its driver is missing.
    """
    try:
        parsed = sa.make_url(url)
        if parsed.get_backend_name() == "sqlite":
            return _open_sqlite(parsed)
        timeouts = {}
        if parsed.get_driver_name() in ("psycopg", "psycopg2"):
            timeouts = {k: v for k, v in _NETWORK_TIMEOUTS.items() if k not in parsed.query}
        engine = sa.create_engine(parsed, pool_pre_ping=True, connect_args=timeouts)
        return _taking_any_text(engine)
    except (NoSuchModuleError, ModuleNotFoundError) as missing:
        raise StoreUnavailable(
            f"the key store needs a database driver that is not installed: {missing} "
            f"(for PostgreSQL, run: {install_command('postgres')})"
        ) from missing
    except ArgumentError:
        raise StoreUnavailable(
            "the database URL of the key store is malformed: write one such as "
            "'sqlite:///data/orbit.db' or 'postgresql+psycopg://user:password@host/name'"
        ) from None


def is_new(url: str) -> bool:
    """Return whether the database is a file that is not there, or that nothing was written to."""
    try:
        parsed = sa.make_url(url)
    except ArgumentError:
        return False  # who opens it says so
    if parsed.get_backend_name() != "sqlite" or parsed.database in (None, "", ":memory:"):
        return False
    path = Path(str(parsed.database))
    return not path.is_file() or path.stat().st_size == 0


def open_database(url: str, *, migrate: bool = True) -> sa.Engine:
    """Return an engine on the database at a URL, with the tables of this version. Blocks.

    Raises `StoreUnavailable`: it cannot be used; or its schema is newer than this version, or
    older without `migrate`.
    """
    engine = open_engine(url)
    with failures_named(engine):
        MIGRATIONS.prepare(engine, migrate=migrate)
    return engine


@contextmanager
def failures_named(engine: sa.Engine) -> Iterator[None]:
    """Close the engine on a failure; what SQLAlchemy raises becomes `StoreUnavailable`."""
    try:
        yield
    except sa.exc.DBAPIError as failure:
        engine.dispose()
        raise unavailable(engine, failure) from failure
    except StoreUnavailable:
        engine.dispose()
        raise


def unavailable(engine: sa.Engine, failure: sa.exc.DBAPIError) -> StoreUnavailable:
    """Return the failure to raise, without the SQL and without the password."""
    place = engine.url.render_as_string(hide_password=True)
    reason = " ".join(str(failure.orig).split())
    if isinstance(failure, sa.exc.DataError | sa.exc.IntegrityError):
        return ValueRefused(f"the database at {place} does not take a value: {reason}")
    file = engine.url.database
    if engine.dialect.name == "sqlite" and file and not os.access(Path(file).parent, os.W_OK):
        reason += f"; {Path(file).parent} can only be read"
    if any(sign in reason for sign in _SIGNS_OF_DAMAGE):
        reason += (
            "; restore it from a backup, together with the secret, or move it away to start over "
            "(every key made so far then stops working)"
        )
    return StoreUnavailable(f"the key store at {place} cannot be used: {reason}")


def _open_sqlite(url: sa.URL) -> sa.Engine:
    file = url.database
    if file and file != ":memory:":
        try:
            make_private(Path(file).parent)
            if not file.startswith("file:") and not Path(file).exists():
                # SQLite gives the files that it puts beside it the same mode.
                Path(file).touch(mode=0o600)
        except OSError as failure:
            raise StoreUnavailable(
                f"the key store at {file} cannot be made: {failure.strerror}"
            ) from failure
    engine = sa.create_engine(url, connect_args={"timeout": _BUSY_TIMEOUT_S})
    sa.event.listen(engine, "connect", _use_wal)
    return _taking_any_text(engine)


def _taking_any_text(engine: sa.Engine) -> sa.Engine:
    """Make every text storable that is written or looked for, whatever column it is for."""

    def clean(
        _connection: Any, _cursor: Any, statement: str, parameters: Any, *_rest: Any
    ) -> tuple[str, Any]:
        return statement, storable_data(parameters)

    sa.event.listen(engine, "before_cursor_execute", clean, retval=True)
    return engine


def _use_wal(connection: Any, _pool_record: object) -> None:
    """Let one process write while others read; the mode stays with the file.

    Several may do this to a new file at once, and SQLite does not wait for its lock here.
    """
    cursor = connection.cursor()
    until_s = monotonic() + _BUSY_TIMEOUT_S
    try:
        while not _set_wal(cursor, last=monotonic() > until_s):
            sleep(0.01)
        # The default nearly everywhere: what was committed outlasts a power failure.
        cursor.execute("PRAGMA synchronous=FULL")
    finally:
        cursor.close()


def _set_wal(cursor: Any, *, last: bool) -> bool:
    try:
        if cursor.execute("PRAGMA journal_mode").fetchone()[0] == "delete":
            cursor.execute("PRAGMA journal_mode=WAL")
    except sqlite3.OperationalError as failure:
        if last or failure.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True
