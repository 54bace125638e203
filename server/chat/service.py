"""The one path: decide, run, compose. Each stage is timed into the turn's trace."""

import asyncio
import logging

from server.chat.adapter import Adapter
from server.chat.guarding import guard_turn
from server.core.answer import Answer
from server.core.decision import AskFor, Blocked, Call, Clarify, Decision, NoMatch
from server.core.trace import Trace
from server.core.turn import Turn
from server.errors import TurnTimedOut

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
            if decision is None:
                decision = await by.retriever.decide(turn, trace)
            answer = guarded.told(await _act(by, turn, decision, trace))
    except TimeoutError:
        raise TurnTimedOut(f"no answer within {timeout_s:g} s, so the turn was stopped") from None
    adapter.metrics.turn(adapter.name, answer)
    level = logging.INFO if adapter.verbose else logging.DEBUG
    if _log.isEnabledFor(level):
        _log.log(level, "turn %s of %s: %s", turn.id, adapter.name, trace.to_list())
    return answer


async def _act(adapter: Adapter, turn: Turn, decision: Decision, trace: Trace) -> Answer:
    match decision:
        case Call():
            with trace.stage("tool") as details:
                result = await adapter.executor.execute(
                    decision.call, timeout_s=adapter.tool_timeout_s
                )
                details |= {
                    "tool": result.tool_name,
                    "operation": result.operation,
                    "status": str(result.status),
                }
            return adapter.composer.result(decision, result, trace, turn.languages)
        case AskFor():
            return adapter.composer.ask_for(decision, trace, turn.languages)
        case Clarify():
            return adapter.composer.clarify(decision, trace, turn.languages)
        case NoMatch():
            return adapter.composer.no_match(decision, trace, turn.languages)
        case Blocked():
            return adapter.composer.blocked(decision, trace)
