"""What an author could add to a library so that an example is understood without being known."""

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from server.core.ports import Vectors
from server.evaluation.example_failures import FailedExample
from server.library.changes import LibraryChange
from server.library.model import Library, Parameter, Template
from server.text.language import load_language
from server.text.tokens import is_word

Embed = Callable[[Sequence[str]], Awaitable[Vectors]]

_NEAR: Final = 0.5
"""Cosine of two words from which one may stand for the other."""
_MOST_WORDS: Final = 3
"""With more words in the way than these, a sentence is of another kind than the examples."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A line of YAML, where it belongs, and what it makes of a library.

    `changes` say the same of it, where there are words for such a change.
    """

    place: str
    line: str
    apply: Callable[[Library], Library]
    changes: tuple[LibraryChange, ...] = ()


async def propose(
    library: Library, words: Sequence[str], failed: FailedExample, embed: Embed
) -> Proposal | None:
    """Return what may help an example, if anything short would; `words` say what it is about."""
    if failed.failing in ("caught", "unclear") and failed.other is not None:
        return counter_example(library.templates[failed.other], failed.example)
    if failed.failing == "incomplete":
        return _pattern(failed)
    if failed.failing == "refused" and failed.unread and not failed.objection:
        language = library.domain.response.default_language
        return await synonyms_for(words, failed.unread, embed, language)
    return None


def new_example(template: Template, example: str) -> Proposal:
    """One more of the questions that a template is for."""

    def apply(library: Library) -> Library:
        now = library.templates[template.id]
        changed = replace(now, nl_examples=(*now.nl_examples, example))
        return replace(library, templates={**library.templates, template.id: changed})

    line = f"nl_examples: [{json.dumps(example, ensure_ascii=False)}]"
    change = LibraryChange("add_example", example, template.id)
    return Proposal(repr(template.id), line, apply, (change,))


def counter_example(other: Template, example: str) -> Proposal:
    """A question that a template takes, and is not for."""

    def apply(library: Library) -> Library:
        now = library.templates[other.id]
        changed = replace(now, counter_examples=(*now.counter_examples, example))
        return replace(library, templates={**library.templates, other.id: changed})

    line = f"counter_examples: [{json.dumps(example, ensure_ascii=False)}]"
    change = LibraryChange("add_counter_example", example, other.id)
    return Proposal(repr(other.id), line, apply, (change,))


async def synonyms_for(
    words: Sequence[str], unread: Sequence[str], embed: Embed, language: str
) -> Proposal | None:
    """Words in the way that mean nearly what `words` of the template mean, if all of them do."""
    single, small = [text.lower() for text in unread], load_language(language).function_words
    words = [word for word in words if word not in small]
    if not words or len(single) > _MOST_WORDS:
        return None
    if not all(is_word(word) and word not in small for word in single):
        return None
    vectors = await embed([*single, *words])
    cosines = vectors[: len(single)] @ vectors[len(single) :].T
    if float(cosines.max(axis=1).min()) < _NEAR:
        return None
    found = {word: words[int(row.argmax())] for word, row in zip(single, cosines, strict=True)}

    def apply(library: Library) -> Library:
        synonyms = dict(library.domain.synonyms)
        for word, known in found.items():
            synonyms[known] = (*synonyms.get(known, ()), word)
        return replace(library, domain=replace(library.domain, synonyms=synonyms))

    written = {known: [w for w, k in found.items() if k == known] for known in found.values()}
    line = f"synonyms: {json.dumps(written, ensure_ascii=False)}"
    changes = [LibraryChange("add_synonym", word, word=known) for word, known in found.items()]
    return Proposal("the domain's vocabulary", line, apply, tuple(changes))


def _pattern(failed: FailedExample) -> Proposal | None:
    """The words right before a value, where it was not found without them."""
    for parameter in failed.template.parameters:
        source = failed.sources.get(parameter.name)
        span = source.span if source is not None else None
        lost = parameter.name in failed.got.asked or (
            parameter.name in failed.expected.arguments
            and failed.got.arguments.get(parameter.name)
            != failed.expected.arguments[parameter.name]
        )
        if not lost or span is None or parameter.type != "string" or parameter.enum:
            continue
        before = re.findall(r"\w+", failed.example[: span[0]])[-2:]
        after = re.findall(r"\w+", failed.example[span[1] :])[:1]
        if not before:
            continue
        lead = r"\s+".join(re.escape(word.lower()) for word in before)
        edge = rf"\s+{re.escape(after[0].lower())}\b" if after else r"[?.!]*$"
        return _with_pattern(failed.template, parameter, rf"\b{lead}\s+(.+?){edge}")
    return None


def _with_pattern(template: Template, parameter: Parameter, pattern: str) -> Proposal:
    def apply(library: Library) -> Library:
        now = library.templates[template.id]
        parameters = tuple(
            replace(one, extraction_patterns=(*one.extraction_patterns, pattern))
            if one.name == parameter.name
            else one
            for one in now.parameters
        )
        changed = replace(now, parameters=parameters)
        return replace(library, templates={**library.templates, template.id: changed})

    place = f"{parameter.name!r} of {template.id!r}"
    return Proposal(place, f"extraction_patterns: ['{pattern}']", apply)
