"""Text in the forms in which it is compared."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final
from unicodedata import normalize

PRIVATE: Final = range(0xE000, 0xE010)
"""Characters the engine uses as marks of its own; they are taken out of questions."""

NUMBER_MARK: Final = "\ue001"
"""Stands before digits that were written as words."""

DATE_MARK: Final = "\ue002"
"""Stands for a date that has been read."""

_AT_ONCE: Final = 256
"""Normalising is quadratic in a run of combining marks, so long text goes in pieces."""


_UNSEEN: Final = re.compile(
    "[\u00ad\u0591-\u05bd\u05bf-\u05c7\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]"
)
"""Marks that are not seen, and the points of Hebrew."""


def normalize_text(text: str) -> str:
    """One line of `text` in plain letters and lower case, without what is not seen."""
    plain = _UNSEEN.sub("", normalize("NFKC", text)).replace("’", "'")
    return " ".join(plain.split()).lower()


def lowered(text: str) -> str:
    """Return `text` in lower case, with the same length."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


@dataclass(frozen=True, slots=True)
class WritingRules:
    """How a pack's languages write: what to ignore, and what counts as the same.

    `replaced` maps single characters to what they mean, empty for those to ignore.
    `same` maps a letter to the one it is compared as; `finals` maps a letter to its
    form at the end of a word, except in words that hold one of `abbreviation_marks`.
    `trailing` punctuation may close a question; `word_marks` join letters into one word.
    `unspaced` are ranges of characters that each count as a word.
    """

    replaced: Mapping[str, str] = field(default_factory=dict)
    sequences: Mapping[str, str] = field(default_factory=dict)
    same: Mapping[str, str] = field(default_factory=dict)
    finals: Mapping[str, str] = field(default_factory=dict)
    trailing: str = ""
    word_marks: str = ""
    abbreviation_marks: str = ""
    unspaced: tuple[tuple[str, str], ...] = ()


@dataclass
class NormalizedText:
    """`clean` reads well; `folded` is for comparison. Offsets are the same in both."""

    clean: str
    folded: str
    words: list[str]

    @property
    def count(self) -> int:
        """How many words stand between spaces."""
        return self.clean.count(" ") + 1

    @cached_property
    def starts(self) -> list[int]:
        """Where each word begins in `folded`."""
        return starts_of(self.words, self.folded)

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Characters from word `first` up to, not including, word `last`."""
        return self.starts[first], self.starts[last - 1] + len(self.words[last - 1])


def starts_of(words: Iterable[str], text: str, position: int = 0) -> list[int]:
    """Where each of the words of `text` begins, from `position` on."""
    starts, find = [], text.find
    for word in words:
        # Between words stand only characters that no word begins with.
        position = find(word, position)
        starts.append(position)
        position += len(word)
    return starts


class Normalizer:
    """Turns questions, phrases and patterns into the forms that are compared."""

    def __init__(self, rules: WritingRules) -> None:
        self._replaced = str.maketrans(dict(rules.replaced) | {chr(code): " " for code in PRIVATE})
        self._in_patterns = str.maketrans(dict(rules.replaced))
        self._unclean = re.compile(f"[{re.escape(''.join(map(chr, self._replaced)))}]")
        self._sequences = tuple(rules.sequences.items())
        self._same_table = str.maketrans(dict(rules.same))
        self._finals = rules.finals
        self._trailing = rules.trailing + " "
        self._abbreviation_marks = frozenset(rules.abbreviation_marks)
        self._word = _word_pattern(rules.unspaced, re.escape(rules.word_marks))

    def read(self, raw: str) -> NormalizedText:
        clean = self.clean(raw)
        folded = self.fold(clean)
        return NormalizedText(clean, folded, self._word.findall(folded))

    def clean(self, raw: str) -> str:
        """One line without invisible marks, runs of spaces or trailing punctuation."""
        text = raw
        if not text.isascii():
            text = text.encode("utf-8", "replace").decode()
            text = normalize("NFKC", text) if len(text) <= _AT_ONCE else _in_pieces(text)
        if self._unclean.search(text):
            text = text.translate(self._replaced)
        for old, new in self._sequences:
            if old in text:
                text = text.replace(old, new)
        return " ".join(text.split()).rstrip(self._trailing)

    def fold(self, clean: str) -> str:
        """`clean` in lower case with every letter as it is compared; the same length."""
        return lowered(clean.translate(self._same_table))

    def fold_pattern(self, source: str) -> str:
        """A pattern as it is compared with folded text; its case is left to the compiler."""
        return normalize("NFKC", source).translate(self._in_patterns).translate(self._same_table)

    def split(self, folded: str) -> list[str]:
        """The words of text that is folded already."""
        return self._word.findall(folded)

    def words(self, phrase: str) -> list[str]:
        """The words of a phrase, folded."""
        return self._word.findall(self.fold(self.clean(phrase)))

    def words_in(self, text: NormalizedText, start: int, end: int) -> list[str]:
        """The words between characters `start` and `end`, where a word may be cut in two."""
        return self._word.findall(text.folded, start, end)

    def polish(self, text: str) -> str:
        """Give each word the form its last letter has at the end of a word."""
        if not self._finals:
            return text
        return " ".join([self._final(word) for word in text.split(" ")])

    def _final(self, word: str) -> str:
        if len(word) < 2 or not self._abbreviation_marks.isdisjoint(word):
            return word
        middle = word[:-1].translate(self._same_table)
        return middle + self._finals.get(word[-1], word[-1])


def _word_pattern(unspaced: Sequence[tuple[str, str]], marks: str) -> re.Pattern[str]:
    alone = "".join(f"{re.escape(first)}-{re.escape(last)}" for first, last in unspaced)
    letter = rf"[^\W_{alone}]"
    run = rf"{letter}+(?:[{marks}]{letter}+)*" if marks else rf"{letter}+"
    return re.compile(rf"[{alone}]|{run}" if alone else run)


def _in_pieces(text: str) -> str:
    return " ".join(
        "".join(normalize("NFKC", word[at : at + _AT_ONCE]) for at in range(0, len(word), _AT_ONCE))
        for word in text.split()
    )
