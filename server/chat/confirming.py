"""The yes or the no to a call that waits for one."""

import asyncio
from dataclasses import replace
from typing import Final, Literal

from server.chat.adapter import Adapter
from server.chat.carrying import carry_out, proposal_of
from server.chat.holding import desk_of, to_decision
from server.conversation.proposals.desk import ProposalDesk
from server.conversation.proposals.held import HeldCall
from server.conversation.replies import shipped_replies
from server.core.answer import Answer
from server.core.decision import Call, NotRun, Unrun
from server.core.tools import ToolCall
from server.core.trace import Trace
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
from server.library.hashing import template_hash
from server.library.model import Template
from server.tools.policy.chain import Carried
from server.tools.policy.proposal import Outcome

_LATER: Final[frozenset[Outcome]] = frozenset(
    {"rate_limited", "audit_unavailable", "commit_unavailable"}
)
"""Refusals after which the same yes may succeed."""

_WHY: Final[dict[type[OrbitError], Unrun]] = {
    ProposalUnknown: "unknown",
    ProposalSettled: "settled",
    ProposalExpired: "expired",
    ProposalAltered: "altered",
}


async def reply_to_held(adapter: Adapter, turn: Turn, trace: Trace) -> Answer | None:
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
        return await settle(adapter, turn, proposal_id, trace, accept=reading == "yes")
    except tuple(_WHY) as failed:
        why = _WHY[type(failed)]
        adapter.metrics.proposal(adapter.name, why)
        decision = NotRun(why, proposal_id, reason=str(failed))
        return adapter.composer.not_run(decision, trace, turn.languages)


async def settle(
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
    desk = desk_of(adapter)
    if accept:
        return await desk.to_its_end(_take_and_run(adapter, turn, proposal_id, seal, trace))
    held = await desk.look(turn.caller, turn.session_id, proposal_id)
    await desk.decline(turn.caller, turn.session_id, proposal_id)
    adapter.metrics.proposal(adapter.name, "declined")
    trace.note("confirm", {"proposal_id": proposal_id, "outcome": "declined"})
    decision = NotRun("declined", proposal_id, origin=held.origin)
    return adapter.composer.not_run(decision, trace, turn.languages)


async def _take_and_run(
    adapter: Adapter, turn: Turn, proposal_id: str, seal: str | None, trace: Trace
) -> Answer:
    desk = desk_of(adapter)
    held = await desk.take(turn.caller, turn.session_id, proposal_id, seal=seal)
    try:
        owner = _owner(adapter, held)
    except (AdapterUnavailable, AdapterUnknown):
        await desk.settle(held, "held", "adapter_unavailable")
        raise
    template = owner.library.templates.get(held.template_id)
    if template is None or template_hash(template) != held.template_hash:
        await desk.settle(held, "refused", "template_changed")
        adapter.metrics.proposal(adapter.name, "changed")
        decision = NotRun("changed", held.proposal_id, origin=held.origin)
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
    desk: ProposalDesk,
    held: HeldCall,
    template: Template,
    trace: Trace,
) -> tuple[Carried, Literal["done", "refused", "held"]]:
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
        carried = await carry_out(owner, proposal, trace)
    except (OrbitError, asyncio.CancelledError):
        await desk.settle(held, "interrupted" if committed else "held", "failed")
        raise
    if carried.refusal is None:
        await desk.settle(held, "done", carried.outcome)
        return carried, "done"
    status: Literal["refused", "held"] = "held" if carried.outcome in _LATER else "refused"
    await desk.settle(held, status, carried.outcome)
    return carried, status


async def _asked_again(
    adapter: Adapter, turn: Turn, desk: ProposalDesk, proposal_id: str, trace: Trace
) -> Answer:
    held = await desk.look(turn.caller, turn.session_id, proposal_id)
    owner = _owner(adapter, held)
    template = owner.library.templates.get(held.template_id)
    if template is None:
        decision = NotRun("changed", proposal_id, origin=held.origin)
    else:
        decision = NotRun("unclear", proposal_id, to_decision(template, held))
    adapter.metrics.proposal(adapter.name, decision.why)
    return owner.composer.not_run(decision, trace, turn.languages)


def _owner(adapter: Adapter, held: HeldCall) -> Adapter:
    """The adapter whose template it is: a guard may have led there from the key's own."""
    if held.library == adapter.name:
        return adapter
    if adapter.elsewhere is None:
        raise AdapterUnavailable(f"this belongs to adapter {held.library!r}, which is not open")
    return adapter.elsewhere(held.library)
