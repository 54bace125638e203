"""Stems of English words: "driving", "drives" and "drive" have the same."""

from functools import lru_cache
from typing import Final

_ENDINGS: Final = (
    "ational", "ities", "ility", "iness", "fulness", "ments", "ment", "ingly",
    "edly", "ically", "ical", "ings", "ing", "ions", "ion", "ives", "ive", "ances", "ance", "ences",
    "ence", "ents", "ers", "ors", "ies", "ied", "ily", "ity", "ed", "er", "or", "ly", "al", "es",
    "s", "e", "y",
)  # fmt: skip
_LEAST_LEFT: Final = 3
_LEAST_BEFORE_AT: Final = 4


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return the stem of a lower-cased word; not always a word, but equal for related forms."""
    if len(word) <= _LEAST_LEFT or not word.isascii():
        return word
    if word.endswith("ss"):
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST_LEFT:
            word = word[: -len(ending)]
            break
    if word.endswith("at") and len(word) > _LEAST_BEFORE_AT + 2:
        word = word[:-2]  # calculat-e, calculat-ion
    if len(word) > _LEAST_LEFT and word[-1] in "ey":
        word = word[:-1]
    if len(word) > _LEAST_LEFT and word[-1] == word[-2] and word[-1] not in "s":
        word = word[:-1]
    return word
