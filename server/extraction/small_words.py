"""The small words around values, of English and of the languages that a library is written in."""

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Final

from server.text.language import Language, WordGroup, load_language, shipped_names


class SmallWords:
    """Words of some languages together, each list read when it is first asked for."""

    def __init__(self, codes: tuple[str, ...]) -> None:
        known = [code for code in codes if code in shipped_names() and code != "en"]
        self._languages = [load_language(code) for code in ("en", *known)]
        self.capital_nouns = any(one.text.capital_nouns for one in self._languages)
        """Whether a capital letter makes no name of a word."""

    def _all(self, words: Callable[[Language], frozenset[str]]) -> frozenset[str]:
        return frozenset[str]().union(*map(words, self._languages))

    def _group(self, name: WordGroup) -> frozenset[str]:
        return self._all(lambda language: language.group(name))

    @cached_property
    def functions(self) -> frozenset[str]:
        """Words that are never a value by themselves; fillers too, beside those of English."""
        fillers = frozenset(
            phrase
            for language in self._languages[1:]
            for phrase in language.senses.get("filler", ())
            if " " not in phrase
        )
        return self._all(lambda language: language.function_words) | fillers

    @cached_property
    def articles(self) -> frozenset[str]:
        return self._group("articles")

    @cached_property
    def introducing(self) -> frozenset[str]:
        """What stands before a thing that is named by what it is: a red wallet, her red wallet."""
        return self._group("indefinite") | self.possessives

    @cached_property
    def owning(self) -> frozenset[str]:
        """What may stand within the name of a thing: a pair of glasses."""
        return self._group("owner_leads")

    @cached_property
    def contracted(self) -> frozenset[str]:
        """Prepositions that hold an article: im, zum."""
        return self._group("contracted")

    @cached_property
    def prepositions(self) -> frozenset[str]:
        return self._group("prepositions")

    @cached_property
    def polite(self) -> frozenset[str]:
        return self._group("polite")

    @cached_property
    def pronouns(self) -> frozenset[str]:
        return self._group("pronouns")

    @cached_property
    def possessives(self) -> frozenset[str]:
        return self._group("possessives")

    @cached_property
    def particles(self) -> frozenset[str]:
        """What stands in small letters within a name."""
        return self._group("name_particles")

    @cached_property
    def joints(self) -> frozenset[str]:
        """What stands between the members of a list."""
        return self._group("list_joints")

    @cached_property
    def name_ends(self) -> frozenset[str]:
        return self.prepositions | self._group("name_ends")

    @cached_property
    def loose(self) -> frozenset[str]:
        """Words with which no name ends."""
        return self.polite | self.prepositions | self.articles

    @cached_property
    def openers(self) -> frozenset[str]:
        """Words after which a text that is announced by its name and a colon is a whole phrase."""
        return self.articles | self.pronouns

    @cached_property
    def generic(self) -> frozenset[str]:
        """Words that stand before too many things to lead to a value alone."""
        return self.articles | self._group("generic_leads")


_MOST_LIBRARIES: Final = 64


@lru_cache(maxsize=_MOST_LIBRARIES)
def small_words(codes: tuple[str, ...]) -> SmallWords:
    """Return the small words of English and of the languages with these codes."""
    return SmallWords(codes)
