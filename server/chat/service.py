"""The one path: understand, decide, run, compose. Each stage is timed into the turn's trace."""

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from server.chat.adapter import Adapter
from server.chat.confirming import reply_to_held, settle
from server.chat.following import decide_turn, told
from server.chat.guarding import guard_turn
from server.chat.holding import run_or_hold
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
)
from server.core.trace import Trace
from server.core.turn import Turn
from server.errors import TurnTimedOut
from server.retrievers.following.scene import Decided

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
        StoreUnavailable: what the conversation remembers cannot be read, or a call that
            needs a yes cannot be kept.
    """
    trace = Trace()
    try:
        async with asyncio.timeout(timeout_s) as limit:
            turn = await recall(adapter, turn, trace)
            guarded = await guard_turn(adapter, turn, trace)
            by, decision = guarded.adapter, guarded.decision
            answer = await reply_to_held(adapter, turn, trace) if decision is None else None
            if answer is not None:
                await remember(adapter, turn, answer, by=adapter, private=False)
                return _counted(adapter, turn, answer)
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
    return _counted(adapter, turn, answer)


async def answer_confirmation(
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
            turn = await recall(adapter, turn, trace)
            answer = await settle(adapter, turn, proposal_id, trace, accept=accept, seal=seal)
            await remember(adapter, turn, answer, by=adapter, private=False)
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
    adapter: Adapter, turn: Turn, decision: Decision, trace: Trace, airtime: Airtime
) -> Answer:
    voice = adapter.voice
    if voice is not None:
        decision = await _with_models(voice, turn, decision, trace, airtime)
    match decision:
        case Call():
            return await run_or_hold(adapter, turn, decision, trace, airtime)
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
