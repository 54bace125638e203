"""Around a turn: what its conversation remembers before it, and after."""

from dataclasses import replace

from server.chat.adapter import Adapter
from server.chat.remembering import remembered
from server.core.answer import Answer
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
    context = remembered(library, turn, answer, max_turns=store.max_turns, private=private)
    if context != turn.context:
        await store.remember(turn.caller, turn.session_id, context)
