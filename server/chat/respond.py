"""The answer to a turn: its words, in the author's own where there are any, and its metadata.

No model is involved here; one may word a result anew afterwards.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from server.chat.adapter import Adapter
from server.chat.chart import describe_chart
from server.chat.courtesy import describe_abilities
from server.chat.redact import (
    is_private,
    redact_detection,
    redact_ending,
    redact_trace,
    withhold_words,
)
from server.chat.row_answers import describe_rows, written_rows
from server.core.coverage import NO_COVERAGE
from server.core.decision import (
    Answer,
    Blocked,
    Call,
    Cancelled,
    Clarify,
    ClarifyingQuestion,
    Courtesy,
    Ending,
    Match,
    MissingArguments,
    NoMatch,
    PendingConfirmation,
    ProposalNotExecuted,
    Trace,
)
from server.core.redaction import NO_SECRETS
from server.core.sources import split_id
from server.core.tools import Source, ToolResult, ToolResultStatus, is_row_result, payload_of
from server.core.turn import Turn
from server.guards.model import GuardVerdict
from server.intents.detector import Detection
from server.library.expressions import examine
from server.library.model import Library, Template
from server.library.rendering import RenderingFailed, as_code, format_items, format_result, render
from server.library.sql_model import SqlExecution
from server.library.value_formats import ValueWriter
from server.text.language import own_message
from server.tools.policy.chain import CallOutcome

_log = logging.getLogger(__name__)

_MAX_NEAREST: Final = 3
_MAX_UNREAD: Final = 3
"""With more words that it has no use for, a question is for something else altogether."""
_SHOWN_OF_CALL: Final = ("template_id", "tool", "operation", "effect")

_RESULT_TEXTS: Final = {
    "calculator": "calculation_result",
    "date_time": "date_result",
    "json_transform": "data_result",
}
"""The `format_templates` entry for a builtin tool's result where the template names none."""


@dataclass(frozen=True, slots=True)
class TurnFindings:
    """What guard, rule pack and conversation found, which the metadata of an answer tells."""

    verdict: GuardVerdict | None = None
    detection: Detection | None = None
    contribution: str = ""


NO_FINDINGS: Final = TurnFindings()


def respond(
    adapter: Adapter,
    turn: Turn,
    ending: Ending,
    trace: Trace,
    *,
    outcome: CallOutcome | None = None,
    findings: TurnFindings = NO_FINDINGS,
    proposal: Mapping[str, Any] | None = None,
) -> Answer:
    """The answer that says what a turn came to, fit to be shown, and what became of a proposal."""
    library, whole = adapter.library, _held_call(ending)
    if adapter.sensitive_templates:
        if is_private(adapter, trace, ending):
            ending = withhold_words(adapter, ending)
        ending = redact_ending(adapter, ending)
        redact_trace(adapter, trace, ending, outcome.secrets if outcome else NO_SECRETS)
    language = library.domain.response.choose_language(turn.languages)
    template_id, confidence, metadata = None, 1.0, dict[str, Any]()
    kept: str | None = None
    coverage, notes = NO_COVERAGE, list[str]()
    match ending:
        case Call(match, call):
            assert outcome is not None  # noqa: S101  a call that was decided was judged
            template_id, confidence = match.template_id, match.confidence
            template = library.templates[template_id]
            content, by = describe_outcome(library, template, outcome, language)
            coverage = ending.coverage
            if outcome.refusal is None:
                # A rule pack that keeps account of the words has read some that no template knows.
                unread = None if turn.intent is None else turn.intent.unread
                left_out = coverage.left_out() if unread is None else unread
                notes = describe_left_out(library, left_out, language)
            execution = outcome.result.to_dict()
            if outcome.result.status is not ToolResultStatus.SUCCESS:
                execution.pop("result", None)
            metadata = {"tool_execution": execution, **describe_match(match, call.sources)}
            chart = describe_chart(execution.get("result"), _values_in(library, language))
            if chart is not None:
                metadata["chart"] = chart
            if outcome.refusal is not None:
                metadata["policy"] = {"outcome": outcome.outcome}
                if outcome.refusal.retry_after_s is not None:
                    metadata["policy"]["retry_after_s"] = outcome.refusal.retry_after_s
            if proposal is not None:
                metadata["proposal"] = proposal
            trace.note("compose", {"by": by, "language": language})
        case PendingConfirmation() | ProposalNotExecuted(held=PendingConfirmation()):
            held = ending if isinstance(ending, PendingConfirmation) else ending.held
            assert held is not None  # noqa: S101  as the pattern has it
            template_id, confidence = held.match.template_id, held.match.confidence
            coverage = held.coverage
            notes = describe_left_out(library, held.left_out, language)
            content, kept = (
                _propose(library, shown, notes, language, again=held is not ending)
                for shown in (whole or held, held)
            )
            metadata = describe_match(held.match, held.call.sources)
            metadata["policy"] = {"outcome": "confirmation_required"}
            metadata["proposal"] = describe_proposal(held)
        case ProposalNotExecuted(why, proposal_id, _, reason, origin):
            content = phrase(library, f"proposal_{why}", {"why": reason}, language)
            metadata["proposal"] = {"proposal_id": proposal_id, "status": why}
            if origin:
                metadata["proposal"]["origin"] = origin
        case MissingArguments(match, missing, _, sources):
            template_id, confidence = match.template_id, match.confidence
            template, asked = library.templates[template_id], [asdict(each) for each in missing]
            context = {
                "missing": [each | {"label": each["name"].replace("_", " ")} for each in asked],
                "description": template.description,
                "example": template.nl_examples[0] if template.nl_examples else "",
            }
            content = phrase(library, "ask_for", context, language)
            metadata = {"missing": list(map(describe_missing, asked))}
            metadata |= describe_match(match, sources)
            coverage = ending.coverage
        case Clarify(matches):
            coverage = ending.coverage
            confidence, options = matches[0].confidence, describe_options(adapter, matches)
            named = {option.get("source", {}).get("adapter") for option in options}
            name = "clarify_source" if len(named) > 1 else "clarify"
            content = phrase(library, name, {"options": options}, language)
            metadata = {"options": options, "match": describe_match(matches[0], {})["match"]}
        case ClarifyingQuestion(content, confidence, why):
            metadata["why"] = why
        case NoMatch(why, matches, unread, objection):
            confidence = matches[0].confidence if matches else 0.0
            nearest = describe_options(adapter, matches[:_MAX_NEAREST])
            coverage = ending.coverage
            context = {
                "nearest": nearest,
                "unread": describe_unread(ending),
                "objection": objection,
                "why": why,
            }
            content = phrase(library, "no_match", context, language)
            metadata = {"why": why, "unread": list(unread), "nearest": nearest}
            if objection:
                metadata["objection"] = objection
        case Cancelled(cancelled):
            given_up = library.templates.get(cancelled or "")
            context = {"description": given_up.description if given_up else ""}
            content = phrase(library, "dropped", context, language)
        case Courtesy(kind, said_in):
            coverage = ending.coverage
            context = describe_abilities(adapter, turn, said_in)
            content = phrase(library, f"courtesy_{kind}", context, said_in)
            metadata = {"courtesy": {"kind": kind, "language": said_in}}
        case Blocked(category, content, confidence, method):
            metadata["blocked"] = {"category": category, "method": method}
    source = "guard" if isinstance(ending, Blocked) else "intent"
    metadata = {"source": source, "template_id": template_id, "synthesized": False, **metadata}
    if coverage.words:
        metadata["coverage"] = coverage.to_list()
    if notes:
        metadata["notes"] = notes
    if findings != NO_FINDINGS:
        metadata |= describe_findings(adapter, findings)
    kept = None if kept == content else kept
    return Answer(content, confidence, metadata, ending, trace, kept)


def _held_call(ending: Ending) -> PendingConfirmation | None:
    return (
        ending.held
        if isinstance(ending, ProposalNotExecuted)
        else (ending if isinstance(ending, PendingConfirmation) else None)
    )


def _propose(
    library: Library,
    held: PendingConfirmation,
    notes: Sequence[str],
    language: str,
    *,
    again: bool,
) -> str:
    context = describe_call(library.templates[held.match.template_id], held) | {"notes": notes}
    content = phrase(library, "propose", context, language)
    return (
        phrase(library, "proposal_unclear", {"proposal": content}, language) if again else content
    )


def with_notes(answer: Answer) -> Answer:
    """The answer with its notes as lines of their own, where it does not say them yet."""
    unsaid = [note for note in answer.metadata.get("notes", ()) if note not in answer.content]
    return replace(answer, content="\n".join((answer.content, *unsaid))) if unsaid else answer


def describe_left_out(library: Library, left_out: Sequence[str], language: str) -> list[str]:
    """A sentence for everything in the question that a call makes no use of."""
    return [phrase(library, "left_out", {"words": words}, language) for words in left_out]


def describe_unread(decision: NoMatch) -> list[str]:
    """The words that an answer names as those in the way; none where hardly any was read.

    A condition is named to its end: “if it rains” instead of “if”.
    """
    coverage, unread = decision.coverage, decision.unread
    if decision.objection == "condition":
        return [coverage.clause_from(words) for words in unread]
    if decision.objection or not coverage.words:
        return list(unread)
    taken = sum(word.role in ("frame", "value", "operator") for word in coverage.words)
    is_near = len(unread) <= _MAX_UNREAD and 2 * taken >= sum(1 for _ in coverage.unread())
    return list(unread) if is_near else []


def describe_outcome(
    library: Library, template: Template, outcome: CallOutcome, language: str
) -> tuple[str, str]:
    """What came of a call in words: its result, or why there is none; and what words it."""
    result, call = outcome.result, outcome.call
    if result.status is not ToolResultStatus.SUCCESS:
        by, own = "tool_error", f"{result.tool_name}_error"
        refused = outcome.refusal
        if refused is not None:
            by = "tool_refused"
        elif result.status is ToolResultStatus.TIMEOUT:
            by = "tool_timeout"
        elif any(_phrases(library, own, language)):
            by = own
        context = {
            "error_message": result.error_message or "",
            "tool_name": result.tool_name,
            "operation": result.operation,
            "reason": "" if refused is None else outcome.outcome,
            "retry_after_s": None if refused is None else refused.retry_after_s,
        }
        return phrase(library, by, context, language), by
    # Parameters without a value are None, so that `{% if units %}` can be written.
    variables: dict[str, Any] = {parameter.name: None for parameter in template.parameters}
    variables |= {**call.arguments, **_fields(result.result), "arguments": dict(call.arguments)}
    values = _values_in(library, language)
    for by, text in _result_texts(library, template, result, language):
        try:
            if "formatted" in examine(text).variables and is_row_result(result.result):
                variables["formatted"] = written_rows(result.result, values)
            content = render(text, variables)
            break
        except RenderingFailed as failed:
            # The next way to say it still tells the truth; `check` names the fault.
            _log.info("template %s: %s does not fit: %s", template.id, by, failed)
    else:
        by = "readable rendering"
        if isinstance(template.execution, SqlExecution) and is_row_result(result.result):

            def say(name: str, context: Mapping[str, Any]) -> str:
                return phrase(library, name, context, language)

            content = describe_rows(template, result.result, values, say)
        else:
            content = describe_result(result.result)
    notes = result.notes(call.sources, said=content)
    return content + "".join(f"\n({note}.)" for note in notes), by


def _fields(result: Any) -> dict[str, Any]:
    """What an author's text may name of a result: its fields, and those of a row that is alone.

    What a result says of itself wins over the columns of its row.
    """
    fields: dict[str, Any] = {"result": payload_of(result)}
    if is_row_result(result) and len(result["rows"]) == 1:
        fields = {**result["rows"][0], **fields}
    return fields | (dict(result) if isinstance(result, Mapping) else {})


def _values_in(library: Library, language: str) -> ValueWriter:
    return ValueWriter(library.domain.response.values, language)


def _result_texts(
    library: Library, template: Template, result: ToolResult, language: str
) -> Iterator[tuple[str, str]]:
    """The author's texts for a result, the best first: any in the language before all others."""
    response = library.domain.response
    names = (template.response_format, _RESULT_TEXTS.get(result.tool_name))
    texts = {name: response.format_templates.get(name, {}) for name in names if name}
    texts = {"response_template": template.response_template, **texts}
    for spoken in dict.fromkeys((language, response.default_language)):
        for name, by_language in texts.items():
            text = by_language.get(spoken)
            # In a language that the template does not speak, one for all results of the tool
            # stands in, unless this template's answer is more than such a text can say.
            stands_in = spoken != response.default_language and name == names[1]
            if text is not None and (not stands_in or _says_result(text, result.result)):
                yield name, text


def _says_result(text: str, result: Any) -> bool:
    fields = result if isinstance(result, Mapping) else {"result": result}
    return any(
        name in fields and fields[name] == fields.get("result") for name in examine(text).variables
    )


def describe_result(result: Any) -> str:
    """The part of a tool's result that a person wants to see, in words."""
    payload = payload_of(result)
    if isinstance(payload, list) and isinstance(result, Mapping) and "complete" in result:
        return format_items(payload, total=result["total"], complete=result["complete"])
    return format_result(payload)


def phrase(library: Library, name: str, context: Mapping[str, Any], language: str) -> str:
    """What the server says in its own voice, in the domain's words where it has any."""
    for text in _phrases(library, name, language):
        try:
            return render(text, context)
        except RenderingFailed as failed:
            _log.warning("format template %r cannot be used: %s", name, failed)
    # A tool may have an error text of the domain's alone.
    return "" if name == "tool_error" else phrase(library, "tool_error", context, language)


def _phrases(library: Library, name: str, language: str) -> Iterator[str]:
    """The texts of a name, the best first: any in the language, and the domain's before ours."""
    response = library.domain.response
    authored = response.format_templates.get(name, {})
    for spoken in dict.fromkeys((language, response.default_language, "en")):
        texts = authored.get(spoken), own_message(name, spoken)
        yield from (text for text in texts if text)


def describe_match(match: Match, sources: Mapping[str, Source]) -> dict[str, Any]:
    """How the template was chosen, and where each argument came from, as metadata."""
    chosen: dict[str, Any] = {
        "confidence": round(match.confidence, 4),
        "similarity": round(match.similarity, 4),
        "nearest_example": match.nearest_example,
        "why": match.why,
    }
    if (second := match.runner_up) is not None:
        confidence = round(second.confidence, 4)
        chosen["runner_up"] = {"template_id": second.template_id, "confidence": confidence}
    arguments: dict[str, Any] = {}
    for name, source in sources.items():
        arguments[name] = {"kind": source.kind}
        if source.span:
            arguments[name] |= {"span": list(source.span), "text": source.text}
        if source.note is not None:
            arguments[name]["note"] = source.note
    return {"match": chosen, "arguments": arguments}


def describe_missing(asked: Mapping[str, Any]) -> dict[str, Any]:
    fields = {**asked, "choices": list(asked["choices"])}
    if not fields["open_ended"]:
        del fields["open_ended"]
    return {name: value for name, value in fields.items() if value not in ("", None, [])}


def describe_call(template: Template, held: PendingConfirmation) -> dict[str, Any]:
    """What waits for a yes, to be put into words: every argument as text that is no Markdown."""
    arguments = held.call.arguments
    return {
        "description": template.description or template.id,
        "arguments": [
            {
                "label": parameter.name.replace("_", " "),
                "value": as_code(parameter.descriptor.render(arguments[parameter.name])),
            }
            for parameter in template.parameters
            if parameter.name in arguments
        ],
        "question": held.question,
        "origin": held.origin,
    }


def describe_proposal(held: PendingConfirmation) -> dict[str, Any]:
    return {
        "proposal_id": held.proposal_id,
        "status": "held",
        "expires_at": held.expires_at.isoformat(timespec="seconds"),
        **{name: getattr(held, name) for name in ("seal", "intent", "target", "origin")},
        **{name: getattr(held.call, name) for name in _SHOWN_OF_CALL},
        "arguments": dict(held.call.arguments),
    }


def describe_options(adapter: Adapter, matches: Sequence[Match]) -> list[dict[str, Any]]:
    """What may be meant, each with its source where others stand behind the adapter."""
    return [
        {
            "template_id": template.id,
            "description": template.description,
            "example": _example_of(template, match),
            "confidence": round(match.confidence, 4),
            **({"tags": list(template.tags)} if template.tags else {}),
            **({"source": _source_of(adapter, match)} if adapter.behind else {}),
        }
        for match in matches
        for template in [adapter.library.templates[match.template_id]]
    ]


def _example_of(template: Template, match: Match) -> str:
    """The example that is nearest to the question; its first, where the description is nearer."""
    described = match.nearest_example == template.description
    return template.nl_examples[0] if described and template.nl_examples else match.nearest_example


def _source_of(adapter: Adapter, match: Match) -> dict[str, str]:
    return adapter.describe_source(split_id(match.template_id)[0])


def describe_findings(adapter: Adapter, findings: TurnFindings) -> dict[str, Any]:
    """What guard, rule pack and conversation had to say about the turn, as metadata."""
    metadata: dict[str, Any] = {}
    verdict, detection = findings.verdict, findings.detection
    if detection is not None:
        fields = redact_detection(adapter, detection)
        metadata["intent"] = {"method": detection.intent.method, **fields}
    if verdict is not None and verdict.outcome not in ("pass", "allow"):
        # Not the pattern or score that decided, which would help evasion.
        shown = ("outcome", "category", "method")
        metadata["guard"] = {name: getattr(verdict, name) for name in shown}
    if findings.contribution:
        metadata["conversation"] = {"as": findings.contribution}
    return metadata
