"""A database that is worked with in threads, one transaction for each job."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, Self, TypeVar

import sqlalchemy as sa
from anyio import CapacityLimiter, to_thread
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.schema import CreateIndex, CreateTable

from server.core.storable import storable_data
from server.errors import StoreUnavailable, ValueRefused
from server.storage.files import make_private

_T = TypeVar("_T")

_BUSY_TIMEOUT_S: Final = 5.0

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
    """An engine, and a limit of threads that use it at once."""

    def __init__(self, engine: sa.Engine, *, threads: int) -> None:
        self._engine = engine
        self._limiter = CapacityLimiter(threads)
        self.is_sqlite = engine.dialect.name == "sqlite"
        """Whether it is a local file and not a server."""

    @classmethod
    def open(cls, url: str, *tables: sa.MetaData, threads: int = 2) -> Self:
        """Open the database at a URL, making the tables that are not there. Blocks.

        Raises `StoreUnavailable`: it cannot be used.
        """
        engine = open_engine(url)
        create_tables(engine, *tables)
        return cls(engine, threads=threads)

    async def run(self, job: Callable[[sa.Connection], _T]) -> _T:
        """Run a job in a thread and in one transaction.

        Raises `StoreUnavailable`: the database cannot be used; nothing was changed.
        """
        return await to_thread.run_sync(self._in_transaction, job, limiter=self._limiter)

    def _in_transaction(self, job: Callable[[sa.Connection], _T]) -> _T:
        try:
            with self._engine.begin() as connection:
                return job(connection)
        except sa.exc.DBAPIError as failure:
            raise unavailable(self._engine, failure) from failure

    async def close(self) -> None:
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
        return _taking_any_text(sa.create_engine(parsed, pool_pre_ping=True))
    except (NoSuchModuleError, ModuleNotFoundError) as missing:
        raise StoreUnavailable(
            f"the key store needs a database driver that is not installed: {missing} "
            "(for PostgreSQL, run: ./bin/orbit.sh install postgres)"
        ) from missing
    except ArgumentError:
        raise StoreUnavailable(
            "the database URL of the key store is malformed: write one such as "
            "'sqlite:///data/orbit.db' or 'postgresql+psycopg://user:password@host/name'"
        ) from None


def create_tables(engine: sa.Engine, *tables: sa.MetaData) -> None:
    """Make the tables that are not there; the engine is closed when that fails. Blocks.

    Raises `StoreUnavailable`: the database cannot be used.
    """
    try:
        with engine.begin() as connection:
            for table in [table for metadata in tables for table in metadata.sorted_tables]:
                # Another process may be making the same tables.
                connection.execute(CreateTable(table, if_not_exists=True))
                for index in table.indexes:
                    connection.execute(CreateIndex(index, if_not_exists=True))
    except sa.exc.DBAPIError as failure:
        engine.dispose()
        raise unavailable(engine, failure) from failure


def unavailable(engine: sa.Engine, failure: sa.exc.DBAPIError) -> StoreUnavailable:
    """Return the failure to raise, without the SQL and without the password."""
    place = engine.url.render_as_string(hide_password=True)
    reason = " ".join(str(failure.orig).split())
    if isinstance(failure, sa.exc.DataError | sa.exc.IntegrityError):
        return ValueRefused(f"the database at {place} does not take a value: {reason}")
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
    """Let one process write while others read; the mode stays with the file."""
    cursor = connection.cursor()
    try:
        if cursor.execute("PRAGMA journal_mode").fetchone()[0] == "delete":
            cursor.execute("PRAGMA journal_mode=WAL")
    finally:
        cursor.close()
