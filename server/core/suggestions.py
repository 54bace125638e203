"""Phrases for messages: lists, nearest names, values as people read them."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from typing import Any, Final

_MAX_SHOWN: Final = 60
_MAX_SHOWN_VALUE: Final = 41
_MAX_SHOWN_BITS: Final = 128
_MAX_LISTED: Final = 40
_MAX_COMPARED: Final = 80
_SURE: Final = 0.8
_MIN_SECRET: Final = 4
"""Shorter values are found inside other words by chance."""


def join_words(names: Iterable[object], last: str = "or") -> str:
    """Return `a, b or c`."""
    words = [str(name) for name in names]
    if len(words) > _MAX_LISTED:
        words = [*words[:_MAX_LISTED], f"{len(words) - _MAX_LISTED} more"]
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def closest(name: object, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """The known name that looks most like `name`, whatever its case, if any does."""
    by_folded = {other.casefold(): other for other in known}
    matches = get_close_matches(str(name)[:_MAX_COMPARED].casefold(), by_folded, n=1, cutoff=cutoff)
    return by_folded[matches[0]] if matches else None


def did_you_mean(word: object, known: Sequence[str]) -> str:
    """What to write instead of an unknown word: the one meant, or all there are."""
    close = closest(word, known, cutoff=0.7)
    if close is not None:
        return f"did you mean {close!r}?"
    return f"known are {join_words(known, 'and')}" if known else "there are none"


def surely_meant(word: str, known: Iterable[str]) -> str | None:
    """The one known name that `word` is a misspelling of, if there is just one."""
    by_folded = {other.casefold(): other for other in known}
    short = word[:_MAX_COMPARED].casefold()
    alike = get_close_matches(short, by_folded, n=2, cutoff=_SURE)
    return by_folded[alike[0]] if len(alike) == 1 else None


def quoted(value: Any, secrets: frozenset[str] = frozenset()) -> str:
    """Return a value short enough for a message, unless it came from the environment."""
    text = repr(value)
    if any(s == str(value) or (len(s) >= _MIN_SECRET and s in text) for s in secrets):
        return "a value from the environment"
    if isinstance(value, dict | list) and len(text) > _MAX_SHOWN:
        return "`name: value` lines" if isinstance(value, dict) else f"a list of {len(value)}"
    return shortened(text)


def shortened(text: str, most: int = _MAX_SHOWN) -> str:
    """Return a text, cut to what a message has room for."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """Return that `name` is not a known `kind`, with those that are, and the nearest."""
    names = list(dict.fromkeys(known))
    close = closest(name, names) if isinstance(name, str) else None
    hint = f"; did you mean {close!r}?" if close is not None else ""
    return f"{kind} {shown_value(name)} is not one of {', '.join(names)}{hint}"


def shown_value(value: Any) -> str:
    """Return a value for an error message: short, on one line, quick for values of any size."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return repr(shortened(value, _MAX_SHOWN_VALUE))
        case int() if value.bit_length() > _MAX_SHOWN_BITS:
            return "a very large number"
        case int() | float() | Decimal():
            return shortened(str(value), _MAX_SHOWN_VALUE)
        case _:
            return described_value(value)


def described_value(value: Any) -> str:
    """Return the kind of a value, as a person would call it."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true or false"
        case int() | float() | Decimal():
            return "a number"
        case str():
            return "text"
        case list() | tuple():
            return "a list"
        case dict():
            return "an object"
        case _:
            return f"a {type(value).__name__}"


def format_value(value: Any) -> str:
    """Return a value as people read it: true is yes, and a number has no trailing zeros."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        value = Decimal(repr(value))
    if isinstance(value, Decimal):
        if not value.is_finite():
            return str(value)
        text = format(value, "f")
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return "0" if text in ("", "-0", "-") else text
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {format_value(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(format_value, value))
    return str(value)
