"""Words cut down to what their forms share: "driving", "drives" and "drive" are `drive`."""

import unicodedata
from functools import lru_cache
from threading import Lock
from typing import Any, Final

from server.text.language import load_language, shipped_names

_SIBILANTS: Final = ("s", "x", "z", "sh", "ch")
_VOWELS: Final = "aeiou"
_SHORTEST_VERB: Final = 3
_lock: Final = Lock()  # a Snowball stemmer works on one word at a time


@lru_cache(maxsize=20_000)
def stem(word: str, code: str = "en") -> str:
    """The stem of `word`, lower-cased already; not always a word, but equal for related forms.

    A word of a language without a stemmer is its own stem.
    """
    stemmer = _stemmer(code)
    if stemmer is None:
        return word
    with _lock:
        return str(stemmer.stemWord(word))


@lru_cache(maxsize=20_000)
def bare_verb(word: str, code: str) -> str:
    """A verb without the pronouns that are written in one word with it: anótale is anota.

    What is left has no accents, which the pronouns bring; a word without any is as it was.
    """
    for clitic in load_language(code).text.clitics if code in shipped_names() else ():
        base = word.removesuffix(clitic)
        if base != word and len(base) >= _SHORTEST_VERB:
            return without_accents(base)
    return word


def without_accents(word: str) -> str:
    """The word as it is typed where accents are left out."""
    parts = unicodedata.normalize("NFD", word)
    return "".join(part for part in parts if not unicodedata.combining(part))


@lru_cache
def _stemmer(code: str) -> Any:
    import snowballstemmer  # here, because it takes 50 ms and most commands never stem

    name = load_language(code).stemmer if code in shipped_names() else ""
    return snowballstemmer.stemmer(name) if name else None


def singular(word: str) -> str:
    """An English plural in the singular; other words as they are."""
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def inflections(word: str) -> frozenset[str]:
    """An English noun as it is written, in the singular and in the plural."""
    one = singular(word)
    if one.endswith("y") and one[-2:-1] not in _VOWELS:
        many = f"{one[:-1]}ies"
    else:
        many = f"{one}es" if one.endswith(_SIBILANTS) else f"{one}s"
    return frozenset({word, one, many})
