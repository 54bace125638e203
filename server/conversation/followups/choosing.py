"""Which of the templates that were offered a message chooses."""

from collections.abc import Iterable, Sequence
from typing import Final

from server.conversation.followups.referring import read_reference
from server.conversation.followups.rows import singular
from server.conversation.followups.saying import Saying
from server.conversation.followups.wording import Wording
from server.conversation.followups.words import words_of
from server.library.model import Template

_MOST_WORDS: Final = 8


def chosen(saying: Saying, offered: Sequence[Template], wording: Wording) -> Template | None:
    """The one that is meant: by its place, its number, or words that are only its own."""
    return by_place(saying, offered, wording) or by_words(saying, offered, wording)


def by_place(saying: Saying, offered: Sequence[Template], wording: Wording) -> Template | None:
    """The template at the place that a short message names: "the first", "2", "option 2"."""
    words = [word.text for word in saying.words]
    named = [word for word in words if word not in wording.idle and word not in wording.things]
    if len(named) == 1 and named[0].isdecimal():
        return _at(int(named[0]), offered)
    reference = read_reference(saying.text, wording)
    if reference is None or len(words) > _MOST_WORDS:
        return None
    if any(word.text not in wording.things for word in saying.left([reference.span], wording)):
        return None
    if reference.kind == "specific":
        return _at(reference.position, offered)
    return offered[-1] if reference.kind == "last" else None


def by_words(saying: Saying, offered: Sequence[Template], wording: Wording) -> Template | None:
    """The template whose description, or else whose examples, have every word of the message.

    One word at least has to be in no other's. A question chooses nothing.
    """
    words = [word.text for word in saying.words]
    said = {singular(word) for word in words if word not in wording.idle} - wording.never
    if not said or len(words) > _MOST_WORDS or words[0] in wording.asks:
        return None
    for texts in (_about, _examples):
        vocabularies = [_vocabulary(texts(template)) for template in offered]
        for template, known in zip(offered, vocabularies, strict=True):
            others = (other for other in vocabularies if other is not known)
            if said <= known and not said <= set[str]().union(*others):
                return template
    return None


def _at(position: int, offered: Sequence[Template]) -> Template | None:
    return offered[position - 1] if 0 < position <= len(offered) else None


def _about(template: Template) -> Iterable[str]:
    return (template.description, template.id.replace("_", " "), *template.tags)


def _examples(template: Template) -> Iterable[str]:
    return template.nl_examples


def _vocabulary(texts: Iterable[str]) -> set[str]:
    return {singular(word) for text in texts for word in words_of(text)}
