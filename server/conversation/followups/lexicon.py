"""The words with which people go on with what was said, read from language files."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from server.errors import ConfigurationInvalid
from server.settings.documents import read_yaml
from server.settings.validation import validate

_WORD: Final = re.compile(r"[^\W_]+(?:['’´`\"״׳.,/-]?[^\W_]+)*")
_SIGN: Final = re.compile(r"[^\s\w]|_")
_QUIET: Final = frozenset(".,;:!?¿¡…\"'“”‘’«»()·׃־-–—")
"""Signs that say nothing of their own, unless they are dashes that stand alone."""
DASHES: Final = frozenset("-–—")

Words = tuple[str, ...]
MOST_CHARS: Final = 2000
"""A longer message goes on with nothing: it is a question of its own."""


@dataclass(frozen=True, slots=True)
class Word:
    """`text` is folded for comparison; `start` and `end` are characters of the message."""

    text: str
    start: int
    end: int


def fold(text: str) -> str:
    return text.casefold().replace("’", "'").replace("´", "'").replace("`", "'")


def split(text: str) -> list[Word]:
    """The words of `text`, and the signs that mean something, in order."""
    found = [Word(fold(m[0]), m.start(), m.end()) for m in _WORD.finditer(text)]
    inside = {place for word in found for place in range(word.start, word.end)}
    signs = [
        Word(m[0], m.start(), m.end())
        for m in _SIGN.finditer(text)
        if m.start() not in inside and (m[0] not in _QUIET or _alone(text, m))
    ]
    return sorted((*found, *signs), key=attrgetter("start")) if signs else found


def _alone(text: str, sign: re.Match[str]) -> bool:
    """Whether a dash stands between words, as the minus of "7 - 2" does."""
    around = text[sign.start() - 1 : sign.start()] + text[sign.end() : sign.end() + 1]
    return sign[0] in DASHES and around == "  "


def split_words(text: str) -> Words:
    """The words of `text`, to compare."""
    return tuple(word.text for word in split(text))


def lead_at(text: str, place: int) -> str:
    """The word right before `place`; empty when something else stands there."""
    if len(text) > MOST_CHARS:
        return ""
    before = [word for word in split(text[:place]) if word.text[0].isalnum()]
    if not before or text[before[-1].end : place].strip(" \t\"'“#$€£-−"):
        return ""
    return before[-1].text


LANGUAGES: Final = Path(__file__).parent / "languages"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)


class ReferencesSpec(_Strict):
    last: list[str] = []
    previous: list[str] = []
    positions: dict[str, int] = {}
    before: list[str] = []
    things: list[str] = []
    shown: list[str] = []


class FollowupSpec(_Strict):
    """A language file. Its comments say what each list is for."""

    language: str
    attached: list[str] = []
    cancel: list[str] = []
    courtesies: list[str] = []
    corrections: list[str] = []
    corrections_after: list[str] = []
    negations: list[str] = []
    but: list[str] = []
    continuations: list[str] = []
    fillers: list[str] = []
    leads: list[str] = []
    counters: list[str] = []
    results: list[str] = []
    anaphors: list[str] = []
    possessives: dict[str, str] = {}
    references: ReferencesSpec = ReferencesSpec()
    asks: list[str] = []
    commands: list[str] = []
    never: list[str] = []


class FollowUpPhrases:
    """Phrases to be found where some word of a message stands."""

    def __init__(self, phrases: Iterable[str]) -> None:
        self._phrases = {split_words(phrase) for phrase in phrases}
        self._longest = max(map(len, self._phrases), default=0)

    def __contains__(self, words: Words) -> bool:
        return words in self._phrases

    def at(self, words: Words, first: int) -> int:
        """Where the longest phrase that begins with the word `first` ends; `first` if none does."""
        for last in range(min(len(words), first + self._longest), first, -1):
            if words[first:last] in self._phrases:
                return last
        return first

    def before(self, words: Words, last: int) -> int:
        """Where the longest phrase that ends before the word `last` begins; `last` if none does."""
        for first in range(max(0, last - self._longest), last):
            if words[first:last] in self._phrases:
                return first
        return last


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The words of several languages at once. What each is for stands in the language files."""

    attached: tuple[str, ...]
    cancel: FollowUpPhrases
    courtesies: FollowUpPhrases
    corrections: FollowUpPhrases
    corrections_after: FollowUpPhrases
    negations: FollowUpPhrases
    but: FollowUpPhrases
    continuations: FollowUpPhrases
    idle: frozenset[str]
    """Words around a value that add nothing to it."""
    leads: FollowUpPhrases
    counters: frozenset[str]
    results: FollowUpPhrases
    anaphors: frozenset[str]
    possessives: Mapping[str, str]
    """What stands for something that was named, and how its name is put there: `{}'s`."""
    last: FollowUpPhrases
    previous: FollowUpPhrases
    positions: Mapping[str, int]
    before: frozenset[str]
    things: frozenset[str]
    shown: FollowUpPhrases
    asks: frozenset[str]
    commands: frozenset[str]
    never: frozenset[str]


@cache
def shipped_lexicon() -> Lexicon:
    """The words of every language that ships, read on first use. Blocks.

    Raises:
        ConfigurationInvalid: a language file is broken.
    """
    return read_lexicon(sorted(LANGUAGES.glob("*.yaml")))


def read_lexicon(files: Sequence[Path]) -> Lexicon:
    """The words of some language files, together.

    Raises:
        ConfigurationInvalid: a file cannot be read, or says what it may not.
    """
    specs: list[FollowupSpec] = []
    for file in files:
        document = read_yaml(file, {})
        spec, wrong = validate(FollowupSpec, document)
        if spec is None:
            raise ConfigurationInvalid((*document.problems, *wrong))
        specs.append(spec)
    refers = [spec.references for spec in specs]
    idle = {
        word
        for spec in specs
        for phrase in (*spec.fillers, *spec.leads, *spec.courtesies)
        for word in split_words(phrase)
    }
    return Lexicon(
        attached=tuple(letter for spec in specs for letter in spec.attached),
        cancel=FollowUpPhrases(p for spec in specs for p in spec.cancel),
        courtesies=FollowUpPhrases(p for spec in specs for p in spec.courtesies),
        corrections=FollowUpPhrases(p for spec in specs for p in spec.corrections),
        corrections_after=FollowUpPhrases(p for spec in specs for p in spec.corrections_after),
        negations=FollowUpPhrases(p for spec in specs for p in spec.negations),
        but=FollowUpPhrases(p for spec in specs for p in spec.but),
        continuations=FollowUpPhrases(p for spec in specs for p in spec.continuations),
        idle=frozenset(idle),
        leads=FollowUpPhrases(p for spec in specs for p in spec.leads),
        counters=frozenset(word for spec in specs for word in spec.counters),
        results=FollowUpPhrases(p for spec in specs for p in spec.results),
        anaphors=frozenset(word for spec in specs for word in spec.anaphors),
        possessives={word: form for spec in specs for word, form in spec.possessives.items()},
        last=FollowUpPhrases(p for ref in refers for p in ref.last),
        previous=FollowUpPhrases(p for ref in refers for p in ref.previous),
        positions={word: place for ref in refers for word, place in ref.positions.items()},
        before=frozenset(word for ref in refers for word in ref.before),
        things=frozenset(word for ref in refers for word in ref.things),
        shown=FollowUpPhrases(p for ref in refers for p in ref.shown),
        asks=frozenset(word for spec in specs for word in spec.asks),
        commands=frozenset(word for spec in specs for word in spec.commands),
        never=frozenset(word for spec in specs for word in spec.never),
    )
