"""Runs the templates of an adapter that ask a database, within its limits."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from server.core.spans import traced_call
from server.core.tools import ToolCall
from server.errors import ArgumentsInvalid, ToolFailed, ToolUnknown
from server.library.caller import CALLER_ARGUMENTS
from server.library.model import Library
from server.library.sql_model import SqlExecution
from server.library.sql_text import ConditionFailed
from server.tools.sql.cells import column_names, to_row
from server.tools.sql.database import FETCHED_AT_ONCE, Database, Rows
from server.tools.sql.statement import Statement, driver_statement

MAX_ROWS: Final = 1_000
MAX_BYTES: Final = 4_000_000
MAX_CELL_CHARS: Final = 10_000
MAX_STREAMS: Final = 2


@dataclass(frozen=True, slots=True)
class SqlLimits:
    """How much of what a statement finds is taken."""

    rows: int = MAX_ROWS
    bytes: int = MAX_BYTES
    """About so many bytes of text, over all cells."""
    cell_chars: int = MAX_CELL_CHARS
    streams: int = MAX_STREAMS
    """Calls whose rows are streamed at a time; each holds a connection until its last row."""


@dataclass(frozen=True, slots=True)
class SqlRun:
    """What a template runs, and the defaults of its parameters."""

    execution: SqlExecution
    defaults: Mapping[str, Any] = field(default_factory=dict)


class SqlCalls:
    """The calls of one adapter to its database; each runs the SQL of its own template alone."""

    def __init__(
        self, runs: Mapping[str, SqlRun], database: Database, limits: SqlLimits | None = None
    ) -> None:
        self._runs = runs
        self.database = database
        self.limits = limits or SqlLimits()
        self._streams = 0

    @classmethod
    def of(
        cls, library: Library, database: Database | None, limits: SqlLimits | None = None
    ) -> "SqlCalls | None":
        """Return the calls of a library, or None when it asks no database."""
        runs = {
            template.id: SqlRun(
                template.execution,
                {p.name: p.default for p in template.parameters if p.default is not None},
            )
            for template in library.templates.values()
            if isinstance(template.execution, SqlExecution)
        }
        return cls(runs, database, limits) if runs and database is not None else None

    @property
    def system(self) -> Mapping[str, frozenset[str]]:
        """Which of the arguments that no question fills each template uses."""
        return {
            name: run.execution.sql.names & CALLER_ARGUMENTS for name, run in self._runs.items()
        }

    async def run(self, call: ToolCall, *, timeout_s: float) -> dict[str, Any]:
        """Return `columns`, `rows` by column, their number as `row_count`, and `truncated`.

        Of a change, `row_count` is how many rows it changed.

        Raises:
            ArgumentsInvalid: the SQL cannot be put together for these arguments.
            ToolFailed, ToolTimedOut: the database could not run it, or not in time.
            ToolUnknown: the template asks no database.
        """
        deadline = asyncio.get_running_loop().time() + timeout_s
        run, statement = self._statement(call)
        with traced_call(self.database.address.kind, self._about(call)):
            if run.execution.effect == "write":
                rows, changed = await self.database.change(statement, deadline=deadline)
                return await _taken(rows, self.limits) | {"row_count": changed}
            async with self.database.rows(statement, deadline=deadline) as rows:
                return await _taken(rows, self.limits)

    @asynccontextmanager
    async def stream(
        self, call: ToolCall, *, timeout_s: float
    ) -> AsyncIterator[tuple[Sequence[str], AsyncIterator[Sequence[dict[str, Any]]]]]:
        """The columns of a call that reads, and all of its rows in pieces. Raises as `run`."""
        deadline = asyncio.get_running_loop().time() + timeout_s
        run, statement = self._statement(call)
        if run.execution.effect == "write":
            raise ArgumentsInvalid(f"template {call.template_id!r} changes something")
        if self._streams >= self.limits.streams:
            raise ToolFailed("as many downloads as may run at a time are running; try again later")
        self._streams += 1
        try:
            async with self._traced_rows(call, statement, deadline) as rows:
                names = column_names(rows.columns)
                yield names, _pieces(rows, names, self.limits.cell_chars)
        finally:
            self._streams -= 1

    async def close(self) -> None:
        await self.database.close()

    @asynccontextmanager
    async def _traced_rows(
        self, call: ToolCall, statement: Statement, deadline: float
    ) -> AsyncIterator[Rows]:
        with traced_call(self.database.address.kind, self._about(call)):
            async with self.database.rows(statement, deadline=deadline) as rows:
                yield rows

    def _about(self, call: ToolCall) -> Mapping[str, str]:
        """What a span tells of a call: the template in place of its SQL, and no values."""
        template = call.template_id
        return {
            "db.system.name": self.database.address.kind,
            "db.query.summary": template,
            "orbit.template.id": template,
        }

    def _statement(self, call: ToolCall) -> tuple[SqlRun, Statement]:
        try:
            run = self._runs[call.template_id]
        except KeyError:
            raise ToolUnknown(f"template {call.template_id!r} asks no database") from None
        arguments = {**run.defaults, **call.arguments}
        try:
            filled = run.execution.sql.fill(arguments)
        except ConditionFailed as failed:
            raise ArgumentsInvalid(str(failed)) from failed
        values = run.execution.sql.values(arguments)
        return run, driver_statement(filled, values, self.database.address.kind)


async def _taken(rows: Rows, limits: SqlLimits) -> dict[str, Any]:
    names = column_names(rows.columns)
    taken: list[dict[str, Any]] = []
    room, truncated = limits.bytes, False
    while not truncated:
        found = await rows.fetch(min(FETCHED_AT_ONCE, limits.rows - len(taken) + 1))
        if not found:
            break
        for cells in found:
            row = to_row(names, cells, limits.cell_chars)
            room -= sum(len(v) if isinstance(v, str) else 8 for v in row.values())
            if len(taken) == limits.rows or (room < 0 and taken):
                truncated = True
                break
            taken.append(row)
    return {
        "columns": list(names),
        "rows": taken,
        "row_count": len(taken),
        "truncated": truncated,
    }


async def _pieces(
    rows: Rows, names: Sequence[str], max_chars: int
) -> AsyncIterator[Sequence[dict[str, Any]]]:
    while found := await rows.fetch(FETCHED_AT_ONCE):
        yield [to_row(names, cells, max_chars) for cells in found]
