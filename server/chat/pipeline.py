"""One turn, from question to answer: the stages of a question are called here, in this order.

load history ─ guard ─ confirm? ─ detect intent ─ decide ─ policy ─ [hold] ─ run tool ─ respond
─ [model words it] ─ save history

Each stage is timed into the turn's trace. Deciding runs nothing.
"""

import asyncio
import logging
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

from server.chat.adapter import Adapter
from server.chat.carry_out import Export, carry_out
from server.chat.confirm import awaits_reply, resolve_proposal
from server.chat.decided_calls import answer_decided, answer_returned
from server.chat.downloads import offer_download
from server.chat.form import check_given
from server.chat.history import load_history, save_history
from server.chat.inbox import note_turn
from server.chat.named_call import answer_named_call
from server.chat.observation import TurnRecord, observed_turn
from server.chat.question import GuardOutcome, guard_turn
from server.chat.redact import hide_words
from server.chat.replies import answer_reply, answer_resolution
from server.chat.respond import TurnFindings, respond, with_notes
from server.chat.several import answer_several
from server.chat.sources import answer_of_source, count_sources, with_unanswered
from server.chat.transcript import continue_transcript
from server.chat.understand import complete_decision, understand_turn, with_sources_behind
from server.core.decision import Answer, Call, Courtesy, NoMatch, SeveralCalls, Trace
from server.core.streaming import StreamListener, TurnDeadline
from server.core.tools import RowTaker
from server.core.turn import Turn
from server.errors import AdapterUnavailable, TurnTimedOut
from server.tools.policy.chain import CallOutcome

_log = logging.getLogger(__name__)


async def run_turn(
    adapter: Adapter,
    turn: Turn,
    *,
    timeout_s: float,
    listener: StreamListener | None = None,
    taker: RowTaker | None = None,
) -> Answer:
    """Answer one question through one adapter; `listener` hears what a model says of it.

    Where the question comes to one call that reads a database, `taker` gets all rows as they
    come, and the adapter's limit of time for CSV holds beside `timeout_s`.

    Raises:
        TurnTimedOut: the whole turn took longer than `timeout_s`.
        RequestInvalid: the turn gives values that were not asked for.
        ProviderError: the question could not be embedded.
        StoreUnavailable: what the conversation remembers cannot be read, or a call that
            needs a yes cannot be kept.
    """
    trace, ends_at = Trace(), asyncio.get_running_loop().time() + timeout_s
    export = Export(taker, asyncio.timeout_at(ends_at)) if taker is not None else None
    late = f"no answer within {timeout_s:g} s, so the turn was stopped"
    with observed_turn(adapter, turn, "question") as record, _in_time(late), ExitStack() as leases:
        leases.enter_context(adapter.leases.hold())
        # Bound to no name: it holds its task, and a task that was cancelled these frames.
        async with asyncio.timeout_at(ends_at) if export is None else export.limit:
            deadline = TurnDeadline(ends_at, listener)
            if adapter.composite is not None:
                record.adapter = adapter = await with_sources_behind(
                    adapter, trace, deadline, leases
                )
            answer = await _answer_turn(adapter, turn, trace, deadline, leases, record, export)
        record.answer = answer
    _log_trace(adapter, turn, answer)
    return answer


async def _answer_turn(
    adapter: Adapter,
    turn: Turn,
    trace: Trace,
    deadline: TurnDeadline,
    leases: ExitStack,
    record: TurnRecord,
    export: Export | None = None,
) -> Answer:
    if turn.transcript is not None:
        turn = await continue_transcript(adapter, turn, turn.transcript, trace, leases)
    elif turn.continues:
        turn = await load_history(adapter, turn, trace)
    if turn.given:
        check_given(adapter.library, turn)

    guarded = GuardOutcome(adapter)
    if adapter.guard is not None:
        guarded = await guard_turn(adapter, turn, trace, leases)
    asked = guarded.adapter
    if asked is not adapter and asked.composite is not None:
        asked = await with_sources_behind(asked, trace, deadline, leases)

    if guarded.decision is None and not turn.given:
        if turn.returned:
            return await answer_returned(adapter, asked, turn, trace)
        if awaits_reply(turn):
            replied = await answer_reply(adapter, turn, trace, deadline)
            if replied is not None:
                return replied

    understood = await understand_turn(adapter, asked, turn, guarded.decision, trace)
    turn, by, private = understood.turn, understood.by, understood.private
    form, contribution = understood.form, understood.contribution
    record.understood(turn, by, private=private, form=form, contribution=contribution)
    await count_sources(understood.callers or ([by] if by is not asked else []))
    deadline = replace(deadline, private=private)
    decision = await complete_decision(understood, trace, deadline)

    findings = TurnFindings(guarded.verdict, understood.detection, contribution)
    if isinstance(decision, Call | SeveralCalls) and not turn.runs:
        answer = await answer_decided(asked, understood, decision, trace, findings)
    elif isinstance(decision, SeveralCalls):
        answer = await answer_several(understood, decision, trace, deadline, findings)
    elif isinstance(decision, Call):
        carried = await carry_out(by, turn, decision, trace, export)
        outcome = carried.outcome
        answer = respond(by, turn, carried.ending, trace, outcome=outcome, findings=findings)
        if not carried.exported:  # else the rows are the answer
            answer = await offer_download(by, turn, answer, outcome)
            answer = await _reworded(by, turn, outcome, answer, trace, deadline)
    else:
        answer = respond(by, turn, decision, trace, findings=findings)
        if by.models is not None and isinstance(decision, NoMatch | Courtesy):
            answer = await by.models.converse(turn, answer, trace, deadline)

    if by.show_notes:
        answer = with_notes(answer)
    if understood.unanswered:
        answer = with_unanswered(asked, by, turn, answer, understood.unanswered)
    if private:
        hide_words(trace)
    await save_history(adapter, turn, answer, by=by, private=private)
    note_turn(adapter, turn, answer, by=by, private=private, form=form)
    return answer_of_source(asked, by, answer) if asked.behind else answer


async def _reworded(
    by: Adapter,
    turn: Turn,
    outcome: CallOutcome | None,
    answer: Answer,
    trace: Trace,
    deadline: TurnDeadline,
) -> Answer:
    """The answer as a model puts it, where there is one and a tool gave a result."""
    if by.models is None or outcome is None or outcome.refusal is not None:
        return answer
    return await by.models.rewrite(turn, outcome.call, outcome.result, answer, trace, deadline)


async def run_call(
    adapter: Adapter,
    turn: Turn,
    source: str,
    template_id: str,
    arguments: Mapping[str, Any],
    *,
    timeout_s: float,
) -> Answer:
    """Judge and run one call that was named rather than asked for; `turn.text` says it in words.

    `source` is the adapter whose template it is: `adapter` itself, or one behind it. Nothing is
    decided and no model words the answer; from the policy chain on, it is as for a question.

    Raises:
        AdapterUnavailable: the source does not serve, or has no such template any more.
        RateLimited: the source was asked as often as its limit allows.
        TurnTimedOut: it took longer than `timeout_s`.
        StoreUnavailable: the limits cannot be counted, or a call that needs a yes not kept.
    """
    trace = Trace()
    late = f"no answer within {timeout_s:g} s, so the call was stopped"
    with observed_turn(adapter, turn, "call") as record, _in_time(late), ExitStack() as leases:
        leases.enter_context(adapter.leases.hold())
        async with asyncio.timeout(timeout_s) as limit:
            deadline = TurnDeadline(limit.when() or 0.0, None)
            by = adapter
            if adapter.composite is not None:
                record.adapter = adapter = await with_sources_behind(
                    adapter, trace, deadline, leases
                )
                by = adapter.behind.get(source, adapter)
            if by.name != source or template_id not in by.library.templates:
                what = f"{template_id!r} of adapter {source!r} cannot be called now"
                raise AdapterUnavailable(f"{what}; list the tools again")
            if by is not adapter:
                await count_sources([by])
            answer = await answer_named_call(adapter, by, turn, template_id, arguments, trace)
        record.answer = answer
    _log_trace(adapter, turn, answer)
    return answer


async def run_confirmation(
    adapter: Adapter,
    turn: Turn,
    proposal_id: str,
    *,
    accept: bool,
    seal: str | None = None,
    timeout_s: float,
) -> Answer:
    """Run what a proposal holds, or let go of it; the turn's text is the yes or the no.

    Raises:
        ProposalUnknown, ProposalSettled, ProposalExpired, ProposalAltered: nothing ran.
        TurnTimedOut: it took longer than `timeout_s`; what was begun is carried to its end.
        AdapterUnavailable, StoreUnavailable: nothing ran, and it still waits.
    """
    trace, ends_at = Trace(), asyncio.get_running_loop().time() + timeout_s
    late = f"no answer within {timeout_s:g} s; what was confirmed is carried to its end"
    with (
        observed_turn(adapter, turn, "confirmation") as record,
        _in_time(late),
        ExitStack() as leases,
    ):
        leases.enter_context(adapter.leases.hold())
        async with asyncio.timeout_at(ends_at):  # bound to no name, as in `run_turn`
            deadline = TurnDeadline(ends_at, None)
            if adapter.composite is not None:
                record.adapter = adapter = await with_sources_behind(
                    adapter, trace, deadline, leases
                )
            turn = await load_history(adapter, turn, trace)
            resolution = await resolve_proposal(
                adapter, turn, proposal_id, trace, accept=accept, seal=seal
            )
            answer = await answer_resolution(adapter, turn, resolution, trace)
        record.answer = answer
    _log_trace(adapter, turn, answer)
    return answer


@contextmanager
def _in_time(late: str) -> Iterator[None]:
    """Raise `TurnTimedOut`, which says `late`, when a limit of time has passed."""
    try:
        yield
    except TimeoutError:
        raise TurnTimedOut(late) from None


def _log_trace(adapter: Adapter, turn: Turn, answer: Answer) -> None:
    level = logging.INFO if adapter.verbose else logging.DEBUG
    if _log.isEnabledFor(level):
        _log.log(level, "turn %s of %s: %s", turn.id, adapter.name, answer.trace.to_list())
