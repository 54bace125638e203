"""Taking a call through the chain of its adapter."""

from server.chat.adapter import Adapter
from server.chat.redact import redact_trace
from server.core.answer import Trace
from server.core.tools import ToolCall
from server.core.turn import Turn
from server.tools.policy.chain import CallOutcome
from server.tools.policy.proposal import Proposal


def proposal_of(turn: Turn, call: ToolCall) -> Proposal:
    """The proposal of a call that a turn asks for."""
    return Proposal(
        call=call,
        caller=turn.caller,
        request_id=turn.id,
        intent=turn.intent.name if turn.intent is not None else None,
        proposed_by="model" if call.by_model else "system",
    )


async def execute_call(adapter: Adapter, proposal: Proposal, trace: Trace) -> CallOutcome:
    """Take a proposal through the adapter's chain; what is sensitive in it leaves the trace.

    Raises:
        StoreUnavailable: the counts of rate limits cannot be reached.
    """
    with trace.stage("tool") as details:
        carried = await adapter.chain.carry_out(proposal, timeout_s=adapter.tool_timeout_s)
        result = carried.result
        details |= {
            "tool": result.tool_name,
            "operation": result.operation,
            "status": str(result.status),
            "outcome": carried.outcome,
        }
    redact_trace(adapter.library, trace, carried.secrets)
    return carried
