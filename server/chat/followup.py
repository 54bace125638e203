"""A question decided in its conversation."""

from dataclasses import replace

from server.chat.adapter import Adapter
from server.chat.execute import proposal_of
from server.chat.intent import IntentResult, detect_intent
from server.core.answer import Answer, Trace
from server.core.decision import Call, Decision
from server.core.tools import ToolCall
from server.core.turn import NO_CONTEXT, Turn
from server.retrievers.followups.context import FollowUpDecision


async def decide_turn(
    adapter: Adapter, understood: IntentResult, trace: Trace, *, at_home: bool
) -> FollowUpDecision:
    """What the turn means, going by what its conversation remembers.

    A conversation that began in another adapter (`at_home` is False) says nothing of this one.

    Raises:
        ProviderError: the question could not be embedded.
    """
    turn = understood.turn

    async def alone(text: str) -> FollowUpDecision:
        found = understood
        if text != turn.text:
            found = await detect_intent(adapter, replace(turn, text=text, intent=None), trace)
        decision = found.decision or await adapter.retriever.decide(found.turn, trace)
        if isinstance(decision, Call) and decision.otherwise is not None:
            decision = await _refused(adapter, found.turn, decision.call, decision.otherwise)
        return FollowUpDecision(decision, found.turn.intent)

    if adapter.follow is None or not at_home or turn.context is NO_CONTEXT:
        return await alone(turn.text)
    return await adapter.follow(turn, understood.named, alone, trace)


async def _refused(adapter: Adapter, turn: Turn, call: ToolCall, otherwise: Decision) -> Decision:
    """What is decided once the chain has refused, and written down, what nobody offered."""
    proposal = replace(proposal_of(turn, call), must_confirm=True)  # so that it can never run
    await adapter.chain.carry_out(proposal, timeout_s=adapter.tool_timeout_s)
    return otherwise


def add_metadata(decided: FollowUpDecision, answer: Answer) -> Answer:
    """The answer, saying in its metadata what the conversation contributed."""
    if not decided.how:
        return answer
    return replace(answer, metadata={**answer.metadata, "conversation": {"as": decided.how}})
