"""Where a library uses a word, in whatever form."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Literal

from server.chat.sources import OpenTemplate
from server.library.model import Template
from server.text.stems import stem
from server.text.tokens import Tokens

Place = Literal["example", "counter_example", "description", "synonym", "parameter", "choice"]

MOST_USES: Final = 1000
_LEAST_SHARED: Final = 2
"""Letters that a word has in common with its forms, in languages that end words."""


@dataclass(frozen=True, slots=True)
class WordUse:
    """A word where it stands; `template` is None for the vocabulary, which all of them share."""

    template: str | None
    where: Place
    text: str
    span: tuple[int, int]
    parameter: str | None = None

    def to_dict(self) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "template": self.template,
            "where": self.where,
            "text": self.text,
            "span": list(self.span),
        }
        return shown if self.parameter is None else {**shown, "parameter": self.parameter}


@dataclass(frozen=True, slots=True)
class WordUses:
    """`more` says that there are uses beside the `MOST_USES` that are listed."""

    word: str
    stem: str
    uses: Sequence[WordUse]
    more: bool

    def to_dict(self) -> dict[str, Any]:
        rows = [each.to_dict() for each in self.uses]
        return {"word": self.word, "stem": self.stem, "uses": rows, "more": self.more}


def word_uses(
    word: str,
    templates: Sequence[OpenTemplate],
    vocabulary: Mapping[str, Sequence[str]],
    languages: Sequence[str],
) -> WordUses | None:
    """Return where templates and their vocabulary use a word; None for what is no single word.

    Forms are told by the stems of the `languages`. Blocks.
    """
    tokens = Tokens(word)
    if len(tokens.words) != 1 or not tokens.words[0].isalnum():
        return None
    asked = tokens.words[0]
    stems = {code: stem(asked, code) for code in dict.fromkeys(languages)}
    uses = _uses(asked, stems, templates, vocabulary)
    listed = list(islice(uses, MOST_USES))
    return WordUses(asked, next(iter(stems.values()), asked), listed, next(uses, None) is not None)


def _uses(
    asked: str,
    stems: Mapping[str, str],
    templates: Sequence[OpenTemplate],
    vocabulary: Mapping[str, Sequence[str]],
) -> Iterator[WordUse]:
    # Most texts have no word that begins alike, which is found out faster than words are.
    begins = asked[:_LEAST_SHARED] if asked.isascii() else ""

    def found(text: str) -> Iterator[tuple[int, int]]:
        if begins not in text.lower():
            return
        tokens = Tokens(text)
        for word, start, end in zip(tokens.words, tokens.starts, tokens.ends, strict=True):
            if word == asked or any(stem(word, code) == own for code, own in stems.items()):
                yield start, end

    for each in templates:
        for where, text, parameter in _texts(each.template):
            for span in found(text):
                yield WordUse(each.id, where, text, span, parameter)
    for word, others in vocabulary.items():
        for text in (word, *others):
            for span in found(text):
                yield WordUse(None, "synonym", text, span)


def _texts(template: Template) -> Iterator[tuple[Place, str, str | None]]:
    """Yield what a template says, where, and of which parameter."""
    for example in template.nl_examples:
        yield "example", example, None
    for example in template.counter_examples:
        yield "counter_example", example, None
    yield "description", template.description, None
    for parameter in template.parameters:
        name = parameter.name
        for text in dict.fromkeys((name, *parameter.aliases, parameter.description)):
            yield "parameter", text, name
        if name in template.policy.sensitive_params:
            continue
        listed = {str(value): None for value in parameter.enum}
        known = {text.lower() for text in listed}
        others = (word for word in parameter.choices if word not in known)
        for text in (*listed, *others):
            yield "choice", text, name
