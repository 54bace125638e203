"""Money: currencies by sign, code and name, and which one a number is in."""

from typing import Final

from server.text.language import load_language
from server.text.tokens import Tokens, is_digits

_SHARED: Final = load_language("common").currencies
_ENGLISH: Final = load_language("en").currencies

SIGNS: Final = _SHARED.signs
CODES_LOWER: Final = {code.lower(): code for code in _SHARED.codes}
_SUFFIXES: Final = load_language("en").numbers.suffixes
_NAMES: Final = {
    tuple(name.split()): code for code, names in _ENGLISH.names.items() for name in names
}
_PHRASES: Final = _NAMES | {
    (*name[:-1], f"{name[-1]}s"): code
    for name, code in _NAMES.items()
    if not name[-1].endswith("s")
}
_LONGEST: Final = max(map(len, _PHRASES))
_TO: Final = frozenset({"to", "in", "into", "as"})

CURRENCY_STARTERS: Final = SIGNS.keys() | CODES_LOWER.keys() | {name[0] for name in _PHRASES}


def read_currency(tokens: Tokens, index: int) -> tuple[str, int] | None:
    """Return the currency that the word at `index` names or begins, and the index after it."""
    words, word = tokens.words, tokens.words[index]
    number = index - 1
    if tokens.word(number) in _SUFFIXES and tokens.glued(number):
        number -= 1  # 5k lei
    by_number = is_digits(tokens.word(number)) or is_digits(tokens.word(index + 1))
    certain = by_number or word not in _ENGLISH.ambiguous
    for length in range(min(_LONGEST, len(tokens) - index), 0, -1):
        code = _PHRASES.get(tuple(words[index : index + length]))
        if code and (length > 1 or certain):
            return code, index + length
    if word in SIGNS:
        meant = by_number or tokens.word(index - 1) in _TO
        return (_of_sign(tokens, index), index + 1) if meant else None
    code = CODES_LOWER.get(word)
    if code and (certain or tokens.slice(index, index + 1).isupper()):
        return code, index + 1
    return None


def currency_beside(tokens: Tokens, first: int, last: int) -> str:
    """Return the currency of the number that the words from `first` to `last` are, or empty."""
    before, after = tokens.word(first - 1), tokens.word(last)
    ends_another = tokens.glued(first - 1) and is_digits(tokens.word(first - 2))
    if before in SIGNS and not ends_another:
        return _of_sign(tokens, first - 1)
    if before in CODES_LOWER and before not in _ENGLISH.ambiguous:
        return CODES_LOWER[before]
    is_next = after in SIGNS and tokens.glued(last + 1) and is_digits(tokens.words[last + 1])
    read = read_currency(tokens, last) if after in CURRENCY_STARTERS and not is_next else None
    return read[0] if read else ""


def _of_sign(tokens: Tokens, index: int) -> str:
    sign, before = tokens.words[index], tokens.word(index - 1)
    if sign == "$" and tokens.glued(index) and before in _SHARED.sign_prefixes:
        return _SHARED.sign_prefixes[before]
    return SIGNS[sign]
