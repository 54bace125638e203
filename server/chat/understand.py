"""What a question comes to, before anything runs: its intent, and what is decided."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from server.chat.adapter import Adapter
from server.chat.execute import refuse_unoffered
from server.chat.question import detect_intent, without_follow_up
from server.chat.redact import is_private, withhold_words
from server.chat.sources import with_sources, withhold_words_of
from server.core.decision import (
    Blocked,
    Call,
    Clarify,
    Decision,
    MissingArguments,
    NoMatch,
    SeveralCalls,
    Trace,
)
from server.core.sources import UnansweredSource
from server.core.streaming import TurnDeadline
from server.core.turn import Turn
from server.intents.detector import Detection
from server.llm.models import AdapterModels
from server.retrievers.followups.context import FollowUpDecision
from server.retrievers.implementations.intent.composite import SourceDecision


@dataclass(frozen=True, slots=True)
class Understood:
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

    def callers_of(self, calls: Sequence[Call]) -> Sequence[Adapter]:
        """Whose each of the calls is."""
        return self.callers or [self.by] * len(calls)


async def understand_turn(
    adapter: Adapter, asked: Adapter, turn: Turn, decision: Decision | None, trace: Trace
) -> Understood:
    """Decide a turn of `adapter`, which its guard led to `asked`, or to a decision."""
    if decision is not None:
        detection = None
        if not isinstance(decision, Blocked):
            turn, detection = await detect_intent(asked, turn, trace)
        private = bool(asked.sensitive_templates) and is_private(asked, trace, decision)
        return Understood(turn, asked, decision, detection, private)
    # A conversation that began in another adapter says nothing of this one.
    alone = turn if asked is adapter else without_follow_up(turn)
    decided, detection = await understand(asked, alone, trace)
    by, private, callers = asked, False, list[Adapter]()
    unanswered = tuple[UnansweredSource, ...]()
    if isinstance(decided, SourceDecision):
        by, private = asked.behind.get(decided.source, asked), decided.private
        callers = [asked.behind[name] for name in decided.callers]
        detection, unanswered = decided.detection, decided.unanswered
    if decided.form:
        found = {"form": decided.form, "contributes": decided.contribution or "nothing"}
        trace.note("conversation", found)
    return Understood(
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


async def understand(
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


async def _decide(adapter: Adapter, turn: Turn, trace: Trace) -> FollowUpDecision:
    """Ask the chain of deciders; a model's call that was not offered is refused at once."""
    found = await adapter.decider.decide(turn, trace)
    decided = found if isinstance(found, FollowUpDecision) else FollowUpDecision(found, turn.intent)
    decision = decided.decision
    if isinstance(decision, Call) and decision.otherwise is not None:
        await refuse_unoffered(adapter, turn, decision)
        decided = replace(decided, decision=decision.otherwise)
    return decided


async def with_sources_behind(
    adapter: Adapter, trace: Trace, deadline: TurnDeadline, leases: ExitStack
) -> Adapter:
    """The adapter with those behind it, of which none may take more than half of the time."""
    within_s = deadline.left_s() / 2
    return await with_sources(adapter, understand, trace, leases, within_s=within_s)


async def complete_decision(
    understood: Understood, trace: Trace, deadline: TurnDeadline
) -> Decision:
    """The decision with what a model finds for it, and without words that may not be shown."""
    by, decision = understood.by, understood.decision
    if by.models is not None:
        decision = await _ask_models(by.models, understood.turn, decision, trace, deadline)
    if not understood.private:
        return decision
    if isinstance(decision, SeveralCalls):
        return withhold_words_of(understood.callers_of(decision.calls), decision)
    return withhold_words(by, decision)


async def _ask_models(
    models: AdapterModels, turn: Turn, decision: Decision, trace: Trace, deadline: TurnDeadline
) -> Decision:
    """The decision with the arguments that a model finds; nothing is run for mere talk."""
    if isinstance(decision, Call | MissingArguments | Clarify) and models.is_talk(turn):
        return NoMatch(f"nothing is done for the intent {turn.intent.name if turn.intent else ''}")
    if isinstance(decision, MissingArguments):
        return await models.fill(turn, decision, trace, deadline)
    return decision
