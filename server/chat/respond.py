"""Decisions and tool results to answers, in the reader's language, without a model."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

from server.chat.default_messages import PHRASES, RESULT_FORMATS
from server.chat.response_format import (
    RenderingFailed,
    as_code,
    format_items,
    format_result,
    render,
)
from server.core.answer import Answer, Trace
from server.core.decision import (
    Blocked,
    Call,
    Cancelled,
    Clarify,
    ClarifyingQuestion,
    Match,
    MissingArguments,
    MissingParameter,
    NoMatch,
    PendingConfirmation,
    ProposalNotExecuted,
)
from server.core.tools import Source, ToolResult, ToolResultStatus
from server.library.model import Library, Template
from server.tools.policy.proposal import Refusal


def describe_refusal(refusal: Refusal) -> dict[str, Any]:
    """Why a call did not run, as metadata."""
    data: dict[str, Any] = {"outcome": refusal.outcome}
    if refusal.retry_after_s is not None:
        data["retry_after_s"] = refusal.retry_after_s
    return data


def describe_proposal(held: PendingConfirmation) -> dict[str, Any]:
    """What waits for a yes, as metadata."""
    call = held.call
    return {
        "proposal_id": held.proposal_id,
        "status": "held",
        "expires_at": held.expires_at.isoformat(timespec="seconds"),
        "seal": held.seal,
        "intent": held.intent,
        "target": held.target,
        "origin": held.origin,
        "template_id": call.template_id,
        "tool": call.tool,
        "operation": call.operation,
        "effect": call.effect,
        "arguments": dict(call.arguments),
    }


def describe_match(match: Match) -> dict[str, Any]:
    """How the template was chosen, as metadata."""
    data: dict[str, Any] = {
        "confidence": round(match.confidence, 4),
        "similarity": round(match.similarity, 4),
        "nearest_example": match.nearest_example,
        "why": match.why,
    }
    if match.runner_up is not None:
        data["runner_up"] = {
            "template_id": match.runner_up.template_id,
            "confidence": round(match.runner_up.confidence, 4),
        }
    return data


def describe_sources(sources: Mapping[str, Source]) -> dict[str, Any]:
    """Where each argument came from, as metadata."""
    return {name: _described(source) for name, source in sources.items()}


def describe_missing(missing: MissingParameter) -> dict[str, Any]:
    """A parameter that is asked for, as metadata."""
    data = asdict(missing) | {"choices": list(missing.choices)}
    return {name: value for name, value in data.items() if value not in ("", None, [])}


def _described(source: Source) -> dict[str, Any]:
    data: dict[str, Any] = {"kind": source.kind}
    if source.span is not None:
        data |= {"span": list(source.span), "text": source.text}
    if source.note is not None:
        data["note"] = source.note
    return data


_log = logging.getLogger(__name__)

_SOURCE: Final = "intent"
_MAX_NEAREST: Final = 3


class Composer:
    """Writes the answers of one adapter."""

    def __init__(self, library: Library) -> None:
        self._templates = library.templates
        self._response = library.domain.response

    def language_for(self, preferred: Sequence[str]) -> str:
        """The first of `preferred` that the domain supports, else its default.

        `preferred` are BCP 47 tags, best first; `fr-CA` finds `fr`.
        """
        supported = {tag.lower(): tag for tag in self._response.supported_languages}
        for tag in preferred:
            for candidate in (tag.lower(), tag.lower().split("-")[0]):
                if candidate in supported:
                    return supported[candidate]
        return self._response.default_language

    def result(
        self,
        decision: Call,
        result: ToolResult,
        trace: Trace,
        languages: Sequence[str] = (),
        *,
        refusal: Refusal | None = None,
    ) -> Answer:
        """The answer after a tool ran: its result in words, why it failed or was refused."""
        template = self._templates[decision.match.template_id]
        language = self.language_for(languages)
        execution = result.to_dict()
        if result.status is ToolResultStatus.SUCCESS:
            content, how = self._success(template, decision, result, language)
            notes = notes_of(decision.call.sources, result, said=content)
            content += "".join(f"\n({note}.)" for note in notes)
        else:
            content, how = self._failure(result, language, refused=refusal is not None)
            execution.pop("result", None)
        metadata: dict[str, Any] = {
            "source": _SOURCE,
            "template_id": template.id,
            "tool_execution": execution,
            "synthesized": False,
            "match": describe_match(decision.match),
            "arguments": describe_sources(decision.call.sources),
        }
        if refusal is not None:
            metadata["policy"] = describe_refusal(refusal)
        trace.note("compose", {"by": how, "language": language})
        return Answer(content, decision.match.confidence, metadata, decision, trace)

    def held(
        self,
        decision: PendingConfirmation,
        trace: Trace,
        languages: Sequence[str] = (),
        *,
        unclear: bool = False,
    ) -> Answer:
        """What would run, exactly, and the question whether it shall."""
        template = self._templates[decision.match.template_id]
        language = self.language_for(languages)
        context = {
            "description": template.description or template.id,
            "arguments": _shown_arguments(template, decision.call.arguments),
            "question": decision.question,
        }
        content = self._phrase("propose", context, language)
        if unclear:
            content = self._phrase("proposal_unclear", {"proposal": content}, language)
        metadata = {
            "source": _SOURCE,
            "template_id": template.id,
            "synthesized": False,
            "match": describe_match(decision.match),
            "arguments": describe_sources(decision.call.sources),
            "policy": {"outcome": "confirmation_required"},
            "proposal": describe_proposal(decision),
        }
        return Answer(content, decision.match.confidence, metadata, decision, trace)

    def not_run(
        self, decision: ProposalNotExecuted, trace: Trace, languages: Sequence[str] = ()
    ) -> Answer:
        """Why a proposal did not run."""
        if decision.held is not None:
            asked_again = self.held(decision.held, trace, languages, unclear=True)
            return replace(asked_again, decision=decision)
        metadata = {
            "source": _SOURCE,
            "template_id": None,
            "synthesized": False,
            "proposal": {
                "proposal_id": decision.proposal_id,
                "status": decision.why,
                **({"origin": decision.origin} if decision.origin else {}),
            },
        }
        language = self.language_for(languages)
        content = self._phrase(f"proposal_{decision.why}", {"why": decision.reason}, language)
        return Answer(content, 1.0, metadata, decision, trace)

    def ask_for(
        self, decision: MissingArguments, trace: Trace, languages: Sequence[str] = ()
    ) -> Answer:
        """The question back: exactly what is missing, and an example that has it."""
        template = self._templates[decision.match.template_id]
        context = {
            "missing": [_missing_context(missing) for missing in decision.missing],
            "description": template.description,
            "example": template.nl_examples[0] if template.nl_examples else "",
        }
        metadata = {
            "source": _SOURCE,
            "template_id": template.id,
            "missing": [describe_missing(missing) for missing in decision.missing],
            "synthesized": False,
            "match": describe_match(decision.match),
            "arguments": describe_sources(decision.sources),
        }
        content = self._phrase("ask_for", context, self.language_for(languages))
        return Answer(content, decision.match.confidence, metadata, decision, trace)

    def clarify(self, decision: Clarify, trace: Trace, languages: Sequence[str] = ()) -> Answer:
        """Which of the near ties is meant."""
        options = self._options(decision.options)
        metadata = {
            "source": _SOURCE,
            "template_id": None,
            "options": options,
            "synthesized": False,
            "match": describe_match(decision.options[0]),
        }
        content = self._phrase("clarify", {"options": options}, self.language_for(languages))
        return Answer(content, decision.options[0].confidence, metadata, decision, trace)

    def ask_back(self, decision: ClarifyingQuestion, trace: Trace) -> Answer:
        """What the rule engine has to know first, in its pack's words."""
        metadata = {
            "source": _SOURCE,
            "template_id": None,
            "why": decision.why,
            "synthesized": False,
        }
        return Answer(decision.question, decision.confidence, metadata, decision, trace)

    def no_match(self, decision: NoMatch, trace: Trace, languages: Sequence[str] = ()) -> Answer:
        """Nothing fits: say so, and what comes nearest."""
        nearest = self._options(decision.nearest[:_MAX_NEAREST])
        confidence = decision.nearest[0].confidence if decision.nearest else 0.0
        metadata = {
            "source": _SOURCE,
            "template_id": None,
            "why": decision.why,
            "nearest": nearest,
            "synthesized": False,
        }
        context = {"nearest": nearest, "unused": decision.unused, "why": decision.why}
        content = self._phrase("no_match", context, self.language_for(languages))
        return Answer(content, confidence, metadata, decision, trace)

    def dropped(self, decision: Cancelled, trace: Trace, languages: Sequence[str] = ()) -> Answer:
        """What was asked is taken back."""
        metadata = {"source": _SOURCE, "template_id": None, "synthesized": False}
        template = self._templates.get(decision.template_id or "")
        context = {"description": template.description if template is not None else ""}
        content = self._phrase("dropped", context, self.language_for(languages))
        return Answer(content, 1.0, metadata, decision, trace)

    def blocked(self, decision: Blocked, trace: Trace) -> Answer:
        """What a guard says instead of an answer."""
        metadata = {
            "source": "guard",
            "template_id": None,
            "blocked": {"category": decision.category, "method": decision.method},
            "synthesized": False,
        }
        return Answer(decision.response, decision.confidence, metadata, decision, trace)

    def _success(
        self, template: Template, decision: Call, result: ToolResult, language: str
    ) -> tuple[str, str]:
        context = _result_context(template, decision.call.arguments, result)
        candidates = [("response_template", template.response_template)]
        if template.response_format is not None:
            candidates.append(
                (template.response_format, self._format(template.response_format, language))
            )
        by_tool = RESULT_FORMATS.get(result.tool_name, "")
        candidates.append((by_tool, self._format(by_tool, language)))
        for name, source in candidates:
            if source is None:
                continue
            try:
                return render(source, context), name
            except RenderingFailed as failed:
                # The next way to say it still tells the truth; `check` names the fault.
                _log.info("template %s: %s does not fit: %s", template.id, name, failed)
        return _readable(result.result), "readable rendering"

    def _failure(
        self, result: ToolResult, language: str, *, refused: bool = False
    ) -> tuple[str, str]:
        context = {
            "error_message": result.error_message or "",
            "tool_name": result.tool_name,
            "operation": result.operation,
        }
        if refused:
            return self._phrase("tool_refused", context, language), "tool_refused"
        if result.status is ToolResultStatus.TIMEOUT:
            return self._phrase("tool_timeout", context, language), "tool_timeout"
        name = f"{result.tool_name}_error"
        if name not in PHRASES and self._format(name, language) is None:
            name = "tool_error"
        return self._phrase(name, context, language), name

    def _format(self, name: str, language: str = "") -> str | None:
        by_language = self._response.format_templates.get(name, {})
        return by_language.get(language) or by_language.get(self._response.default_language)

    def _phrase(self, name: str, context: Mapping[str, Any], language: str) -> str:
        authored = self._format(name, language)
        if authored is not None:
            try:
                return render(authored, context)
            except RenderingFailed as failed:
                _log.warning("format template %r cannot be used: %s", name, failed)
        return render(PHRASES[name], context)

    def _options(self, matches: Sequence[Match]) -> list[dict[str, Any]]:
        return [self._option(match) for match in matches]

    def _option(self, match: Match) -> dict[str, Any]:
        template = self._templates[match.template_id]
        option: dict[str, Any] = {
            "template_id": template.id,
            "description": template.description,
            "example": match.nearest_example,
            "confidence": round(match.confidence, 4),
        }
        return option | ({"tags": list(template.tags)} if template.tags else {})


def notes_of(sources: Mapping[str, Source], result: ToolResult, *, said: str) -> list[str]:
    """How things were read that could be read otherwise, by extraction or by the tool."""
    notes = [source.note for source in sources.values() if source.note]
    fields = result.result if isinstance(result.result, Mapping) else {}
    interpreted = fields.get("interpreted_as")
    if isinstance(interpreted, str) and interpreted not in said:
        notes.append(f"Read as {interpreted}")
    return notes


def _readable(result: Any) -> str:
    """The part of a tool's result that a person wants to see, in words."""
    if not isinstance(result, Mapping) or "result" not in result:
        return format_result(result)
    payload = result["result"]
    if isinstance(payload, list) and "complete" in result:
        return format_items(payload, total=result["total"], complete=result["complete"])
    return format_result(payload)


def _result_context(
    template: Template, arguments: Mapping[str, Any], result: ToolResult
) -> dict[str, Any]:
    # Parameters without a value are None, so that `{% if units %}` can be written.
    context: dict[str, Any] = {parameter.name: None for parameter in template.parameters}
    fields = result.result if isinstance(result.result, Mapping) else {"result": result.result}
    return context | dict(arguments) | dict(fields) | {"arguments": dict(arguments)}


def _shown_arguments(template: Template, arguments: Mapping[str, Any]) -> list[dict[str, str]]:
    """Every argument in the order of the parameters, as text that is no Markdown."""
    return [
        {
            "label": parameter.name.replace("_", " "),
            "value": as_code(parameter.descriptor.render(arguments[parameter.name])),
        }
        for parameter in template.parameters
        if parameter.name in arguments
    ]


def _missing_context(missing: MissingParameter) -> dict[str, Any]:
    return asdict(missing) | {"label": missing.name.replace("_", " ")}
