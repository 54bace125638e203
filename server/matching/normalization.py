"""The same question in plain words: courtesies left out, shorthand written in full.

"hi, could u pls round 17.8 for me" and "Round 17.8" ask for the same thing. A
language without `politeness` in its file passes through as it is.
"""

import re
from collections.abc import Iterable
from typing import Final

from server.text.language import shipped_languages

_WORD: Final = re.compile(r"[\w']+")
_WAYS: Final = tuple(language.politeness for language in shipped_languages())
_SHORTHAND: Final = {short: full for ways in _WAYS for short, full in ways.shorthand.items()}


def _any(phrases: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(phrases, key=len, reverse=True)))


_PLEASE: Final = _any(word for ways in _WAYS for word in ways.please)
_OPENINGS: Final = _any(
    phrase for ways in _WAYS for phrase in (*ways.please, *ways.greetings, *ways.requests)
)
_LAST_WORDS: Final = tuple(phrase for ways in _WAYS for phrase in ways.closings)
"""How a text ends that ends in a courtesy: most do not, and looking for one takes long."""
_BEFORE: Final = re.compile(rf"^(?:(?:{_OPENINGS})\b[\s,!.]*)+")
_AFTER: Final = re.compile(rf"(?:[\s,]*\b(?:{_any(_LAST_WORDS)})\b)+(?=[\s?.!]*$)")
_BETWEEN: Final = re.compile(rf"\b(?:{_PLEASE})\b\s*")


def normalize_text(text: str) -> str:
    """Return `text`, which is in lower case, in plain words; a mere courtesy stays as it is."""
    full = text
    if not _SHORTHAND.keys().isdisjoint(_WORD.findall(text)):
        full = _WORD.sub(lambda word: _SHORTHAND.get(word[0], word[0]), text)
    bare = _BEFORE.sub("", full)
    if bare.rstrip(" ?.!").endswith(_LAST_WORDS):
        bare = _AFTER.sub("", bare)
    bare = _BETWEEN.sub("", bare).strip()
    return bare if _WORD.search(bare) else full
