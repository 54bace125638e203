"""PostgreSQL: every session begins read-only, with a limit on the time of a statement.

The driver is the extra `postgres`.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, Literal, TypeVar

import psycopg
from sqlalchemy import Connection
from sqlalchemy import exc as failures
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from server.errors import ToolTimedOut
from server.tools.sql.address import DatabaseAddress
from server.tools.sql.database import (
    DatabaseFailed,
    FailureKind,
    HeldRows,
    Rows,
    failure,
)
from server.tools.sql.statement import Statement

_T = TypeVar("_T")

_log = logging.getLogger(__name__)

_CONNECT_S: Final = 5
_LONGEST_MS: Final = 600_000

_KINDS: Final[tuple[tuple[str, FailureKind | Literal["late"]], ...]] = (
    # The beginning of SQLSTATE, and the kind of failure.
    ("57014", "late"), ("57P", "down"), ("08", "down"), ("53300", "busy"),
    ("55P03", "locked"), ("40", "locked"), ("25006", "read-only"), ("42501", "forbidden"),
    ("42P01", "changed"), ("42703", "changed"), ("42883", "changed"), ("23", "constraint"),
    ("22", "value"), ("28", "down"), ("3D000", "down"),
)  # fmt: skip


class PostgresqlDatabase:
    """A database on a server of PostgreSQL."""

    def __init__(self, address: DatabaseAddress, *, pool_size: int) -> None:
        assert address.url is not None  # noqa: S101  a PostgreSQL database has a URL
        self._address = address
        self._engine: AsyncEngine = create_async_engine(
            address.url.set(drivername="postgresql+psycopg"),
            pool_size=pool_size,
            max_overflow=0,
            pool_timeout=_CONNECT_S,
            pool_pre_ping=True,
            connect_args={
                "connect_timeout": _CONNECT_S,
                "prepare_threshold": None,
                "options": (
                    "-c default_transaction_read_only=on "
                    f"-c statement_timeout={_LONGEST_MS} -c lock_timeout=5s"
                ),
            },
        )

    @property
    def address(self) -> DatabaseAddress:
        return self._address

    @asynccontextmanager
    async def rows(self, statement: Statement, *, deadline: float) -> AsyncIterator[Rows]:
        connection = await self.in_time(self._engine.connect(), deadline)
        try:
            driver: Any = (await connection.get_raw_connection()).driver_connection
            # A cursor on the server, so that rows are sent as they are taken.
            name = {} if statement.plans else {"name": "orbit"}
            async with driver.cursor(**name) as cursor:
                await self.in_time(_begin(driver, cursor, statement, deadline), deadline)
                yield _ServerRows(self, cursor, deadline)
        except psycopg.Error as error:
            raise self._failed(error) from error
        finally:
            await asyncio.shield(_closed(connection))

    async def change(self, statement: Statement, *, deadline: float) -> tuple[Rows, int]:
        def run(sync: Connection) -> tuple[list[str], list[Sequence[Any]], int]:
            sync.exec_driver_sql("SET TRANSACTION READ WRITE")
            sync.exec_driver_sql(_time_limit(deadline))
            result = sync.exec_driver_sql(statement.text, statement.values)
            columns = list(result.keys()) if result.returns_rows else []
            found = [tuple(row) for row in result.fetchall()] if columns else []
            changed = result.rowcount
            return columns, list(found), changed if changed >= 0 else len(found)

        async def in_one_transaction() -> tuple[list[str], list[Sequence[Any]], int]:
            async with self._engine.begin() as connection:
                return await connection.run_sync(run)

        columns, found, changed = await self.in_time(in_one_transaction(), deadline)
        return HeldRows(columns, found), changed

    async def close(self) -> None:
        await self._engine.dispose()

    async def in_time(self, work: Awaitable[_T], deadline: float) -> _T:
        """What work of the driver comes to, before the deadline. Raises as `rows`."""
        try:
            async with asyncio.timeout_at(deadline):
                return await work
        except TimeoutError:
            raise ToolTimedOut("the database did not answer in time") from None
        except failures.TimeoutError as none_free:
            raise failure("busy") from none_free
        except (failures.SQLAlchemyError, psycopg.Error, OSError) as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> DatabaseFailed | ToolTimedOut:
        original = getattr(error, "orig", None) or error
        state = str(getattr(original, "sqlstate", None) or "")
        is_down = not state and isinstance(original, psycopg.OperationalError | OSError)
        by_default: FailureKind = "down" if is_down else "other"
        kind = next((kind for begins, kind in _KINDS if state.startswith(begins)), by_default)
        if kind == "late":
            return ToolTimedOut("the database did not answer in time")
        if kind in ("other", "forbidden", "down"):
            _log.warning("database %s: %s", self._address.shown, type(original).__name__)
        primary = str(getattr(getattr(original, "diag", None), "message_primary", None) or "")
        said = primary if kind in ("changed", "constraint", "value") else ""
        return failure(kind, said)


def _time_limit(deadline: float) -> str:
    left_ms = max(1, int((deadline - asyncio.get_running_loop().time()) * 1000))
    return f"SET LOCAL statement_timeout = {left_ms}"


async def _begin(
    driver: Any,
    cursor: psycopg.AsyncCursor[Any] | psycopg.AsyncServerCursor[Any],
    statement: Statement,
    deadline: float,
) -> None:
    await driver.execute(_time_limit(deadline))
    await cursor.execute(statement.text.encode(), statement.values)


async def _closed(connection: AsyncConnection) -> None:
    try:
        await connection.close()
    except (failures.SQLAlchemyError, psycopg.Error, OSError):
        await connection.invalidate()


class _ServerRows:
    def __init__(
        self,
        database: PostgresqlDatabase,
        cursor: psycopg.AsyncCursor[Any] | psycopg.AsyncServerCursor[Any],
        deadline: float,
    ) -> None:
        self._database, self._cursor, self._deadline = database, cursor, deadline
        self.columns: Sequence[str] = [each.name for each in cursor.description or ()]

    async def fetch(self, most: int) -> Sequence[Sequence[Any]]:
        found: Sequence[Sequence[Any]] = await self._database.in_time(
            self._cursor.fetchmany(most), self._deadline
        )
        return found
