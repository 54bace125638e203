"""Running what only reads: asking questions to test a library must change nothing."""

from server.core.tools import ToolCall, ToolResult, ToolResultStatus
from server.tools.policy.chain import Runner


class Rehearsal:
    """Runs the calls that read, and says of those that write that they were not made."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    async def execute(self, call: ToolCall, *, timeout_s: float) -> ToolResult:
        if call.effect == "read":
            return await self._runner.execute(call, timeout_s=timeout_s)
        return ToolResult(
            tool_name=call.tool,
            operation=call.operation,
            status=ToolResultStatus.ERROR,
            execution_time_ms=0.0,
            parameters=call.arguments,
            error_message="a write is not made while a library is tested",
        )

    async def aclose(self) -> None:
        await self._runner.aclose()
