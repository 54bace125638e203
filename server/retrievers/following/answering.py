"""A message that answers what was asked: it fills what was missing, or corrects what was known."""

from dataclasses import dataclass
from typing import Any, Final

from server.core.context import Asked
from server.core.decision import AskBack, AskFor, Call, Clarify, NoMatch
from server.extraction.extractor import Extractor
from server.library.model import Template
from server.retrievers.following.building import build, said_before
from server.retrievers.following.given import Given, Message, bare, given_by, is_written_as_name
from server.retrievers.following.scene import Decided, Scene

_WHY: Final = "it answers what was asked"


@dataclass(frozen=True, slots=True)
class Filled:
    """What an answer amounts to. `by_text` says that nothing but its being there speaks for it."""

    decision: Call | AskFor
    given: Given
    by_text: bool = False


def filled(scene: Scene, asked: Asked) -> Filled | None:
    """The call with what the message gives, when it is nothing but values for it; else None."""
    message, extractor = scene.message, scene.extractor
    template = scene.library.templates[asked.template_id]
    names = [p.name for p in template.parameters if p.name not in asked.arguments]
    missing = [name for name in asked.missing if name in names]
    given = given_by(message, extractor, template, names)
    by_text = False
    if not _answers(given, missing):
        given = Given()
        if message.saying.form == "correction":
            given = _corrected(message, asked, template, extractor)
        if given.nothing:
            given, by_text = _in_full(message, missing, template, extractor), True
    if given.nothing:
        return None
    arguments: dict[str, Any] = {**asked.arguments, **given.arguments}
    sources = {**said_before(asked.arguments), **given.sources}
    decision = build(template, scene.library.domain, arguments, sources, given.problems, _WHY)
    return Filled(decision, given, by_text)


def is_answer(scene: Scene, answer: Filled, first: Decided) -> bool:
    """Whether free text is the answer, rather than a question of its own."""
    decision = first.decision
    if isinstance(decision, NoMatch | AskBack):
        return True
    if answer.given.problems and isinstance(decision, Clarify):
        return True  # it would be asked about anyway
    if answer.given.problems or not is_written_as_name(scene.message, scene.message.saying.words):
        return isinstance(decision, Call) and _is_its_text(scene, decision, answer)
    return not isinstance(decision, Call) or _reads_text(decision)


def merged(scene: Scene, asked: Asked, first: Decided) -> Decided | None:
    """More arguments for the call that was asked about, in a sentence that names it again."""
    decision = first.decision
    if not isinstance(decision, AskFor) or decision.match.template_id != asked.template_id:
        return None
    if not decision.arguments.keys() - asked.arguments.keys():
        return None
    template = scene.library.templates[asked.template_id]
    arguments = {**asked.arguments, **decision.arguments}
    problems = {one.name: one.problem for one in decision.missing if one.problem}
    domain = scene.library.domain
    built = build(template, domain, arguments, decision.sources, problems, _WHY)
    return Decided(built, first.intent, "answer")


def _is_its_text(scene: Scene, call: Call, answer: Filled) -> bool:
    """Whether the question was a call only in that all its words are a text for one."""
    spans = [source.span for source in call.call.sources.values() if source.span]
    whole = not scene.message.saying.left(spans, scene.wording)
    return whole and not answer.given.problems and _reads_text(call)


def _reads_text(call: Call) -> bool:
    """Whether all that a call has of the question is one text."""
    read = [name for name, source in call.call.sources.items() if source.span is not None]
    return len(read) == 1 and isinstance(call.call.arguments[read[0]], str)


def _answers(given: Given, missing: list[str]) -> bool:
    """Whether the message gives what was asked for, or a value that cannot be used for it."""
    named = any(name in given.arguments for name in missing)
    wrong = any(name in given.problems for name in missing)
    return (named and given.whole) or (wrong and not given.left)


def _in_full(
    message: Message, missing: list[str], template: Template, extractor: Extractor
) -> Given:
    """The whole message as the first of the missing values that it can be."""
    for name in missing:
        given = bare(message, extractor, template, name)
        if not given.nothing:
            return given
    return Given()


def _corrected(message: Message, asked: Asked, template: Template, extractor: Extractor) -> Given:
    """What takes the place of a value that was known, where it fits only one."""
    fitting = [
        given
        for name in asked.arguments
        if (given := given_by(message, extractor, template, [name])).whole
    ]
    return fitting[0] if len(fitting) == 1 else Given()
