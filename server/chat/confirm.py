"""Calls that need a yes: held until it comes, shown as they would run, and run once."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, Literal

from server.chat.adapter import Adapter
from server.chat.execute import execute_call, proposal_of
from server.chat.redact import redact_arguments
from server.conversation.confirmations.pending_calls import PendingCall
from server.conversation.confirmations.service import ConfirmationService, new_id
from server.conversation.memory import conversation_key
from server.conversation.replies import shipped_replies
from server.core.answer import Answer, Trace
from server.core.decision import Call, NotExecutedReason, PendingConfirmation, ProposalNotExecuted
from server.core.streaming import TurnDeadline
from server.core.tools import ToolCall
from server.core.turn import Turn
from server.errors import (
    AdapterUnavailable,
    AdapterUnknown,
    OrbitError,
    ProposalAltered,
    ProposalExpired,
    ProposalSettled,
    ProposalUnknown,
)
from server.library.model import Template
from server.library.templates import template_hash
from server.tools.policy.chain import CallOutcome
from server.tools.policy.proposal import Outcome


async def run_or_request_confirmation(
    adapter: Adapter,
    turn: Turn,
    decision: Call,
    trace: Trace,
    deadline: TurnDeadline,
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
    carried = await execute_call(adapter, proposal, trace)
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
    if adapter.models is None or carried.refusal is not None:
        return answer
    return await adapter.models.rewrite(turn, shown.call, carried.result, answer, trace, deadline)


def to_decision(template: Template, held: PendingCall) -> PendingConfirmation:
    """A held call as it may be shown."""
    execution = template.execution
    call = ToolCall(
        template.id,
        execution.tool,
        execution.operation,
        redact_arguments(template, held.arguments),
        held.sources,
        template.effect,
        sensitive=bool(template.policy.sensitive_params),
    )
    return PendingConfirmation(
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


def confirmations_of(adapter: Adapter) -> ConfirmationService:
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
) -> PendingCall:
    read = decision.proposed
    never = datetime.min.replace(tzinfo=UTC)  # the desk says when
    return PendingCall(
        proposal_id="",
        place=conversation_key(turn.caller, turn.session_id),
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


_LATER: Final[frozenset[Outcome]] = frozenset(
    {"rate_limited", "audit_unavailable", "commit_unavailable"}
)
"""Refusals after which the same yes may succeed."""

_WHY: Final[dict[type[OrbitError], NotExecutedReason]] = {
    ProposalUnknown: "unknown",
    ProposalSettled: "settled",
    ProposalExpired: "expired",
    ProposalAltered: "altered",
}


async def reply_to_pending(adapter: Adapter, turn: Turn, trace: Trace) -> Answer | None:
    """The answer to a yes or a no in the conversation; None where the turn is neither.

    Raises:
        StoreUnavailable, AdapterUnavailable: as `settle`.
    """
    proposal_id, desk = turn.context.held, adapter.proposals
    if proposal_id is None or desk is None:
        return None
    with trace.stage("reply") as details:
        reading = shipped_replies().read(turn.text)
        details |= {"reading": reading, "proposal_id": proposal_id}
    if reading == "other":
        return None
    try:
        if reading == "unclear":
            return await _asked_again(adapter, turn, desk, proposal_id, trace)
        return await resolve_proposal(adapter, turn, proposal_id, trace, accept=reading == "yes")
    except tuple(_WHY) as failed:
        why = _WHY[type(failed)]
        adapter.metrics.proposal(adapter.name, why)
        decision = ProposalNotExecuted(why, proposal_id, reason=str(failed))
        return adapter.composer.not_run(decision, trace, turn.languages)


async def resolve_proposal(
    adapter: Adapter,
    turn: Turn,
    proposal_id: str,
    trace: Trace,
    *,
    accept: bool,
    seal: str | None = None,
) -> Answer:
    """Run a held call after its yes, or let go of it.

    Everything is judged again as it is now: the template, the role, the limits. Once its
    yes is taken, the call is carried to its end, also when whoever asked leaves.

    Raises:
        ProposalUnknown, ProposalSettled, ProposalExpired, ProposalAltered: nothing ran.
        AdapterUnavailable: the adapter whose call it is does not serve; it still waits.
        StoreUnavailable: the database cannot be used.
    """
    desk = confirmations_of(adapter)
    if accept:
        return await desk.to_its_end(_take_and_run(adapter, turn, proposal_id, seal, trace))
    held = await desk.get(turn.caller, turn.session_id, proposal_id)
    await desk.decline(turn.caller, turn.session_id, proposal_id)
    adapter.metrics.proposal(adapter.name, "declined")
    trace.note("confirm", {"proposal_id": proposal_id, "outcome": "declined"})
    decision = ProposalNotExecuted("declined", proposal_id, origin=held.origin)
    return adapter.composer.not_run(decision, trace, turn.languages)


async def _take_and_run(
    adapter: Adapter, turn: Turn, proposal_id: str, seal: str | None, trace: Trace
) -> Answer:
    desk = confirmations_of(adapter)
    held = await desk.claim(turn.caller, turn.session_id, proposal_id, seal=seal)
    try:
        owner = _owner(adapter, held)
    except (AdapterUnavailable, AdapterUnknown):
        await desk.finish(held, "held", "adapter_unavailable")
        raise
    template = owner.library.templates.get(held.template_id)
    if template is None or template_hash(template) != held.template_hash:
        await desk.finish(held, "refused", "template_changed")
        adapter.metrics.proposal(adapter.name, "changed")
        decision = ProposalNotExecuted("changed", held.proposal_id, origin=held.origin)
        return owner.composer.not_run(decision, trace, turn.languages)
    carried, status = await _carried(owner, turn, desk, held, template, trace)
    adapter.metrics.proposal(adapter.name, status)
    trace.note("confirm", {"proposal_id": held.proposal_id, "outcome": status})
    answer = owner.composer.result(
        Call(held.match, carried.call),
        carried.result,
        trace,
        turn.languages,
        refusal=carried.refusal,
    )
    told = {
        "proposal_id": held.proposal_id,
        "status": status,
        "intent": held.intent,
        "target": held.target,
        "origin": held.origin,
    }
    return replace(answer, metadata={**answer.metadata, "proposal": told})


async def _carried(
    owner: Adapter,
    turn: Turn,
    desk: ConfirmationService,
    held: PendingCall,
    template: Template,
    trace: Trace,
) -> tuple[CallOutcome, Literal["done", "refused", "held"]]:
    committed = False

    async def commit() -> None:
        nonlocal committed
        await desk.commit(held)
        committed = True

    execution = template.execution
    call = ToolCall(
        template.id,
        execution.tool,
        execution.operation,
        held.arguments,
        held.sources,
        template.effect,
        by_model=held.proposed_by == "model",
    )
    proposal = replace(
        proposal_of(turn, call),
        intent=held.detected,
        confirmed=True,
        proposal_id=held.proposal_id,
        commit=commit,
    )
    try:
        carried = await execute_call(owner, proposal, trace)
    except (OrbitError, asyncio.CancelledError):
        await desk.finish(held, "interrupted" if committed else "held", "failed")
        raise
    if carried.refusal is None:
        await desk.finish(held, "done", carried.outcome)
        return carried, "done"
    status: Literal["refused", "held"] = "held" if carried.outcome in _LATER else "refused"
    await desk.finish(held, status, carried.outcome)
    return carried, status


async def _asked_again(
    adapter: Adapter, turn: Turn, desk: ConfirmationService, proposal_id: str, trace: Trace
) -> Answer:
    held = await desk.get(turn.caller, turn.session_id, proposal_id)
    owner = _owner(adapter, held)
    template = owner.library.templates.get(held.template_id)
    if template is None:
        decision = ProposalNotExecuted("changed", proposal_id, origin=held.origin)
    else:
        decision = ProposalNotExecuted("unclear", proposal_id, to_decision(template, held))
    adapter.metrics.proposal(adapter.name, decision.why)
    return owner.composer.not_run(decision, trace, turn.languages)


def _owner(adapter: Adapter, held: PendingCall) -> Adapter:
    """The adapter whose template it is: a guard may have led there from the key's own."""
    if held.library == adapter.name:
        return adapter
    if adapter.resolve_adapter is None:
        raise AdapterUnavailable(f"this belongs to adapter {held.library!r}, which is not open")
    return adapter.resolve_adapter(held.library)
