"""Runs tool calls: where, for how long, and what a failure becomes."""

import asyncio
import logging
import traceback
from asyncio import CancelledError
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any, Final, NamedTuple

from server.core.ports import Tool
from server.core.storable import storable_data, storable_text
from server.core.tools import RowTaker, ToolCall, ToolResult, ToolResultStatus
from server.errors import ToolError, ToolFailed, ToolTimedOut, ToolUnknown
from server.library.http_model import HTTP_TOOL
from server.library.model import PYTHON_TOOL
from server.library.sql_model import SQL_TOOL
from server.tools.http.engine import HttpCalls
from server.tools.python import PythonCalls
from server.tools.registry import ToolRegistry
from server.tools.sql.engine import SqlCalls
from server.tools.workers import THREADS_PER_TOOL, Workers, WorkersBusy

_log = logging.getLogger(__name__)

_INLINE_SIZES: Final[Mapping[type, int]] = {str: 100_000, list: 1_000, tuple: 1_000, dict: 1_000}
"""Arguments up to these sizes take a quick tool about 1 ms, which is not worth a thread."""


_CALLED: Final = {HTTP_TOOL: "HTTP call", PYTHON_TOOL: "function", SQL_TOOL: "SQL"}


_KEPT_ROWS: Final = 20
"""What a conversation may go on with of rows that were sent elsewhere."""

HideSecrets = Callable[[Sequence[Mapping[str, Any]]], Sequence[Mapping[str, Any]]]
"""Rows without what must not be shown of them."""


class _Outcome(NamedTuple):
    status: ToolResultStatus
    result: Any = None
    error_message: str | None = None
    rejection: str | None = None


class ToolExecutor:
    """Runs the calls of one adapter. Failures come back as values, never as exceptions.

    Without a registry it has the tools that ship.
    """

    def __init__(
        self,
        registry: ToolRegistry | None = None,
        *,
        http: HttpCalls | None = None,
        python: PythonCalls | None = None,
        sql: SqlCalls | None = None,
        threads_per_tool: int = THREADS_PER_TOOL,
    ) -> None:
        self.registry = registry = registry or ToolRegistry.build()
        self._http = http
        self._python = python
        self._sql = sql
        self._threads_per_tool = threads_per_tool
        calls = {HTTP_TOOL: http, PYTHON_TOOL: python, SQL_TOOL: sql}
        self._calls = {name: each for name, each in calls.items() if each is not None}
        self._quick = {
            tool.name: tool
            for tool in registry
            if getattr(tool, "quick", False) and tool.name not in self._calls
        }
        self._workers: dict[str, Workers[_Outcome]] = {}

    async def execute(self, call: ToolCall, *, timeout_s: float) -> ToolResult:
        """Run a call, for at most `timeout_s` unless it is quick and small: that runs inline."""
        start = perf_counter()
        tool = self._quick.get(call.tool)
        small = all(
            len(value) <= _INLINE_SIZES[type(value)]
            for value in call.arguments.values()
            if type(value) in _INLINE_SIZES
        )
        if tool is not None and small:
            outcome = _run(tool, call)
        elif call.tool in self._calls:
            outcome = await self._run_call(call, timeout_s)
        else:
            outcome = await self._run_in_thread(call, timeout_s)
        taken_ms = round((perf_counter() - start) * 1e6) / 1e3
        status, *rest = outcome
        return ToolResult(call.tool, call.operation, status, taken_ms, call.arguments, *rest)

    async def export(
        self, call: ToolCall, taker: RowTaker, hide: HideSecrets, *, timeout_s: float
    ) -> ToolResult:
        """Hand all rows of a call that reads a database to `taker`, without what `hide` hides.

        The result has the first of them.
        """
        start = perf_counter()
        try:
            async with asyncio.timeout(timeout_s):
                outcome = await self._send_rows(call, taker, hide, timeout_s)
        except TimeoutError:
            late = f"not all rows could be sent within {timeout_s:g} s"
            outcome = _Outcome(ToolResultStatus.TIMEOUT, None, late)
        except Exception as failure:
            what = f"the SQL of template {call.template_id} failed"
            outcome = _failure_outcome(call, failure, call.operation, what)
        taken_ms = round((perf_counter() - start) * 1e6) / 1e3
        status, *rest = outcome
        return ToolResult(call.tool, call.operation, status, taken_ms, call.arguments, *rest)

    async def _send_rows(
        self, call: ToolCall, taker: RowTaker, hide: HideSecrets, timeout_s: float
    ) -> _Outcome:
        if self._sql is None:
            raise ToolUnknown(f"template {call.template_id!r} asks no database")
        first, sent, more = list[Any](), 0, True
        async with self._sql.stream(call, timeout_s=timeout_s) as (columns, pieces):
            async for piece in pieces:
                rows = hide(piece)
                if not sent:
                    await taker.begin(columns)
                    first = list(rows[:_KEPT_ROWS])
                sent += len(rows)
                more = await taker.take(rows)
                if not more:
                    break
            if not sent:
                await taker.begin(columns)
        result = {"columns": list(columns), "rows": first, "row_count": len(first)}
        return _Outcome(ToolResultStatus.SUCCESS, result | {"truncated": sent > len(first)})

    def close(self) -> None:
        for workers in self._workers.values():
            workers.close()
        if self._python is not None:
            self._python.close()

    async def aclose(self) -> None:
        self.close()
        if self._http is not None:
            await self._http.close()
        if self._sql is not None:
            await self._sql.close()

    async def _run_call(self, call: ToolCall, timeout_s: float) -> _Outcome:
        try:
            result = await self._calls[call.tool].run(call, timeout_s=timeout_s)
        except Exception as failure:  # services, and an operator's functions, may do anything
            what = f"the {_CALLED[call.tool]} of template {call.template_id} failed"
            return _failure_outcome(call, failure, call.operation, what)
        return _Outcome(ToolResultStatus.SUCCESS, result)

    async def _run_in_thread(self, call: ToolCall, timeout_s: float) -> _Outcome:
        try:
            tool = self.registry.get(call.tool)
        except ToolError as unknown:
            return _Outcome(ToolResultStatus.ERROR, None, str(unknown))
        workers = self._workers.setdefault(call.tool, Workers(call.tool, self._threads_per_tool))
        try:
            return await workers.run(lambda: _run(tool, call), timeout_s=timeout_s)
        except TimeoutError:
            late = f"{call.tool} did not finish within {timeout_s:g} s"
            return _Outcome(ToolResultStatus.TIMEOUT, None, late)
        except WorkersBusy as busy:
            _log.warning("tool %s is busy: %s", call.tool, busy)
            later = f"{call.tool} is busy: {busy}; try again later"
            return _Outcome(ToolResultStatus.ERROR, None, later)


def _run(tool: Tool, call: ToolCall) -> _Outcome:
    """Run a call in this thread. A tool may be anybody's, so no exception gets past here."""
    try:
        result = tool.run(call.operation, dict(call.arguments))
    except (Exception, SystemExit, CancelledError) as failure:
        what = f"tool {call.tool} failed in {call.operation}"
        return _failure_outcome(call, failure, call.tool, what)
    if not isinstance(result, Mapping) or "result" not in result:
        _log.error("tool %s returned no result in %s", call.tool, call.operation)
        return _Outcome(ToolResultStatus.ERROR, None, f"{call.tool} returned no result")
    return _Outcome(ToolResultStatus.SUCCESS, storable_data(result))


def _failure_outcome(call: ToolCall, failure: BaseException, name: str, what: str) -> _Outcome:
    """Return the outcome of a failure; log what is unexpected, but no sensitive words."""
    if isinstance(failure, ToolTimedOut):
        return _Outcome(ToolResultStatus.TIMEOUT, None, storable_text(str(failure)))
    if isinstance(failure, ToolError):
        rejection = failure.rejection if isinstance(failure, ToolFailed) else None
        said = storable_data((str(failure), rejection))
        return _Outcome(ToolResultStatus.ERROR, None, *said)
    if call.sensitive:
        places = traceback.extract_tb(failure.__traceback__)
        where = f"{places[-1].filename}:{places[-1].lineno}" if places else "an unknown place"
        kind = type(failure).__name__
        _log.error("%s: %s at %s (its words are withheld)", what, kind, where)
    else:
        _log.error("%s", what, exc_info=failure)
    message = f"{name} failed unexpectedly; the server's log says why"
    return _Outcome(ToolResultStatus.ERROR, None, message)
