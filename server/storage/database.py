"""A database that is worked with in threads, one transaction for each job."""

from collections.abc import Callable
from typing import Any, Self, TypeVar

import sqlalchemy as sa
from anyio import CapacityLimiter, to_thread

from server.access.queries import open_engine, unavailable

_T = TypeVar("_T")


class Database:
    """An engine, and the threads that may use it at once."""

    def __init__(self, engine: sa.Engine, *, threads: int) -> None:
        self._engine = engine
        self._limiter = CapacityLimiter(threads)

    @classmethod
    def open(cls, url: str, *tables: sa.MetaData, threads: int = 2) -> Self:
        """Open the database at a URL, making the tables that are not there. Blocks.

        Raises:
            StoreUnavailable: it cannot be used.
        """
        engine = open_engine(url)
        try:
            for metadata in tables:
                metadata.create_all(engine)
        except sa.exc.DBAPIError as failure:
            engine.dispose()
            raise unavailable(engine, failure) from failure
        return cls(engine, threads=threads)

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a file that this machine writes, and not a server."""
        return self._engine.dialect.name == "sqlite"

    async def run(self, job: Callable[[sa.Connection], _T]) -> _T:
        """Run a job in a thread and in one transaction.

        Raises:
            StoreUnavailable: the database cannot be used; nothing was changed.
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
