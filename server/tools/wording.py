"""How tools speak of names they do not know and values they cannot use."""

from collections.abc import Iterable
from decimal import Decimal
from difflib import get_close_matches
from typing import Any, Final

_MAX_SHOWN_CHARS: Final = 40
_MAX_COMPARED_CHARS: Final = 80
_MAX_SHOWN_BITS: Final = 128


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """Say that `name` is not a known `kind`, list those that are, and the nearest."""
    names = list(dict.fromkeys(known))
    close = closest(name, names)
    hint = f"; did you mean {close!r}?" if close is not None else ""
    return f"{kind} {shown(name)} is not one of {', '.join(names)}{hint}"


def closest(name: object, known: Iterable[str]) -> str | None:
    """The known name that looks most like `name`, whatever its case, if any does."""
    if not isinstance(name, str):
        return None
    by_folded = {other.casefold(): other for other in known}
    matches = get_close_matches(name[:_MAX_COMPARED_CHARS].casefold(), by_folded, n=1)
    return by_folded[matches[0]] if matches else None


def shown(value: Any) -> str:
    """A value for an error message: short, on one line, and cheap however big it is."""
    if isinstance(value, str):
        text = value if len(value) <= _MAX_SHOWN_CHARS else f"{value[:_MAX_SHOWN_CHARS]}…"
        return repr(text)
    if isinstance(value, bool) or value is None:
        return str(value).lower() if value is not None else "nothing"
    if isinstance(value, int):
        return str(value) if value.bit_length() <= _MAX_SHOWN_BITS else "a very large number"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Decimal):
        text = str(value)
        return text if len(text) <= _MAX_SHOWN_CHARS else f"{text[:_MAX_SHOWN_CHARS]}…"
    return described(value)


def described(value: Any) -> str:
    """The kind of a value, as a person would call it."""
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
