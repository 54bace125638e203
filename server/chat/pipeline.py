"""The one path: understand, decide, run, compose. Each stage is timed into the turn's trace."""

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from server.chat.adapter import Adapter
from server.chat.confirm import reply_to_pending, resolve_proposal, run_or_request_confirmation
from server.chat.followup import add_metadata, decide_turn
from server.chat.guard import guard_turn
from server.chat.history import load_history, save_history
from server.chat.intent import IntentResult, detect_intent
from server.chat.redact import redact_decision, redact_trace
from server.core.answer import Answer, Trace
from server.core.decision import (
    Blocked,
    Call,
    Cancelled,
    Clarify,
    ClarifyingQuestion,
    Decision,
    MissingArguments,
    NoMatch,
)
from server.core.streaming import StreamListener, TurnDeadline
from server.core.turn import Turn
from server.errors import TurnTimedOut
from server.retrievers.followups.context import FollowUpDecision

if TYPE_CHECKING:
    from server.llm.models import AdapterModels


_log = logging.getLogger(__name__)


async def run_turn(
    adapter: Adapter, turn: Turn, *, timeout_s: float, listener: StreamListener | None = None
) -> Answer:
    """Answer one question through one adapter; `listener` hears what a model says of it.

    Raises:
        TurnTimedOut: the whole turn took longer than `timeout_s`.
        ProviderError: the question could not be embedded.
        StoreUnavailable: what the conversation remembers cannot be read, or a call that
            needs a yes cannot be kept.
    """
    trace = Trace()
    try:
        async with asyncio.timeout(timeout_s) as limit:
            turn = await load_history(adapter, turn, trace)
            guarded = await guard_turn(adapter, turn, trace)
            by, decision = guarded.adapter, guarded.decision
            answer = await reply_to_pending(adapter, turn, trace) if decision is None else None
            if answer is not None:
                await save_history(adapter, turn, answer, by=adapter, private=False)
                return _counted(adapter, turn, answer)
            if isinstance(decision, Blocked):
                understood = IntentResult(turn)
            else:
                understood = await detect_intent(by, turn, trace)
                turn = understood.turn
            decided = FollowUpDecision(decision, turn.intent) if decision is not None else None
            if decided is None:
                decided = await decide_turn(by, understood, trace, at_home=by is adapter)
                turn = replace(turn, intent=decided.intent)
            private = redact_trace(by.library, trace)
            deadline = TurnDeadline(limit.when() or 0.0, listener, private)
            answer = await _act(by, turn, decided.decision, trace, deadline)
            answer = add_metadata(decided, guarded.told(understood.told(answer)))
            await save_history(adapter, turn, answer, by=by, private=private)
    except TimeoutError:
        raise TurnTimedOut(f"no answer within {timeout_s:g} s, so the turn was stopped") from None
    return _counted(adapter, turn, answer)


async def run_confirmation(
    adapter: Adapter,
    turn: Turn,
    proposal_id: str,
    *,
    accept: bool,
    seal: str | None = None,
    timeout_s: float,
) -> Answer:
    """Run what a proposal holds, or let go of it; the turn's text is the yes or the no.

    Raises:
        ProposalUnknown, ProposalSettled, ProposalExpired, ProposalAltered: nothing ran.
        TurnTimedOut: it took longer than `timeout_s`; what was begun is carried to its end.
        AdapterUnavailable, StoreUnavailable: nothing ran, and it still waits.
    """
    trace = Trace()
    try:
        async with asyncio.timeout(timeout_s):
            turn = await load_history(adapter, turn, trace)
            answer = await resolve_proposal(
                adapter, turn, proposal_id, trace, accept=accept, seal=seal
            )
            await save_history(adapter, turn, answer, by=adapter, private=False)
    except TimeoutError:
        what = f"no answer within {timeout_s:g} s; what was confirmed is carried to its end"
        raise TurnTimedOut(what) from None
    return _counted(adapter, turn, answer)


def _counted(adapter: Adapter, turn: Turn, answer: Answer) -> Answer:
    adapter.metrics.turn(adapter.name, answer)
    level = logging.INFO if adapter.verbose else logging.DEBUG
    if _log.isEnabledFor(level):
        _log.log(level, "turn %s of %s: %s", turn.id, adapter.name, answer.trace.to_list())
    return answer


async def _act(
    adapter: Adapter, turn: Turn, decision: Decision, trace: Trace, deadline: TurnDeadline
) -> Answer:
    models = adapter.models
    if models is not None:
        decision = await _with_models(models, turn, decision, trace, deadline)
    match decision:
        case Call():
            return await run_or_request_confirmation(adapter, turn, decision, trace, deadline)
        case MissingArguments():
            return adapter.composer.ask_for(
                redact_decision(adapter.library, decision), trace, turn.languages
            )
        case Clarify():
            return adapter.composer.clarify(decision, trace, turn.languages)
        case ClarifyingQuestion():
            return adapter.composer.ask_back(decision, trace)
        case NoMatch():
            answer = adapter.composer.no_match(decision, trace, turn.languages)
            return await models.converse(turn, answer, trace, deadline) if models else answer
        case Cancelled():
            return adapter.composer.dropped(decision, trace, turn.languages)
        case Blocked():
            return adapter.composer.blocked(decision, trace)


async def _with_models(
    models: "AdapterModels", turn: Turn, decision: Decision, trace: Trace, deadline: TurnDeadline
) -> Decision:
    """The decision with what a model reads in the question; nothing is run for mere talk."""
    if isinstance(decision, Call | MissingArguments | Clarify) and models.is_talk(turn):
        name = turn.intent.name if turn.intent is not None else ""
        return NoMatch(f"nothing is done for the intent {name}")
    if isinstance(decision, MissingArguments):
        return await models.fill(turn, decision, trace, deadline)
    return decision
