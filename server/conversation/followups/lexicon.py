"""The words with which people go on with what was said, of all languages together."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

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
    """The words of every language that ships, read on first use. Blocks."""
    return combine([language.followups for language in shipped_languages()])


def combine(specs: Iterable[FollowupWords]) -> Lexicon:
    """The words of some languages, together."""
    specs = list(specs)
    refers = [spec.references for spec in specs]
    idle = {
        word
        for spec in specs
        for phrase in (*spec.fillers, *spec.leads, *spec.courtesies)
        for word in words_of(phrase)
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
