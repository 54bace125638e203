"""Running tool calls: where, for how long, and what a failure becomes."""

import logging
import sys
import traceback
from asyncio import CancelledError
from collections.abc import Mapping
from time import perf_counter
from typing import Any, Final

from server.core.ports import Tool
from server.core.tools import ToolCall, ToolResult, ToolResultStatus
from server.errors import ToolError, ToolTimedOut
from server.library.http_model import HTTP_TOOL
from server.library.model import PYTHON_TOOL
from server.tools.http.engine import HttpCalls
from server.tools.python import PythonCalls
from server.tools.registry import ToolRegistry
from server.tools.workers import Workers, WorkersBusy

_log = logging.getLogger(__name__)

THREADS_PER_TOOL: Final = 4
"""Calls of one tool that may run side by side in threads."""

_INLINE_ITEMS: Final = 1_000
_INLINE_LIMITS: Final[Mapping[type, int]] = {
    str: 100_000,
    list: _INLINE_ITEMS,
    tuple: _INLINE_ITEMS,
    dict: _INLINE_ITEMS,
}
"""Arguments up to these sizes are small: a quick tool handles them in about 1 ms.

Until the interpreter switches threads, after 5 ms, a thread would hold up the event
loop just as long.
"""


_Outcome = tuple[ToolResultStatus, Any, str | None]
"""Status, result, and error message."""


class ToolExecutor:
    """Runs the calls of one adapter. Failures come back as values, never as exceptions."""

    def __init__(
        self,
        registry: ToolRegistry,
        *,
        http: HttpCalls | None = None,
        python: PythonCalls | None = None,
        threads_per_tool: int = THREADS_PER_TOOL,
    ) -> None:
        """`http` and `python` are the requests and functions of templates, if they have any."""
        self._registry = registry
        self._http = http
        self._python = python
        self._threads_per_tool = threads_per_tool
        taken = {HTTP_TOOL} if http is not None else set()
        taken |= {PYTHON_TOOL} if python is not None else set()
        self._quick = {
            tool.name: tool
            for tool in registry
            if getattr(tool, "quick", False) and tool.name not in taken
        }
        self._workers: dict[str, Workers[_Outcome]] = {}

    @property
    def registry(self) -> ToolRegistry:
        return self._registry

    async def execute(self, call: ToolCall, *, timeout_s: float) -> ToolResult:
        """Run a call and say how it went.

        A quick tool with small arguments runs at once, on the event loop; everything
        else in a thread of that tool, given up after `timeout_s`.
        """
        start = perf_counter()
        tool = self._quick.get(call.tool)
        if tool is not None and _are_small(call.arguments):
            status, result, message = _run(tool, call)
        else:
            status, result, message = await self._run_elsewhere(call, timeout_s)
        taken_ms = round((perf_counter() - start) * 1e6) / 1e3
        return ToolResult(
            call.tool, call.operation, status, taken_ms, call.arguments, result, message
        )

    def close(self) -> None:
        """Let idle threads end."""
        for workers in self._workers.values():
            workers.close()
        if self._python is not None:
            self._python.close()

    async def aclose(self) -> None:
        """Let idle threads end, and close connections."""
        self.close()
        if self._http is not None:
            await self._http.close()

    async def _run_elsewhere(self, call: ToolCall, timeout_s: float) -> _Outcome:
        if call.tool == HTTP_TOOL and self._http is not None:
            return await _run_call(self._http, call, timeout_s, "the HTTP call")
        if call.tool == PYTHON_TOOL and self._python is not None:
            return await _run_call(self._python, call, timeout_s, "the function")
        try:
            tool = self._registry.get(call.tool)
        except ToolError as unknown:
            return ToolResultStatus.ERROR, None, str(unknown)
        return await self._run_in_thread(tool, call, timeout_s)

    async def _run_in_thread(self, tool: Tool, call: ToolCall, timeout_s: float) -> _Outcome:
        workers = self._workers.get(call.tool)
        if workers is None:
            workers = self._workers[call.tool] = Workers(call.tool, self._threads_per_tool)
        try:
            return await workers.run(lambda: _run(tool, call), timeout_s=timeout_s)
        except TimeoutError:
            message = f"{call.tool} did not finish within {timeout_s:g} s"
            return ToolResultStatus.TIMEOUT, None, message
        except WorkersBusy as busy:
            _log.warning("tool %s is busy: %s", call.tool, busy)
            message = f"{call.tool} is busy: {busy}; try again later"
            return ToolResultStatus.ERROR, None, message


def _are_small(arguments: Mapping[str, Any]) -> bool:
    for value in arguments.values():
        kind = type(value)
        if kind in _INLINE_LIMITS and len(value) > _INLINE_LIMITS[kind]:
            return False
    return True


async def _run_call(
    calls: HttpCalls | PythonCalls, call: ToolCall, timeout_s: float, what: str
) -> _Outcome:
    """Make a call that bounds its own time. Services, and an operator's functions, may do anything.

    `what` says in the log which of the two failed.
    """
    try:
        return ToolResultStatus.SUCCESS, await calls.run(call, timeout_s=timeout_s), None
    except ToolTimedOut as late:
        return ToolResultStatus.TIMEOUT, None, str(late)
    except ToolError as failed:
        return ToolResultStatus.ERROR, None, str(failed)
    except Exception:
        _log_failure(call, f"{what} of template {call.template_id} failed")
        message = f"{call.operation} failed unexpectedly; the server's log says why"
        return ToolResultStatus.ERROR, None, message


def _log_failure(call: ToolCall, what: str) -> None:
    """Log the failure at hand, without its words where they could hold what is sensitive."""
    if not call.sensitive:
        _log.exception("%s", what)
        return
    kind, failed, trace = sys.exc_info()
    places = traceback.extract_tb(trace)
    where = f"{places[-1].filename}:{places[-1].lineno}" if places else "an unknown place"
    name = kind.__name__ if kind is not None else type(failed).__name__
    _log.error("%s: %s at %s (its words are withheld)", what, name, where)


def _run(tool: Tool, call: ToolCall) -> _Outcome:
    """Run a call where it stands. A tool may be anybody's, so nothing gets past here."""
    try:
        result = tool.run(call.operation, dict(call.arguments))
    except ToolTimedOut as late:
        return ToolResultStatus.TIMEOUT, None, str(late)
    except ToolError as failed:
        return ToolResultStatus.ERROR, None, str(failed)
    except (Exception, SystemExit, CancelledError):
        _log_failure(call, f"tool {call.tool} failed in {call.operation}")
        message = f"{call.tool} failed unexpectedly; the server's log says why"
        return ToolResultStatus.ERROR, None, message
    if not isinstance(result, Mapping) or "result" not in result:
        _log.error("tool %s returned no result in %s", call.tool, call.operation)
        return ToolResultStatus.ERROR, None, f"{call.tool} returned no result"
    return ToolResultStatus.SUCCESS, result, None
