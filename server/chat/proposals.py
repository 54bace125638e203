"""LLM-first: a model proposes a template and arguments, and the same chain judges them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from server.chat.adapter import Adapter
from server.chat.service import carry_out
from server.chat.understanding import understand_turn
from server.core.answer import Answer
from server.core.decision import Call, Match, NoMatch
from server.core.tools import Source, ToolCall, ToolDefinition
from server.core.trace import Trace
from server.core.turn import Turn


@dataclass(frozen=True, slots=True)
class ModelProposal:
    """What a model wants to call, by the name it was told, with whatever arguments."""

    function: str
    arguments: Mapping[str, Any]


class Proposer(Protocol):
    """A model, or whatever else reads a question and names a function."""

    async def propose(
        self, text: str, functions: tuple[ToolDefinition, ...]
    ) -> ModelProposal | None: ...


async def answer_proposed(adapter: Adapter, turn: Turn, proposer: Proposer, trace: Trace) -> Answer:
    """Let a model propose, and answer with what the chain made of it.

    The intent is detected by the server, and never taken from the model. A model that
    proposes nothing is answered as a question that nothing fits.
    """
    turn = (await understand_turn(adapter, turn, trace)).turn
    templates = adapter.library.templates.values()
    proposal = await proposer.propose(
        turn.text, tuple(template.to_tool_definition() for template in templates)
    )
    if proposal is None:
        return adapter.composer.no_match(NoMatch("no tool was proposed"), trace, turn.languages)
    by_name = {template.function_name or template.id: template for template in templates}
    template = by_name.get(proposal.function)
    if template is None:
        call = ToolCall(proposal.function, "", "", proposal.arguments)
        await carry_out(adapter, turn, call, trace, by="model")
        return adapter.composer.no_match(
            NoMatch("a tool was proposed that is not there"), trace, turn.languages
        )
    call = ToolCall(
        template.id,
        template.execution.tool,
        template.execution.operation,
        proposal.arguments,
        {name: Source("model") for name in proposal.arguments},
        template.effect,
    )
    carried = await carry_out(adapter, turn, call, trace, by="model")
    decision = Call(Match(template.id, 0.0, 0.0, "proposed by a model"), carried.call)
    return adapter.composer.result(
        decision, carried.result, trace, turn.languages, refusal=carried.refusal
    )
