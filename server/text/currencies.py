"""Currencies: signs, codes and names, to ISO 4217 codes."""

from typing import Final

from server.text.language import load_language

_SHARED: Final = load_language("common").currencies
_ENGLISH: Final = load_language("en").currencies

SIGNS: Final = _SHARED.signs
SIGN_PREFIXES: Final = _SHARED.sign_prefixes
"""US$, C$, A$ …"""
CODES: Final = _SHARED.codes
CODES_LOWER: Final = {code.lower(): code for code in CODES}
COMMON_WORDS: Final = _ENGLISH.ambiguous

_NAMES: Final = {
    tuple(name.split()): code for code, names in _ENGLISH.names.items() for name in names
}
PHRASES: Final = _NAMES | {
    (*name[:-1], f"{name[-1]}s"): code
    for name, code in _NAMES.items()
    if not name[-1].endswith("s")
}
LONGEST_PHRASE: Final = max(map(len, PHRASES))
FIRST_WORDS: Final = frozenset(phrase[0] for phrase in PHRASES)
