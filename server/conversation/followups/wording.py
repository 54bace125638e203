"""The words with which people go on with what was said, read from language files."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from server.conversation.followups.words import Words, words_of
from server.errors import ConfigurationInvalid
from server.settings.source import read_yaml
from server.settings.validation import validate

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


class Phrases:
    """Phrases to be found where some word of a message stands."""

    def __init__(self, phrases: Iterable[str]) -> None:
        self._phrases = {words_of(phrase) for phrase in phrases}
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
class Wording:
    """The words of several languages at once. What each is for stands in the language files."""

    attached: tuple[str, ...]
    cancel: Phrases
    courtesies: Phrases
    corrections: Phrases
    corrections_after: Phrases
    negations: Phrases
    but: Phrases
    continuations: Phrases
    idle: frozenset[str]
    """Words around a value that add nothing to it."""
    leads: Phrases
    counters: frozenset[str]
    results: Phrases
    anaphors: frozenset[str]
    possessives: Mapping[str, str]
    """What stands for something that was named, and how its name is put there: `{}'s`."""
    last: Phrases
    previous: Phrases
    positions: Mapping[str, int]
    before: frozenset[str]
    things: frozenset[str]
    shown: Phrases
    asks: frozenset[str]
    commands: frozenset[str]
    never: frozenset[str]


@cache
def shipped_wording() -> Wording:
    """The words of every language that ships, read on first use. Blocks.

    Raises:
        ConfigurationInvalid: a language file is broken.
    """
    return read_wording(sorted(LANGUAGES.glob("*.yaml")))


def read_wording(files: Sequence[Path]) -> Wording:
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
        for word in words_of(phrase)
    }
    return Wording(
        attached=tuple(letter for spec in specs for letter in spec.attached),
        cancel=Phrases(p for spec in specs for p in spec.cancel),
        courtesies=Phrases(p for spec in specs for p in spec.courtesies),
        corrections=Phrases(p for spec in specs for p in spec.corrections),
        corrections_after=Phrases(p for spec in specs for p in spec.corrections_after),
        negations=Phrases(p for spec in specs for p in spec.negations),
        but=Phrases(p for spec in specs for p in spec.but),
        continuations=Phrases(p for spec in specs for p in spec.continuations),
        idle=frozenset(idle),
        leads=Phrases(p for spec in specs for p in spec.leads),
        counters=frozenset(word for spec in specs for word in spec.counters),
        results=Phrases(p for spec in specs for p in spec.results),
        anaphors=frozenset(word for spec in specs for word in spec.anaphors),
        possessives={word: form for spec in specs for word, form in spec.possessives.items()},
        last=Phrases(p for ref in refers for p in ref.last),
        previous=Phrases(p for ref in refers for p in ref.previous),
        positions={word: place for ref in refers for word, place in ref.positions.items()},
        before=frozenset(word for ref in refers for word in ref.before),
        things=frozenset(word for ref in refers for word in ref.things),
        shown=Phrases(p for ref in refers for p in ref.shown),
        asks=frozenset(word for spec in specs for word in spec.asks),
        commands=frozenset(word for spec in specs for word in spec.commands),
        never=frozenset(word for spec in specs for word in spec.never),
    )
