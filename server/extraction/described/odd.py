"""Parts of a text that are no plain words: formulas, codes, and spans of time."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import re2

from server.extraction.described.chunk import Form
from server.text.parsed_text import ParsedText
from server.text.tokens import Kind

_MOMENTS: Final[tuple[Kind, ...]] = ("date", "datetime", "time", "duration", "offset")
_ODD: Final = re2.compile(r"[^\s,;?!()\"“”]+")
_MOMENT: Final = re2.compile(
    r"(?i)\b(?:next|last|past|this|coming|previous|upcoming|current)\s+(?:\w+\s+)?"
    r"(?:weekend|week|month|year|day|hour|decade|century|quarter|season|summer|winter|spring|"
    r"autumn|fall)s?\b"
)
_FORMULA: Final = re2.compile(r"[\w.]+(?:\s?[-+*/^()]+\s?[\w.]+\)*)+")
_LETTER: Final = re2.compile(r"(?:^|[^A-Za-z])(?:[a-z]|sin|cos|tan|exp|log|ln|sqrt)(?:$|[^A-Za-z])")


class Odd(NamedTuple):
    """Where it stands, what it is, and the date or time that it says."""

    start: int
    end: int
    form: Form
    moment: Any = None


def formulas(reading: ParsedText) -> Iterator[Odd]:
    """What is written in letters, numbers and signs of arithmetic."""
    for found in _FORMULA.finditer(reading.clean):
        text = found.group()
        if any(c.isdigit() or c in "^*" for c in text) and _LETTER.search(text):
            yield Odd(found.start(), found.end(), "formula")


def odd_parts(reading: ParsedText) -> Iterator[Odd]:
    """Spans of time and codes, as they were written."""
    for found in _MOMENT.finditer(reading.clean):
        yield Odd(found.start(), found.end(), "moment")
    for kind in _MOMENTS:
        for span in reading.of(kind):
            yield Odd(span.start, span.end, "moment", span.value)
    for found in _ODD.finditer(reading.clean):
        text = found.group()
        word = text.strip(".:'’`*")
        if "'" not in word and _is_odd(word):
            start = found.start() + text.index(word)
            yield Odd(start, start + len(word), "code")


def _is_odd(word: str) -> bool:
    """Whether a word is a code, a path, a version: anything that is no plain word or name."""
    inner = word[1:-1]
    digits = any(map(str.isdigit, word))
    letters = any(map(str.isalpha, word))
    return digits or (
        len(word) > 1 and ("_" in inner or (letters and any(sign in word for sign in "/\\#@:")))
    )
