"""The tool of templates that are answers already."""

import asyncio

from server.core.tools import ToolCall, ToolResultStatus
from server.tools.executor import ToolExecutor
from server.tools.registry import ToolRegistry


def test_it_tells_and_takes_nothing() -> None:
    registry = ToolRegistry.build({"knowledge": "tools.builtin.base.Knowledge"})
    executor = ToolExecutor(registry)
    told = asyncio.run(executor.execute(ToolCall("t", "knowledge", "tell", {}), timeout_s=5))
    given = ToolCall("t", "knowledge", "tell", {"text": "x"})
    refused = asyncio.run(executor.execute(given, timeout_s=5))
    executor.close()
    assert (told.status, told.result["result"]) == (ToolResultStatus.SUCCESS, "told")
    assert refused.status is ToolResultStatus.ERROR
