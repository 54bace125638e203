"""One call that was decided: run, or held until there is a yes."""

import asyncio
from dataclasses import dataclass, replace

from server.chat.adapter import Adapter
from server.chat.confirm import hold_call
from server.chat.execute import ask_for_another, execute_call, lookup_of, proposal_of
from server.core.decision import Call, Ending, Trace
from server.core.tools import RowTaker, ToolCall
from server.core.turn import Turn
from server.tools.policy.chain import CallOutcome


@dataclass(frozen=True, slots=True)
class Export:
    """Where the rows of a turn go, and the turn's limit of time, which does not count for them."""

    taker: RowTaker
    limit: asyncio.Timeout

    def taker_for(self, by: Adapter, call: ToolCall) -> RowTaker | None:
        """Who takes the rows of a call, if all of them can be sent."""
        if not by.chain.can_export(call.template_id):
            return None
        before = self.limit.when()
        if before is not None:
            self.limit.reschedule(before + by.csv.timeout_s)
        self.taker.limit(rows=by.csv.max_rows, size=by.csv.max_bytes)
        return self.taker


@dataclass(frozen=True, slots=True)
class CarriedOut:
    """How a turn ends that came to a call, and what came of the call, if anything did.

    `exported` says that its rows were taken as they came.
    """

    ending: Ending
    outcome: CallOutcome | None
    exported: bool = False


async def carry_out(
    by: Adapter, turn: Turn, decision: Call, trace: Trace, export: Export | None
) -> CarriedOut:
    """Run a call, or hold it where it needs a yes and what it is about is there.

    Raises:
        StoreUnavailable: the counts of rate limits cannot be reached, or it cannot be kept.
    """
    proposal = proposal_of(by, turn, decision)
    taker = export.taker_for(by, proposal.call) if export is not None else None
    timeout_s = by.csv.timeout_s if taker is not None else None
    outcome = await execute_call(by, proposal, trace, timeout_s=timeout_s, taker=taker)
    called = CarriedOut(replace(decision, call=outcome.call), outcome, taker is not None)
    if outcome.to_confirm is None:
        return called
    lookup = lookup_of(by, turn, decision)
    if lookup is not None:
        another = ask_for_another(by, decision, await execute_call(by, lookup, trace))
        if another is not None:
            return CarriedOut(another, None)
    held = await hold_call(by, turn, decision, outcome, proposal, trace)
    return (
        called
        if held is None
        else replace(called, ending=replace(held, coverage=decision.coverage))
    )
