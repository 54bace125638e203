"""The words that a sentence about a result may use though no result holds them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import yaml

SHIPPED: Final = Path(__file__).parent / "words"

_ENDINGS: Final = ("ing", "ed", "es", "'s", "s", "d")
_SHORTEST_STEM: Final = 3


@dataclass(frozen=True, slots=True)
class WordLists:
    """Words of all shipped languages together; see `words/en.yaml` for what each list is."""

    connecting: frozenset[str]
    negating: frozenset[str]
    rounding: frozenset[str]
    affirming: frozenset[str]
    denying: frozenset[str]
    signs: Mapping[str, str]


@lru_cache(maxsize=1)
def word_lists() -> WordLists:
    """The shipped lists, read on first use."""
    lists: dict[str, set[str]] = {}
    signs: dict[str, str] = {}
    for path in sorted(SHIPPED.glob("*.yaml")):
        # The base loader makes nothing but text: `on` and `no` are words here.
        written = yaml.load(path.read_text(encoding="utf-8"), yaml.BaseLoader)  # noqa: S506
        signs |= written.pop("signs")
        written.pop("language")
        for name, words in written.items():
            lists.setdefault(name, set()).update(words)
    return WordLists(**{name: frozenset(words) for name, words in lists.items()}, signs=signs)


@lru_cache(maxsize=4096)
def stems(word: str) -> frozenset[str]:
    """The ways in which forms of a word are alike: `calculated` and `calculate` share one."""
    found = {word}
    for ending in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= _SHORTEST_STEM:
            found |= {stem, f"{stem}e"}
    return frozenset(found)
