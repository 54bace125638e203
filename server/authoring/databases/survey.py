"""What is in a database: its tables and columns, how many rows, and some values of each."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from server.authoring.databases.names import Names, names_of
from server.authoring.databases.words import words_of_columns
from server.core.suggestions import did_you_mean
from server.errors import RequestInvalid, ToolError
from server.library.sql_text import FilledSql
from server.tools.sql.address import DatabaseKind
from server.tools.sql.cells import to_json
from server.tools.sql.database import Database
from server.tools.sql.schema import Column, DatabaseSchema, ForeignKey, Table, read_schema
from server.tools.sql.statement import driver_statement

_TIMEOUT_S: Final = 60.0
_MOST_SAMPLES: Final = 40
_SAMPLED_ROWS: Final = 20_000
"""Rows of a table that values are taken from."""
_MAX_CHARS: Final = 60


@dataclass(frozen=True, slots=True)
class LookedAt:
    """What of a database may be looked at: tables by name (all when empty), values or none."""

    tables: frozenset[str] = frozenset()
    skipped: frozenset[str] = frozenset()
    """Columns that are left out, as `column` or `table.column`."""
    samples: bool = True


@dataclass(frozen=True, slots=True)
class SurveyedColumn:
    """A column with what its values are; the values of a `contact` were not looked at."""

    column: Column
    plain: str
    """Its name in words."""
    is_contact: bool = False
    samples: tuple[Any, ...] = ()
    """Values, the most frequent first; none where none may be looked at."""
    distinct: int = 0
    """How many values there are among the rows that were looked at."""
    filled: int = 0
    """How many of those rows have one."""
    least: Any = None
    most: Any = None

    @property
    def name(self) -> str:
        return self.column.name


@dataclass(frozen=True, slots=True)
class SurveyedTable:
    table: Table
    columns: Mapping[str, SurveyedColumn]
    """Those that questions may see, by name."""
    plain: str
    """Its name in words."""
    short: str = ""
    """The same before a word of it was spelt out."""
    rows: int = 0
    looked_at: int = 0
    """How many of its rows the values are of."""
    foreign_keys: tuple[ForeignKey, ...] = ()
    primary_key: tuple[str, ...] = ()
    some_rows: tuple[Mapping[str, Any], ...] = ()
    """A few whole rows, of the columns that may be looked at."""

    @property
    def name(self) -> str:
        return self.table.written


@dataclass(frozen=True, slots=True)
class Survey:
    kind: DatabaseKind
    tables: Mapping[str, SurveyedTable]
    notes: tuple[str, ...] = field(default=())


async def survey_database(database: Database, looked_at: LookedAt) -> Survey:
    """Read the schema, and count and sample what may be looked at.

    Raises:
        RequestInvalid: a table or a column that is named is not there.
        ToolFailed, ToolTimedOut: the database cannot be reached, or not in time.
    """
    schema = await read_schema(database)
    return await _Surveyor(database, schema, looked_at).survey()


class _Surveyor:
    def __init__(self, database: Database, schema: DatabaseSchema, looked_at: LookedAt) -> None:
        self._database, self._schema, self._looked_at = database, schema, looked_at
        self._names: Names = names_of(schema.tables.values())
        self._notes: list[str] = []

    async def survey(self) -> Survey:
        chosen = self._chosen()
        skipped = self._skipped(chosen)
        tables: dict[str, SurveyedTable] = {}
        for table in chosen:
            surveyed = await self._table(table, skipped)
            if surveyed is not None:
                tables[surveyed.name] = surveyed
        tables = {name: await self._with_keys(t, tables) for name, t in tables.items()}
        return Survey(self._database.address.kind, tables, tuple(self._notes))

    def _chosen(self) -> list[Table]:
        wanted = self._looked_at.tables
        for name in sorted(wanted):
            if self._schema.table(name) is None:
                hint = did_you_mean(name, sorted(self._schema.tables))
                raise RequestInvalid(f"there is no table {name!r}; {hint}")
        if wanted:
            named = (self._schema.table(name) for name in sorted(wanted))
            return [table for table in named if table is not None]
        return list(self._schema.tables.values())

    def _skipped(self, tables: Sequence[Table]) -> frozenset[str]:
        known = {c.lower() for t in tables for c in t.columns}
        known |= {f"{t.written}.{c}".lower() for t in tables for c in t.columns}
        skipped = frozenset(name.lower() for name in self._looked_at.skipped)
        for name in sorted(skipped - known):
            raise RequestInvalid(
                f"there is no column {name!r}; {did_you_mean(name, sorted(known))}"
            )
        return skipped

    async def _table(self, table: Table, skipped: Collection[str]) -> SurveyedTable | None:
        columns: dict[str, SurveyedColumn] = {}
        secret: list[str] = []
        for column in table.columns.values():
            if {column.name.lower(), f"{table.written}.{column.name}".lower()} & {*skipped}:
                continue
            if words_of_columns().is_secret(column.name):
                secret.append(column.name)
            else:
                contact = words_of_columns().is_contact(column.name)
                plain = self._names.columns[table.written, column.name].plain
                columns[column.name] = SurveyedColumn(column, plain, contact)
        if secret:
            self._notes.append(
                f"{table.written}: {', '.join(secret)} left out, for what the name says"
            )
        if not columns:
            return None
        rows = await self._number(f"SELECT COUNT(*) FROM {quoted_table(table)}")  # noqa: S608
        called = self._names.tables[table.written]
        bare = SurveyedTable(
            table, columns, called.plain, called.short, rows, primary_key=table.primary_key
        )
        if not self._looked_at.samples:
            return bare
        for name, one in columns.items():
            if not one.is_contact and one.column.kind != "other":
                columns[name] = await self._sampled(table, one)
        shown = [n for n, c in columns.items() if not c.is_contact and c.column.kind != "other"]
        names = ", ".join(map(quoted, shown))
        text = f"SELECT {names} FROM {quoted_table(table)} LIMIT {_MOST_SAMPLES}"  # noqa: S608
        some = await self._rows(text) if shown else []
        return replace(
            bare,
            looked_at=min(rows, _SAMPLED_ROWS),
            some_rows=tuple(
                {n: to_json(cell, _MAX_CHARS) for n, cell in zip(shown, row, strict=True)}
                for row in some
            ),
        )

    async def _sampled(self, table: Table, column: SurveyedColumn) -> SurveyedColumn:
        name, some = quoted(column.name), self._some(table, column.name)
        about = await self._rows(
            f"SELECT COUNT(DISTINCT {name}), COUNT({name}), MIN({name}), MAX({name}) FROM {some}"  # noqa: S608
            if column.column.kind != "boolean"
            else f"SELECT COUNT(DISTINCT {name}), COUNT({name}), NULL, NULL FROM {some}"  # noqa: S608
        )
        found = await self._rows(
            f"SELECT {name}, COUNT(*) FROM {some} WHERE {name} IS NOT NULL "  # noqa: S608
            f"GROUP BY {name} ORDER BY COUNT(*) DESC, {name} LIMIT {_MOST_SAMPLES}"
        )
        distinct, filled, least, most = about[0] if about else (0, 0, None, None)
        return replace(
            column,
            samples=tuple(to_json(row[0], _MAX_CHARS) for row in found),
            distinct=int(distinct),
            filled=int(filled),
            least=to_json(least, _MAX_CHARS),
            most=to_json(most, _MAX_CHARS),
        )

    @staticmethod
    def _some(table: Table, column: str) -> str:
        return (
            f"(SELECT {quoted(column)} FROM {quoted_table(table)} LIMIT {_SAMPLED_ROWS}) AS sampled"  # noqa: S608
        )

    async def _with_keys(
        self, own: SurveyedTable, tables: Mapping[str, SurveyedTable]
    ) -> SurveyedTable:
        """The table with its keys: those that it declares, else those that names and values say."""
        keys = [
            replace(key, table=other.name)
            for key in own.table.foreign_keys
            if (other := _by_name(tables, key.table)) is not None
            and {*key.columns} <= {*own.columns}
        ]
        taken = {column for key in keys for column in key.columns}
        primary = own.primary_key or _likely_key(own)
        for column in own.columns.values():
            if column.name in taken or (column.name,) == primary:
                continue
            for other in tables.values():
                referred = other.primary_key or _likely_key(other)
                named = len(referred) == 1 and self._names_key(column, other, referred[0])
                if other is own or not named:
                    continue
                if await self._refers(own, column.name, other, referred[0]):
                    keys.append(ForeignKey((column.name,), other.name, referred))
                    break
        return replace(own, foreign_keys=tuple(keys), primary_key=primary)

    def _names_key(self, column: SurveyedColumn, other: SurveyedTable, referred: str) -> bool:
        """Whether a column is called by the key of another table: customer_id, of customers.id."""
        known = words_of_columns()
        key = self._names.columns[other.name, referred].plain
        noun = known.noun_of_table(other.plain)
        spoken = {column.plain, known.plain(column.name)} - {"id"}
        whole = {known.plain(referred), key, f"{noun} id" if key == "id" else key} - {"id"}
        return bool(spoken & whole)

    async def _refers(
        self, own: SurveyedTable, column: str, other: SurveyedTable, referred: str
    ) -> bool:
        """Whether every value that was looked at is one of the other table's."""
        kinds = own.columns[column].column.kind, other.table.columns[referred].kind
        if kinds[0] != kinds[1]:
            return False
        if not self._looked_at.samples:
            return True
        name = quoted(column)
        strangers = await self._number(
            f"SELECT COUNT(*) FROM {self._some(own.table, column)} WHERE {name} IS NOT NULL "  # noqa: S608
            f"AND {name} NOT IN (SELECT {quoted(referred)} FROM {quoted_table(other.table)} "
            f"WHERE {quoted(referred)} IS NOT NULL)"
        )
        return not strangers

    async def _number(self, text: str) -> int:
        rows = await self._rows(text)
        return int(rows[0][0]) if rows else 0

    async def _rows(self, text: str) -> list[tuple[Any, ...]]:
        statement = driver_statement(FilledSql((text,)), {}, self._database.address.kind)
        deadline = asyncio.get_running_loop().time() + _TIMEOUT_S
        found: list[tuple[Any, ...]] = []
        try:
            async with self._database.rows(statement, deadline=deadline) as rows:
                while piece := await rows.fetch(1_000):
                    found += [tuple(row) for row in piece]
        except ToolError as failed:
            self._notes.append(f"not looked at: {text[:80]}…: {failed}")
            return []
        return found


def quoted(name: str) -> str:
    """A name as SQL takes any name."""
    return '"' + name.replace('"', '""') + '"'


def quoted_table(table: Table) -> str:
    return f"{quoted(table.schema)}.{quoted(table.name)}" if table.schema else quoted(table.name)


def _by_name(tables: Mapping[str, SurveyedTable], name: str) -> SurveyedTable | None:
    folded = name.lower()
    return next(
        (t for t in tables.values() if folded in (t.name.lower(), t.table.name.lower())), None
    )


def _likely_key(table: SurveyedTable) -> tuple[str, ...]:
    """The column that tells the rows of a table without a key apart: `id`, or its first `…_id`."""
    for place, column in enumerate(table.columns.values()):
        unique = column.distinct == column.filled == table.looked_at > 0
        named = column.name.lower() == "id" or words_of_columns().is_identifier(column.name)
        if unique and named and place < 2:
            return (column.name,)
    return ()
