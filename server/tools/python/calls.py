"""Running Python templates: async functions awaited, others in threads, all with a deadline."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from server.core.tools import ToolCall
from server.errors import ToolFailed, ToolTimedOut, ToolUnknown
from server.tools.python.functions import Function
from server.tools.workers import Workers, WorkersBusy

_THREADS: Final = 4


class PythonCalls:
    """The functions of an adapter, by the ids of the templates that call them."""

    def __init__(self, functions: Mapping[str, Function]) -> None:
        self._functions = functions
        self._workers: dict[str, Workers[Any]] = {}

    @property
    def system(self) -> Mapping[str, frozenset[str]]:
        """Which system parameters each template's function takes."""
        return {name: function.system for name, function in self._functions.items()}

    async def run(self, call: ToolCall, *, timeout_s: float) -> Mapping[str, Any]:
        """Call the function and return its result, its own fields beside it.

        Raises:
            ToolUnknown: the template calls no function.
            ToolTimedOut, ToolFailed: it took too long, or could not be started.
            Exception: whatever the function raises.
        """
        try:
            function = self._functions[call.template_id]
        except KeyError:
            raise ToolUnknown(f"template {call.template_id!r} calls no function") from None
        if function.is_async:
            value = await self._await(function, call, timeout_s)
        else:
            value = await self._in_thread(function, call, timeout_s)
        fields = dict(value) if isinstance(value, Mapping) else {}
        return {**fields, "result": value, "operation": call.operation}

    def close(self) -> None:
        """Let idle threads end."""
        for workers in self._workers.values():
            workers.close()

    async def _await(self, function: Function, call: ToolCall, timeout_s: float) -> Any:
        deadline = asyncio.timeout(timeout_s)
        try:
            async with deadline:
                return await function.call(**call.arguments)
        except TimeoutError:
            if not deadline.expired():
                raise
            raise ToolTimedOut(_late(call, timeout_s)) from None

    async def _in_thread(self, function: Function, call: ToolCall, timeout_s: float) -> Any:
        workers = self._workers.get(call.template_id)
        if workers is None:
            workers = self._workers[call.template_id] = Workers(call.operation, _THREADS)

        def work() -> tuple[Any, Exception | None]:
            # Carried out as a value: a TimeoutError of the function's is not the deadline's.
            try:
                return function.call(**call.arguments), None
            except Exception as failed:
                return None, failed

        try:
            value, failed = await workers.run(work, timeout_s=timeout_s)
        except TimeoutError:
            raise ToolTimedOut(_late(call, timeout_s)) from None
        except WorkersBusy as busy:
            raise ToolFailed(f"{call.operation} is busy: {busy}; try again later") from busy
        if failed is not None:
            raise failed
        return value


def _late(call: ToolCall, timeout_s: float) -> str:
    return f"{call.operation} did not finish within {timeout_s:g} s"
