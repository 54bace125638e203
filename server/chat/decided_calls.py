"""Calls that the client makes itself: told to it as they were judged, and taken back as made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic_core import from_json

from server.chat.adapter import Adapter
from server.chat.execute import proposal_of
from server.chat.history import save_history
from server.chat.question import detect_intent
from server.chat.redact import is_private
from server.chat.respond import TurnFindings, describe_findings, respond
from server.chat.several import EndedCall, respond_to_several
from server.chat.sources import OpenTemplate, answer_of_source, open_tools
from server.chat.understand import Understood
from server.core.decision import Answer, Call, DecidedCalls, Match, SeveralCalls, Trace
from server.core.sources import shared_match
from server.core.tools import ROW_RESULT, Source, ToolCall, is_row_result
from server.core.transcript import ReturnedCall
from server.core.turn import Caller, Turn
from server.errors import RequestInvalid
from server.tools.policy.chain import CallOutcome

_FORM: Final = ROW_RESULT | {"operation", "input", "complete", "total"}
"""Fields by which results of tools are told apart."""


@dataclass(frozen=True, slots=True)
class _JudgedCall:
    """A call as it would run, and whose it is."""

    by: Adapter
    decided: Call
    call: ToolCall


@dataclass(frozen=True, slots=True)
class _RefusedCall:
    """A call that may not run, and why."""

    by: Adapter
    decided: Call
    outcome: CallOutcome


async def answer_decided(
    asked: Adapter,
    understood: Understood,
    decision: Call | SeveralCalls,
    trace: Trace,
    findings: TurnFindings,
) -> Answer:
    """Tell the client what would run, or which call may not.

    Raises:
        StoreUnavailable: the counts of rate limits cannot be reached.
    """
    turn = understood.turn
    calls = decision.calls if isinstance(decision, SeveralCalls) else (decision,)
    decided = list(zip(understood.callers_of(calls), calls, strict=True))
    judged = await _judge_calls(turn, decided, trace)
    if isinstance(judged, _RefusedCall):
        refused, outcome = judged.decided, judged.outcome
        return respond(judged.by, turn, refused, trace, outcome=outcome, findings=findings)
    return _answer_with_calls(asked, understood.by, turn, judged, trace, findings)


async def answer_returned(adapter: Adapter, asked: Adapter, turn: Turn, trace: Trace) -> Answer:
    """The answer to a question whose calls the client made itself.

    Raises:
        RequestInvalid: no tool of the key has such a name, or its arguments are none.
        StoreUnavailable: the counts of rate limits cannot be reached.
    """
    calls, ended, by = _returned_calls(asked, turn.caller, turn.returned), list[EndedCall](), asked
    for (whose, decided), each in zip(calls, turn.returned, strict=True):
        own, _ = await detect_intent(whose, turn, trace)
        outcome = await _take_result(whose, own, decided, each.result, trace)
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


async def _judge_calls(
    turn: Turn, decided: Sequence[tuple[Adapter, Call]], trace: Trace
) -> list[_JudgedCall] | _RefusedCall:
    """Return the calls as they would run; where the policy refuses one of them, only that.

    Raises:
        StoreUnavailable: the counts of rate limits cannot be reached.
    """
    judged = list[_JudgedCall]()
    with trace.stage("judge") as details:
        for by, call in decided:
            outcome = await by.chain.judge(proposal_of(by, turn, call))
            if not isinstance(outcome, ToolCall):
                details["outcome"] = outcome.outcome
                return _RefusedCall(by, replace(call, call=outcome.call), outcome)
            judged.append(_JudgedCall(by, call, outcome))
        details["outcome"] = "allowed"
    return judged


def _answer_with_calls(
    asked: Adapter,
    answering: Adapter,
    turn: Turn,
    judged: Sequence[_JudgedCall],
    trace: Trace,
    findings: TurnFindings,
) -> Answer:
    """Tell the client what would run."""
    first = judged[0].decided
    metadata = {
        "source": "intent",
        "template_id": first.match.template_id,
        "synthesized": False,
        "tool_calls": _described(asked, turn.caller, judged),
        "match": {"confidence": round(first.match.confidence, 4), "why": first.match.why},
    }
    if first.coverage.words:
        metadata["coverage"] = first.coverage.to_list()
    metadata |= describe_findings(asked, findings)
    ending = DecidedCalls(tuple(_known_in(answering, each) for each in judged))
    return Answer("", first.match.confidence, metadata, ending, trace)


def _returned_calls(
    asked: Adapter, caller: Caller, returned: Sequence[ReturnedCall]
) -> list[tuple[Adapter, Call]]:
    """The calls that the client made itself, and whose they are.

    Raises:
        RequestInvalid: no tool of the key has such a name, or its arguments are none.
    """
    known, found = open_tools(asked, caller), list[tuple[Adapter, Call]]()
    for each in returned:
        opened, arguments = _opened(known, each.call.name), each.call.arguments
        if not isinstance(arguments, Mapping):
            raise RequestInvalid(f"messages: the arguments of {each.call.name!r} are not an object")
        call = opened.template.call(arguments, dict.fromkeys(arguments, Source("given")))
        match = Match(opened.template.id, 1.0, 1.0, "the client made the call")
        found.append((asked.behind.get(opened.source.name, asked), Call(match, call)))
    return found


async def _take_result(
    by: Adapter, turn: Turn, decided: Call, result: str, trace: Trace
) -> CallOutcome:
    """Return what came of a call that the client made itself, if it may make it.

    Raises:
        StoreUnavailable: the counts of rate limits cannot be reached.
    """
    with trace.stage("returned") as details:
        proposal = proposal_of(by, turn, decided)
        outcome = await by.chain.take_result(proposal, _result_of(result))
        details |= {"template": decided.match.template_id, "outcome": outcome.outcome}
    return outcome


def _described(
    asked: Adapter, caller: Caller, judged: Sequence[_JudgedCall]
) -> list[dict[str, Any]]:
    names = {
        (each.source.name, each.template.id): name
        for name, each in open_tools(asked, caller).items()
    }
    return [
        {
            "name": names.get((each.by.name, each.call.template_id), each.call.template_id),
            "arguments": dict(each.call.arguments),
            "template_id": each.decided.match.template_id,
            "effect": each.call.effect,
            "needs_confirmation": _needs_yes(each),
        }
        for each in judged
    ]


def _needs_yes(judged: _JudgedCall) -> bool:
    template = judged.by.library.templates[judged.call.template_id]
    return template.policy.confirm or judged.decided.proposed is not None


def _known_in(answering: Adapter, judged: _JudgedCall) -> Call:
    """The call under the name that its template has in the adapter that answers."""
    call = replace(judged.decided, call=judged.call)
    if judged.by is answering:
        return call
    return replace(call, match=shared_match(judged.by.name, call.match))


def _opened(known: Mapping[str, OpenTemplate], name: str) -> OpenTemplate:
    if name in known:
        return known[name]
    named = [each for each in known.values() if each.id == name]
    if not named:
        raise RequestInvalid(f"messages: this key has no tool that is called {name[:80]!r}")
    return named[0]


def _result_of(text: str) -> Any:
    """What a client says came of a call, as tools give it: JSON where it is any, or else text."""
    try:
        found = from_json(text)
    except ValueError:
        found = text
    if not isinstance(found, Mapping):
        return {"result": found}
    payload = found["rows"] if is_row_result(found) else found.get("result", found)
    # A client may send anything: only tools of this server are believed to be of a known form.
    fields = {name: value for name, value in found.items() if name not in _FORM}
    return {**fields, "result": payload}
