"""A decision for a template that is named, rather than found."""

from server.core.decision import AskFor, Call, Decision, Match
from server.core.tools import ToolCall
from server.core.turn import Turn
from server.extraction.ambiguity import noted
from server.retrievers.base import RetrieverParts


def decide_for(
    parts: RetrieverParts,
    template_id: str,
    turn: Turn,
    *,
    why: str = "a guard leads here",
    confidence: float = 1.0,
) -> Decision:
    """Call `template_id` with the arguments that the question holds, or ask for the rest."""
    template = parts.library.templates[template_id]
    found = parts.extractor.extract(
        turn.text, template, now=turn.received_at.astimezone(), intent=turn.intent
    )
    sources = noted(found.arguments, found.sources, parts.library.domain.date_order)
    match = Match(template_id, confidence, 0.0, why)
    if found.missing:
        return AskFor(match, found.missing, found.arguments, sources)
    call = ToolCall(
        template_id=template.id,
        tool=template.execution.tool,
        operation=template.execution.operation,
        arguments=found.arguments,
        sources=sources,
        effect=template.effect,
    )
    return Call(match, call)
