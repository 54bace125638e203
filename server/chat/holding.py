"""Calls that need a yes: kept until it comes, and shown exactly as they would run."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from server.chat.adapter import Adapter
from server.chat.carrying import carry_out, proposal_of
from server.chat.listening import Airtime
from server.chat.withholding import shown_arguments
from server.conversation.places import place_of
from server.conversation.proposals.desk import ProposalDesk, new_id
from server.conversation.proposals.held import HeldCall
from server.core.answer import Answer
from server.core.decision import Call, Held
from server.core.tools import ToolCall
from server.core.trace import Trace
from server.core.turn import Turn
from server.library.hashing import template_hash
from server.library.model import Template


async def run_or_hold(
    adapter: Adapter,
    turn: Turn,
    decision: Call,
    trace: Trace,
    airtime: Airtime,
) -> Answer:
    """Run what was decided, or keep it for the yes that it needs.

    What would be refused anyway is refused at once, and not held.

    Raises:
        StoreUnavailable: it could not be kept, or limits cannot be counted.
    """
    desk, call = adapter.proposals, decision.call
    template = adapter.library.templates.get(call.template_id)
    must_confirm = decision.proposed is not None
    needs_yes = must_confirm or (template is not None and template.policy.confirm)
    proposal = proposal_of(turn, call)
    if needs_yes:
        proposal_id = new_id() if desk is not None else None
        proposal = replace(proposal, must_confirm=must_confirm, proposal_id=proposal_id)
    carried = await carry_out(adapter, proposal, trace)
    waits = carried.to_confirm
    if waits is not None and template is not None and desk is not None:
        unheld = _unheld(adapter, turn, decision, waits, carried.call, template)
        with trace.stage("hold") as details:
            held = await desk.hold(replace(unheld, proposal_id=proposal.proposal_id or ""))
            details |= {"proposal_id": held.proposal_id, "expires_at": held.expires_at.isoformat()}
        adapter.metrics.proposal(adapter.name, "held")
        return adapter.composer.held(to_decision(template, held), trace, turn.languages)
    shown = replace(decision, call=carried.call)
    answer = adapter.composer.result(
        shown, carried.result, trace, turn.languages, refusal=carried.refusal
    )
    if adapter.voice is None or carried.refusal is not None:
        return answer
    return await adapter.voice.phrase(turn, shown.call, carried.result, answer, trace, airtime)


def to_decision(template: Template, held: HeldCall) -> Held:
    """A held call as it may be shown."""
    execution = template.execution
    call = ToolCall(
        template.id,
        execution.tool,
        execution.operation,
        shown_arguments(template, held.arguments),
        held.sources,
        template.effect,
        sensitive=bool(template.policy.sensitive_params),
    )
    return Held(
        match=held.match,
        call=call,
        proposal_id=held.proposal_id,
        expires_at=held.expires_at,
        seal=held.seal,
        intent=held.intent,
        target=held.target,
        question=held.question,
        origin=held.origin,
    )


def desk_of(adapter: Adapter) -> ProposalDesk:
    """The desk of an adapter that has one, as every adapter of a server does."""
    assert adapter.proposals is not None  # noqa: S101  asked by who has held something
    return adapter.proposals


def _unheld(
    adapter: Adapter,
    turn: Turn,
    decision: Call,
    waits: ToolCall,
    shown: ToolCall,
    template: Template,
) -> HeldCall:
    read = decision.proposed
    never = datetime.min.replace(tzinfo=UTC)  # the desk says when
    return HeldCall(
        proposal_id="",
        place=place_of(turn.caller, turn.session_id),
        library=adapter.name,
        template_id=template.id,
        template_hash=template_hash(template),
        arguments=waits.arguments,
        # The words stand in an earlier question, and sensitive ones among them.
        sources={
            name: replace(source, span=None, text=None) for name, source in shown.sources.items()
        },
        match=decision.match,
        intent=read.intent if read else template.id,
        target=read.target if read else _target(template, shown.arguments),
        detected=turn.intent.name if turn.intent is not None else None,
        origin="conversation" if read else "template",
        proposed_by="model" if waits.by_model else "system",
        question=read.question if read else "",
        created_at=never,
        expires_at=never,
    )


def _target(template: Template, shown: Any) -> str | None:
    """What a call is about: the first of its arguments, as it may be shown."""
    given = (shown.get(parameter.name) for parameter in template.parameters)
    first = next((value for value in given if value is not None), None)
    return None if first is None else str(first)[:1000]
