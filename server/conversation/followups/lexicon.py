"""The words with which people go on with what was said, of all languages together."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any, get_origin, get_type_hints

from server.text.language import FollowupWords, shipped_languages
from server.text.tokens import Words, words_of


class FollowUpPhrases:
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
    leads: FollowUpPhrases
    counters: frozenset[str]
    results: FollowUpPhrases
    anaphors: frozenset[str]
    possessives: Mapping[str, str]
    """What stands for something that was named, and how its name is put there: `{}'s`."""
    last: FollowUpPhrases
    previous: FollowUpPhrases
    positions: Mapping[str, int]
    other: frozenset[str]
    every: frozenset[str]
    after: frozenset[str]
    before: frozenset[str]
    things: frozenset[str]
    shown: FollowUpPhrases
    asks: frozenset[str]
    commands: frozenset[str]
    never: frozenset[str]


@cache
def shipped_lexicon() -> Lexicon:
    """The words of every language that ships, read on first use. Blocks."""
    return combine([language.followups for language in shipped_languages()])


def combine(specs: Iterable[FollowupWords]) -> Lexicon:
    """The words of some languages, together."""
    specs = list(specs)
    parts = [*specs, *(spec.references for spec in specs)]
    idle = [p for spec in specs for p in (*spec.fillers, *spec.leads, *spec.courtesies)]
    combined: dict[str, Any] = {"idle": frozenset(w for phrase in idle for w in words_of(phrase))}
    for name, kind in get_type_hints(Lexicon).items():
        own = [getattr(part, name) for part in parts if name in type(part).model_fields]
        if get_origin(kind) is Mapping:
            combined[name] = {word: said for words in own for word, said in words.items()}
        elif name not in combined:
            combined[name] = (get_origin(kind) or kind)(chain.from_iterable(own))
    return Lexicon(**combined)
