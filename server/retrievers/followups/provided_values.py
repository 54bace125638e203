"""What a message gives to the parameters of a template that is known already."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from server.conversation.followups.lexicon import Lexicon
from server.conversation.followups.utterances import Utterance
from server.core.tools import Source
from server.core.turn import Intent
from server.extraction.extractor import Extractor
from server.extraction.types import Extraction, PlacedValue
from server.library.model import Template
from server.text.stems import inflections
from server.text.tokens import Word, fold

_NAME_WORDS: Final = 5
_LOWER_WORDS: Final = 2
_WRONG_WORDS: Final = 3
_SENTENCE_WORDS: Final = 2

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class FollowUpMessage:
    """A message as the readers see it: its form, when it came, and what a pack found in it."""

    saying: Utterance
    wording: Lexicon
    now: datetime
    named: Intent | None = None

    @property
    def text(self) -> str:
        """The message without its opening words; every place is where it was."""
        return " " * self.saying.start + self.saying.text[self.saying.start :]


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
        """Whether the message is these values and nothing else."""
        return not self.left and bool(self.arguments)


def provided_values(
    message: FollowUpMessage, extractor: Extractor, template: Template, names: Collection[str]
) -> ProvidedValues:
    """What the message gives for the parameters `names`."""
    found = extractor.extract(
        message.text, template, now=message.now, intent=message.named, only=names
    )
    sources = {name: source for name, source in found.sources.items() if source.span is not None}
    problems = {missing.name: missing.problem for missing in found.missing if missing.problem}
    arguments = {name: found.arguments[name] for name in sources}
    spans = [source.span for source in sources.values() if source.span is not None]
    spans += _places(message.named, sources)
    return ProvidedValues(
        arguments,
        sources,
        problems,
        found.sure,
        _left(message, spans, sources, found),
    )


def bare(
    message: FollowUpMessage,
    extractor: Extractor,
    template: Template,
    name: str,
    *,
    like: Any = None,
) -> ProvidedValues:
    """The whole message as the free text of one parameter, where it can be one.

    Words around a value do not belong to it. A name begins with a capital letter, unless
    it stands alone in few words and the value before it, `like`, did not. A few words that
    are no value of a parameter of another type are a problem with it.
    """
    saying, wording = message.saying, message.wording
    words = list(saying.words)
    if not words or words[0].text in wording.asks or (like is None and _is_question(saying)):
        return ProvidedValues()
    placed = _read(message, extractor, template, name, words)
    if placed is None or not placed.is_text:
        few = len(words) <= _WRONG_WORDS and words[0].text not in wording.never | wording.commands
        return (
            _wrong(name, placed.problem)
            if placed is not None and few and like is None
            else ProvidedValues()
        )
    if placed.is_sentence:
        unfit = len(words) < _SENTENCE_WORDS or words[0].text in wording.never
        return ProvidedValues() if unfit else _placed(message, name, placed)
    if words[0].text in wording.commands:
        return ProvidedValues()
    while words and words[0].text in wording.idle and not saying.text[words[0].start].isupper():
        words.pop(0)
    while words and words[-1].text in wording.idle:
        words.pop()
    out = wording.never | wording.asks | wording.commands
    if not 0 < len(words) <= _NAME_WORDS or any(word.text in out for word in words):
        return ProvidedValues()
    placed = _read(message, extractor, template, name, words)
    if placed is None or not all(word.text[0].isalnum() for word in words):
        return ProvidedValues()
    if placed.is_name and not any(letter.isalpha() for word in words for letter in word.text):
        text = saying.text[slice(*placed.span)]
        return _wrong(name, f"“{text}” is no {name.replace('_', ' ')}")
    if placed.is_name and not _named_like(message, words, like):
        return ProvidedValues()
    return _placed(message, name, placed)


def _is_question(saying: Utterance) -> bool:
    return saying.text.rstrip().endswith("?")


def _read(
    message: FollowUpMessage,
    extractor: Extractor,
    template: Template,
    name: str,
    words: Sequence[Word],
) -> PlacedValue | None:
    """What the words say as a value of the parameter, with the signs around them."""
    saying = message.saying
    start = saying.start if words[0] is saying.words[0] else words[0].start
    end = saying.end if words[-1] is saying.words[-1] else words[-1].end
    return extractor.read_at(saying.text, (start, end), template, name, now=message.now)


def is_likely(
    message: FollowUpMessage,
    extractor: Extractor,
    template: Template,
    given: ProvidedValues,
    last: Mapping[str, Any],
) -> bool:
    """Whether free text among the values is written as names are, or as it was in `last`."""
    for name, source in given.sources.items():
        if source.span is None or source.kind == "intent":
            continue
        placed = extractor.read_at(
            message.saying.text, source.span, template, name, now=message.now
        )
        if placed is None or not placed.is_text:
            continue
        start, end = source.span
        words = [word for word in message.saying.words if start <= word.start < end]
        unfit = message.wording.never | message.wording.asks | message.wording.commands
        if words and words[0].text in unfit:
            return False
        if placed.is_name and not _named_like(message, words, last.get(name)):
            return False
    return True


def _placed(message: FollowUpMessage, name: str, placed: PlacedValue) -> ProvidedValues:
    if placed.problem:
        return _wrong(name, placed.problem)
    text = message.saying.text[slice(*placed.span)]
    source = Source("recognizer", placed.span, text)
    return ProvidedValues(
        {name: placed.value},
        {name: source},
        sure=frozenset({name}),
        is_sentence=placed.is_sentence,
    )


def _wrong(name: str, problem: str) -> ProvidedValues:
    return ProvidedValues(problems={name: problem}) if problem else ProvidedValues()


def _named_like(message: FollowUpMessage, words: Sequence[Word], like: Any) -> bool:
    """Whether the words are written as names are, or as the value before them was."""
    if isinstance(like, str) and like[:1].islower():
        return True
    few = like is None and len(words) <= _LOWER_WORDS
    return is_written_as_name(message, words) or few


def is_written_as_name(message: FollowUpMessage, words: Sequence[Word]) -> bool:
    """Whether every word that means something begins with a capital letter."""
    loose = [word for word in words if word.text not in message.wording.idle]
    return bool(loose) and all(_upper(message, word.start) for word in loose)


def _upper(message: FollowUpMessage, place: int) -> bool:
    letter = message.saying.text[place]
    return letter.isupper() or not letter.isascii()


def _places(named: Intent | None, sources: Mapping[str, Source]) -> list[Span]:
    """Where the entities stand that gave values: an entity may be written in several places."""
    if named is None or not any(source.kind == "intent" for source in sources.values()):
        return []
    return [
        place
        for entity, places in named.places.items()
        if any(name.startswith(entity) for name in sources)
        for place in places
    ]


def _left(
    message: FollowUpMessage, spans: list[Span], sources: Mapping[str, Source], found: Extraction
) -> tuple[str, ...]:
    """Words that no value covers, and that are no words for the parameters themselves."""
    about = {
        form
        for name in (*sources, *(missing.name for missing in found.missing if missing.problem))
        for word in name.lower().split("_")
        for form in inflections(word)
    }
    left = message.saying.left(spans, message.wording)
    words = [word.text for word in left if word.text not in about]
    unused = found.grounding.unused
    if any(missing.problem for missing in found.missing):
        # What cannot be used is accounted for: it is complained about.
        return tuple(word for word in words if not any(word in fold(value) for value in unused))
    return (*words, *unused)
