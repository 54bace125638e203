"""How large arguments may be, before anything looks into them."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

MOST_CHARS: Final = 200_000
MOST_VALUES: Final = 100_000
MOST_LEVELS: Final = 32

_FEW: Final = 100
_PLAIN: Final = (bool, int, float)


def size_problem(arguments: Mapping[str, Any]) -> str | None:
    """Return why the arguments are too large, too deep or no text, or None. Never recurses."""
    if len(arguments) < _FEW and _are_small(arguments.values()):
        return None
    values = 0
    level: list[Any] = [arguments]
    for _ in range(MOST_LEVELS + 1):
        inner: list[Any] = []
        for value in level:
            if isinstance(value, _PLAIN) or value is None:
                continue
            if isinstance(value, str):
                problem = _text_problem(value)
                if problem is not None:
                    return problem
            elif isinstance(value, Mapping):
                inner.extend(value.keys())
                inner.extend(value.values())
            elif isinstance(value, list | tuple):
                inner.extend(value)
        values += len(inner)
        if values > MOST_VALUES:
            return f"the arguments hold more than {MOST_VALUES} values"
        if not inner:
            return None
        level = inner
    return f"the arguments are nested deeper than {MOST_LEVELS} levels"


def _are_small(values: Iterable[Any]) -> bool:
    for value in values:
        kind = type(value)
        if kind is str:
            if len(value) > MOST_CHARS or not value.isascii() or "\0" in value:
                return False
        elif kind not in _PLAIN:
            return False
    return True


def _text_problem(text: str) -> str | None:
    if len(text) > MOST_CHARS:
        return f"a text among the arguments is longer than {MOST_CHARS} characters"
    if text.isascii():
        return "a text among the arguments holds a null character" if "\0" in text else None
    if "\0" in text:
        return "a text among the arguments holds a null character"
    if any("\ud800" <= character <= "\udfff" for character in text):
        return "a text among the arguments holds half of a character (a lone surrogate)"
    return None
