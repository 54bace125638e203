import asyncio
from typing import Any

from server.core.tools import Effect, ToolCall, ToolResult
from server.evaluation.outcomes import Rehearsal
from server.tools.builtin.calculator import Calculator
from server.tools.executor import ToolExecutor
from server.tools.registry import ToolRegistry


def run(effect: Effect, arguments: dict[str, Any]) -> ToolResult:
    rehearsal = Rehearsal(ToolExecutor(ToolRegistry([Calculator()])))
    call = ToolCall("t", "calculator", "multiply", arguments, effect=effect)
    return asyncio.run(rehearsal.execute(call, timeout_s=5))


def test_what_reads_runs() -> None:
    result = run("read", {"a": 2, "b": 3})
    assert (str(result.status), result.result["result"]) == ("success", 6)


def test_what_writes_is_not_made() -> None:
    result = run("write", {"a": 2, "b": 3})
    assert (str(result.status), result.result) == ("error", None)
    assert result.error_message == "a write is not made while a library is tested"


def test_with_a_list_of_templates_others_do_not_run() -> None:
    call = ToolCall("t", "calculator", "multiply", {"a": 2, "b": 3}, effect="read")
    executor = ToolExecutor(ToolRegistry([Calculator()]))
    for only, status in (({"t"}, "success"), (set(), "error")):
        rehearsal = Rehearsal(executor, only=only)
        assert str(asyncio.run(rehearsal.execute(call, timeout_s=5)).status) == status
