"""Taking what is sensitive out of decisions and traces, which are shown and logged."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from server.core.answer import Trace
from server.core.decision import MissingArguments
from server.core.redaction import NO_SECRETS, REDACTED, Redactor, Secrets
from server.library.model import Library, Template

_OF_THE_QUESTION: Final = frozenset(
    {
        "arguments",
        "unused",
        "compared_as",
        "entities",
        "question",
        "evidence",
        "read_from",
        "explanation",
    }
)
"""Fields of stages that hold words of the question."""


def redact_trace(library: Library, trace: Trace, secrets: Secrets = NO_SECRETS) -> bool:
    """Take secrets out of every stage, and return whether words of the question had to go.

    Where a template with sensitive parameters was as much as a candidate, no words of the
    question stay: another template may have read the same words under another name.
    """
    if not any(template.policy.sensitive_params for template in library.templates.values()):
        return False
    named = {name for stage in trace.stages for name in _template_ids(stage.details)}
    hide = any(
        library.templates[name].policy.sensitive_params
        for name in named
        if name in library.templates
    )
    for stage in trace.stages:
        details = _without_words(stage.details) if hide else stage.details
        stage.details = secrets.data(details)
    return hide


def redact_arguments(template: Template, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Arguments as they may be shown, those beside a sensitive one that repeat it included."""
    redactor = Redactor(template.policy.sensitive_params)
    if not redactor:
        return arguments
    shown: dict[str, Any] = redactor.secrets(arguments).data(redactor.arguments(arguments))
    return shown


def redact_decision(library: Library, decision: MissingArguments) -> MissingArguments:
    """The question back, without values that were understood and must not be shown."""
    template = library.templates.get(decision.match.template_id)
    redactor = Redactor(template.policy.sensitive_params if template else ())
    if not redactor:
        return decision
    secrets = redactor.secrets(decision.arguments)
    missing = tuple(
        replace(each, problem="That value cannot be used." if each.problem else "")
        if redactor.covers(each.name)
        else replace(each, problem=secrets.text(each.problem))
        for each in decision.missing
    )
    return replace(
        decision,
        missing=missing,
        arguments=secrets.data(redactor.arguments(decision.arguments)),
        sources={
            name: replace(source, text=secrets.text(source.text)) if source.text else source
            for name, source in redactor.sources(decision.sources).items()
        },
    )


def _template_ids(value: Any) -> set[str]:
    if isinstance(value, Mapping):
        own = {value["template_id"]} if isinstance(value.get("template_id"), str) else set()
        return own.union(*(_template_ids(item) for item in value.values()))
    if isinstance(value, list):
        return set().union(*(_template_ids(item) for item in value))
    return set()


def _without_words(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            key: REDACTED if key in _OF_THE_QUESTION and item else _without_words(item)
            for key, item in value.items()
        }
    return [_without_words(item) for item in value] if isinstance(value, list) else value
