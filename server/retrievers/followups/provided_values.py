"""What a message gives to the parameters of a template that is known already."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from server.core.tools import Source
from server.extraction.values import Extraction, PlacedValue
from server.library.model import Template
from server.retrievers.followups.context import FollowUpContext, Span
from server.text.stems import inflections
from server.text.tokens import Word, fold

_NAME_WORDS: Final = 5
_LOWER_WORDS: Final = 2
_WRONG_WORDS: Final = 3
_SENTENCE_WORDS: Final = 2


@dataclass(frozen=True, slots=True)
class ProvidedValues:
    """Values that stand in a message. `left` are words of it that nothing accounts for.

    `is_sentence` says that the only value is a free text that may be any words.
    """

    arguments: Mapping[str, Any] = field(default_factory=dict)
    sources: Mapping[str, Source] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
    sure: frozenset[str] = frozenset()
    left: tuple[str, ...] = ()
    is_sentence: bool = False

    @property
    def nothing(self) -> bool:
        return not self.arguments and not self.problems

    @property
    def whole(self) -> bool:
        return not self.left and bool(self.arguments)


def provided_values(
    ctx: FollowUpContext, template: Template, names: Collection[str]
) -> ProvidedValues:
    mentions = ctx.turn.mentions
    found = ctx.extractor.extract(ctx.text, template, now=ctx.now, intent=mentions, only=names)
    sources = {name: source for name, source in found.sources.items() if source.span is not None}
    spans = [source.span for source in sources.values() if source.span is not None]
    if mentions is not None and any(source.kind == "intent" for source in sources.values()):
        # An entity may be written in several places.
        for entity, places in mentions.places.items():
            spans += places if any(name.startswith(entity) for name in sources) else ()
    return ProvidedValues(
        {name: found.arguments[name] for name in sources},
        sources,
        {missing.name: missing.problem for missing in found.missing if missing.problem},
        found.sure,
        _unaccounted_words(ctx, spans, sources, found),
    )


def whole_message(
    ctx: FollowUpContext, template: Template, name: str, *, like: Any = None
) -> ProvidedValues:
    """The whole message as the free text of one parameter, where it can be one.

    Words around a value do not belong to it. A name begins with a capital letter, unless
    it stands alone in few words and the value before it, `like`, did not. A few words that
    are no value of a parameter of another type are a problem with it.
    """
    text, lexicon, nothing = ctx.utterance.text, ctx.lexicon, ProvidedValues()
    words = list(ctx.utterance.words)
    is_question = text.rstrip().endswith("?")
    if not words or words[0].text in lexicon.asks or (like is None and is_question):
        return nothing
    placed = _read_words(ctx, template, name, words)
    if placed is None:
        return nothing
    if not placed.is_text:
        few = len(words) <= _WRONG_WORDS and words[0].text not in lexicon.never | lexicon.commands
        problems = {name: placed.problem} if placed.problem and few and like is None else {}
        return ProvidedValues(problems=problems)
    if placed.is_sentence:
        unfit = len(words) < _SENTENCE_WORDS or words[0].text in lexicon.never
        return nothing if unfit else _free_text(text, name, placed)
    if words[0].text in lexicon.commands:
        return nothing
    while words and words[0].text in lexicon.idle and not text[words[0].start].isupper():
        words.pop(0)
    while words and words[-1].text in lexicon.idle:
        words.pop()
    unfit_words = lexicon.never | lexicon.asks | lexicon.commands
    if not 0 < len(words) <= _NAME_WORDS or any(word.text in unfit_words for word in words):
        return nothing
    placed = _read_words(ctx, template, name, words)
    if placed is None or not all(word.text[0].isalnum() for word in words):
        return nothing
    if placed.is_name and not any(letter.isalpha() for word in words for letter in word.text):
        problem = f"“{text[slice(*placed.span)]}” is no {name.replace('_', ' ')}"
        return ProvidedValues(problems={name: problem})
    if placed.is_name and not _is_written_like(ctx, words, like):
        return nothing
    return _free_text(text, name, placed)


def is_likely(
    ctx: FollowUpContext, template: Template, given: ProvidedValues, last: Mapping[str, Any]
) -> bool:
    """Whether free text among the values is written as names are, or as it was in `last`."""
    unfit = ctx.lexicon.never | ctx.lexicon.asks | ctx.lexicon.commands
    for name, source in given.sources.items():
        if source.span is None or source.kind == "intent":
            continue
        start, end = source.span
        placed = ctx.extractor.read_at(ctx.utterance.text, source.span, template, name, now=ctx.now)
        if placed is None or not placed.is_text:
            continue
        words = [word for word in ctx.utterance.words if start <= word.start < end]
        if words and words[0].text in unfit:
            return False
        if placed.is_name and not _is_written_like(ctx, words, last.get(name)):
            return False
    return True


def is_written_as_name(ctx: FollowUpContext, words: Sequence[Word]) -> bool:
    first_letters = [
        ctx.utterance.text[word.start] for word in words if word.text not in ctx.lexicon.idle
    ]
    return bool(first_letters) and all(
        letter.isupper() or not letter.isascii() for letter in first_letters
    )


def _is_written_like(ctx: FollowUpContext, words: Sequence[Word], like: Any) -> bool:
    """Whether the words are written as names are, or as the value before them was."""
    if isinstance(like, str) and like[:1].islower():
        return True
    return (like is None and len(words) <= _LOWER_WORDS) or is_written_as_name(ctx, words)


def _read_words(
    ctx: FollowUpContext, template: Template, name: str, words: Sequence[Word]
) -> PlacedValue | None:
    utterance = ctx.utterance
    start = utterance.start if words[0] is utterance.words[0] else words[0].start
    end = utterance.end if words[-1] is utterance.words[-1] else words[-1].end
    return ctx.extractor.read_at(utterance.text, (start, end), template, name, now=ctx.now)


def _free_text(text: str, name: str, placed: PlacedValue) -> ProvidedValues:
    if placed.problem:
        return ProvidedValues(problems={name: placed.problem})
    source = Source("recognizer", placed.span, text[slice(*placed.span)])
    return ProvidedValues(
        {name: placed.value}, {name: source}, sure=frozenset({name}), is_sentence=placed.is_sentence
    )


def _unaccounted_words(
    ctx: FollowUpContext, spans: list[Span], sources: Mapping[str, Source], found: Extraction
) -> tuple[str, ...]:
    """Words that no value covers, and that are no words for the parameters themselves."""
    with_problem = [missing.name for missing in found.missing if missing.problem]
    about = {
        form
        for name in (*sources, *with_problem)
        for word in name.lower().split("_")
        for form in inflections(word)
    }
    left = ctx.utterance.left(spans, ctx.lexicon)
    words = [word.text for word in left if word.text not in about]
    unused = found.grounding.unused
    if with_problem:
        # What cannot be used is accounted for: it is complained about.
        return tuple(word for word in words if not any(word in fold(value) for value in unused))
    return (*words, *unused)
