"""Text cut into words, numbers and signs, and what a recogniser finds in it."""

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import Any, Final, Literal, NamedTuple

Kind = Literal[
    "number",  # int, float or Decimal; `unit` is %, a currency, a unit of time, or empty
    "currency",  # ISO 4217 code
    "date",  # datetime.date
    "datetime",  # datetime.datetime, naive or aware as it was written
    "time",  # datetime.time
    "duration",  # Duration; `unit` is "-" when it counts backwards
    "offset",  # datetime.date that a duration leads to: in 3 days, 2 weeks ago
    "anchor",  # datetime.date that a word implies: the "ago" of 2 weeks ago is today
    "email",
    "url",
    "date_format",  # how a date is to be written
    "quoted",  # the text between the quotes
    "array",  # JSON
    "object",  # JSON
    "unreadable",  # looks like a value of kind `unit`, and is none; `value` says why
]

DateOrder = Literal["mdy", "dmy"]
"""Which part of 03/04/2025 is the month: the first, or the second."""


class Span(NamedTuple):
    """A value and where it stands: characters `start` to `end`, words `first` to `last`.

    A tuple and no dataclass because each question makes dozens of them.
    """

    kind: Kind
    start: int
    end: int
    first: int
    last: int
    value: Any
    unit: str = ""
    weak: bool = False
    """Reads as a value only where nothing better stands."""


MAX_TOKENS: Final = 10_000
"""A text of more words is not read at all, since half a list of numbers would be a wrong
one. Blocks of JSON count as one word each."""

# One run of one kind of character at a time, with nothing to go back to: linear on any text.
_TOKEN: Final = re.compile(r"[0-9]+|[^\W0-9_]+|[^\w\s]|_")

BLOCK: Final = "\0"
"""First character of the word that stands for a block: JSON, a quote, a URL, an email."""


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


def word_set(text: str) -> frozenset[str]:
    """The words of `text`, which are separated by spaces."""
    return frozenset(text.split())


def is_word(word: str) -> bool:
    """Whether it is letters: no number, no sign, no block."""
    return word[:1].isalpha()


def is_digits(word: str) -> bool:
    return "0" <= word[:1] <= "9"
