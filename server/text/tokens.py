"""Text cut into words, numbers and signs."""

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from server.text.span import Span

MAX_TOKENS: Final = 10_000
"""A text of more words is not read at all, since half a list of numbers would be a wrong
one. Blocks of JSON count as one word each."""

# One run of one kind of character at a time, with nothing to go back to: linear on any text.
_TOKEN: Final = re.compile(r"[0-9]+|[^\W0-9_]+|[^\w\s]|_")

_WORD_OR_SIGN: Final = re.compile(r"\w+|[^\w\s]")

BLOCK: Final = "\0"
"""First character of the word that stands for a block: JSON, a quote, a URL, an email."""

_MESSAGE_WORD: Final = re.compile(r"[^\W_]+(?:['’´`\"״׳.,/-]?[^\W_]+)*")
_SIGN: Final = re.compile(r"[^\s\w]|_")
_QUIET: Final = frozenset(".,;:!?¿¡…\"'“”‘’«»()·׃־-–—")
"""Signs that say nothing of their own, unless they are dashes that stand alone."""
DASHES: Final = frozenset("-–—")

Words = tuple[str, ...]
MOST_CHARS: Final = 2000
"""A longer message goes on with nothing: it is a question of its own."""


class Tokens:
    """The words of a text, lower-cased, with their places.

    A block (JSON, a quote, a URL, an email) is one word, `BLOCK` and its kind.
    """

    __slots__ = ("ends", "starts", "text", "too_many", "words")

    def __init__(self, text: str, blocks: Iterable[Span] = ()) -> None:
        self.text = text
        self.words: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.too_many = False
        position = 0
        for block in blocks:
            self._read(position, block.start)
            self._add(BLOCK + block.kind, block.start, block.end)
            position = block.end
        self._read(position, len(text))
        if self.too_many:
            self.words, self.starts, self.ends = [], [], []

    def __len__(self) -> int:
        return len(self.words)

    def _read(self, start: int, end: int) -> None:
        text = self.text
        for match in _TOKEN.finditer(text, start, end):
            if len(self.words) >= MAX_TOKENS:
                self.too_many = True
                return
            first, last = match.span()
            self._add(text[first:last].lower(), first, last)

    def _add(self, word: str, start: int, end: int) -> None:
        self.words.append(word)
        self.starts.append(start)
        self.ends.append(end)

    def word(self, index: int) -> str:
        """The word at `index`; empty before the first and after the last."""
        return self.words[index] if 0 <= index < len(self.words) else ""

    def glued(self, index: int) -> bool:
        """Whether nothing stands between the word at `index` and the one before it."""
        return 0 < index < len(self.words) and self.starts[index] == self.ends[index - 1]

    def index_at(self, position: int) -> int:
        """Index of the first word that ends after `position`."""
        return bisect_right(self.ends, position)

    def slice(self, first: int, last: int) -> str:
        """The text from the word at `first` up to, and without, the word at `last`."""
        return self.text[self.starts[first] : self.ends[last - 1]]


def is_word(word: str) -> bool:
    """Whether it is letters: no number, no sign, no block."""
    return word[:1].isalpha()


def is_digits(word: str) -> bool:
    return "0" <= word[:1] <= "9"


def tokens(text: str) -> list[str]:
    """Words and single signs, case-folded, in order: `5+7?` is `5`, `+`, `7`, `?`."""
    return _WORD_OR_SIGN.findall(text.casefold())


@dataclass(frozen=True, slots=True)
class Word:
    """`text` is folded for comparison; `start` and `end` are characters of the message."""

    text: str
    start: int
    end: int


def fold(text: str) -> str:
    return text.casefold().replace("’", "'").replace("´", "'").replace("`", "'")


def message_words(text: str) -> list[Word]:
    """The words of `text`, and the signs that mean something, in order."""
    found = [Word(fold(m[0]), m.start(), m.end()) for m in _MESSAGE_WORD.finditer(text)]
    inside = {place for word in found for place in range(word.start, word.end)}
    signs = [
        Word(m[0], m.start(), m.end())
        for m in _SIGN.finditer(text)
        if m.start() not in inside and (m[0] not in _QUIET or _alone(text, m))
    ]
    return sorted((*found, *signs), key=_start) if signs else found


def _alone(text: str, sign: re.Match[str]) -> bool:
    """Whether a dash stands between words, as the minus of "7 - 2" does."""
    around = text[sign.start() - 1 : sign.start()] + text[sign.end() : sign.end() + 1]
    return sign[0] in DASHES and around == "  "


def words_of(text: str) -> Words:
    """The words of `text`, to compare."""
    return tuple(word.text for word in message_words(text))


def lead_at(text: str, place: int) -> str:
    """The word right before `place`; empty when something else stands there."""
    if len(text) > MOST_CHARS:
        return ""
    before = [word for word in message_words(text[:place]) if word.text[0].isalnum()]
    if not before or text[before[-1].end : place].strip(" \t\"'“#$€£-−"):
        return ""
    return before[-1].text


def _start(word: Word) -> int:
    return word.start
