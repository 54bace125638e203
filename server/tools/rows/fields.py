"""Finding the field that is meant, and its value in a row."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from server.errors import ArgumentsInvalid
from server.tools.rows.reading import Row
from server.tools.wording import closest, described, shown

MISSING: Final = object()
"""The value of a field that a row does not have."""

_MAX_CHARS: Final = 200
_MAX_LISTED: Final = 20


@dataclass(frozen=True, slots=True)
class Field:
    """A field by the name it has in the rows; `get` returns its value, or `MISSING`."""

    name: str
    get: Callable[[Row], Any]


def find_field(rows: Sequence[Row], asked: Any, name: str, *, must_exist: bool = True) -> Field:
    """Return the field of `rows` that `asked` names.

    A field named exactly so wins; then a path of names and list places joined by dots;
    then the one field whose name differs only in case, spaces, `_` or `-`.

    Raises:
        ArgumentsInvalid: not a name, or no row has such a field.
    """
    if not isinstance(asked, str):
        raise ArgumentsInvalid(f"{name} must be text, not {described(asked)}")
    if not asked or len(asked) > _MAX_CHARS:
        raise ArgumentsInvalid(f"{name} must have 1 to {_MAX_CHARS} characters")
    direct = _direct(asked)
    if not rows:
        return direct
    for row in rows:
        if asked in row:
            return direct
    if "." in asked:
        path = _path(asked)
        if any(path.get(row) is not MISSING for row in rows):
            return path
    known = list(dict.fromkeys(str(key) for key in _keys(rows)))
    alike = [key for key in known if _folded(key) == _folded(asked)]
    if len(alike) == 1:
        return _direct(alike[0])
    if must_exist:
        raise ArgumentsInvalid(_unknown(asked, known))
    return direct


def _direct(key: str) -> Field:
    return Field(key, lambda row: row.get(key, MISSING))


def _path(asked: str) -> Field:
    steps = asked.split(".")

    def get(row: Row) -> Any:
        value: Any = row
        for step in steps:
            if isinstance(value, dict):
                value = value.get(step, MISSING)
            elif isinstance(value, list | tuple) and step.isdecimal() and int(step) < len(value):
                value = value[int(step)]
            else:
                return MISSING
        return value

    return Field(asked, get)


def _keys(rows: Iterable[Row]) -> Iterable[Any]:
    for row in rows:
        yield from row


def _folded(name: str) -> str:
    return name.casefold().translate(_SEPARATORS)


_SEPARATORS: Final = str.maketrans("", "", " _-")


def _unknown(asked: str, known: Sequence[str]) -> str:
    if not known:
        return f"no row has a field {shown(asked)}; the rows are empty"
    listed = ", ".join(known[:_MAX_LISTED]) + (" …" if len(known) > _MAX_LISTED else "")
    near = closest(asked, known)
    hint = f"; did you mean {shown(near)}?" if near is not None else ""
    return f"no row has a field {shown(asked)}; there are {listed}{hint}"
