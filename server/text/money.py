"""Money: which currency a number is in, and currencies on their own."""

from typing import Final

from server.text.currencies import (
    CODES_LOWER,
    COMMON_WORDS,
    FIRST_WORDS,
    LONGEST_PHRASE,
    PHRASES,
    SIGN_PREFIXES,
    SIGNS,
)
from server.text.numbers import SUFFIXES
from server.text.tokens import Tokens, is_digits

_TO: Final = frozenset({"to", "in", "into", "as"})

STARTERS: Final = frozenset(SIGNS) | frozenset(CODES_LOWER) | FIRST_WORDS


def read_currency(tokens: Tokens, index: int) -> tuple[str, int] | None:
    """The currency that the word at `index` names or begins, and the index after it."""
    for length in range(min(LONGEST_PHRASE, len(tokens) - index), 0, -1):
        phrase = tuple(tokens.words[index : index + length])
        code = PHRASES.get(phrase)
        if code and (length > 1 or phrase[0] not in COMMON_WORDS or _by_number(tokens, index)):
            return code, index + length
    word = tokens.words[index]
    if word in SIGNS:
        meant = _by_number(tokens, index) or tokens.word(index - 1) in _TO
        return (_signed(tokens, index), index + 1) if meant else None
    code = CODES_LOWER.get(word, "")
    if not code:
        return None
    written = tokens.text[tokens.starts[index] : tokens.ends[index]]
    if written.isupper() or word not in COMMON_WORDS or _by_number(tokens, index):
        return code, index + 1
    return None


def currency_beside(tokens: Tokens, first: int, last: int) -> str:
    """The currency of the number that stands at the words from `first` to `last`, or empty."""
    before = tokens.word(first - 1)
    ends_another = tokens.glued(first - 1) and is_digits(tokens.word(first - 2))
    if before in SIGNS and not ends_another:
        return _signed(tokens, first - 1)
    if before in CODES_LOWER and before not in COMMON_WORDS:
        return CODES_LOWER[before]
    belongs_to_next = tokens.word(last) in SIGNS and is_digits(tokens.word(last + 1))
    if tokens.word(last) in STARTERS and not (belongs_to_next and tokens.glued(last + 1)):
        read = read_currency(tokens, last)
        return read[0] if read else ""
    return ""


def _signed(tokens: Tokens, index: int) -> str:
    sign = tokens.words[index]
    before = tokens.word(index - 1)
    if sign == "$" and before in SIGN_PREFIXES and tokens.glued(index):
        return SIGN_PREFIXES[before]
    return SIGNS[sign]


def _by_number(tokens: Tokens, index: int) -> bool:
    before = index - 1
    if tokens.word(before) in SUFFIXES and tokens.glued(before):
        before -= 1  # 5k lei
    return is_digits(tokens.word(before)) or is_digits(tokens.word(index + 1))
