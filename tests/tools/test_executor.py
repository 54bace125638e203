"""The executor: outcomes are values, slow tools end, and no tool harms another."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from server.core.tools import ToolCall, ToolResult, ToolResultStatus
from server.tools.builtin.calculator import Calculator
from server.tools.executor import ToolExecutor
from server.tools.registry import ToolRegistry
from tests.tools.samples import Broken, Exiting, Gated, Greeter, Silent, Sleeper, Witness

PERCENTAGE = {"value": 150, "percentage": 20}


def call(tool: str, operation: str, arguments: dict[str, Any]) -> ToolCall:
    return ToolCall("template", tool, operation, arguments)


def greet(tool: str) -> ToolCall:
    return call(tool, "greet", {"who": "Ada"})


def run(executor: ToolExecutor, one: ToolCall, *, timeout_s: float = 30) -> ToolResult:
    return asyncio.run(executor.execute(one, timeout_s=timeout_s))


def said(result: ToolResult) -> tuple[str, Any]:
    return str(result.status), result.error_message or result.result


@pytest.fixture
def gated() -> Iterator[Gated]:
    tool = Gated()
    yield tool
    tool.gate.set()


def test_a_call_becomes_a_result() -> None:
    executor = ToolExecutor(ToolRegistry([Calculator()]))
    result = run(executor, call("calculator", "percentage", PERCENTAGE))
    assert result.execution_time_ms > 0
    assert result == ToolResult(
        tool_name="calculator",
        operation="percentage",
        status=ToolResultStatus.SUCCESS,
        execution_time_ms=result.execution_time_ms,
        parameters=PERCENTAGE,
        result={"result": 30, "operation": "percentage", "input": PERCENTAGE},
    )


@pytest.mark.parametrize(
    ("one", "message"),
    [
        (call("calculator", "divide", {"a": 1, "b": 0}), "Division by zero"),
        (call("calculator", "add", {}), "calculator add needs values"),
        (
            call("calculater", "add", {}),
            "tool 'calculater' is not one of calculator; did you mean 'calculator'?",
        ),
    ],
)
def test_a_failure_is_an_answer(one: ToolCall, message: str) -> None:
    result = run(ToolExecutor(ToolRegistry([Calculator()])), one)
    assert said(result) == ("error", message)
    assert "result" not in result.to_dict()


@pytest.mark.parametrize(
    ("quick", "arguments", "thread"),
    [
        (True, {"data": ["row"] * 1000, "text": "x" * 100_000}, "MainThread"),
        (True, {"data": ["row"] * 1001}, "tool-witness"),
        (True, {"text": "x" * 100_001}, "tool-witness"),
        (False, {}, "tool-witness"),
    ],
    ids=["small", "many items", "long text", "not quick"],
)
def test_only_small_arguments_of_quick_tools_run_on_the_event_loop(
    quick: bool, arguments: dict[str, Any], thread: str
) -> None:
    executor = ToolExecutor(ToolRegistry([Witness(quick=quick)]))
    result = run(executor, call("witness", "wave", arguments))
    executor.close()
    assert result.result == {"result": thread}


def test_what_a_tool_did_not_foresee_is_logged_and_not_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    result = run(ToolExecutor(ToolRegistry([Broken()])), greet("broken"))
    assert said(result) == ("error", "broken failed unexpectedly; the server's log says why")
    assert "password=hunter2" in caplog.text


def test_a_tool_cannot_end_the_server() -> None:
    result = run(ToolExecutor(ToolRegistry([Exiting()])), greet("exiting"))
    assert said(result) == ("error", "exiting failed unexpectedly; the server's log says why")


def test_an_answer_without_a_result_is_an_error() -> None:
    result = run(ToolExecutor(ToolRegistry([Silent()])), greet("silent"))
    assert said(result) == ("error", "silent returned no result")


def test_a_slow_tool_ends_with_a_timeout(gated: Gated) -> None:
    result = run(ToolExecutor(ToolRegistry([gated])), greet("gated"), timeout_s=0.01)
    assert said(result) == ("timeout", "gated did not finish within 0.01 s")
    assert result.parameters == {"who": "Ada"}


def test_the_loop_goes_on_while_tools_block(gated: Gated) -> None:
    async def scenario() -> list[str]:
        executor = ToolExecutor(ToolRegistry([gated, Calculator()]))
        slow = asyncio.create_task(executor.execute(greet("gated"), timeout_s=30))
        await asyncio.to_thread(gated.inside.acquire)
        quick = await executor.execute(call("calculator", "add", {"values": [1]}), timeout_s=30)
        order = ["quick" if not slow.done() else "slow", str(quick.status)]
        gated.gate.set()
        return [*order, str((await slow).status)]

    assert asyncio.run(scenario()) == ["quick", "success", "success"]


def test_calls_of_one_tool_run_side_by_side() -> None:
    async def scenario() -> list[str]:
        executor = ToolExecutor(ToolRegistry([Sleeper()]), threads_per_tool=4)
        calls = (executor.execute(greet("sleeper"), timeout_s=30) for _ in range(40))
        return [str(result.status) for result in await asyncio.gather(*calls)]

    assert asyncio.run(scenario()) == ["success"] * 40


def test_a_tool_that_hangs_is_refused_at_once_and_harms_no_other(gated: Gated) -> None:
    async def scenario() -> list[tuple[str, Any]]:
        executor = ToolExecutor(ToolRegistry([gated, Greeter()]), threads_per_tool=2)
        hung = await asyncio.gather(
            *(executor.execute(greet("gated"), timeout_s=0.05) for _ in range(2))
        )
        refused = await executor.execute(greet("gated"), timeout_s=30)
        other = await executor.execute(call("greeter", "wave", {}), timeout_s=30)
        return [*map(said, hung), said(refused), (str(other.status), other.result["result"])]

    assert asyncio.run(scenario()) == [
        ("timeout", "gated did not finish within 0.05 s"),
        ("timeout", "gated did not finish within 0.05 s"),
        (
            "error",
            "gated is busy: all 2 threads of gated are held by calls that do not end; "
            "try again later",
        ),
        ("success", "👋"),
    ]


def test_a_tool_that_stops_hanging_serves_again(gated: Gated) -> None:
    async def scenario() -> tuple[str, Any]:
        executor = ToolExecutor(ToolRegistry([gated]), threads_per_tool=1)
        await executor.execute(greet("gated"), timeout_s=0.01)
        gated.gate.set()
        while True:
            result = await executor.execute(greet("gated"), timeout_s=30)
            if result.status is ToolResultStatus.SUCCESS:
                return said(result)
            await asyncio.sleep(0.001)

    status, result = asyncio.run(scenario())
    assert (status, result["result"]) == ("success", "Hello, Ada!")


def test_a_call_that_never_started_says_so(gated: Gated) -> None:
    async def scenario() -> tuple[str, Any]:
        executor = ToolExecutor(ToolRegistry([gated]), threads_per_tool=1)
        first = asyncio.create_task(executor.execute(greet("gated"), timeout_s=30))
        await asyncio.to_thread(gated.inside.acquire)
        waiting = await executor.execute(greet("gated"), timeout_s=0.01)
        gated.gate.set()
        await first
        return said(waiting)

    assert asyncio.run(scenario()) == (
        "error",
        "gated is busy: no thread came free for gated within 0.01 s; try again later",
    )


def test_a_queue_that_grows_too_long_is_refused(gated: Gated) -> None:
    async def scenario() -> list[str]:
        executor = ToolExecutor(ToolRegistry([gated]), threads_per_tool=1)
        calls = [
            asyncio.create_task(executor.execute(greet("gated"), timeout_s=30)) for _ in range(102)
        ]
        refused, _ = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        messages = [task.result().error_message or "" for task in refused]
        gated.gate.set()
        await asyncio.gather(*calls)
        return messages

    assert asyncio.run(scenario()) == [
        "gated is busy: 100 calls of gated are waiting already; try again later"
    ]


def test_a_turn_that_is_given_up_frees_its_place(gated: Gated) -> None:
    async def scenario() -> tuple[bool, str]:
        executor = ToolExecutor(ToolRegistry([gated]), threads_per_tool=2)
        turn = asyncio.create_task(executor.execute(greet("gated"), timeout_s=30))
        await asyncio.to_thread(gated.inside.acquire)
        turn.cancel()
        await asyncio.wait([turn])
        gated.gate.set()
        after = await executor.execute(greet("gated"), timeout_s=30)
        return turn.cancelled(), str(after.status)

    assert asyncio.run(scenario()) == (True, "success")


def test_one_executor_serves_several_event_loops_in_turn() -> None:
    executor = ToolExecutor(ToolRegistry([Greeter()]))
    statuses = [str(run(executor, greet("greeter")).status) for _ in range(3)]
    executor.close()
    assert statuses == ["success"] * 3
