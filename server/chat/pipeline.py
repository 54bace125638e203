"""One turn, from question to answer. Every stage is called here, in this order, and nowhere else.

load history ─ guard ─ confirm? ─ detect intent ─ decide ─ policy ─ [hold] ─ run tool ─ respond
─ [model words it] ─ save history

Each stage is timed into the turn's trace. Deciding runs nothing.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from server.chat.adapter import Adapter
from server.chat.confirm import (
    Resolution,
    awaits_reply,
    first_reply,
    hold_call,
    is_reply,
    keep_reply,
    reply_to_pending,
    resolve_proposal,
)
from server.chat.decided_calls import (
    RefusedCall,
    answer_with_calls,
    judge_calls,
    returned_calls,
    take_result,
)
from server.chat.downloads import offer_download
from server.chat.execute import (
    ask_for_another,
    execute_call,
    lookup_of,
    proposal_of,
    refuse_unoffered,
)
from server.chat.form import check_given
from server.chat.history import load_history, load_transcript, next_context, save_history
from server.chat.inbox import note_turn
from server.chat.observation import TurnRecord, observed_turn
from server.chat.question import GuardOutcome, detect_intent, guard_turn, without_follow_up
from server.chat.redact import hide_words, is_private, withhold_words
from server.chat.respond import TurnFindings, respond, with_notes
from server.chat.several import EndedCall, not_run, respond_to_several
from server.chat.sources import (
    answer_of_source,
    count_sources,
    with_sources,
    with_unanswered,
    withhold_words_of,
)
from server.core.decision import (
    Answer,
    Blocked,
    Call,
    Clarify,
    Courtesy,
    DecidedCalls,
    Decision,
    Ending,
    Match,
    MissingArguments,
    NoMatch,
    SeveralCalls,
    Trace,
)
from server.core.sources import UnansweredSource
from server.core.streaming import StreamListener, TurnDeadline
from server.core.tools import RowTaker, Source, ToolCall
from server.core.transcript import Transcript
from server.core.turn import Turn
from server.errors import AdapterUnavailable, StoreUnavailable, TurnTimedOut
from server.intents.detector import Detection
from server.llm.models import AdapterModels
from server.retrievers.followups.context import FollowUpDecision
from server.retrievers.implementations.intent.composite import SourceDecision

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
    export = _Export(taker, asyncio.timeout_at(ends_at)) if taker is not None else None
    with observed_turn(adapter, turn, "question") as record:
        try:
            with ExitStack() as leases:
                leases.enter_context(adapter.leases.hold())
                # Bound to no name: it holds its task, and a task that was cancelled these frames.
                async with asyncio.timeout_at(ends_at) if export is None else export.limit:
                    deadline = TurnDeadline(ends_at, listener)
                    if adapter.composite is not None:
                        record.adapter = adapter = await _with_sources(
                            adapter, trace, deadline, leases
                        )
                    answer = await _answer_turn(
                        adapter, turn, trace, deadline, leases, record, export
                    )
        except TimeoutError:
            raise TurnTimedOut(
                f"no answer within {timeout_s:g} s, so the turn was stopped"
            ) from None
        record.answer = answer
    _log_trace(adapter, turn, answer)
    return answer


@dataclass(frozen=True, slots=True)
class _Export:
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


async def _answer_several(
    by: Adapter,
    turn: Turn,
    decision: SeveralCalls,
    trace: Trace,
    deadline: TurnDeadline,
    findings: TurnFindings,
    callers: Sequence[Adapter],
) -> Answer:
    """Judge, run and answer each of several calls, in order, by the adapter whose it is.

    What becomes of one changes nothing about the others. The first that needs a yes is held,
    and any further one is not done.
    """
    ended, waits = list[EndedCall](), False
    for caller, call in zip(callers, decision.calls, strict=True):
        ending: Ending
        left_s = min(caller.tool_timeout_s, deadline.left_s()) if ended else caller.tool_timeout_s
        try:
            if left_s <= 0:
                outcome = not_run(caller, call, late=True)
            else:
                proposal = proposal_of(caller, turn, call)
                proposal = replace(proposal, proposal_id=None) if waits else proposal
                outcome = await execute_call(caller, proposal, trace, timeout_s=left_s)
            ending = replace(call, call=outcome.call)
            if outcome.to_confirm is not None and not waits:
                held = await hold_call(caller, turn, call, outcome, proposal, trace)
                ending, waits = held or ending, held is not None
        except StoreUnavailable:
            if not ended:
                raise
            outcome = not_run(caller, call, late=False)
            ending = replace(call, call=outcome.call)
        answer = respond(caller, turn, ending, trace, outcome=outcome)
        answer = await offer_download(caller, turn, answer, outcome)
        ended.append(EndedCall(call, outcome, answer, caller))
    return respond_to_several(by, turn, ended, decision.skipped, trace, findings)


async def _answer_turn(
    adapter: Adapter,
    turn: Turn,
    trace: Trace,
    deadline: TurnDeadline,
    leases: ExitStack,
    record: TurnRecord,
    export: _Export | None = None,
) -> Answer:
    if turn.transcript is not None:
        turn = await _with_transcript(adapter, turn, turn.transcript, trace, leases)
    elif turn.continues:
        turn = await load_history(adapter, turn, trace)
    if turn.given:
        check_given(adapter.library, turn)

    guarded = GuardOutcome(adapter)
    if adapter.guard is not None:
        guarded = await guard_turn(adapter, turn, trace, leases)
    asked = guarded.adapter
    if asked is not adapter and asked.composite is not None:
        asked = await _with_sources(asked, trace, deadline, leases)

    if guarded.decision is None and not turn.given:
        if turn.returned:
            return await _answer_returned(adapter, asked, turn, trace)
        if awaits_reply(turn):
            answer = await _reply_to_pending(adapter, turn, trace, deadline)
            if answer is not None:
                return answer

    understood = await _understand_turn(adapter, asked, turn, guarded.decision, trace)
    turn, by, decision = understood.turn, understood.by, understood.decision
    callers, detection, unanswered = (
        understood.callers,
        understood.detection,
        understood.unanswered,
    )
    contribution, form, private = understood.contribution, understood.form, understood.private
    record.understood(turn, by, private=private, form=form, contribution=contribution)
    await count_sources(callers or ([by] if by is not asked else []))
    deadline = replace(deadline, private=private)
    if by.models is not None:
        decision = await _complete_with_models(by.models, turn, decision, trace, deadline)
    if private and isinstance(decision, SeveralCalls):
        decision = withhold_words_of(callers or [by] * len(decision.calls), decision)
    elif private:
        decision = withhold_words(by, decision)

    ending: Ending = decision
    outcome, taker = None, None
    findings = TurnFindings(guarded.verdict, detection, contribution)
    if isinstance(decision, Call) and turn.runs:
        proposal = proposal_of(by, turn, decision)
        taker = export.taker_for(by, proposal.call) if export is not None else None
        timeout_s = by.csv.timeout_s if taker is not None else None
        outcome = await execute_call(by, proposal, trace, timeout_s=timeout_s, taker=taker)
        ending = replace(decision, call=outcome.call)
        lookup = lookup_of(by, turn, decision) if outcome.to_confirm is not None else None
        looked_up = await execute_call(by, lookup, trace) if lookup is not None else None
        missed = ask_for_another(by, decision, looked_up) if looked_up is not None else None
        if missed is not None:
            ending, outcome = missed, None
        elif outcome.to_confirm is not None:
            held = await hold_call(by, turn, decision, outcome, proposal, trace)
            if held is not None:
                ending = replace(held, coverage=decision.coverage)

    if isinstance(decision, Call | SeveralCalls) and not turn.runs:
        calls = decision.calls if isinstance(decision, SeveralCalls) else [decision]
        decided = list(zip(callers or [by] * len(calls), calls, strict=True))
        judged = await judge_calls(turn, decided, trace)
        if isinstance(judged, RefusedCall):
            refused, whose = judged.decided, judged.by
            outcome = judged.outcome
            answer = respond(whose, turn, refused, trace, outcome=outcome, findings=findings)
        else:
            answer = answer_with_calls(asked, by, turn, judged, trace, findings)
    elif isinstance(decision, SeveralCalls):
        callers = callers or [by] * len(decision.calls)
        answer = await _answer_several(by, turn, decision, trace, deadline, findings, callers)
    else:
        answer = respond(by, turn, ending, trace, outcome=outcome, findings=findings)

    if taker is None:  # else the rows are the answer
        answer = await offer_download(by, turn, answer, outcome)
    has_result = outcome is not None and outcome.refusal is None and taker is None
    if by.models is not None and outcome is not None and has_result:
        answer = await by.models.rewrite(
            turn, outcome.call, outcome.result, answer, trace, deadline
        )
    elif by.models is not None and isinstance(decision, NoMatch | Courtesy):
        answer = await by.models.converse(turn, answer, trace, deadline)
    if by.show_notes:
        answer = with_notes(answer)
    if unanswered:
        answer = with_unanswered(asked, by, turn, answer, unanswered)
    if private:
        hide_words(trace)

    await save_history(adapter, turn, answer, by=by, private=private)
    note_turn(adapter, turn, answer, by=by, private=private, form=form)
    return answer_of_source(asked, by, answer) if asked.behind else answer


async def _with_transcript(
    adapter: Adapter, turn: Turn, told: Transcript, trace: Trace, leases: ExitStack
) -> Turn:
    """The turn in the conversation that its client tells; what is not kept is decided again.

    Nothing runs for that, so nothing of it waits for a yes, and nobody knows what came of it.
    """
    turn, exchanges = await load_transcript(adapter, turn, told, trace)
    for each in exchanges:
        if not each.question:
            continue
        if turn.context.waiting is not None and is_reply(each.question):
            turn = replace(turn, context=replace(turn.context, held=None, held_in=None))
            continue
        earlier = replace(turn, text=each.question, transcript=None, runs=False)
        unheard = Trace()
        guarded = await guard_turn(adapter, earlier, unheard, leases)
        if guarded.adapter is not adapter:
            continue
        understood = await _understand_turn(adapter, adapter, earlier, guarded.decision, unheard)
        decision, by = understood.decision, understood.by
        ending: Ending = decision
        if isinstance(decision, Call):
            ending = DecidedCalls((decision,))
        elif isinstance(decision, SeveralCalls):
            ending = DecidedCalls(decision.calls if not understood.callers else ())
        answer = Answer("", 1.0, {}, ending)
        private = understood.private
        context = next_context(adapter, understood.turn, answer, by=by, private=private)
        turn = replace(turn, context=context)
    return turn


@dataclass(frozen=True, slots=True)
class _Understood:
    """What a turn comes to before anything runs; `callers` are those of several calls."""

    turn: Turn
    by: Adapter
    decision: Decision
    detection: Detection | None = None
    private: bool = False
    callers: Sequence[Adapter] = ()
    unanswered: tuple[UnansweredSource, ...] = ()
    contribution: str = ""
    form: str = ""


async def _understand_turn(
    adapter: Adapter, asked: Adapter, turn: Turn, decision: Decision | None, trace: Trace
) -> _Understood:
    """Decide a turn of `adapter`, which its guard led to `asked`, or to a decision."""
    if decision is not None:
        detection = None
        if not isinstance(decision, Blocked):
            turn, detection = await detect_intent(asked, turn, trace)
        private = bool(asked.sensitive_templates) and is_private(asked, trace, decision)
        return _Understood(turn, asked, decision, detection, private)
    # A conversation that began in another adapter says nothing of this one.
    alone = turn if asked is adapter else without_follow_up(turn)
    decided, detection = await _understand(asked, alone, trace)
    by, private, callers = asked, False, list[Adapter]()
    unanswered = tuple[UnansweredSource, ...]()
    if isinstance(decided, SourceDecision):
        by, private = asked.behind.get(decided.source, asked), decided.private
        callers = [asked.behind[name] for name in decided.callers]
        detection, unanswered = decided.detection, decided.unanswered
    if decided.form:
        found = {"form": decided.form, "contributes": decided.contribution or "nothing"}
        trace.note("conversation", found)
    return _Understood(
        replace(turn, intent=decided.intent),
        by,
        decided.decision,
        detection,
        private or (bool(by.sensitive_templates) and is_private(by, trace, decided.decision)),
        callers,
        unanswered,
        decided.contribution,
        decided.form,
    )


async def _answer_returned(adapter: Adapter, asked: Adapter, turn: Turn, trace: Trace) -> Answer:
    """The answer to a question whose calls the client made itself."""
    calls, ended, by = returned_calls(asked, turn.caller, turn.returned), list[EndedCall](), asked
    for (whose, decided), each in zip(calls, turn.returned, strict=True):
        own, _ = await detect_intent(whose, turn, trace)
        outcome = await take_result(whose, own, decided, each.result, trace)
        called = replace(decided, call=outcome.call)
        answer = respond(whose, own, called, trace, outcome=outcome)
        ended.append(EndedCall(called, outcome, answer, whose))
    if len(ended) == 1:
        answer, by = ended[0].answer, ended[0].by
    else:
        answer = respond_to_several(asked, turn, ended, (), trace)
    private = bool(by.sensitive_templates) and is_private(by, trace, answer.decision)
    await save_history(adapter, turn, answer, by=by, private=private)
    return answer_of_source(asked, by, answer)


async def _reply_to_pending(
    adapter: Adapter, turn: Turn, trace: Trace, deadline: TurnDeadline
) -> Answer | None:
    """The answer to a yes or a no; None where the turn is neither.

    Where a client tells the conversation, a reply that it sends again gets the answer that it
    got before, also when nobody was there any more to hear that.
    """
    if adapter.proposals is None:
        return None
    resolving = _resolve_reply(adapter, turn, trace)
    resolution, answer = await adapter.proposals.to_its_end(resolving)
    if resolution is None or answer is not None:
        return answer
    within_s = deadline.left_s() / 2
    first = await first_reply(adapter, turn, resolution, within_s=within_s)
    if first is None:
        return await _answer_resolution(adapter, turn, resolution, trace)
    proposal = {"proposal_id": turn.context.held, "status": "settled", "repeated": True}
    shown = {"source": "intent", "template_id": None, "synthesized": False}
    return Answer(first, 1.0, {**shown, "proposal": proposal}, resolution.ending, trace)


async def _resolve_reply(
    adapter: Adapter, turn: Turn, trace: Trace
) -> tuple[Resolution | None, Answer | None]:
    """What a reply does, and its answer, which is left out where it may have been given before."""
    with adapter.leases.hold():  # whoever asked may have left
        resolution = await reply_to_pending(adapter, turn, trace)
        if resolution is None or (turn.transcript is not None and resolution.is_settled):
            return resolution, None
        answer = await _answer_resolution(adapter, turn, resolution, trace)
        if answer.metadata["proposal"]["status"] in ("done", "declined", "refused"):
            await keep_reply(adapter, turn, answer)
        return resolution, answer


async def _understand(
    adapter: Adapter, turn: Turn, trace: Trace
) -> tuple[FollowUpDecision, Detection | None]:
    """What a question comes to in one adapter: its intent is detected, and then it is decided."""
    detected, detection = await detect_intent(adapter, turn, trace)
    decided = await _decide(adapter, detected, trace)
    for rewriting in decided.rewritings:
        rewritten = without_follow_up(turn, rewriting.rewritten)
        rewritten, _ = await detect_intent(adapter, rewritten, trace)
        second = await _decide(adapter, rewritten, trace)
        accepted = rewriting.accept(second.decision, second.intent)
        if accepted is not None:
            return replace(accepted, form=decided.form), detection
    return decided, detection


async def _with_sources(
    adapter: Adapter, trace: Trace, deadline: TurnDeadline, leases: ExitStack
) -> Adapter:
    """The adapter with those behind it, of which none may take more than half of the time."""
    within_s = deadline.left_s() / 2
    return await with_sources(adapter, _understand, trace, leases, within_s=within_s)


async def _decide(adapter: Adapter, turn: Turn, trace: Trace) -> FollowUpDecision:
    """Ask the chain of deciders; a model's call that was not offered is refused at once."""
    found = await adapter.decider.decide(turn, trace)
    decided = found if isinstance(found, FollowUpDecision) else FollowUpDecision(found, turn.intent)
    decision = decided.decision
    if isinstance(decision, Call) and decision.otherwise is not None:
        await refuse_unoffered(adapter, turn, decision)
        decided = replace(decided, decision=decision.otherwise)
    return decided


async def _complete_with_models(
    models: AdapterModels, turn: Turn, decision: Decision, trace: Trace, deadline: TurnDeadline
) -> Decision:
    """The decision with the arguments that a model finds; nothing is run for mere talk."""
    if isinstance(decision, Call | MissingArguments | Clarify) and models.is_talk(turn):
        return NoMatch(f"nothing is done for the intent {turn.intent.name if turn.intent else ''}")
    if isinstance(decision, MissingArguments):
        return await models.fill(turn, decision, trace, deadline)
    return decision


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
    with observed_turn(adapter, turn, "call") as record:
        try:
            with ExitStack() as leases:
                leases.enter_context(adapter.leases.hold())
                async with asyncio.timeout(timeout_s) as limit:
                    deadline = TurnDeadline(limit.when() or 0.0, None)
                    by = adapter
                    if adapter.composite is not None:
                        record.adapter = adapter = await _with_sources(
                            adapter, trace, deadline, leases
                        )
                        by = adapter.behind.get(source, adapter)
                    if by.name != source or template_id not in by.library.templates:
                        what = f"{template_id!r} of adapter {source!r} cannot be called now"
                        raise AdapterUnavailable(f"{what}; list the tools again")
                    if by is not adapter:
                        await count_sources([by])
                    answer = await _answer_call(adapter, by, turn, template_id, arguments, trace)
        except TimeoutError:
            raise TurnTimedOut(
                f"no answer within {timeout_s:g} s, so the call was stopped"
            ) from None
        record.answer = answer
    _log_trace(adapter, turn, answer)
    return answer


async def _answer_call(
    adapter: Adapter,
    by: Adapter,
    turn: Turn,
    template_id: str,
    arguments: Mapping[str, Any],
    trace: Trace,
) -> Answer:
    template = by.library.templates[template_id]
    call = template.call(arguments, dict.fromkeys(arguments, Source("given")))
    decision = Call(Match(template_id, 1.0, 0.0, "called by its name"), call)
    proposal = replace(proposal_of(by, turn, decision), proposed_by="caller")
    outcome = await execute_call(by, proposal, trace)
    ending: Ending = replace(decision, call=outcome.call)
    if outcome.to_confirm is not None:
        held = await hold_call(by, turn, decision, outcome, proposal, trace)
        ending = held or ending
    answer = respond(by, turn, ending, trace, outcome=outcome)
    answer = await offer_download(by, turn, answer, outcome)
    private = bool(template.policy.sensitive_params)
    await save_history(adapter, turn, answer, by=by, private=private)
    return answer_of_source(adapter, by, answer)


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
    with observed_turn(adapter, turn, "confirmation") as record:
        try:
            with ExitStack() as leases:
                leases.enter_context(adapter.leases.hold())
                async with asyncio.timeout_at(ends_at):  # bound to no name, as in `run_turn`
                    deadline = TurnDeadline(ends_at, None)
                    if adapter.composite is not None:
                        record.adapter = adapter = await _with_sources(
                            adapter, trace, deadline, leases
                        )
                    turn = await load_history(adapter, turn, trace)
                    resolution = await resolve_proposal(
                        adapter, turn, proposal_id, trace, accept=accept, seal=seal
                    )
                    answer = await _answer_resolution(adapter, turn, resolution, trace)
        except TimeoutError:
            raise TurnTimedOut(
                f"no answer within {timeout_s:g} s; what was confirmed is carried to its end"
            ) from None
        record.answer = answer
    _log_trace(adapter, turn, answer)
    return answer


async def _answer_resolution(
    adapter: Adapter, turn: Turn, resolution: Resolution, trace: Trace
) -> Answer:
    ending, outcome, proposal = resolution.ending, resolution.outcome, resolution.proposal
    answer = respond(resolution.adapter, turn, ending, trace, outcome=outcome, proposal=proposal)
    by = resolution.adapter if resolution.adapter.name in adapter.behind else adapter
    await save_history(adapter, turn, answer, by=by, private=False)
    return answer_of_source(adapter, by, answer)


def _log_trace(adapter: Adapter, turn: Turn, answer: Answer) -> None:
    level = logging.INFO if adapter.verbose else logging.DEBUG
    if _log.isEnabledFor(level):
        _log.log(level, "turn %s of %s: %s", turn.id, adapter.name, answer.trace.to_list())
