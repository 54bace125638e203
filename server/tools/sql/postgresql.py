"""PostgreSQL: every session begins read-only, with a limit on the time of a statement.

The driver is the extra `postgres`.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, Literal

from sqlalchemy import Connection, CursorResult
from sqlalchemy import exc as failures
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from server.errors import ToolTimedOut
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
        connection = await self._guarded(self._engine.connect(), deadline)
        try:

            def begin(sync: Connection) -> CursorResult[Any]:
                self._limit_time(sync, deadline)
                streaming = sync.execution_options(
                    stream_results=True, max_row_buffer=FETCHED_AT_ONCE
                )
                return streaming.exec_driver_sql(statement.text, statement.values)

            result = await self._guarded(connection.run_sync(begin), deadline)
            yield _ServerRows(self, connection, result, deadline)
        finally:
            await asyncio.shield(_closed(connection))

    async def change(self, statement: Statement, *, deadline: float) -> tuple[Rows, int]:
        def run(sync: Connection) -> tuple[list[str], list[Sequence[Any]], int]:
            sync.exec_driver_sql("SET TRANSACTION READ WRITE")
            self._limit_time(sync, deadline)
            result = sync.exec_driver_sql(statement.text, statement.values)
            columns = list(result.keys()) if result.returns_rows else []
            found = [tuple(row) for row in result.fetchall()] if columns else []
            return columns, list(found), result.rowcount

        async def in_one_transaction() -> tuple[list[str], list[Sequence[Any]], int]:
            async with self._engine.begin() as connection:
                return await connection.run_sync(run)

        columns, found, changed = await self._guarded(in_one_transaction(), deadline)
        return HeldRows(columns, found), changed

    async def close(self) -> None:
        await self._engine.dispose()

    @staticmethod
    def _limit_time(sync: Connection, deadline: float) -> None:
        left_ms = max(1, int((deadline - asyncio.get_running_loop().time()) * 1000))
        sync.exec_driver_sql(f"SET LOCAL statement_timeout = {left_ms}")

    async def _guarded(self, work: Any, deadline: float) -> Any:
        try:
            async with asyncio.timeout_at(deadline):
                return await work
        except TimeoutError:
            raise ToolTimedOut("the database did not answer in time") from None
        except failures.TimeoutError as none_free:
            raise failure("busy") from none_free
        except (failures.SQLAlchemyError, OSError) as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> DatabaseFailed | ToolTimedOut:
        original = getattr(error, "orig", None)
        state = str(getattr(original, "sqlstate", None) or "")
        is_down = not state and isinstance(error, failures.OperationalError | OSError)
        by_default: FailureKind = "down" if is_down else "other"
        kind = next((kind for begins, kind in _KINDS if state.startswith(begins)), by_default)
        if kind == "late":
            return ToolTimedOut("the database did not answer in time")
        if kind in ("other", "forbidden", "down"):
            _log.warning("database %s: %s", self._address.shown, type(original or error).__name__)
        primary = str(getattr(getattr(original, "diag", None), "message_primary", None) or "")
        said = primary if kind in ("changed", "constraint", "value") else ""
        return failure(kind, said)


async def _closed(connection: AsyncConnection) -> None:
    try:
        await connection.close()
    except (failures.SQLAlchemyError, OSError):
        await connection.invalidate()


class _ServerRows:
    def __init__(
        self,
        database: PostgresqlDatabase,
        connection: AsyncConnection,
        result: CursorResult[Any],
        deadline: float,
    ) -> None:
        self._database, self._connection = database, connection
        self._result, self._deadline = result, deadline
        self.columns: Sequence[str] = list(result.keys()) if result.returns_rows else []

    async def fetch(self, most: int) -> Sequence[Sequence[Any]]:
        def take(_: Connection) -> list[Sequence[Any]]:
            return [tuple(row) for row in self._result.fetchmany(most)]

        work = self._connection.run_sync(take)
        found: Sequence[Sequence[Any]] = await self._database._guarded(  # noqa: SLF001
            work, self._deadline
        )
        return found
