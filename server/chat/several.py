"""A message that asked for several things: each is done and answered, one after the other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from server.chat.adapter import Adapter
from server.chat.confirm import hold_call
from server.chat.downloads import offer_download
from server.chat.execute import execute_call, proposal_of
from server.chat.redact import is_private
from server.chat.respond import NO_FINDINGS, TurnFindings, describe_findings, phrase, respond
from server.chat.sources import under_source
from server.chat.understand import Understood
from server.core.decision import (
    Answer,
    Call,
    Ending,
    PendingConfirmation,
    SeveralCalls,
    SeveralEndings,
    Trace,
)
from server.core.redaction import REDACTED, Redactor, Secrets
from server.core.sources import shared_ending
from server.core.streaming import TurnDeadline
from server.core.tools import ToolResult, ToolResultStatus
from server.core.turn import Turn
from server.errors import StoreUnavailable
from server.tools.policy.chain import CallOutcome

_OF_A_CALL: Final = (
    *("template_id", "arguments", "match", "tool_execution", "policy", "coverage"),
    *("chart", "download"),
)
"""What is told of each call, as it is of the only one elsewhere."""
_SAID: Final = frozenset({"arguments", "coverage", "match", "skipped", "tool_execution"})
"""Fields that hold words of the question or of a result."""
_NOT_REACHED: Final = "what it depends on cannot be reached now"
_NO_TIME: Final = "there was no time left for it"


@dataclass(frozen=True, slots=True)
class EndedCall:
    """One of several calls: as it was decided, what came of it, its answer, and whose it is."""

    decided: Call
    outcome: CallOutcome
    answer: Answer
    by: Adapter

    @property
    def is_second_proposal(self) -> bool:
        """Whether it needs a yes, and another call waits for one already."""
        lacks_yes = self.outcome.outcome == "confirmation_required"
        return lacks_yes and isinstance(self.answer.decision, Call)


def not_run(adapter: Adapter, call: Call, *, late: bool) -> CallOutcome:
    """The outcome of a call that could not be begun after others had run."""
    why = _NO_TIME if late else _NOT_REACHED
    template = adapter.library.templates[call.call.template_id]
    shown = call.call
    if template.policy.sensitive_params:
        redactor = Redactor(template.policy.sensitive_params)
        arguments = redactor.secrets(shown.arguments).data(redactor.arguments(shown.arguments))
        shown = replace(shown, arguments=arguments, sources={})
    status = ToolResultStatus.TIMEOUT if late else ToolResultStatus.ERROR
    result = ToolResult.of_no_call(shown, why, status)
    return CallOutcome(result, shown, "timeout" if late else "error")


async def answer_several(
    understood: Understood,
    decision: SeveralCalls,
    trace: Trace,
    deadline: TurnDeadline,
    findings: TurnFindings,
) -> Answer:
    """Judge, run and answer each of several calls, in order, by the adapter whose it is.

    What becomes of one changes nothing about the others. The first that needs a yes is held,
    and any further one is not done.
    """
    turn, ended, waits = understood.turn, list[EndedCall](), False
    for caller, call in zip(understood.callers_of(decision.calls), decision.calls, strict=True):
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
    return respond_to_several(understood.by, turn, ended, decision.skipped, trace, findings)


def respond_to_several(
    adapter: Adapter,
    turn: Turn,
    ended: Sequence[EndedCall],
    skipped: Sequence[str],
    trace: Trace,
    findings: TurnFindings = NO_FINDINGS,
) -> Answer:
    """One answer of several: the fields of the first, and every call in `metadata.calls`."""
    library = adapter.library
    language = library.domain.response.choose_language(turn.languages)
    decided = SeveralCalls(tuple(one.decided for one in ended))
    private = bool(adapter.sensitive_templates) and is_private(adapter, trace, decided)
    if private:  # no words of the question may be shown
        skipped = [REDACTED] * len(skipped)
    contents, keepable = list[str](), list[str]()
    for one in ended:
        content, kept = one.answer.content, one.answer.kept_content
        if one.is_second_proposal:
            template = one.by.library.templates[one.decided.call.template_id]
            context = {"description": template.description or template.id}
            content = kept = phrase(library, "several_wait", context, language)
        for other in ended:
            # A secret of one call may stand in what another one says.
            kept = other.outcome.secrets.text(kept)
            is_asked = other is one and one.answer.kept is not None
            content = content if is_asked else other.outcome.secrets.text(content)
        contents.append(under_source(adapter, one.by, content))
        keepable.append(under_source(adapter, one.by, kept))
    if skipped:
        left = phrase(library, "several_skipped", {"skipped": list(skipped)}, language)
        contents.append(left)
        keepable.append(left)
    first = ended[0].answer
    metadata = {**first.metadata, "calls": []}
    metadata["calls"] = [_describe_call(adapter, one, private=private) for one in ended]
    # The one that waits is the proposal of the turn, whichever call it is.
    for one in ended:
        if isinstance(one.answer.decision, PendingConfirmation):
            metadata["proposal"] = one.answer.metadata["proposal"]
    if skipped:
        metadata["skipped"] = list(skipped)
    if findings != NO_FINDINGS:
        metadata |= describe_findings(adapter, findings)
    for one in ended:
        secrets = one.outcome.secrets
        metadata = _without(secrets, metadata)
        metadata["calls"] = [_without(secrets, each) for each in metadata["calls"]]
    endings = (
        each.answer.decision
        if each.by is adapter
        else shared_ending(each.by.name, each.answer.decision)
        for each in ended
    )
    parts = [each for each in endings if isinstance(each, Call | PendingConfirmation)]
    ending = SeveralEndings(tuple(parts), tuple(metadata.get("skipped", ())))
    content, kept = "\n\n".join(contents), "\n\n".join(keepable)
    return Answer(content, first.confidence, metadata, ending, trace, kept)


def _describe_call(adapter: Adapter, one: EndedCall, *, private: bool) -> dict[str, Any]:
    told = {name: one.answer.metadata[name] for name in _OF_A_CALL if name in one.answer.metadata}
    told["confidence"] = round(one.answer.confidence, 4)
    if "coverage" not in told and not private:
        told["coverage"] = one.decided.coverage.to_list()
    if isinstance(one.answer.decision, PendingConfirmation):
        told["proposal_id"] = one.answer.decision.proposal_id
    if one.by.name in adapter.behind:
        told["answered_by"] = adapter.describe_source(one.by.name)
    return told


def _without(secrets: Secrets, told: Mapping[str, Any]) -> dict[str, Any]:
    return {name: secrets.data(each) if name in _SAID else each for name, each in told.items()}
