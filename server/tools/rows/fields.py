"""Fields of rows: the one that a name means, its values, and how values compare."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final, Literal

from server.core.json import to_json
from server.core.suggestions import closest, described_value, shown_value
from server.core.tools import Vocabulary
from server.errors import ArgumentsInvalid
from server.text.columns import ColumnNames
from server.text.decimals import plain
from server.text.language import COMMON, load_language, shipped_languages
from server.tools.numbers import read_as_number, read_number
from server.tools.rows.reader import Row


def language_vocabulary(kind: Literal["operators", "aggregates", "orders"]) -> Vocabulary:
    """Return what every shipped language calls each of the values of a kind."""
    words: dict[str, tuple[str, ...]] = {}
    for language in (load_language(COMMON), *shipped_languages()):
        for value, names in getattr(language, kind).items():
            words[value] = (*words.get(value, ()), *names)
    return words


MISSING: Final = object()
"""The value of a field that a row does not have."""

_MAX_CHARS: Final = 200
_MAX_LISTED: Final = 20
_MAX_LOOKED_AT: Final = 200
"""Rows whose names are compared with what somebody calls a field."""


@dataclass(frozen=True, slots=True)
class RowField:
    """A field by the name it has in the rows; `steps` lead to it inside lists and objects."""

    name: str
    steps: tuple[str, ...] = ()

    def values(self, rows: Iterable[Row], absent: Any = MISSING) -> list[Any]:
        """Return its value in each of the rows, and `absent` where a row does not have it."""
        if not self.steps:
            return [row.get(self.name, absent) for row in rows]
        found = (self._value(row) for row in rows)
        return [absent if value is MISSING else value for value in found]

    def _value(self, row: Row) -> Any:
        found: Any = row
        for step in self.steps:
            if isinstance(found, dict):
                found = found.get(step, MISSING)
            elif isinstance(found, list | tuple) and step.isdecimal() and int(step) < len(found):
                found = found[int(step)]
            else:
                return MISSING
        return found


def find_row_field(
    rows: Sequence[Row], asked: Any, name: str, *, must_exist: bool = True
) -> RowField:
    """Return the field of `rows` that `asked` names, or raise `ArgumentsInvalid`.

    An exact name wins; then a path joined by dots; then the one field whose name differs
    only in case, spaces, `_` or `-`.
    """
    if not isinstance(asked, str):
        raise ArgumentsInvalid(f"{name} must be text, not {described_value(asked)}")
    if not asked or len(asked) > _MAX_CHARS:
        raise ArgumentsInvalid(f"{name} must have 1 to {_MAX_CHARS} characters")
    direct = RowField(asked)
    if not rows or any(asked in row for row in rows):
        return direct
    if "." in asked:
        path = RowField(asked, tuple(asked.split(".")))
        if any(value is not MISSING for value in path.values(rows)):
            return path
    known = list(dict.fromkeys(str(key) for row in rows for key in row))
    alike = [key for key in known if _folded(key) == _folded(asked)]
    if len(alike) == 1:
        return RowField(alike[0])
    if not must_exist:
        return direct
    if not known:
        raise ArgumentsInvalid(f"no row has a field {shown_value(asked)}; the rows are empty")
    listed = ", ".join(known[:_MAX_LISTED]) + (" …" if len(known) > _MAX_LISTED else "")
    near = closest(asked, known)
    hint = f"; did you mean {shown_value(near)}?" if near is not None else ""
    raise ArgumentsInvalid(f"no row has a field {shown_value(asked)}; there are {listed}{hint}")


def find_called_field(rows: Sequence[Row], asked: Any, name: str) -> tuple[RowField, str]:
    """Return the field that somebody calls so, and a note where that is not its name.

    As `find_row_field`; and where no field has that name, one that is called so in plural, in
    other words, in part, or by a misspelling: colours, department, price for unit_price.
    """
    try:
        return find_row_field(rows, asked, name), ""
    except ArgumentsInvalid:
        names = ColumnNames(str(key) for row in rows[:_MAX_LOOKED_AT] for key in row)
        found = names.lookup(asked) if isinstance(asked, str) and asked.strip() else None
        if found is None or len(asked) > _MAX_CHARS:
            raise
        return RowField(found.name), f"{asked} as {found.name}"


def _folded(name: str) -> str:
    return name.casefold().translate(_SEPARATORS)


_SEPARATORS: Final = str.maketrans("", "", " _-")

BOOLEAN, NUMBER, TEXT, LIST, OBJECT, NOTHING = range(6)

Rank = tuple[int, Any]
"""Group, and what compares inside it. Equal values have equal ranks."""

_EXACT_FLOAT: Final = 2**53
_NUMERAL: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_MAX_NUMERAL_CHARS: Final = 15
"""Up to so many digits, a float keeps every one."""


def rank(value: Any) -> Rank:
    """Return where a value stands among all values; hashable."""
    kind = type(value)
    if kind is int:
        return NUMBER, value
    if kind is float:
        # A larger float stands for a whole number that is not its binary value.
        exact = -_EXACT_FLOAT < value < _EXACT_FLOAT
        return NUMBER, value if exact else plain(read_number(value, "value"))
    if kind is str:
        return rank_text(value)
    if kind is bool:
        return BOOLEAN, value
    if value is None:
        return NOTHING, None
    if isinstance(value, Decimal):
        return NUMBER, plain(read_number(value, "value"))
    if isinstance(value, date):
        return TEXT, value.isoformat().casefold()
    return (OBJECT if isinstance(value, dict) else LIST), to_json(value)


def rank_text(text: str) -> Rank:
    if text[:1].isalpha():
        return TEXT, text.casefold()
    if len(text) <= _MAX_NUMERAL_CHARS and _NUMERAL.fullmatch(text):
        return NUMBER, float(text)
    number = read_as_number(text)
    return (TEXT, text.casefold()) if number is None else (NUMBER, plain(number))
