"""Around a turn: what its conversation remembers before it, and after."""

from dataclasses import replace

from server.chat.adapter import Adapter
from server.chat.remembering import MOST_CHARS, remembered
from server.core.answer import Answer
from server.core.context import Context
from server.core.decision import Blocked, Call, Held, NotRun
from server.core.speech import Message
from server.core.trace import Trace
from server.core.turn import Turn


async def recall(adapter: Adapter, turn: Turn, trace: Trace) -> Turn:
    """The turn with what its conversation remembers; a turn that begins one reads nothing.

    Raises:
        StoreUnavailable: it cannot be read.
    """
    if adapter.conversations is None or not turn.continues:
        return turn
    with trace.stage("recall") as details:
        context = await adapter.conversations.recall(turn.caller, turn.session_id)
        details["messages"] = len(context.messages)
    return replace(turn, context=context)


async def remember(
    adapter: Adapter, turn: Turn, answer: Answer, *, by: Adapter, private: bool
) -> None:
    """Keep what the next turn has to know of this one, which the adapter `by` answered."""
    store = adapter.conversations
    if store is None:
        return
    library = adapter.library if by is adapter else None
    if _is_over(answer):
        if _only_looked(answer):
            # What was asked for is done with; what came of it is what “cancel it” means next.
            reply = Message("assistant", answer.content[:MOST_CHARS])
            await store.remember(turn.caller, turn.session_id, Context((reply,)))
        else:
            await store.forget(turn.caller, turn.session_id)
        return
    context = remembered(library, turn, answer, max_turns=store.max_turns, private=private)
    context = replace(context, held=_held_after(turn, answer))
    if context != turn.context:
        # What a yes refers to must not be lost, whatever happens to the server.
        waits = context.held is not None
        await store.remember(turn.caller, turn.session_id, context, at_once=waits)


def _held_after(turn: Turn, answer: Answer) -> str | None:
    """The proposal to which the next yes or no belongs; a change of subject leaves none."""
    decision = answer.decision
    if isinstance(decision, Blocked):
        return turn.context.held
    if isinstance(decision, Held):
        return decision.proposal_id
    if isinstance(decision, NotRun):
        return decision.held.proposal_id if decision.held is not None else None
    proposal = answer.metadata.get("proposal", {})
    return proposal["proposal_id"] if proposal.get("status") == "held" else None


def _is_over(answer: Answer) -> bool:
    """Whether what was read out of the conversation was committed or declined.

    The next question then begins anew: what was said before has served its purpose.
    """
    proposal = answer.metadata.get("proposal", {})
    return proposal.get("origin") == "conversation" and proposal.get("status") in (
        "done",
        "declined",
    )


def _only_looked(answer: Answer) -> bool:
    """Whether what was confirmed changed nothing."""
    decision = answer.decision
    return isinstance(decision, Call) and decision.call.effect == "read"
