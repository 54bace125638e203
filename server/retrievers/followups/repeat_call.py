"""The last call once more, with what a message changes in it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from server.core.decision import Call, MissingArguments
from server.core.turn import CompletedCall
from server.extraction.extractor import Extractor
from server.library.model import Domain, Template
from server.retrievers.followups.context import (
    FollowUpContext,
    FollowUpDecision,
    How,
    build_decision,
    said_before,
)
from server.retrievers.followups.provided_values import (
    FollowUpMessage,
    ProvidedValues,
    bare,
    is_likely,
    provided_values,
)
from server.retrievers.followups.rows import for_another_row
from server.text.tokens import fold, lead_at

_WHY: Final = "the last call, with what was changed"


def repeated(scene: FollowUpContext) -> FollowUpDecision | None:
    """The last call with what the message changes in it, when that is all it says."""
    last = scene.last
    if last is None or not scene.goes_on:
        return None
    template = scene.library.templates[last.template_id]
    decision = for_another_row(scene, last) or _changed(scene, last, template)
    how: How = "correction" if scene.message.saying.form == "correction" else "follow_up"
    return scene.told(decision, last.intent, how) if decision is not None else None


def continued(scene: FollowUpContext) -> FollowUpDecision | None:
    """The latest call that has a use for what a rule pack found, with that in it."""
    for done in reversed(scene.context.done):
        template = scene.library.templates.get(done.template_id)
        if template is None:
            continue
        names = [parameter.name for parameter in template.parameters]
        given = provided_values(scene.message, scene.extractor, template, names)
        own = {name for name, source in given.sources.items() if source.kind == "intent"}
        fresh = {name for name in own if given.arguments[name] != done.arguments.get(name)}
        if fresh and own == given.sources.keys():
            decision = _with(given, done, template, scene.library.domain)
            return scene.told(decision, done.intent, "follow_up")
    return None


def _changed(
    scene: FollowUpContext, last: CompletedCall, template: Template
) -> Call | MissingArguments | None:
    """The last call with the message's values, when it is nothing but values for it; else None.

    Each value has to be for one parameter and no other; where it could be for several, these
    are asked for.
    """
    message, extractor, domain = scene.message, scene.extractor, scene.library.domain
    names = [parameter.name for parameter in template.parameters]
    given = _as_written(provided_values(message, extractor, template, names), message)
    if given.problems and not given.left and not given.arguments:
        return _with(given, last, template, domain)
    if not given.whole:
        given = _in_full(message, last, template, extractor)
        return _with(given, last, template, domain) if given.arguments else None
    if not is_likely(message, extractor, template, given, last.arguments):
        return None
    unclear = _unclear(message, given, template, extractor)
    if not unclear:
        return _with(given, last, template, domain)
    name, meant = _led(message, given, unclear, last)
    if name is None:
        return _asked_back(unclear, last, template, domain)
    return _with(meant, last, template, domain)


def _as_written(given: ProvidedValues, message: FollowUpMessage) -> ProvidedValues:
    """Only what is written: that "until May" begins today is for whole questions."""
    sources = {
        name: source
        for name, source in given.sources.items()
        if fold(source.text or "") not in message.wording.idle
    }
    if len(sources) == len(given.sources):
        return given
    return replace(given, arguments={n: given.arguments[n] for n in sources}, sources=sources)


def _with(
    given: ProvidedValues, last: CompletedCall, template: Template, domain: Domain
) -> Call | MissingArguments:
    arguments: dict[str, Any] = {**last.arguments, **given.arguments}
    sources = {**said_before(last.arguments), **given.sources}
    return build_decision(template, domain, arguments, sources, given.problems, _WHY)


def _in_full(
    message: FollowUpMessage, last: CompletedCall, template: Template, extractor: Extractor
) -> ProvidedValues:
    """The whole message in place of the only free text that the last call had."""
    texts = [
        parameter.name
        for parameter in template.required
        if isinstance(last.arguments.get(parameter.name), str)
    ]
    if len(texts) != 1:
        return ProvidedValues()
    given = bare(message, extractor, template, texts[0], like=last.arguments[texts[0]])
    # Any words could be a sentence, so that a yes has to stand between, or a "no" before.
    loose = given.is_sentence and not template.policy.confirm
    surely = message.saying.form == "correction" or not loose
    return given if given.arguments and surely else ProvidedValues()


def _unclear(
    message: FollowUpMessage, given: ProvidedValues, template: Template, extractor: Extractor
) -> Mapping[str, Any]:
    """Parameters that could each have a value of the message, with that value; mostly none."""
    for name, source in given.sources.items():
        # One place that gave two values says of neither that it was meant.
        shared = sum(source.span == other.span for other in given.sources.values()) > 1
        if source.span is None or (name in given.sure and not shared):
            continue
        rivals = {name: given.arguments[name]}
        for parameter in template.parameters:
            other = parameter.name
            if other == name or (other in given.sources and not shared):
                continue
            taken = provided_values(message, extractor, template, [other])
            span = taken.sources[other].span if other in taken.sources else None
            if span is not None and span[0] < source.span[1] and source.span[0] < span[1]:
                rivals[other] = taken.arguments[other]
        if len(rivals) > 1:
            return rivals
    return {}


def _led(
    message: FollowUpMessage, given: ProvidedValues, unclear: Mapping[str, Any], last: CompletedCall
) -> tuple[str | None, ProvidedValues]:
    """Which of several parameters stood behind the same word in the last call: "by" 5."""
    sources = [source for name, source in given.sources.items() if name in unclear]
    span = sources[0].span if len(given.sources) == 1 else None
    lead = lead_at(message.text, span[0]) if span is not None else ""
    names = [name for name in unclear if lead and last.leads.get(name) == lead]
    if len(names) != 1:
        return None, given
    return names[0], ProvidedValues({names[0]: unclear[names[0]]}, {names[0]: sources[0]})


def _asked_back(
    unclear: Mapping[str, Any], last: CompletedCall, template: Template, domain: Domain
) -> Call | MissingArguments:
    labels = " or ".join(name.replace("_", " ") for name in unclear)
    problems = {name: f"{value} could be the {labels}" for name, value in unclear.items()}
    kept = {name: value for name, value in last.arguments.items() if name not in unclear}
    return build_decision(template, domain, kept, said_before(kept), problems, _WHY)
