"""A statement with its values, as the driver of a database takes them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from server.errors import ArgumentsInvalid
from server.library.sql_text import Binding, DayNumber, DayOfWeek, FilledSql
from server.tools.sql.address import DatabaseKind

MAX_MEMBERS: Final = 1_000
"""Most values of a list within `IN ( )`."""
_DAYS: Final[dict[DatabaseKind, str]] = {
    "sqlite": "JULIANDAY({})",
    "duckdb": "EPOCH(CAST({} AS TIMESTAMP)) / 86400",
    "postgresql": "EXTRACT(EPOCH FROM CAST({} AS TIMESTAMP)) / 86400",
}

_WEEKDAYS: Final[dict[DatabaseKind, str]] = {
    "sqlite": "CAST(STRFTIME('%w', {}) AS INTEGER)",
    "duckdb": "DAYOFWEEK(CAST({} AS TIMESTAMP))",
    "postgresql": "EXTRACT(DOW FROM CAST({} AS TIMESTAMP))",
}


@dataclass(frozen=True, slots=True)
class Statement:
    """`values` are in order for `?`, and by name for PostgreSQL's `%(name)s`."""

    text: str
    values: tuple[Any, ...] | dict[str, Any]
    plans: bool = False
    """Whether it asks for the plan of another statement, which no cursor on a server gives."""


def driver_statement(
    filled: FilledSql, arguments: Mapping[str, Any], kind: DatabaseKind
) -> Statement:
    """Return the statement with a place for every value; none of them is in its text.

    Raises:
        ArgumentsInvalid: a list has more than `MAX_MEMBERS`.
    """
    if kind == "postgresql":
        return _by_name(filled, arguments)
    text: list[str] = []
    values: list[Any] = []
    for part in filled.parts:
        if not isinstance(part, Binding):
            text.append(written(part, kind))
            continue
        bound = _members(part, arguments) if part.use == "list" else [arguments.get(part.name)]
        text.append(", ".join("?" * len(bound)))
        values += [part.bound(value) for value in bound]
    return Statement("".join(text), tuple(values))


def written(part: str | DayNumber | DayOfWeek, kind: DatabaseKind) -> str:
    """What an author wrote, or the number of a day as a database tells it."""
    if isinstance(part, str):
        return part
    told = _DAYS if isinstance(part, DayNumber) else _WEEKDAYS
    return told[kind].format(part.column)


def _by_name(filled: FilledSql, arguments: Mapping[str, Any]) -> Statement:
    """One place for each argument and use, so that PostgreSQL can tell the type of each."""
    text: list[str] = []
    values: dict[str, Any] = {}
    for part in filled.parts:
        if not isinstance(part, Binding):
            text.append(written(part, "postgresql").replace("%", "%%"))
            continue
        bound = _members(part, arguments) if part.use == "list" else [arguments.get(part.name)]
        places = []
        for number, value in enumerate(bound):
            name = f"{part.name}_{part.use.replace(' ', '_')}_{number}_{ord(part.escape)}"
            values[name] = part.bound(value)
            # By itself `IS NULL` tells no type; a search is for text, whatever the value is.
            cast = "" if part.use in ("value", "list") else "::text"
            if part.use == "presence":
                values[name] = None if value is None else "given"
            places.append(f"%({name})s{cast}")
        text.append(", ".join(places))
    return Statement("".join(text), values)


def _members(part: Binding, arguments: Mapping[str, Any]) -> list[Any]:
    value = arguments.get(part.name)
    members = list(value) if isinstance(value, list | tuple) else [value]
    if len(members) > MAX_MEMBERS:
        raise ArgumentsInvalid(f"{part.name} has {len(members)} values; {MAX_MEMBERS} can be given")
    return members or [None]
