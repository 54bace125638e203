"""A message that answers what was asked: it fills what was missing, or corrects what was known."""

from dataclasses import dataclass
from typing import Any

from server.core.context import Asked
from server.core.decision import AskFor, Call
from server.extraction.extractor import Extractor
from server.library.model import Domain, Template
from server.retrievers.following.building import build, said_before
from server.retrievers.following.given import Given, Message, bare, given_by


@dataclass(frozen=True, slots=True)
class Filled:
    """What an answer amounts to. `by_text` says that nothing but its being there speaks for it."""

    decision: Call | AskFor
    given: Given
    by_text: bool = False


def filled(
    message: Message, asked: Asked, template: Template, extractor: Extractor, domain: Domain
) -> Filled | None:
    """The call with what the message gives, when it is nothing but values for it; else None."""
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
    decision = build(
        template, domain, arguments, sources, given.problems, "it answers what was asked"
    )
    return Filled(decision, given, by_text)


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
