"""Known phrases in a text: on word boundaries, longest first, forgiving a slip of the pen."""

from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from server.text.language import load_language
from server.text.spelling import SpellingIndex
from server.text.stems import inflections
from server.text.tokens import Tokens

_ENGLISH: Final = load_language("en")
_FUNCTION_WORDS: Final = _ENGLISH.function_words
_WEAK_CHOICES: Final = _ENGLISH.group("weak_choices") | frozenset("=-+*/.,:")

_MIN_FUZZY: Final = 5
"""Shorter words must be spelt as they are; one letter makes another word of them."""
_SHORTEST_NOUN: Final = 3
_MAX_FUZZY: Final = 40
_MAX_SLIPS: Final = 400
"""Words of a text that are looked at for slips."""
MANY: Final = 200
"""Phrases that are found in one text at most."""
_JOINTS: Final = frozenset("-_'’")


class Phrase(NamedTuple):
    """A known phrase at the words from `first` to `last`, or one word with a slip in it."""

    first: int
    last: int
    value: Any
    weak: bool
    slip: bool = False


class PhraseTable:
    """Phrases, each with its value; made once, searched often. The last word may be a plural."""

    __slots__ = ("_by_value", "_longest", "_near", "_phrases", "_starts")

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._phrases: dict[tuple[str, ...], Any] = {}
        for text, value in values.items():
            words = tuple(_significant(Tokens(text)))
            if words:
                self._phrases.setdefault(words, value)
        for words, value in list(self._phrases.items()):
            if words[-1].isalpha() and len(words[-1]) >= _SHORTEST_NOUN:
                for last in inflections(words[-1]):
                    self._phrases.setdefault((*words[:-1], last), value)
        self._longest: dict[str, int] = {}
        for words in self._phrases:
            self._longest[words[0]] = max(self._longest.get(words[0], 0), len(words))
        self._near: SpellingIndex | None = None
        self._by_value: dict[str, set[str]] | None = None

    def __bool__(self) -> bool:
        return bool(self._phrases)

    def words(self) -> Iterator[str]:
        """Every word of every phrase."""
        return (word for phrase in self._phrases for word in phrase)

    def words_of(self, value: Any) -> frozenset[str]:
        """Every word of the phrases that have this value."""
        if self._by_value is None:
            self._by_value = {}
            for phrase, known in self._phrases.items():
                self._by_value.setdefault(str(known), set()).update(phrase)
        return frozenset(self._by_value.get(str(value), ()))

    def lookup(self, text: str) -> tuple[bool, Any]:
        """Whether the whole `text` is a known phrase, and its value."""
        words = tuple(_significant(Tokens(text)))
        if words in self._phrases:
            return True, self._phrases[words]
        if len(words) == 1:
            return self._slip(words[0])
        return False, None

    def find(self, tokens: Tokens) -> list[Phrase]:
        """Every known phrase, none inside another, in order of mention.

        When there is none as it should be spelt, words with one slip count.
        """
        return list(islice(self._exact(tokens), MANY)) or list(self._slips(tokens))

    def find_turned(self, tokens: Tokens, copulas: Container[str]) -> Iterator[Phrase]:
        """Phrases whose last word stands first, or is said of the others: the cable is damaged.

        Those that are said so are where their last word is.
        """
        places: dict[str, list[int]] = {}
        for at, word in enumerate(tokens.words[:_MAX_SLIPS]):
            places.setdefault(word, []).append(at)
        for words, value in self._phrases.items():
            *rest, last = words
            if not rest or not all(
                len(word) >= _SHORTEST_NOUN and word in places for word in words
            ):
                continue
            size = len(rest)
            begins = [at for at in places[rest[0]] if [*tokens.words[at : at + size]] == rest]
            for at in places[last]:
                if at + 1 in begins:
                    yield Phrase(at, at + 1 + size, value, weak=False)
                elif at and tokens.words[at - 1] in copulas and any(b < at for b in begins):
                    yield Phrase(at, at + 1, value, weak=False)

    def _exact(self, tokens: Tokens) -> Iterator[Phrase]:
        index = 0
        while index < len(tokens):
            longest = self._longest.get(tokens.words[index], 0)
            found = self._at(tokens, index, longest) if longest else None
            if found is not None:
                yield found
            index = found.last if found is not None else index + 1

    def _at(self, tokens: Tokens, index: int, longest: int) -> Phrase | None:
        phrase: list[str] = []
        best: Phrase | None = None
        at = index
        while at < len(tokens) and len(phrase) < longest:
            word = tokens.words[at]
            at += 1
            if phrase and word in _JOINTS and _inside_word(tokens, at - 1):
                continue
            phrase.append(word)
            key = tuple(phrase)
            if key in self._phrases:
                weak = len(key) == 1 and key[0] in _WEAK_CHOICES
                best = Phrase(index, at, self._phrases[key], weak)
        return best

    def _slips(self, tokens: Tokens) -> Iterator[Phrase]:
        for index, word in enumerate(tokens.words[:_MAX_SLIPS]):
            known, value = self._slip(word)
            if known:
                yield Phrase(index, index + 1, value, weak=False, slip=True)

    def _slip(self, word: str) -> tuple[bool, Any]:
        """Return whether `word` is a known one with a slip in it, and that one's value."""
        if not _MIN_FUZZY <= len(word) <= _MAX_FUZZY or word in _FUNCTION_WORDS:
            return False, None
        if self._near is None:  # most tables never need it
            self._near = SpellingIndex(
                words[0] for words in self._phrases if len(words) == 1 and _may_slip(words[0])
            )
        found = [self._phrases[known,] for known in self._near.near(word)]
        if found and all(value == found[0] for value in found):
            return True, found[0]
        return False, None


def _may_slip(word: str) -> bool:
    return word.isalpha() and _MIN_FUZZY <= len(word) <= _MAX_FUZZY


def _significant(tokens: Tokens) -> Sequence[str]:
    """Return the words without the hyphens, underscores and apostrophes that join them."""
    joints = {at for at, word in enumerate(tokens.words) if word in _JOINTS}
    return [
        w for at, w in enumerate(tokens.words) if not (at in joints and _inside_word(tokens, at))
    ]


def _inside_word(tokens: Tokens, index: int) -> bool:
    return (
        tokens.glued(index)
        and tokens.glued(index + 1)
        and tokens.words[index - 1][0].isalnum()
        and tokens.words[index + 1][0].isalnum()
    )
