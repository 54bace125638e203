"""Values that are told by how they are written: what the `pattern` of a parameter describes."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import re2

from server.text.parsed_text import ParsedText
from server.text.tokens import is_word

_ORDINARY: Final = ("a", "the", "please", "kitchen", "Miller", "two words", "I", "it's")
"""What a pattern that says anything about its values does not describe."""
_JOINTS: Final = re.compile(r"(?<=[A-Za-z])[ -]?(?=[0-9])")
"""Where the letters of a code end and its digits begin: TK-2087, TK 2087, TK2087."""
_BEGINS, _ENDS = ("^", r"\A"), ("$", r"\z")
_LONGEST: Final = 10
"""Words that a value has at most."""
_MOST_WORDS: Final = 400
"""Words of a text that are looked at; what is longer is no question."""
_MOST_SHAPES: Final = 1024


class Shape:
    """A pattern as a description of whole values."""

    def __init__(self, pattern: str) -> None:
        options = re2.Options()
        options.log_errors = False
        self._pattern: Any = re2.compile(pattern, options)
        self.is_telling = not any(map(self.takes, _ORDINARY))
        """Whether no ordinary word is such a value, so that one is known where it stands."""

    def takes(self, text: str) -> bool:
        """Whether all of a text is described."""
        return self._pattern.fullmatch(text) is not None

    def find(self, reading: ParsedText) -> Iterator[tuple[int, int, str]]:
        """The longest runs of whole words that are described, from left to right.

        Each with the value as the pattern has it: a code may be typed in small letters, and with or
        without a hyphen before its digits.
        """
        tokens, first = reading.tokens, 0
        while first < min(len(tokens), _MOST_WORDS):
            found = None if self._is_within(reading, first) else self._longest_at(reading, first)
            if found is not None:
                yield first, *found
            first = first + 1 if found is None else found[0]

    def _longest_at(self, reading: ParsedText, first: int) -> tuple[int, str] | None:
        tokens = reading.tokens
        for last in range(min(len(tokens), first + _LONGEST), first, -1):
            if last < len(tokens) and self._is_within(reading, last):
                continue
            written = reading.clean[tokens.starts[first] : tokens.ends[last - 1]]
            for text in self._spellings(written):
                if self.takes(text):
                    return last, text
        return None

    def _spellings(self, written: str) -> Iterator[str]:
        yield written
        if any(map(str.isdigit, written)):
            for joint in ("", "-", " "):
                joined = _JOINTS.sub(joint, written)
                yield from dict.fromkeys((joined, joined.upper(), joined.lower()))

    @staticmethod
    def _is_within(reading: ParsedText, at: int) -> bool:
        """Whether a letter or a digit stands on both sides of the beginning of this word."""
        tokens = reading.tokens
        if at == 0 or not tokens.glued(at):
            return False
        before, after = tokens.words[at - 1], tokens.words[at]
        return (is_word(before) or before.isalnum()) and (is_word(after) or after.isalnum())


@lru_cache(maxsize=_MOST_SHAPES)
def shape_of(pattern: str) -> Shape | None:
    """Return the shape that a pattern describes; None where it does not tell values from words.

    One without anchors describes but a part of a value.
    """
    if not (pattern.startswith(_BEGINS) and pattern.endswith(_ENDS)):
        return None
    shape = Shape(pattern)
    return shape if shape.is_telling else None
