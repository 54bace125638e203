"""What a turn leaves for those who watch the server: metrics, a span, a line of the log, usage."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from time import perf_counter
from typing import Any, Final, Literal

from server.chat.adapter import Adapter
from server.core.decision import (
    Answer,
    Blocked,
    Call,
    Cancelled,
    Clarify,
    ClarifyingQuestion,
    Courtesy,
    DecidedCalls,
    Ending,
    Match,
    MissingArguments,
    NoMatch,
    PendingConfirmation,
    ProposalNotExecuted,
    SeveralCalls,
    SeveralEndings,
    Trace,
    coverages_of,
    ending_name,
)
from server.core.redaction import REDACTED, Redactor
from server.core.sources import split_id
from server.core.spans import Span, traced_span
from server.core.token_counts import TokenCount, count_tokens
from server.core.tools import ToolCall
from server.core.turn import Turn
from server.errors import OrbitError
from server.library.model import Template
from server.telemetry.usage import Count

TurnKind = Literal["question", "call", "confirmation"]
"""What began a turn: words, a template by its name, or a yes or no to a proposal by its id."""

_MAX_CHARS: Final = 4000
_WHOLE: Final = "plain"
"""The form of a message that does not go on with anything said before."""


@dataclass(slots=True)
class TurnRecord:
    """What is found out about a turn while it is answered.

    Its words are kept only once it was said that nothing in them is sensitive.
    """

    adapter: Adapter
    turn: Turn
    kind: TurnKind
    answer: Answer | None = None
    by: Adapter | None = None
    form: str = ""
    _private: bool = True
    _contribution: str = ""

    def understood(
        self, turn: Turn, by: Adapter, *, private: bool, form: str, contribution: str
    ) -> None:
        """Note the turn in its conversation, who answers it, and what the conversation gave to it.

        In what is `private`, words may be sensitive.
        """
        self.turn, self.by, self.form = turn, by, form
        self._private, self._contribution = private, contribution

    @property
    def question(self) -> str | None:
        """The words of the question, where they may be kept; what a guard refused may not be."""
        refused = self.answer is not None and isinstance(self.answer.decision, Blocked)
        if self.by is None or self._private or refused:
            return None
        return self.turn.text[:_MAX_CHARS]

    @property
    def is_alone(self) -> bool:
        """Whether it would be understood in the same way if nothing had been said before it."""
        context = self.turn.context
        waits = context.asked is not None or context.options is not None or self.turn.given
        begins = not context.messages or (self.form == _WHOLE and not self._contribution)
        return self.by is not None and begins and not waits


@contextmanager
def observed_turn(adapter: Adapter, turn: Turn, kind: TurnKind) -> Iterator[TurnRecord]:
    """Watch a turn, whose answer is put into what is yielded; a failure is one, too."""
    record, since = TurnRecord(adapter, turn, kind), perf_counter()
    error = ""
    with traced_span("turn", {"orbit.adapter": adapter.name}) as span, count_tokens() as tokens:
        try:
            yield record
        except BaseException as failed:
            error = failed.code if isinstance(failed, OrbitError) else _unnamed(failed)
            raise
        finally:
            _leave(record, span, tokens, perf_counter() - since, error)


def _unnamed(failed: BaseException) -> str:
    return OrbitError.code if isinstance(failed, Exception) else "abandoned"


def _leave(record: TurnRecord, span: Span, tokens: TokenCount, seconds: float, error: str) -> None:
    adapter, answer = record.adapter, record.answer
    ms = seconds * 1000
    if answer is not None:
        adapter.metrics.turn(adapter.name, answer, seconds, corrects=record.form == "correction")
        _describe(span, answer)
    else:
        adapter.metrics.turn_failed(adapter.name, error, seconds)
    if adapter.usage is not None:
        counts = _counts(answer, tokens)
        adapter.usage.note(record.turn.caller.key_id, adapter.name, counts, ms)
    if adapter.decision_log is not None and adapter.decision_log.takes_next():
        adapter.decision_log.note(log_line(record, ms=ms, error=error))


def _describe(span: Span, answer: Answer) -> None:
    told: dict[str, str | float] = {
        "orbit.decision": ending_name(answer.decision),
        "orbit.confidence": round(answer.confidence, 4),
    }
    match = match_of(answer.decision)
    if match is not None:
        told["orbit.template.id"] = match.template_id
    span.set(told)


def log_line(record: TurnRecord, *, ms: float, error: str = "") -> dict[str, Any]:
    """Return a turn as the log of decisions has it, with nothing that is sensitive.

    A question that is `masked` cannot be asked again; one that is not `alone` can, and would
    come to something else.
    """
    adapter, turn, answer, question = record.adapter, record.turn, record.answer, record.question
    by = record.by or adapter
    line: dict[str, Any] = {
        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "request_id": turn.id,
        "adapter": adapter.name,
        **({"answered_by": by.name} if by is not adapter else {}),
        "kind": record.kind,
        "question": question or "",
        "masked": question is None,
        "alone": record.is_alone,
        "latency_ms": round(ms, 1),
    }
    if by.fingerprint:
        line["library"] = by.fingerprint
    if answer is None:
        return line | {"decision": "failed", "error": error}
    line |= {"decision": ending_name(answer.decision), "confidence": round(answer.confidence, 4)}
    line |= _described(record, answer.decision)
    unread = Counter(w.kind or "word" for c in coverages_of(answer.decision) for w in c.unread())
    if unread:
        line["unread"] = dict(unread)
    outcomes = [stage["outcome"] for stage in _tool_stages(answer.trace)]
    if outcomes:
        line["outcomes"] = outcomes
    return line


def _described(record: TurnRecord, ending: Ending) -> dict[str, Any]:
    told: dict[str, Any] = {}
    match ending:
        case Call(call=call) | PendingConfirmation(call=call):
            told["arguments"] = _shown(record, call.template_id, call.arguments)
        case MissingArguments(match, missing, arguments):
            told["arguments"] = _shown(record, match.template_id, arguments)
            told["missing"] = [each.name for each in missing]
        case SeveralEndings(parts) | SeveralCalls(parts) | DecidedCalls(parts):
            told["calls"] = [_call(record, part.call) for part in parts]
        case Clarify(options):
            told["options"] = [option.template_id for option in options]
        case NoMatch(_, nearest):
            told["nearest"] = [match.template_id for match in nearest[:3]]
        case Blocked(category):
            told["category"] = category
        case ProposalNotExecuted(why):
            told["why"] = why
    found = match_of(ending)
    if found is None:
        return told
    told = {"template": found.template_id, **told}
    if found.runner_up is not None:
        second = found.runner_up
        shown = {"template": second.template_id, "confidence": round(second.confidence, 4)}
        told["runner_up"] = shown
    return told


def match_of(ending: Ending) -> Match | None:
    """Return the template that a turn came to and how sure that was, if it came to one."""
    match ending:
        case Call(match) | PendingConfirmation(match) | MissingArguments(match):
            return match
        case SeveralEndings([first, *_]) | DecidedCalls([first, *_]):
            return first.match
    return None


def _call(record: TurnRecord, call: ToolCall) -> dict[str, Any]:
    template_id = call.template_id
    return {"template": template_id, "arguments": _shown(record, template_id, call.arguments)}


def _shown(record: TurnRecord, template_id: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as the audit has them; those of a template that is not known are all hidden."""
    template = _template(record, template_id)
    if template is None:
        return dict.fromkeys(given, REDACTED)
    redactor = Redactor(template.policy.sensitive_params)
    shown: dict[str, Any] = redactor.secrets(given).data(redactor.arguments(given))
    return shown


def _template(record: TurnRecord, template_id: str) -> Template | None:
    for adapter in (record.by, record.adapter):
        if adapter is not None and template_id in adapter.library.templates:
            return adapter.library.templates[template_id]
    source, local = split_id(template_id)  # a guard may have led to an adapter with others
    by = record.by
    return by.library.templates.get(local) if by is not None and by.name == source else None


def _counts(answer: Answer | None, tokens: TokenCount) -> dict[Count, int]:
    counts: dict[Count, int] = {
        "turns": 1,
        "prompt_tokens": tokens.prompt,
        "completion_tokens": tokens.completion,
    }
    if answer is None:
        return counts | {"failed": 1}
    tools = list(_tool_stages(answer.trace))
    done = [stage for stage in answer.trace.stages if stage.name == "confirm"]
    return counts | {
        _came_to(answer.decision, tools): 1,
        "tool_calls": sum(stage["outcome"] in _RAN for stage in tools),
        "tool_failures": sum(stage["outcome"] in _FAILED for stage in tools),
        "writes_confirmed": sum(stage.details.get("outcome") == "done" for stage in done),
    }


_FAILED: Final = ("error", "timeout")
_RAN: Final = ("success", *_FAILED)


def _came_to(ending: Ending, tools: list[dict[str, Any]]) -> Count:
    match ending:
        case Blocked():
            return "blocked"
        case NoMatch() | ProposalNotExecuted():
            return "declined"
        case MissingArguments() | Clarify() | ClarifyingQuestion() | PendingConfirmation():
            return "asked_back"
        case DecidedCalls() | Courtesy() | Cancelled():
            return "answered"
    outcomes = [stage["outcome"] for stage in tools]
    if not outcomes or "success" in outcomes:
        return "answered"
    return "failed" if any(each in _FAILED for each in outcomes) else "declined"


def _tool_stages(trace: Trace) -> Iterator[dict[str, Any]]:
    for stage in trace.stages:
        if stage.name == "tool" and "outcome" in stage.details:
            yield stage.details
