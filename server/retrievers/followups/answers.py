"""A message that answers what was asked, or chooses one of what was offered."""

from dataclasses import dataclass
from typing import Any, Final

from server.conversation.followups.references import by_place, by_words
from server.core.decision import Call, Clarify, ClarifyingQuestion, MissingArguments, NoMatch
from server.core.turn import OfferedChoices, PendingQuestion
from server.extraction.extractor import Extractor
from server.library.model import Template
from server.retrievers.followups.context import (
    FollowUpContext,
    FollowUpDecision,
    build_decision,
    said_before,
)
from server.retrievers.followups.provided_values import (
    FollowUpMessage,
    ProvidedValues,
    bare,
    is_written_as_name,
    provided_values,
)

_WHY: Final = "it answers what was asked"


@dataclass(frozen=True, slots=True)
class FilledAnswer:
    """What an answer amounts to. `by_text` says that nothing but its being there speaks for it."""

    decision: Call | MissingArguments
    given: ProvidedValues
    by_text: bool = False


def fill_answer(scene: FollowUpContext, asked: PendingQuestion) -> FilledAnswer | None:
    """The call with what the message gives, when it is nothing but values for it; else None."""
    message, extractor = scene.message, scene.extractor
    template = scene.library.templates[asked.template_id]
    names = [p.name for p in template.parameters if p.name not in asked.arguments]
    missing = [name for name in asked.missing if name in names]
    given = provided_values(message, extractor, template, names)
    by_text = False
    if not _answers(given, missing):
        given = ProvidedValues()
        if message.saying.form == "correction":
            given = _corrected(message, asked, template, extractor)
        if given.nothing:
            given, by_text = _in_full(message, missing, template, extractor), True
    if given.nothing:
        return None
    arguments: dict[str, Any] = {**asked.arguments, **given.arguments}
    sources = {**said_before(asked.arguments), **given.sources}
    decision = build_decision(
        template, scene.library.domain, arguments, sources, given.problems, _WHY
    )
    return FilledAnswer(decision, given, by_text)


def is_answer(scene: FollowUpContext, answer: FilledAnswer, first: FollowUpDecision) -> bool:
    """Whether free text is the answer, rather than a question of its own."""
    decision = first.decision
    if isinstance(decision, NoMatch | ClarifyingQuestion):
        return True
    if answer.given.problems and isinstance(decision, Clarify):
        return True  # it would be asked about anyway
    if answer.given.problems or not is_written_as_name(scene.message, scene.message.saying.words):
        return isinstance(decision, Call) and _is_its_text(scene, decision, answer)
    return not isinstance(decision, Call) or _reads_text(decision)


def merged(
    scene: FollowUpContext, asked: PendingQuestion, first: FollowUpDecision
) -> FollowUpDecision | None:
    """More arguments for the call that was asked about, in a sentence that names it again."""
    decision = first.decision
    if (
        not isinstance(decision, MissingArguments)
        or decision.match.template_id != asked.template_id
    ):
        return None
    if not decision.arguments.keys() - asked.arguments.keys():
        return None
    template = scene.library.templates[asked.template_id]
    arguments = {**asked.arguments, **decision.arguments}
    problems = {one.name: one.problem for one in decision.missing if one.problem}
    domain = scene.library.domain
    built = build_decision(template, domain, arguments, decision.sources, problems, _WHY)
    return FollowUpDecision(built, first.intent, "answer")


def _is_its_text(scene: FollowUpContext, call: Call, answer: FilledAnswer) -> bool:
    """Whether the question was a call only in that all its words are a text for one."""
    spans = [source.span for source in call.call.sources.values() if source.span]
    whole = not scene.message.saying.left(spans, scene.wording)
    return whole and not answer.given.problems and _reads_text(call)


def _reads_text(call: Call) -> bool:
    """Whether all that a call has of the question is one text."""
    read = [name for name, source in call.call.sources.items() if source.span is not None]
    return len(read) == 1 and isinstance(call.call.arguments[read[0]], str)


def _answers(given: ProvidedValues, missing: list[str]) -> bool:
    """Whether the message gives what was asked for, or a value that cannot be used for it."""
    named = any(name in given.arguments for name in missing)
    wrong = any(name in given.problems for name in missing)
    return (named and given.whole) or (wrong and not given.left)


def _in_full(
    message: FollowUpMessage, missing: list[str], template: Template, extractor: Extractor
) -> ProvidedValues:
    """The whole message as the first of the missing values that it can be."""
    for name in missing:
        given = bare(message, extractor, template, name)
        if not given.nothing:
            return given
    return ProvidedValues()


def _corrected(
    message: FollowUpMessage, asked: PendingQuestion, template: Template, extractor: Extractor
) -> ProvidedValues:
    """What takes the place of a value that was known, where it fits only one."""
    fitting = [
        given
        for name in asked.arguments
        if (given := provided_values(message, extractor, template, [name])).whole
    ]
    return fitting[0] if len(fitting) == 1 else ProvidedValues()


def picked(scene: FollowUpContext) -> FollowUpDecision | None:
    """What the message chooses by its place in what was offered."""
    options = scene.context.options
    if options is None:
        return None
    template = by_place(scene.message.saying, _offered(scene, options), scene.wording)
    return _chosen(scene, options, template) if template is not None else None


def picked_by_words(scene: FollowUpContext, first: FollowUpDecision) -> FollowUpDecision | None:
    """What the message chooses by its words, or by what it would ask for alone."""
    options = scene.context.options
    if options is None:
        return None
    offered = _offered(scene, options)
    if isinstance(first.decision, MissingArguments):
        meant = first.decision.match.template_id
        template = next((one for one in offered if one.id == meant), None)
    else:
        template = by_words(scene.message.saying, offered, scene.wording)
    return _chosen(scene, options, template) if template is not None else None


def _offered(scene: FollowUpContext, options: OfferedChoices) -> list[Template]:
    templates = scene.library.templates
    return [templates[name] for name in options.template_ids if name in templates]


def _chosen(
    scene: FollowUpContext, options: OfferedChoices, template: Template
) -> FollowUpDecision:
    """The template that was chosen, with what the question gave that led to the choice."""
    found = scene.extractor.extract(options.question, template, now=scene.message.now)
    given = {
        name: value
        for name, value in found.arguments.items()
        if found.sources[name].span is not None
    }
    problems = {missing.name: missing.problem for missing in found.missing if missing.problem}
    why = "it was chosen of what was offered"
    decision = build_decision(template, scene.library.domain, given, {}, problems, why)
    return scene.told(decision, options.intent, "choice")
