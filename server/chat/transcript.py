"""A conversation as its client tells it: what is not kept is decided again."""

from contextlib import ExitStack
from dataclasses import replace

from server.chat.adapter import Adapter
from server.chat.confirm import is_reply
from server.chat.history import load_transcript, next_context
from server.chat.question import guard_turn
from server.chat.understand import understand_turn
from server.core.decision import Answer, Call, DecidedCalls, Ending, SeveralCalls, Trace
from server.core.transcript import Transcript
from server.core.turn import Turn


async def continue_transcript(
    adapter: Adapter, turn: Turn, told: Transcript, trace: Trace, leases: ExitStack
) -> Turn:
    """The turn in the conversation that its client tells; what is not kept is decided again.

    Nothing runs for that, so nothing of it waits for a yes, and nobody knows what came of it.
    """
    turn, exchanges = await load_transcript(adapter, turn, told, trace)
    for each in exchanges:
        if not each.question:
            continue
        if turn.context.waiting is not None and is_reply(each.question):
            turn = replace(turn, context=replace(turn.context, held=None, held_in=None))
            continue
        earlier = replace(turn, text=each.question, transcript=None, runs=False)
        unheard = Trace()
        guarded = await guard_turn(adapter, earlier, unheard, leases)
        if guarded.adapter is not adapter:
            continue
        understood = await understand_turn(adapter, adapter, earlier, guarded.decision, unheard)
        decision, by = understood.decision, understood.by
        ending: Ending = decision
        if isinstance(decision, Call):
            ending = DecidedCalls((decision,))
        elif isinstance(decision, SeveralCalls):
            ending = DecidedCalls(decision.calls if not understood.callers else ())
        answer = Answer("", 1.0, {}, ending)
        private = understood.private
        context = next_context(adapter, understood.turn, answer, by=by, private=private)
        turn = replace(turn, context=context)
    return turn
