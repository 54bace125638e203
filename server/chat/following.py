"""A question decided in its conversation."""

from dataclasses import replace

from server.chat.adapter import Adapter
from server.chat.understanding import Understood, understand_turn
from server.core.answer import Answer
from server.core.context import NO_CONTEXT
from server.core.trace import Trace
from server.retrievers.following.scene import Decided


async def decide_turn(
    adapter: Adapter, understood: Understood, trace: Trace, *, at_home: bool
) -> Decided:
    """What the turn means, going by what its conversation remembers.

    A conversation that began in another adapter (`at_home` is False) says nothing of this one.

    Raises:
        ProviderError: the question could not be embedded.
    """
    turn = understood.turn

    async def alone(text: str) -> Decided:
        found = understood
        if text != turn.text:
            found = await understand_turn(adapter, replace(turn, text=text, intent=None), trace)
        decision = found.decision or await adapter.retriever.decide(found.turn, trace)
        return Decided(decision, found.turn.intent)

    if adapter.follow is None or not at_home or turn.context is NO_CONTEXT:
        return await alone(turn.text)
    return await adapter.follow(turn, understood.named, alone, trace)


def told(decided: Decided, answer: Answer) -> Answer:
    """The answer, saying in its metadata what the conversation contributed."""
    if not decided.how:
        return answer
    return replace(answer, metadata={**answer.metadata, "conversation": {"as": decided.how}})
