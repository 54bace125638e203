"""Numbers that are but half of something: the 1 of 1,5 and of 1/2."""

from typing import Final

from server.extraction.recognizers.span import Span
from server.extraction.recognizers.tokens import Tokens, is_digits

_SIGNS: Final = frozenset({",", "/"})


def torn(tokens: Tokens, span: Span) -> bool:
    """Whether the number can be read in two ways, for what it is glued to.

    1,5 is a fraction to some and two numbers to others; 1/2 is a fraction or a division.
    """
    return _joins(tokens, span.last) or _joins(tokens, span.first - 1)


def over(tokens: Tokens, one: Span, other: Span) -> bool:
    """Whether the two numbers stand as a fraction: 1/2."""
    return (
        other.first == one.last + 1 and tokens.words[one.last] == "/" and _joins(tokens, one.last)
    )


def _joins(tokens: Tokens, index: int) -> bool:
    return (
        tokens.word(index) in _SIGNS
        and is_digits(tokens.word(index - 1))
        and is_digits(tokens.word(index + 1))
        and tokens.glued(index)
        and tokens.glued(index + 1)
    )
