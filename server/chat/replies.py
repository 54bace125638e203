"""The answer to a yes or a no."""

from server.chat.adapter import Adapter
from server.chat.confirm import Resolution, first_reply, keep_reply, reply_to_pending
from server.chat.history import save_history
from server.chat.respond import respond
from server.chat.sources import answer_of_source
from server.core.decision import Answer, Trace
from server.core.streaming import TurnDeadline
from server.core.turn import Turn


async def answer_reply(
    adapter: Adapter, turn: Turn, trace: Trace, deadline: TurnDeadline
) -> Answer | None:
    """The answer to a yes or a no; None where the turn is neither.

    Where a client tells the conversation, a reply that it sends again gets the answer that it
    got before, also when nobody was there any more to hear that.
    """
    if adapter.proposals is None:
        return None
    resolving = _resolve_reply(adapter, turn, trace)
    resolution, answer = await adapter.proposals.to_its_end(resolving)
    if resolution is None or answer is not None:
        return answer
    within_s = deadline.left_s() / 2
    first = await first_reply(adapter, turn, resolution, within_s=within_s)
    if first is None:
        return await answer_resolution(adapter, turn, resolution, trace)
    proposal = {"proposal_id": turn.context.held, "status": "settled", "repeated": True}
    shown = {"source": "intent", "template_id": None, "synthesized": False}
    return Answer(first, 1.0, {**shown, "proposal": proposal}, resolution.ending, trace)


async def _resolve_reply(
    adapter: Adapter, turn: Turn, trace: Trace
) -> tuple[Resolution | None, Answer | None]:
    """What a reply does, and its answer, which is left out where it may have been given before."""
    with adapter.leases.hold():  # whoever asked may have left
        resolution = await reply_to_pending(adapter, turn, trace)
        if resolution is None or (turn.transcript is not None and resolution.is_settled):
            return resolution, None
        answer = await answer_resolution(adapter, turn, resolution, trace)
        if answer.metadata["proposal"]["status"] in ("done", "declined", "refused"):
            await keep_reply(adapter, turn, answer)
        return resolution, answer


async def answer_resolution(
    adapter: Adapter, turn: Turn, resolution: Resolution, trace: Trace
) -> Answer:
    ending, outcome, proposal = resolution.ending, resolution.outcome, resolution.proposal
    answer = respond(resolution.adapter, turn, ending, trace, outcome=outcome, proposal=proposal)
    by = resolution.adapter if resolution.adapter.name in adapter.behind else adapter
    await save_history(adapter, turn, answer, by=by, private=False)
    return answer_of_source(adapter, by, answer)
