"""What happens to a decision between the chain of deciders and the policy chain."""

from dataclasses import replace
from typing import TYPE_CHECKING

from server.chat.adapter import Adapter
from server.chat.execute import proposal_of
from server.core.decision import Call, Clarify, Decision, MissingArguments, NoMatch, Trace
from server.core.streaming import TurnDeadline
from server.core.turn import ConversationContext, Turn

if TYPE_CHECKING:
    from server.llm.models import AdapterModels


def without_follow_up(turn: Turn, text: str | None = None) -> Turn:
    """The turn as one that goes on with nothing, with another text where one is given.

    What was said before stays: models read it.
    """
    context = ConversationContext(turn.context.messages)
    if text is None:
        return replace(turn, context=context)
    return replace(turn, text=text, intent=None, mentions=None, context=context)


async def refuse_unoffered(adapter: Adapter, turn: Turn, decision: Call) -> None:
    """Have the policy chain refuse a call that a model was not offered, and write that down."""
    # What has to be confirmed, and is held nowhere, can never run.
    proposal = replace(proposal_of(adapter, turn, decision), must_confirm=True, proposal_id=None)
    await adapter.chain.carry_out(proposal, timeout_s=adapter.tool_timeout_s)


async def complete_with_models(
    models: "AdapterModels", turn: Turn, decision: Decision, trace: Trace, deadline: TurnDeadline
) -> Decision:
    """The decision with the arguments that a model finds; nothing is run for mere talk."""
    if isinstance(decision, Call | MissingArguments | Clarify) and models.is_talk(turn):
        name = turn.intent.name if turn.intent is not None else ""
        return NoMatch(f"nothing is done for the intent {name}")
    if isinstance(decision, MissingArguments):
        return await models.fill(turn, decision, trace, deadline)
    return decision
