"""Phrases that problems share."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, Final

_MAX_SHOWN: Final = 60
_MAX_LISTED: Final = 40
_MIN_SECRET: Final = 4
"""Shorter values are found inside other words by chance."""


def listed(names: Iterable[object], last: str = "or") -> str:
    """`a, b or c`."""
    words = [str(name) for name in names]
    if len(words) > _MAX_LISTED:
        words = [*words[:_MAX_LISTED], f"{len(words) - _MAX_LISTED} more"]
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def instead(word: object, known: Sequence[str]) -> str:
    """What to write instead of an unknown word: the one meant, or all there are."""
    close = get_close_matches(str(word), known, n=1, cutoff=0.7)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known are {listed(known, 'and')}" if known else "there are none"


def quoted(value: Any, secrets: frozenset[str] = frozenset()) -> str:
    """A value as a message shows it: short, and never one that came from the environment."""
    text = repr(value)
    if any(s == str(value) or (len(s) >= _MIN_SECRET and s in text) for s in secrets):
        return "a value from the environment"
    if isinstance(value, dict | list) and len(text) > _MAX_SHOWN:
        return "`name: value` lines" if isinstance(value, dict) else f"a list of {len(value)}"
    return shortened(text)


def shortened(text: str) -> str:
    """As much of a text as a message has room for."""
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 1]}…"
