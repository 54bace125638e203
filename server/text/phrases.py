"""Known phrases in a text: on word boundaries, longest first, forgiving a slip of the pen."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from server.extraction.english import FUNCTION_WORDS, WEAK_CHOICES
from server.text.tokens import Tokens

_MIN_FUZZY: Final = 5
"""Shorter words must be spelt as they are; one letter makes another word of them."""
_MAX_FUZZY: Final = 40
_MAX_SLIPS: Final = 400
"""Words of a text that are looked at for slips."""
MANY: Final = 200
"""Phrases that are found in one text at most."""
_JOINTS: Final = frozenset("-_'’")


class Phrase(NamedTuple):
    """A known phrase at the words from `first` to `last`."""

    first: int
    last: int
    value: Any
    weak: bool


class PhraseTable:
    """Phrases, each with its value; made once, searched often."""

    __slots__ = ("_longest", "_near", "_phrases", "_starts")

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._phrases: dict[tuple[str, ...], Any] = {}
        for text, value in values.items():
            words = tuple(_significant(Tokens(text)))
            if words:
                self._phrases.setdefault(words, value)
        self._longest: dict[str, int] = {}
        for words in self._phrases:
            self._longest[words[0]] = max(self._longest.get(words[0], 0), len(words))
        self._near: dict[str, Any] | None = None

    def __bool__(self) -> bool:
        return bool(self._phrases)

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

    def _exact(self, tokens: Tokens) -> Iterator[Phrase]:
        words, index, count = tokens.words, 0, len(tokens)
        while index < count:
            longest = self._longest.get(words[index])
            if longest is None:
                index += 1
                continue
            found = self._at(tokens, index, longest)
            if found is None:
                index += 1
            else:
                yield found
                index = found.last

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
                weak = len(key) == 1 and key[0] in WEAK_CHOICES
                best = Phrase(index, at, self._phrases[key], weak)
        return best

    def _slips(self, tokens: Tokens) -> Iterator[Phrase]:
        for index, word in enumerate(tokens.words[:_MAX_SLIPS]):
            known, value = self._slip(word)
            if known:
                yield Phrase(index, index + 1, value, weak=False)

    def _slip(self, word: str) -> tuple[bool, Any]:
        """Whether `word` is a known one with a slip in it, and that one's value."""
        if not _MIN_FUZZY <= len(word) <= _MAX_FUZZY or word in FUNCTION_WORDS:
            return False, None
        if self._near is None:  # most tables never need it
            self._near = _near_misses(self._phrases)
        for form in _forms(word) if self._near else ():
            if form in self._near:
                return True, self._near[form]
        return False, None


def _significant(tokens: Tokens) -> Sequence[str]:
    """The words without the hyphens, underscores and apostrophes that join them."""
    return [
        word
        for index, word in enumerate(tokens.words)
        if not (word in _JOINTS and _inside_word(tokens, index))
    ]


def _inside_word(tokens: Tokens, index: int) -> bool:
    return (
        tokens.glued(index)
        and tokens.glued(index + 1)
        and tokens.words[index - 1][0].isalnum()
        and tokens.words[index + 1][0].isalnum()
    )


def _near_misses(phrases: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
    """What single words may be mistyped as, without those that fit two values."""
    found: dict[str, Any] = {}
    ambiguous: set[str] = set()
    for words, value in phrases.items():
        word = words[0]
        if len(words) > 1 or not word.isalpha() or not _MIN_FUZZY <= len(word) <= _MAX_FUZZY:
            continue
        for form in _forms(word):
            if form in found and found[form] != value:
                ambiguous.add(form)
            found.setdefault(form, value)
    return {form: value for form, value in found.items() if form not in ambiguous}


def _forms(word: str) -> list[str]:
    """The word, and the word with one letter missing; the first letter must be right.

    Two words share a form when they are one slip apart: a letter more, less, other, or
    two that changed places.
    """
    return [word, *(word[:at] + word[at + 1 :] for at in range(1, len(word)))]
