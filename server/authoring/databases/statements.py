"""SQL for a thing and what it refers to: readable, joined once, quoted as the database wants."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from sqlglot.tokens import Tokenizer

from server.authoring.databases.survey import quoted
from server.authoring.databases.things import Link, Path, Property, Thing
from server.authoring.naming import identifier
from server.authoring.phrases import plural
from server.tools.sql.address import DatabaseKind

_PLAIN: Final = re.compile(r"[a-z_][a-z0-9_]*")
_WORDS: Final = frozenset(word for keyword in Tokenizer.KEYWORDS for word in keyword.split())
_KEYWORDS: Final = _WORDS | {"USER", "KEY", "TO", "ON", "DO", "NO", "ALL"}


def written(name: str, kind: DatabaseKind) -> str:
    """A name in SQL, quoted where it has to be."""
    plain = _PLAIN.fullmatch(name.lower() if kind != "postgresql" else name)
    return name if plain and name.upper() not in _KEYWORDS else quoted(name)


class Source:
    """FROM and its joins: one thing, and what it refers to by the paths that are used."""

    def __init__(self, thing: Thing, kind: DatabaseKind) -> None:
        self.thing, self.kind = thing, kind
        self._aliases: dict[tuple[int, ...], str] = {}
        self._taken: set[str] = set()
        self._joins: list[str] = []
        self.when_joined: dict[str, str] = {}
        """Under what condition something of that noun is joined; always, where there is none."""
        self.alias = self._alias_of(thing.noun)

    def column(self, path: Path, name: str) -> str:
        return f"{self._joined(path)}.{written(name, self.kind)}"

    def name_of(self, path: Path) -> str:
        """The name of what a path leads to, a first and a last name as one."""
        thing = path[-1].thing if path else self.thing
        return " || ' ' || ".join(self.column(path, name) for name in thing.names)

    def key_of(self, path: Path) -> tuple[str, ...]:
        thing = path[-1].thing if path else self.thing
        return tuple(self.column(path, name) for name in thing.key)

    def text(self) -> str:
        return "\n".join([f"FROM {self._table(self.thing)} AS {self.alias}", *self._joins])

    def day(self, path: Path, date: Property) -> str:
        """A date, or the day of a moment."""
        column = self.column(path, date.name)
        if date.column.column.kind == "date" and self.kind != "sqlite":
            return column
        return f"DATE({column})" if self.kind == "sqlite" else f"CAST({column} AS DATE)"

    def period(self, path: Path, date: Property, unit: str) -> str:
        """The month (2026-03) or the year (2026) of a date, as text."""
        column = self.column(path, date.name)
        if self.kind == "sqlite":
            form = {"month": "%Y-%m", "year": "%Y"}[unit]
            return f"STRFTIME('{form}', {column})"
        if self.kind == "postgresql":
            return f"TO_CHAR({self.day(path, date)}, '{'YYYY-MM' if unit == 'month' else 'YYYY'}')"
        form = {"month": "%Y-%m", "year": "%Y"}[unit]
        return f"STRFTIME({self.day(path, date)}, '{form}')"

    def _joined(self, path: Path) -> str:
        at: tuple[int, ...] = ()
        alias = self.alias
        for link in path:
            at = (*at, id(link))
            known = self._aliases.get(at)
            if known is None:
                known = self._aliases[at] = self._alias_of(link.noun)
                self._joins.append(self._join(link, alias, known))
            alias = known
        return alias

    def _join(self, link: Link, alias: str, known: str) -> str:
        if link.through is None:
            return self._left_join(link.thing, known, alias, link.referred, link.columns)
        mine, theirs = link.through.mine, link.through.theirs
        between = self._alias_of(link.through.thing.noun)
        joins = " ".join(
            (
                self._left_join(link.through.thing, between, alias, mine.columns, mine.referred),
                self._left_join(link.thing, known, between, theirs.referred, theirs.columns),
            )
        )
        condition = self.when_joined.get(link.noun)
        return when(condition, joins) if condition else joins

    def _left_join(
        self, thing: Thing, known: str, alias: str, there: Sequence[str], here: Sequence[str]
    ) -> str:
        on = " AND ".join(
            f"{known}.{written(theirs, self.kind)} = {alias}.{written(mine, self.kind)}"
            for theirs, mine in zip(there, here, strict=True)
        )
        return f"LEFT JOIN {self._table(thing)} AS {known} ON {on}"

    def _table(self, thing: Thing) -> str:
        table = thing.table.table
        name = written(table.name, self.kind)
        return f"{written(table.schema, self.kind)}.{name}" if table.schema else name

    def _alias_of(self, noun: str) -> str:
        name = identifier(noun)
        if name.upper() in _KEYWORDS or not _PLAIN.fullmatch(name):
            name = identifier(plural(noun))
        alias, number = name, 2
        while alias in self._taken or alias.upper() in _KEYWORDS:
            alias, number = f"{name}_{number}", number + 1
        self._taken.add(alias)
        return alias


def shown_columns(source: Source, *, everything: bool = False) -> list[str]:
    """What is shown of a thing: its key, its name, its columns, and names for what it refers to."""
    thing, kind = source.thing, source.kind
    shown: dict[str, str] = {}

    def show(expression: str, alias: str) -> None:
        if alias not in shown:
            shown[alias] = expression

    names = {*thing.names}
    for prop in thing.properties:
        column = source.column((), prop.name)
        if prop.role == "reference":
            link = next((each for each in thing.links if prop.name in each.columns), None)
            if link is not None and link.thing.names and len(link.columns) == 1:
                show(source.name_of((link,)), identifier(link.noun))
                continue
        if prop.role == "upkeep" and not everything:
            continue
        if prop.role == "upkeep" and prop.column.column.kind == "other":
            continue
        if len(names) == 2 and prop.name in names:
            show(source.name_of(()), "name")
            continue
        show(column, prop.name)
    return [
        column
        if column.endswith(f".{written(alias, kind)}")
        else f"{column} AS {written(alias, kind)}"
        for alias, column in shown.items()
    ]


def select(columns: Sequence[str], source: Source, *rest: str) -> str:
    """SELECT with its columns on lines that are not too long."""
    lines: list[str] = []
    line = "SELECT "
    for number, column in enumerate(columns):
        part = column + ("," if number + 1 < len(columns) else "")
        if len(line) + len(part) > 90 and line.strip():
            lines.append(line.rstrip())
            line = "  "
        line += f"{part} "
    lines.append(line.rstrip())
    # Last, since the other parts say what is joined.
    return "\n".join([*lines, source.text(), *(part for part in rest if part)])


def where(conditions: Iterable[str]) -> str:
    """WHERE with lines that each begin with AND, under conditions of Jinja or not."""
    lines = list(conditions)
    if not lines:
        return ""
    if len(lines) == 1 and not lines[0].startswith("{%"):
        return f"WHERE {lines[0].removeprefix('AND ')}"
    if not lines[0].startswith("{%"):
        first, *more = lines
        return "\n".join([f"WHERE {first.removeprefix('AND ')}", *(f"  {line}" for line in more)])
    return "\n".join(["WHERE 1 = 1", *(f"  {line}" for line in lines)])


def when(condition: str, sql: str) -> str:
    return f"{{% if {condition} %}}{sql}{{% endif %}}"


def choice(name: str, options: Sequence[tuple[str, str]]) -> str:
    """SQL by the value of an argument; the last one where it is none of the others."""
    if len(options) == 1:
        return options[0][1]
    parts = [
        f"{{% {'if' if not at else 'elif'} {name} == '{value}' %}}{sql}"
        for at, (value, sql) in enumerate(options[:-1])
    ]
    return "".join([*parts, f"{{% else %}}{options[-1][1]}{{% endif %}}"])


def literal(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return str(value)
    return "'" + str(value).replace("'", "''") + "'"
