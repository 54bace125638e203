"""Calls on their way through the policy chain of an adapter."""

from dataclasses import replace
from secrets import token_hex

from server.chat.adapter import Adapter
from server.core.decision import Call, MissingArguments, Trace
from server.core.tools import RowTaker
from server.core.turn import Turn
from server.tools.policy.chain import CallOutcome
from server.tools.policy.checks import Proposal


def proposal_of(adapter: Adapter, turn: Turn, decision: Call) -> Proposal:
    """The call that was decided, as the chain judges it.

    It has the id that it would be held by where it needs a yes, and calls can be held.
    """
    call = decision.call
    template = adapter.library.templates.get(call.template_id)
    must_confirm = decision.proposed is not None
    needs_yes = must_confirm or (template is not None and template.policy.confirm)
    return Proposal(
        call=call,
        caller=turn.caller,
        request_id=turn.id,
        intent=turn.intent.name if turn.intent is not None else None,
        proposed_by="model" if call.by_model else "system",
        must_confirm=must_confirm,
        proposal_id=token_hex(16) if needs_yes and adapter.proposals is not None else None,
    )


async def refuse_unoffered(adapter: Adapter, turn: Turn, decision: Call) -> None:
    """Have the policy chain refuse a call that a model was not offered, and write that down."""
    # What has to be confirmed, and is held nowhere, can never run.
    proposal = replace(proposal_of(adapter, turn, decision), must_confirm=True, proposal_id=None)
    await adapter.chain.carry_out(proposal, timeout_s=adapter.tool_timeout_s)


def lookup_of(adapter: Adapter, turn: Turn, decision: Call) -> Proposal | None:
    """The call that finds what a proposal is about, before it is made; None where there is none."""
    lookup = decision.proposed.lookup if decision.proposed is not None else None
    return proposal_of(adapter, turn, Call(decision.match, lookup)) if lookup is not None else None


def ask_for_another(
    adapter: Adapter, decision: Call, found: CallOutcome
) -> MissingArguments | None:
    """The question for another target, where the lookup found that there is none like this.

    A lookup that failed in another way tells nothing of the target, and is in the way of nothing.
    """
    rejection = found.result.rejection
    if rejection is None:
        return None
    call, names = decision.call, found.call.arguments.keys()
    parameters = adapter.library.templates[call.template_id].parameters
    missing = tuple(each.missing(rejection) for each in parameters if each.name in names)
    arguments = {name: value for name, value in call.arguments.items() if name not in names}
    sources = {name: source for name, source in call.sources.items() if name not in names}
    return MissingArguments(decision.match, missing, arguments, sources, decision.coverage)


async def execute_call(
    adapter: Adapter,
    proposal: Proposal,
    trace: Trace,
    *,
    timeout_s: float | None = None,
    taker: RowTaker | None = None,
) -> CallOutcome:
    """Have the chain judge a proposal, and run it when nothing refuses it.

    The adapter's own timeout holds where no `timeout_s` is given. With a `taker`, all rows go
    there.

    Raises:
        StoreUnavailable: the counts of rate limits cannot be reached.
    """
    with trace.stage("tool") as details:
        timeout_s = adapter.tool_timeout_s if timeout_s is None else timeout_s
        outcome = await adapter.chain.carry_out(proposal, timeout_s=timeout_s, taker=taker)
        details |= {
            "tool": outcome.result.tool_name,
            "operation": outcome.result.operation,
            "status": str(outcome.result.status),
            "outcome": outcome.outcome,
        }
    return outcome
