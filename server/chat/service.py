"""The one path: decide, run, compose. Each stage is timed into the turn's trace."""

import asyncio
import logging
from dataclasses import replace

from server.chat.adapter import Adapter
from server.chat.guarding import guard_turn
from server.chat.withholding import clean_trace, without_secrets
from server.core.answer import Answer
from server.core.decision import AskFor, Blocked, Call, Clarify, Decision, NoMatch
from server.core.tools import ToolCall
from server.core.trace import Trace
from server.core.turn import Turn
from server.errors import TurnTimedOut
from server.tools.policy.chain import Carried
from server.tools.policy.proposal import Proposal, ProposedBy

_log = logging.getLogger(__name__)


async def answer_turn(adapter: Adapter, turn: Turn, *, timeout_s: float) -> Answer:
    """Answer one question through one adapter.

    Raises:
        TurnTimedOut: the whole turn took longer than `timeout_s`.
        ProviderError: the question could not be embedded.
    """
    trace = Trace()
    try:
        async with asyncio.timeout(timeout_s):
            guarded = await guard_turn(adapter, turn, trace)
            by, decision = guarded.adapter, guarded.decision
            if not isinstance(decision, Blocked):
                turn = with_intent(by, turn, trace)
            if decision is None:
                decision = await by.retriever.decide(turn, trace)
            clean_trace(by.library, trace)
            answer = guarded.told(await _act(by, turn, decision, trace))
    except TimeoutError:
        raise TurnTimedOut(f"no answer within {timeout_s:g} s, so the turn was stopped") from None
    adapter.metrics.turn(adapter.name, answer)
    level = logging.INFO if adapter.verbose else logging.DEBUG
    if _log.isEnabledFor(level):
        _log.log(level, "turn %s of %s: %s", turn.id, adapter.name, trace.to_list())
    return answer


def with_intent(adapter: Adapter, turn: Turn, trace: Trace) -> Turn:
    """The turn with what the adapter's rule pack makes of it, where there is one."""
    if adapter.detect is None:
        return turn
    with trace.stage("intent") as details:
        intent = adapter.detect(turn.text, turn.received_at)
        details |= {
            "intent": intent.name,
            "confidence": round(intent.confidence, 4),
            "method": intent.method,
            "entities": dict(intent.entities),
        }
    return replace(turn, intent=intent)


async def _act(adapter: Adapter, turn: Turn, decision: Decision, trace: Trace) -> Answer:
    match decision:
        case Call():
            carried = await carry_out(adapter, turn, decision.call, trace)
            shown = replace(decision, call=carried.call)
            return adapter.composer.result(
                shown, carried.result, trace, turn.languages, refusal=carried.refusal
            )
        case AskFor():
            return adapter.composer.ask_for(
                without_secrets(adapter.library, decision), trace, turn.languages
            )
        case Clarify():
            return adapter.composer.clarify(decision, trace, turn.languages)
        case NoMatch():
            return adapter.composer.no_match(decision, trace, turn.languages)
        case Blocked():
            return adapter.composer.blocked(decision, trace)


async def carry_out(
    adapter: Adapter, turn: Turn, call: ToolCall, trace: Trace, *, by: ProposedBy = "system"
) -> Carried:
    """Take a call through the adapter's chain; what is sensitive in it leaves the trace.

    Raises:
        StoreUnavailable: the counts of rate limits cannot be reached.
    """
    proposal = Proposal(
        call=call,
        caller=turn.caller,
        request_id=turn.id,
        intent=turn.intent.name if turn.intent is not None else None,
        proposed_by=by,
    )
    with trace.stage("tool") as details:
        carried = await adapter.chain.carry_out(proposal, timeout_s=adapter.tool_timeout_s)
        result = carried.result
        details |= {
            "tool": result.tool_name,
            "operation": result.operation,
            "status": str(result.status),
            "outcome": carried.outcome,
        }
    clean_trace(adapter.library, trace, carried.secrets)
    return carried
