"""The one path: understand, decide, run, compose. Each stage is timed into the turn's trace."""

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from server.chat.adapter import Adapter
from server.chat.following import decide_turn, told
from server.chat.guarding import guard_turn
from server.chat.listening import Airtime, Listening
from server.chat.recalling import recall, remember
from server.chat.understanding import Understood, understand_turn
from server.chat.withholding import clean_trace, without_secrets
from server.core.answer import Answer
from server.core.decision import (
    AskBack,
    AskFor,
    Blocked,
    Call,
    Clarify,
    Decision,
    Dropped,
    NoMatch,
    Proposed,
)
from server.core.tools import ToolCall
from server.core.trace import Trace
from server.core.turn import Turn
from server.errors import TurnTimedOut
from server.retrievers.following.follower import Decided
from server.tools.policy.chain import Carried
from server.tools.policy.proposal import Proposal

if TYPE_CHECKING:  # a server without models loads nothing of them
    from server.chat.speaking.voice import Voice

_log = logging.getLogger(__name__)


async def answer_turn(
    adapter: Adapter, turn: Turn, *, timeout_s: float, listening: Listening | None = None
) -> Answer:
    """Answer one question through one adapter; `listening` hears what a model says of it.

    Raises:
        TurnTimedOut: the whole turn took longer than `timeout_s`.
        ProviderError: the question could not be embedded.
        StoreUnavailable: what the conversation remembers cannot be read.
    """
    trace = Trace()
    try:
        async with asyncio.timeout(timeout_s) as limit:
            turn = await recall(adapter, turn, trace)
            guarded = await guard_turn(adapter, turn, trace)
            by, decision = guarded.adapter, guarded.decision
            if isinstance(decision, Blocked):
                understood = Understood(turn)
            else:
                understood = await understand_turn(by, turn, trace)
                turn = understood.turn
            decided = Decided(decision, turn.intent) if decision is not None else None
            if decided is None:
                decided = await decide_turn(by, understood, trace, at_home=by is adapter)
                turn = replace(turn, intent=decided.intent)
            private = clean_trace(by.library, trace)
            airtime = Airtime(limit.when() or 0.0, listening, private)
            answer = await _act(by, turn, decided.decision, trace, airtime)
            answer = told(decided, guarded.told(understood.told(answer)))
            await remember(adapter, turn, answer, by=by, private=private)
    except TimeoutError:
        raise TurnTimedOut(f"no answer within {timeout_s:g} s, so the turn was stopped") from None
    adapter.metrics.turn(adapter.name, answer)
    level = logging.INFO if adapter.verbose else logging.DEBUG
    if _log.isEnabledFor(level):
        _log.log(level, "turn %s of %s: %s", turn.id, adapter.name, trace.to_list())
    return answer


async def _act(
    adapter: Adapter, turn: Turn, decision: Decision, trace: Trace, airtime: Airtime
) -> Answer:
    voice = adapter.voice
    if voice is not None:
        decision = await _with_models(voice, turn, decision, trace, airtime)
    match decision:
        case Call(proposed=Proposed()):
            return adapter.composer.proposed(decision, trace)
        case Call():
            carried = await carry_out(adapter, turn, decision.call, trace)
            shown = replace(decision, call=carried.call)
            answer = adapter.composer.result(
                shown, carried.result, trace, turn.languages, refusal=carried.refusal
            )
            if voice is None or carried.refusal is not None:
                return answer
            return await voice.phrase(turn, shown.call, carried.result, answer, trace, airtime)
        case AskFor():
            return adapter.composer.ask_for(
                without_secrets(adapter.library, decision), trace, turn.languages
            )
        case Clarify():
            return adapter.composer.clarify(decision, trace, turn.languages)
        case AskBack():
            return adapter.composer.ask_back(decision, trace)
        case NoMatch():
            answer = adapter.composer.no_match(decision, trace, turn.languages)
            return await voice.converse(turn, answer, trace, airtime) if voice else answer
        case Dropped():
            return adapter.composer.dropped(decision, trace, turn.languages)
        case Blocked():
            return adapter.composer.blocked(decision, trace)


async def _with_models(
    voice: "Voice", turn: Turn, decision: Decision, trace: Trace, airtime: Airtime
) -> Decision:
    """The decision with what a model reads in the question; nothing is run for mere talk."""
    if isinstance(decision, Call | AskFor | Clarify) and voice.is_talk(turn):
        name = turn.intent.name if turn.intent is not None else ""
        return NoMatch(f"nothing is done for the intent {name}")
    if isinstance(decision, AskFor):
        return await voice.fill(turn, decision, trace, airtime)
    return decision


async def carry_out(adapter: Adapter, turn: Turn, call: ToolCall, trace: Trace) -> Carried:
    """Take a call through the adapter's chain; what is sensitive in it leaves the trace.

    Raises:
        StoreUnavailable: the counts of rate limits cannot be reached.
    """
    proposal = Proposal(
        call=call,
        caller=turn.caller,
        request_id=turn.id,
        intent=turn.intent.name if turn.intent is not None else None,
        proposed_by="model" if call.by_model else "system",
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
