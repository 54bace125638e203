"""What is in a database: its tables, their columns and keys."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from server.library.sql_text import FilledSql
from server.tools.sql.comments import comments_of
from server.tools.sql.database import Database
from server.tools.sql.statement import driver_statement

ColumnKind = Literal["text", "integer", "number", "date", "datetime", "time", "boolean", "other"]
"""What the values of a column are, whatever the database calls it."""

_KINDS: Final[tuple[tuple[ColumnKind, tuple[str, ...]], ...]] = (
    # Words within the names of types; the first that stands there decides.
    ("text", ("sub_type_text", "sub_type text")),
    ("other", ("[]", "json", "struct", "map(", "blob", "bytea", "binary", "interval", "array")),
    ("datetime", ("timestamp", "datetime")),
    ("date", ("date",)),
    ("time", ("time",)),
    ("boolean", ("bool",)),
    ("number", ("numeric", "decimal", "real", "float", "double", "money", "number")),
    ("integer", ("int", "serial", "year")),
    ("text", ("char", "text", "clob", "string", "enum", "uuid", "citext")),
)


def kind_of_type(written: str) -> ColumnKind:
    """The kind of a column by the name of its type."""
    name = written.lower()
    return next((kind for kind, words in _KINDS if any(word in name for word in words)), "text")


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: str
    kind: ColumnKind
    nullable: bool = True
    comment: str = ""


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """`columns` of a table are those `referred` of the other table."""

    columns: tuple[str, ...]
    table: str
    referred: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """One table or view; `schema` is empty for the one that is searched anyway."""

    name: str
    columns: Mapping[str, Column]
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    comment: str = ""
    schema: str = ""
    is_view: bool = False

    @property
    def written(self) -> str:
        return f"{self.schema}.{self.name}" if self.schema else self.name


@dataclass(frozen=True, slots=True)
class DatabaseSchema:
    """The tables of a database, by name."""

    tables: Mapping[str, Table] = field(default_factory=dict)

    def table(self, name: str) -> Table | None:
        """The table of a name, whatever its case."""
        found = self.tables.get(name)
        if found is not None:
            return found
        folded = name.lower()
        return next((t for key, t in self.tables.items() if key.lower() == folded), None)


async def read_schema(database: Database, *, timeout_s: float = 30.0) -> DatabaseSchema:
    """Read the tables that the database's user may see.

    Raises:
        ToolFailed, ToolTimedOut: the database cannot be reached, or not in time.
    """
    asking = _Asking(database, asyncio.get_running_loop().time() + timeout_s)
    kind = database.address.kind
    read = {"sqlite": _of_sqlite, "duckdb": _of_duckdb, "postgresql": _of_postgresql}[kind]
    return DatabaseSchema(await read(asking))


@dataclass(frozen=True, slots=True)
class _Asking:
    database: Database
    deadline: float

    async def all(self, text: str) -> list[tuple[Any, ...]]:
        """Every row of a statement of ours, which has no values."""
        statement = driver_statement(FilledSql((text,)), {}, self.database.address.kind)
        found: list[tuple[Any, ...]] = []
        async with self.database.rows(statement, deadline=self.deadline) as rows:
            while piece := await rows.fetch(1_000):
                found += [tuple(row) for row in piece]
        return found


async def _of_sqlite(asking: _Asking) -> dict[str, Table]:
    tables: dict[str, Table] = {}
    columns = await asking.all(
        'SELECT m.name, m.type, c.name, c.type, c."notnull", c.pk FROM sqlite_schema m '
        "JOIN pragma_table_info(m.name) c WHERE m.type IN ('table', 'view') "
        "AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY m.rowid, c.cid"
    )
    keys = await asking.all(
        'SELECT m.name, f.id, f."table", f."from", f."to" FROM sqlite_schema m '
        "JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table' "
        "ORDER BY m.rowid, f.id, f.seq"
    )
    texts = await asking.all("SELECT name, sql FROM sqlite_schema WHERE type = 'table'")
    created = {row[0]: row[1] or "" for row in texts}
    for name in dict.fromkeys(row[0] for row in columns):
        own = [row for row in columns if row[0] == name]
        primary = sorted((row[5], row[2]) for row in own if row[5])
        comment, comments = comments_of(created.get(name, ""))
        tables[name] = Table(
            name,
            {
                row[2]: Column(
                    row[2],
                    row[3] or "text",
                    kind_of_type(row[3] or ""),
                    not row[4],
                    comments.get(row[2].lower(), ""),
                )
                for row in own
            },
            tuple(column for _, column in primary),
            comment=comment,
            is_view=own[0][1] == "view",
        )
    return _with_keys(tables, [(r[0], r[1], r[2], r[3], r[4]) for r in keys])


async def _of_duckdb(asking: _Asking) -> dict[str, Table]:
    columns = await asking.all(
        "SELECT c.schema_name, c.table_name, c.column_name, c.data_type, c.is_nullable, c.comment, "
        "t.comment, t.table_name IS NULL FROM duckdb_columns() c LEFT JOIN duckdb_tables() t "
        "USING (database_name, schema_name, table_name) WHERE NOT c.internal "
        "AND c.database_name = current_database() ORDER BY c.table_oid, c.column_index"
    )
    keys = await asking.all(
        "SELECT table_name, constraint_index, constraint_type, constraint_column_names, "
        "referenced_table, referenced_column_names FROM duckdb_constraints() "
        "WHERE constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY')"
    )
    primary = {row[0]: tuple(row[3]) for row in keys if row[2] == "PRIMARY KEY"}
    tables = _tables(columns, primary, own_schema="main")
    parts = [
        (row[0], row[1], row[4], column, referred)
        for row in keys
        if row[2] == "FOREIGN KEY"
        for column, referred in zip(row[3], row[5], strict=True)
    ]
    return _with_keys(tables, parts)


async def _of_postgresql(asking: _Asking) -> dict[str, Table]:
    visible = (
        "n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%' "
        "AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition "
        "AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')"
    )
    columns = await asking.all(
        "SELECT n.nspname, c.relname, a.attname, format_type(a.atttypid, a.atttypmod), "  # noqa: S608
        "NOT a.attnotnull, col_description(c.oid, a.attnum), obj_description(c.oid, 'pg_class'), "
        "c.relkind IN ('v', 'm') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        f"JOIN pg_attribute a ON a.attrelid = c.oid WHERE a.attnum > 0 AND NOT a.attisdropped "
        f"AND {visible} ORDER BY c.oid, a.attnum"
    )
    keys = await asking.all(
        "SELECT c.relname, k.oid::bigint, k.contype::text, a.attname, f.relname, fa.attname "  # noqa: S608
        "FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid "
        "JOIN pg_namespace n ON n.oid = c.relnamespace "
        "CROSS JOIN LATERAL unnest(k.conkey, k.confkey) "
        "WITH ORDINALITY AS u(attnum, fattnum, place) "
        "JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.attnum "
        "LEFT JOIN pg_class f ON f.oid = k.confrelid "
        "LEFT JOIN pg_attribute fa ON fa.attrelid = f.oid AND fa.attnum = u.fattnum "
        f"WHERE k.contype IN ('p', 'f') AND {visible} ORDER BY k.oid, u.place"
    )
    schema = await asking.all("SELECT current_schema()::text")
    primary: dict[str, tuple[str, ...]] = {}
    for row in keys:
        if row[2] == "p":
            primary[row[0]] = (*primary.get(row[0], ()), row[3])
    tables = _tables(columns, primary, own_schema=schema[0][0] or "public")
    return _with_keys(tables, [(r[0], r[1], r[4], r[3], r[5]) for r in keys if r[2] == "f"])


def _tables(
    columns: list[tuple[Any, ...]], primary: Mapping[str, tuple[str, ...]], *, own_schema: str
) -> dict[str, Table]:
    """Tables of (schema, table, column, type, nullable, its comment, the table's, is a view)."""
    tables: dict[str, Table] = {}
    for place in dict.fromkeys((row[0], row[1]) for row in columns):
        own = [row for row in columns if (row[0], row[1]) == place]
        schema = "" if place[0] == own_schema else place[0]
        table = Table(
            place[1],
            {
                row[2]: Column(row[2], row[3], kind_of_type(row[3]), bool(row[4]), row[5] or "")
                for row in own
            },
            primary.get(place[1], ()),
            comment=own[0][6] or "",
            schema=schema,
            is_view=bool(own[0][7]),
        )
        tables[table.written] = table
    return tables


def _with_keys(tables: dict[str, Table], parts: list[tuple[Any, ...]]) -> dict[str, Table]:
    """The tables with their foreign keys, of (table, key, other table, column, its column)."""
    found: dict[tuple[str, Any], list[tuple[Any, ...]]] = {}
    for part in parts:
        found.setdefault((part[0], part[1]), []).append(part)
    keys: dict[str, list[ForeignKey]] = {}
    for (name, _), of_key in found.items():
        other = of_key[0][2]
        referred = tuple(part[4] for part in of_key if part[4])
        if not referred and other in tables:
            referred = tables[other].primary_key
        if len(referred) == len(of_key):
            key = ForeignKey(tuple(part[3] for part in of_key), other, referred)
            keys.setdefault(name, []).append(key)
    return {
        name: replace(table, foreign_keys=tuple(keys.get(table.name, ())))
        for name, table in tables.items()
    }
