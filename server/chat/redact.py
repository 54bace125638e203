"""Taking what is sensitive out of an answer and its trace, which are shown and logged."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, overload

from server.chat.adapter import Adapter
from server.core.coverage import Coverage, is_left_out
from server.core.decision import (
    Call,
    Clarify,
    Decision,
    Ending,
    Match,
    MissingArguments,
    NoMatch,
    PendingConfirmation,
    ProposalNotExecuted,
    SeveralCalls,
    Trace,
)
from server.core.redaction import NO_SECRETS, REDACTED, Redactor, Secrets
from server.intents.detector import Detection
from server.library.model import Template

_OF_ARGUMENTS: Final = ("arguments", "unused", "compared_as", "entities")
_OF_COVERAGE: Final = ("text", "unread", "against", "why")
_OF_INTENTS: Final = ("question", "evidence", "read_from", "explanation")
_WORDS_OF_THE_QUESTION: Final = frozenset((*_OF_ARGUMENTS, *_OF_COVERAGE, *_OF_INTENTS))
"""Fields of stages that hold words of the question."""


def is_private(adapter: Adapter, trace: Trace, ending: Ending) -> bool:
    """Whether a template with sensitive parameters was decided for, or as much as a candidate.

    No words of the question may be kept or shown then: another template may have read the
    same words under another name.
    """
    named = {name for stage in trace.stages for name in _template_ids(stage.details)}
    if isinstance(ending, Call | MissingArguments | PendingConfirmation):
        named.add(ending.match.template_id)
    if isinstance(ending, SeveralCalls):
        named.update(call.match.template_id for call in ending.calls)
    return not named.isdisjoint(adapter.sensitive_templates)


@overload
def withhold_words(adapter: Adapter, ending: Decision) -> Decision: ...
@overload
def withhold_words(adapter: Adapter, ending: Ending) -> Ending: ...
def withhold_words(adapter: Adapter, ending: Ending) -> Ending:
    """What a private turn came to, without the words of the question that may be sensitive.

    Where every sensitive parameter was read from the question, and nothing was left out, those
    are the words of values. Otherwise nobody knows which they are, and none is shown.
    """
    match ending:
        case Call(match, call) | PendingConfirmation(match, call):
            sensitive = adapter.library.templates[match.template_id].policy.sensitive_params
            found = (call.sources.get(name.partition(".")[0]) for name in sensitive)
            is_known = all(source is not None and source.span for source in found)
            # A held call is as it was masked when it was decided: it has no places any more.
            if not (isinstance(ending, PendingConfirmation) and ending.coverage.masked):
                alone = is_known and not any(map(is_left_out, ending.coverage.words))
                ending = replace(ending, coverage=_masked(ending.coverage, values_alone=alone))
                if isinstance(ending, PendingConfirmation) and ending.left_out:
                    ending = replace(ending, left_out=(REDACTED,))
            return replace(ending, match=_without_why(match, ending.coverage))
        case SeveralCalls(calls):
            shown_calls = tuple(withhold_words(adapter, call) for call in calls)
            kept = tuple(call for call in shown_calls if isinstance(call, Call))
            return replace(ending, calls=kept)
        case MissingArguments(match):
            shown = _masked(ending.coverage)
            return replace(ending, match=_without_why(match, ending.coverage), coverage=shown)
        case Clarify(options):
            options = tuple(_without_why(option, ending.coverage) for option in options)
            return replace(ending, options=options, coverage=_masked(ending.coverage))
        case NoMatch(_, nearest, unread):
            nearest = tuple(_without_why(match, ending.coverage) for match in nearest)
            why = "nothing is likely enough" if ending.coverage.words or unread else ending.why
            unread = (REDACTED,) if unread else ()
            coverage = _masked(ending.coverage)
            return replace(ending, why=why, nearest=nearest, unread=unread, coverage=coverage)
    return ending


def _masked(coverage: Coverage, *, values_alone: bool = False) -> Coverage:
    return coverage.mask(
        lambda word: not values_alone or word.role == "value" or word.kind == "slip"
    )


def _without_why(match: Match, coverage: Coverage) -> Match:
    """The match without its reason, which names the words that it had no use for."""
    return replace(match, why=f"{match.confidence:.0%} sure") if coverage.words else match


def redact_ending(adapter: Adapter, ending: Ending) -> Ending:
    """What a turn came to, without values that must not be shown.

    Calls are redacted already: the policy chain gives back what may be shown of them.
    """
    match ending:
        case MissingArguments():
            return _redacted_question(adapter.library.templates[ending.match.template_id], ending)
        case PendingConfirmation():
            template = adapter.library.templates[ending.call.template_id]
            redactor = Redactor(template.policy.sensitive_params)
            secrets = redactor.secrets(ending.call.arguments)
            arguments = secrets.data(redactor.arguments(ending.call.arguments))
            return replace(ending, call=replace(ending.call, arguments=arguments))
        case ProposalNotExecuted(held=PendingConfirmation() as held):
            shown = redact_ending(adapter, held)
            return replace(ending, held=shown) if isinstance(shown, PendingConfirmation) else ending
    return ending


def redact_detection(adapter: Adapter, detection: Detection) -> Mapping[str, Any]:
    """The fields of a detection, without the entities that fill sensitive parameters."""
    templates = (adapter.library.templates[name] for name in adapter.sensitive_templates)
    redactor = Redactor(name for each in templates for name in each.policy.sensitive_params)
    shown: Mapping[str, Any] = redactor.secrets(detection.intent.entities).data(detection.result)
    return shown


def redact_trace(
    adapter: Adapter, trace: Trace, ending: Ending, secrets: Secrets = NO_SECRETS
) -> None:
    """Take secrets out of every stage, and words of the question where it is private."""
    hide = is_private(adapter, trace, ending)
    for stage in trace.stages:
        stage.details = secrets.data(_without_words(stage.details) if hide else stage.details)


def hide_words(trace: Trace) -> None:
    """Take the words of the question out of every stage."""
    for stage in trace.stages:
        stage.details = _without_words(stage.details)


def _redacted_question(template: Template, decision: MissingArguments) -> MissingArguments:
    redactor = Redactor(template.policy.sensitive_params)
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
            key: REDACTED if key in _WORDS_OF_THE_QUESTION and item else _without_words(item)
            for key, item in value.items()
        }
    return [_without_words(item) for item in value] if isinstance(value, list) else value
