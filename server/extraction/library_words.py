"""The words that the templates of one library are about."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from server.extraction.frame import Frame
from server.text.senses import SenseReader, sense_reader
from server.text.spelling import SpellingIndex
from server.text.stems import stem
from server.text.tokens import is_digits, is_word

_SHORTEST: Final = 4
"""Letters of a word that another may be a slip for."""


@dataclass(slots=True)
class LibraryWords:
    """The telling words of a whole library, and those of its values."""

    stems: set[str] = field(default_factory=set)
    values: set[str] = field(default_factory=set)
    _written: dict[str, str] = field(default_factory=dict)
    _spelling: dict[str, SpellingIndex] = field(default_factory=dict)

    def add(self, frame: Frame, values: Iterable[str]) -> None:
        """Add the words of a template, and those of its values."""
        self.stems.update(frame.stems)
        self._written |= frame.words
        self.values.update(values)
        self._spelling.clear()

    def add_words(self, words: Iterable[str], languages: Iterable[str]) -> None:
        """Add words that were counted over a whole library, but for those that bear nothing."""
        readers = [sense_reader(code) for code in languages]
        for word in words:
            if is_word(word) and not any(word in reader.small_words for reader in readers):
                found = [stem(word, reader.code) for reader in readers]
                self.stems.update(found)
                self._written.setdefault(word, found[0])
        self._spelling.clear()

    def near(self, word: str, reader: SenseReader) -> Sequence[str]:
        """Stems of the library's words that are one slip of the pen away; "" for a small word."""
        return [self._written.get(known, "") for known in self.spelling(reader).near(word)]

    def spelling(self, reader: SenseReader) -> SpellingIndex:
        """The spellings of the library's words and a language's small ones, made when first asked
        for.
        """
        found = self._spelling.get(reader.code)
        if found is None:
            words = dict.fromkeys((*self._written, *reader.small_words))
            long = dict.fromkeys(word for word in words if len(word) >= _SHORTEST)
            found = self._spelling[reader.code] = SpellingIndex(long)
        return found

    def is_about(self, word: str, languages: Iterable[str]) -> bool:
        """Whether it is a word of what its templates are about, in one of the languages."""
        return any(stem(word, code) in self.stems for code in languages)

    def knows(self, words: Iterable[str], code: str) -> bool:
        """Whether any of the words is one of the library's, or of its values."""
        return any(
            word in self.values or stem(word, code) in self.stems or is_digits(word)
            for word in words
        )
