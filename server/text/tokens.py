"""Text cut into words, numbers and signs, in the three ways that are needed.

`Tokens` keeps digits, letters and signs apart, each with its place, for what reads values.
`tokens` is the plain list that matching learns from. `message_words` keeps "what's" and
"e-mail" together, as people's own words are compared in a conversation.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import Any, Final, Literal, NamedTuple

from server.text.normalizer import lowered

MAX_TOKENS: Final = 10_000
"""A text of more words is not read at all, since half a list of numbers would be a wrong
one. Blocks of JSON count as one word each."""

LETTER: Final = r"[^\W0-9_]"
"""A letter, in a pattern."""

# One run of one kind of character at a time, with nothing to go back to: linear on any text.
_TOKEN: Final = re.compile(rf"[0-9]+|{LETTER}+|[^\w\s]|_")
_WORD_OR_SIGN: Final = re.compile(r"\w+|[^\w\s]")

BLOCK: Final = "\0"
"""First character of the word that stands for a block: JSON, a quote, a URL, an email."""

_MESSAGE_WORD: Final = re.compile(r"[^\W_]+(?:['’´`\"״׳.,/-]?[^\W_]+)*")
_WORD_OR_ANY_SIGN: Final = re.compile(rf"{_MESSAGE_WORD.pattern}|[^\s\w]|_")
_QUIET: Final = frozenset(".,;:!?¿¡…\"'“”‘’«»()·׃־-–—")
"""Signs that say nothing of their own, unless they are dashes that stand alone."""
DASHES: Final = frozenset("-–—")

Kind = Literal[
    "number",  # int, float or Decimal; `unit` is %, a currency, a unit of time, or empty
    "rate",  # a number with what it is per, in `unit`
    "currency",  # ISO 4217 code
    "date",  # datetime.date
    "datetime",  # datetime.datetime, naive or aware as it was written
    "time",  # datetime.time
    "duration",  # Duration; `unit` is "-" when it counts backwards
    "offset",  # datetime.date that a duration leads to: in 3 days, 2 weeks ago
    "anchor",  # datetime.date that a word implies: the "ago" of 2 weeks ago is today
    "email",
    "url",
    "country",  # the name of a country
    "timezone",  # the name of a zone, or its offset
    "date_format",  # how a date is to be written
    "quoted",  # the text between the quotes
    "array",  # JSON
    "object",  # JSON
    "unreadable",  # looks like a value of kind `unit`, and is none; `value` says why
]

DateOrder = Literal["mdy", "dmy"]
"""Which part of 03/04/2025 is the month: the first, or the second."""


class Span(NamedTuple):
    """A value and where it stands: characters `start` to `end`, words `first` to `last`."""

    kind: Kind
    start: int
    end: int
    first: int
    last: int
    value: Any
    unit: str = ""
    weak: bool = False
    """Reads as a value only where nothing better stands."""


Words = tuple[str, ...]
MOST_CHARS: Final = 2000
"""A longer message goes on with nothing: it is a question of its own."""


class Tokens:
    """The words of a text, lower-cased, with their places.

    A block (JSON, a quote, a URL, an email) is one word, `BLOCK` and its kind. `folded` is
    the text for patterns: in lower case, of the same length, with its blocks blanked out.
    `languages` are those that it may be in, beside English.
    """

    __slots__ = ("ends", "folded", "languages", "starts", "text", "too_many", "words")

    def __init__(
        self, text: str, blocks: Iterable[Span] = (), languages: tuple[str, ...] = ()
    ) -> None:
        self.text = text
        self.languages = languages
        self.words: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.too_many = False
        folded = text.lower()
        if len(folded) != len(text):
            folded = lowered(text)
        position = 0
        for block in (*blocks, None):
            for match in _TOKEN.finditer(text, position, block.start if block else len(text)):
                if len(self.words) >= MAX_TOKENS:
                    self.too_many = True
                    break
                self.words.append(match[0].lower())
                self.starts.append(match.start())
                self.ends.append(match.end())
            if block is not None:
                self.words.append(BLOCK + block.kind)
                self.starts.append(block.start)
                self.ends.append(position := block.end)
                blank = BLOCK * (position - block.start)
                folded = folded[: block.start] + blank + folded[position:]
        self.folded = folded
        if self.too_many:
            self.words, self.starts, self.ends = [], [], []

    def __len__(self) -> int:
        return len(self.words)

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


def split_words(text: str) -> tuple[str, ...]:
    """The words that `Tokens` has of a text without blocks, where no place is asked for."""
    return tuple(word.lower() for word in _TOKEN.findall(text))


def is_word(word: str) -> bool:
    return word[:1].isalpha()


def is_digits(word: str) -> bool:
    return "0" <= word[:1] <= "9"


def tokens(text: str) -> list[str]:
    """Return words and single signs, case-folded: `5+7?` is `5`, `+`, `7`, `?`."""
    return _WORD_OR_SIGN.findall(text.casefold())


class Word(NamedTuple):
    """`text` is folded for comparison; `start` and `end` are characters of the message."""

    text: str
    start: int
    end: int


_APOSTROPHES: Final = str.maketrans("’´`", "'''")


def fold(text: str) -> str:
    """Return `text` in lower case with one kind of apostrophe."""
    return text.casefold().translate(_APOSTROPHES)


def message_words(text: str) -> list[Word]:
    """Return the words of a message, and the signs that mean something, in order.

    A dash means something where it stands alone between blanks, as in "7 - 2".
    """
    words: list[Word] = []
    for match in _WORD_OR_ANY_SIGN.finditer(text):
        sign, start, end = match[0], match.start(), match.end()
        if sign[0].isalnum():
            words.append(Word(fold(sign), start, end))
        elif sign not in _QUIET or (
            sign in DASHES and text[start - 1 : start] + text[end : end + 1] == "  "
        ):
            words.append(Word(sign, start, end))
    return words


def words_of(text: str) -> Words:
    """Return the words of a message, to compare."""
    return tuple(word.text for word in message_words(text))


def lead_at(text: str, place: int) -> str:
    """Return the word right before `place`; empty when something else stands there."""
    if len(text) > MOST_CHARS:
        return ""
    *_, before = None, *_MESSAGE_WORD.finditer(text, 0, place)
    if before is None or text[before.end() : place].strip(" \t\"'“#$€£-−"):
        return ""
    return before[0].casefold().translate(_APOSTROPHES)
