"""Calls that need a yes: held until it comes, and run once when it does."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from server.chat.adapter import Adapter
from server.chat.execute import execute_call
from server.conversation.confirmations.pending_calls import PendingCall
from server.conversation.confirmations.service import ConfirmationService, FinalState
from server.conversation.store import conversation_key
from server.core.chat_messages import Message
from server.core.decision import (
    Answer,
    Call,
    Ending,
    NotExecutedReason,
    PendingConfirmation,
    ProposalNotExecuted,
    Trace,
)
from server.core.storable import storable_text
from server.core.turn import ConversationContext, Turn
from server.errors import (
    AdapterUnavailable,
    AdapterUnknown,
    OrbitError,
    ProposalAltered,
    ProposalExpired,
    ProposalSettled,
    ProposalUnknown,
    StoreUnavailable,
)
from server.library.model import Template
from server.library.templates import template_hash
from server.text.replies import shipped_replies
from server.tools.policy.chain import CallOutcome
from server.tools.policy.checks import Outcome, Proposal

_log = logging.getLogger(__name__)

_LATER: Final[frozenset[Outcome]] = frozenset(
    {"rate_limited", "audit_unavailable", "commit_unavailable"}
)
"""Refusals after which the same yes may succeed."""

_LOOK_EVERY_S: Final = 0.1
_KEPT_WITHIN_S: Final = 0.5
_REASONS: Final[dict[type[OrbitError], NotExecutedReason]] = {
    ProposalUnknown: "unknown",
    ProposalSettled: "settled",
    ProposalExpired: "expired",
    ProposalAltered: "altered",
}


@dataclass(frozen=True, slots=True)
class Resolution:
    """What became of a held call, whose it is, and what the answer tells of the proposal."""

    adapter: Adapter
    ending: Ending
    outcome: CallOutcome | None = None
    proposal: Mapping[str, Any] | None = None

    @property
    def is_settled(self) -> bool:
        """Whether it was confirmed or declined before."""
        return isinstance(self.ending, ProposalNotExecuted) and self.ending.why == "settled"


async def hold_call(
    adapter: Adapter,
    turn: Turn,
    decision: Call,
    outcome: CallOutcome,
    proposal: Proposal,
    trace: Trace,
) -> PendingConfirmation | None:
    """Keep a call that lacks nothing but a yes; None where there is nothing to keep, or no way.

    `outcome` is what the chain made of `proposal`.

    Raises:
        StoreUnavailable: it could not be kept.
    """
    call, confirmations = outcome.to_confirm, adapter.proposals
    proposal_id = proposal.proposal_id
    if call is None or confirmations is None or proposal_id is None:
        return None
    template, proposed = adapter.library.templates[call.template_id], decision.proposed
    target = proposed.target if proposed else None
    if proposed is None or proposed.origin == "template":
        target = _first_argument(template, outcome)
    unset = datetime.min.replace(tzinfo=UTC)  # `hold` sets both times
    with trace.stage("hold") as details:
        held = await confirmations.hold(
            PendingCall(
                proposal_id=proposal_id,
                place=conversation_key(turn.caller, turn.session_id),
                library=adapter.name,
                template_id=template.id,
                template_hash=template_hash(template),
                arguments=call.arguments,
                # The words stand in an earlier question, and sensitive ones among them.
                sources={
                    name: replace(source, span=None, text=None)
                    for name, source in outcome.call.sources.items()
                },
                match=decision.match,
                intent=proposed.intent if proposed else template.id,
                target=None if target is None else storable_text(target),
                detected=turn.intent.name if turn.intent is not None else None,
                origin=proposed.origin if proposed else "template",
                proposed_by=proposal.proposed_by,
                question=proposed.question if proposed else "",
                left_out=decision.coverage.left_out(),
                created_at=unset,
                expires_at=unset,
            )
        )
        details |= {"proposal_id": held.proposal_id, "expires_at": held.expires_at.isoformat()}
    adapter.metrics.proposal(adapter.name, "held")
    return _pending_confirmation(template, held)


def awaits_reply(turn: Turn) -> bool:
    """Whether the conversation shows a call that waits for a yes, or that seems to."""
    context = turn.context
    return context.held is not None or (turn.transcript is not None and context.waiting is not None)


def is_reply(text: str) -> bool:
    """Whether a text is a yes or a no, or as much as tries to be one."""
    return shipped_replies().read(text) != "other"


async def reply_to_pending(adapter: Adapter, turn: Turn, trace: Trace) -> Resolution | None:
    """What a yes or a no in the conversation does; None where the turn is neither.

    Where the call is one that was never proposed here, or long ago, it says so.

    Raises:
        StoreUnavailable, AdapterUnavailable: as `resolve_proposal`.
    """
    proposal_id, confirmations = turn.context.held, adapter.proposals
    if confirmations is None:
        return None
    with trace.stage("reply") as details:
        reading = shipped_replies().read(turn.text)
        details |= {"reading": reading, "proposal_id": proposal_id}
    if reading == "other":
        return None
    if proposal_id is None:
        adapter.metrics.proposal(adapter.name, "unknown")
        return Resolution(adapter, ProposalNotExecuted("unknown", ""))
    if turn.context.held_in is not None:
        turn = replace(turn, session_id=turn.context.held_in)
    try:
        if reading == "unclear" or (reading == "yes" and not turn.runs):
            return await _ask_again(adapter, turn, confirmations, proposal_id)
        return await resolve_proposal(adapter, turn, proposal_id, trace, accept=reading == "yes")
    except tuple(_REASONS) as failed:
        why = _REASONS[type(failed)]
        adapter.metrics.proposal(adapter.name, why)
        return Resolution(adapter, ProposalNotExecuted(why, proposal_id, reason=str(failed)))


async def resolve_proposal(
    adapter: Adapter,
    turn: Turn,
    proposal_id: str,
    trace: Trace,
    *,
    accept: bool,
    seal: str | None = None,
) -> Resolution:
    """Run a held call after its yes, or let go of it.

    Everything is judged again as it is now: the template, the role, the limits. Once its
    yes is taken, the call is carried to its end, also when whoever asked leaves.

    Raises:
        ProposalUnknown, ProposalSettled, ProposalExpired, ProposalAltered: nothing ran.
        AdapterUnavailable: the adapter whose call it is does not serve; it still waits.
        StoreUnavailable: the database cannot be used.
    """
    confirmations = adapter.proposals
    assert confirmations is not None  # noqa: S101  only an adapter that has one holds calls
    if accept:
        running = _run_held_call(adapter, turn, confirmations, proposal_id, seal, trace)
        return await confirmations.to_its_end(running)
    held = await confirmations.get(turn.caller, turn.session_id, proposal_id)
    await confirmations.decline(turn.caller, turn.session_id, proposal_id)
    adapter.metrics.proposal(adapter.name, "declined")
    trace.note("confirm", {"proposal_id": proposal_id, "outcome": "declined"})
    return Resolution(adapter, ProposalNotExecuted("declined", proposal_id, origin=held.origin))


async def keep_reply(adapter: Adapter, turn: Turn, answer: Answer) -> None:
    """Keep the answer to a yes or a no for a client that tells the same conversation again."""
    store = adapter.conversations
    if store is None or turn.transcript is None:
        return
    said = Message("assistant", answer.kept_content)
    reply = ConversationContext((said,), held=turn.context.held)
    try:
        await store.remember(turn.caller, turn.session_id, reply, at_once=True)
    except StoreUnavailable as failure:
        # What was done is done; whoever asks again is told that it was.
        _log.warning("turn %s: its answer is not kept: %s", turn.id, failure)


async def first_reply(
    adapter: Adapter, turn: Turn, resolution: Resolution, *, within_s: float
) -> str | None:
    """The answer that the same yes or no got before, once it is there; None where there is none.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    store, confirmations, ending = adapter.conversations, adapter.proposals, resolution.ending
    if store is None or confirmations is None or not isinstance(ending, ProposalNotExecuted):
        return None
    session_id, waited_s, ended_s = turn.context.held_in or turn.session_id, 0.0, 0.0
    while True:
        given = await store.recall(turn.caller, turn.session_id)
        # The same may have been asked, and confirmed, before that.
        if given.messages and given.held == ending.proposal_id:
            return given.messages[-1].content
        # What has ended is kept right after.
        if not await confirmations.is_under_way(turn.caller, session_id, ending.proposal_id):
            ended_s += _LOOK_EVERY_S
        if ended_s > _KEPT_WITHIN_S or waited_s > within_s:
            return None
        await asyncio.sleep(_LOOK_EVERY_S)
        waited_s += _LOOK_EVERY_S


async def _run_held_call(
    adapter: Adapter,
    turn: Turn,
    confirmations: ConfirmationService,
    proposal_id: str,
    seal: str | None,
    trace: Trace,
) -> Resolution:
    with adapter.leases.hold():  # whoever asked may have left
        held = await confirmations.claim(turn.caller, turn.session_id, proposal_id, seal=seal)
        return await _run_claimed_call(adapter, turn, confirmations, held, trace)


async def _run_claimed_call(
    adapter: Adapter,
    turn: Turn,
    confirmations: ConfirmationService,
    held: PendingCall,
    trace: Trace,
) -> Resolution:
    try:
        owner = _adapter_of(adapter, held)
    except (AdapterUnavailable, AdapterUnknown):
        await confirmations.finish(held, "held", "adapter_unavailable")
        raise
    template = owner.library.templates.get(held.template_id)
    if template is None or template_hash(template) != held.template_hash:
        await confirmations.finish(held, "refused", "template_changed")
        adapter.metrics.proposal(adapter.name, "changed")
        changed = ProposalNotExecuted("changed", held.proposal_id, origin=held.origin)
        return Resolution(owner, changed)
    with owner.leases.hold():
        outcome = await _execute_held_call(owner, turn, confirmations, held, template, trace)
    status: FinalState = "done"
    if outcome.refusal is not None:
        status = "held" if outcome.outcome in _LATER else "refused"
    await confirmations.finish(held, status, outcome.outcome)
    adapter.metrics.proposal(adapter.name, status)
    trace.note("confirm", {"proposal_id": held.proposal_id, "outcome": status})
    shown = ("proposal_id", "intent", "target", "origin")
    proposal = {"status": status, **{name: getattr(held, name) for name in shown}}
    return Resolution(owner, Call(held.match, outcome.call), outcome, proposal)


async def _execute_held_call(
    owner: Adapter,
    turn: Turn,
    confirmations: ConfirmationService,
    held: PendingCall,
    template: Template,
    trace: Trace,
) -> CallOutcome:
    committed = False

    async def commit() -> None:
        nonlocal committed
        await confirmations.commit(held)
        committed = True

    proposal = Proposal(
        call=template.call(held.arguments, held.sources, by_model=held.proposed_by == "model"),
        caller=turn.caller,
        request_id=turn.id,
        intent=held.detected,
        proposed_by=held.proposed_by,
        confirmed=True,
        proposal_id=held.proposal_id,
        commit=commit,
    )
    try:
        return await execute_call(owner, proposal, trace)
    except (OrbitError, asyncio.CancelledError):
        await confirmations.finish(held, "interrupted" if committed else "held", "failed")
        raise


async def _ask_again(
    adapter: Adapter, turn: Turn, confirmations: ConfirmationService, proposal_id: str
) -> Resolution:
    held = await confirmations.get(turn.caller, turn.session_id, proposal_id)
    owner = _adapter_of(adapter, held)
    template = owner.library.templates.get(held.template_id)
    if template is None:
        ending = ProposalNotExecuted("changed", proposal_id, origin=held.origin)
    else:
        pending = _pending_confirmation(template, held)
        ending = ProposalNotExecuted("unclear", proposal_id, pending)
    adapter.metrics.proposal(adapter.name, ending.why)
    return Resolution(owner, ending)


def _adapter_of(adapter: Adapter, held: PendingCall) -> Adapter:
    """The adapter whose template it is: a guard may have led there from the key's own."""
    if held.library == adapter.name:
        return adapter
    if adapter.resolve_adapter is None:
        raise AdapterUnavailable(f"this belongs to adapter {held.library!r}, which is not open")
    return adapter.resolve_adapter(held.library)


def _pending_confirmation(template: Template, held: PendingCall) -> PendingConfirmation:
    same = (
        *("match", "proposal_id", "expires_at", "seal", "intent", "target"),
        *("question", "origin", "left_out"),
    )
    call = template.call(held.arguments, held.sources)
    return PendingConfirmation(call=call, **{name: getattr(held, name) for name in same})


def _first_argument(template: Template, outcome: CallOutcome) -> str | None:
    given = (outcome.call.arguments.get(parameter.name) for parameter in template.parameters)
    first = next((value for value in given if value is not None), None)
    return None if first is None else str(first)[:1000]
