"""A message cut into words that can be compared, each with its place."""

import re
from dataclasses import dataclass
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+(?:['’´`\"״׳.,/-]?[^\W_]+)*")
_SIGN: Final = re.compile(r"[^\s\w]|_")
_QUIET: Final = frozenset(".,;:!?¿¡…\"'“”‘’«»()·׃־-–—")
"""Signs that say nothing of their own, unless they are dashes that stand alone."""
DASHES: Final = frozenset("-–—")

Words = tuple[str, ...]
MOST_CHARS: Final = 2000
"""A longer message goes on with nothing: it is a question of its own."""


@dataclass(frozen=True, slots=True)
class Word:
    """`text` is folded for comparison; `start` and `end` are characters of the message."""

    text: str
    start: int
    end: int


def fold(text: str) -> str:
    return text.casefold().replace("’", "'").replace("´", "'").replace("`", "'")


def split(text: str) -> list[Word]:
    """The words of `text`, and the signs that mean something, in order."""
    found = [Word(fold(m[0]), m.start(), m.end()) for m in _WORD.finditer(text)]
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
    return tuple(word.text for word in split(text))


def lead_at(text: str, place: int) -> str:
    """The word right before `place`; empty when something else stands there."""
    if len(text) > MOST_CHARS:
        return ""
    before = [word for word in split(text[:place]) if word.text[0].isalnum()]
    if not before or text[before[-1].end : place].strip(" \t\"'“#$€£-−"):
        return ""
    return before[-1].text


def _start(word: Word) -> int:
    return word.start
