"""Signs of powers between numbers, which turn 2 and 8 into something else than they are."""

from typing import Final

from server.extraction.recognizers.reading import Reading
from server.extraction.recognizers.tokens import is_digits
from server.library.model import Template

_SIGNS: Final = {"^": ("^",), "**": ("*", "*")}


def powers_unknown_to(template: Template, reading: Reading) -> tuple[str, ...]:
    """Those of the question that no example of the template has: 2^8 is no 2 times 8."""
    return tuple(
        sign
        for sign, words in _SIGNS.items()
        if sign in reading.clean
        and _between_numbers(reading, words)
        and not any(sign in example for example in template.nl_examples)
    )


def _between_numbers(reading: Reading, words: tuple[str, ...]) -> bool:
    tokens, size = reading.tokens, len(words)
    return any(
        tuple(tokens.words[index : index + size]) == words
        and is_digits(tokens.word(index - 1))
        and is_digits(tokens.word(index + size))
        for index in range(1, len(tokens.words) - size)
    )
