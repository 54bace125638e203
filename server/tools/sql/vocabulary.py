"""The values of a database that questions may name: read on a schedule, and looked up one by one.

Columns of few values are read whole: a question is read with them. Whether a value is there is
asked of the database itself where they do not say so, since what was read grows old.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final

from server.core.data_values import FoundValue, ValueVocabulary
from server.errors import ToolError, ToolFailed, ToolTimedOut
from server.library.model import Library
from server.library.sql_model import SqlExecution
from server.library.sql_text import Binding, FilledSql
from server.tools.sql.analysis import ColumnUse, parameter_columns
from server.tools.sql.database import Database, DatabaseFailed
from server.tools.sql.schema import DatabaseSchema, read_schema
from server.tools.sql.statement import driver_statement

_log = logging.getLogger(__name__)

_SCHEMA_TIMEOUT_S: Final = 10.0
_LONGEST_VALUE: Final = 80
"""Longer texts are no names of anything."""
_OPENING_S: Final = 10.0
"""Longer than this, an adapter does not wait for the values of its database."""
_RETRY_S: Final = 10.0
"""A database that did not answer is asked again after so long."""
_MOST_NEAR: Final = 3
_MOST_LISTED: Final = 8
"""So few values are all told, where none is near."""
_ALIKE: Final = 0.6
_PREFIX: Final = 2
_MOST_COMPARED: Final = 300
_VALUE: Final = "value"
_LOOKED_UP: Final = frozenset({"=", "in"})
_READ: Final = _LOOKED_UP | {"like"}

Place = tuple[str, str]
"""A table and a column, as they are written in the database."""


@dataclass(frozen=True, slots=True)
class VocabularyLimits:
    """What may be looked at, how often, and how long that may take."""

    refresh_s: float = 300.0
    max_values: int = 200
    timeout_s: float = 2.0
    only: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()

    def allows(self, use: ColumnUse) -> bool:
        column, table = use.column.name.lower(), use.table.name.lower()
        names = {column, f"{table}.{column}", f"{use.table.written.lower()}.{column}"}
        return names.isdisjoint(self.never) and not (self.only and names.isdisjoint(self.only))


@dataclass(slots=True)
class _Read:
    """What was read of a database; nothing while it has never answered."""

    schema: DatabaseSchema | None = None
    uses: Mapping[str, Mapping[str, ColumnUse]] = field(default_factory=dict)
    values: dict[Place, tuple[str, ...]] = field(default_factory=dict)
    many: set[Place] = field(default_factory=set)
    """Columns of too many values, which are not read again."""


class DatabaseValues:
    """The values of one adapter's database. `changed` hears of every new vocabulary."""

    def __init__(
        self,
        library: Library,
        database: Database,
        limits: VocabularyLimits,
        changed: Callable[[ValueVocabulary], None],
    ) -> None:
        self._library, self._database, self._limits = library, database, limits
        self._changed = changed
        self._read = _Read()
        self._told: ValueVocabulary = {}
        self._task: asyncio.Task[None] | None = None
        self._stale = asyncio.Event()

    async def open(self) -> None:
        """Read the values once, and from then on again and again.

        A database that is down gives none yet, and one that is slow is read on while it serves.
        """
        try:
            async with asyncio.timeout(_OPENING_S):
                await self._refresh()
        except TimeoutError:
            self._stale.set()
        self._task = asyncio.create_task(self._keep_fresh())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def find(self, template_id: str, parameter: str, value: str) -> FoundValue | None:
        use = self._read.uses.get(template_id, {}).get(parameter)
        if use is None:
            return None
        known = self._read.values.get(_place(use), ())
        is_search = use.comparison not in _LOOKED_UP
        if is_search and not known:
            return None  # any part of a text will do
        written = next((one for one in known if _same(one, value)), None)
        if written is not None:
            return FoundValue(_as_compared(use, written))
        try:
            async with asyncio.timeout(self._limits.timeout_s):
                found = await self._look_up(use, value)
                if found is None and not known:
                    known = await self._alike(use, value)
        except (ToolFailed, ToolTimedOut, TimeoutError) as failed:
            if not (isinstance(failed, DatabaseFailed) and failed.kind == "value" and known):
                return None
            found = None  # its type has no such value
        if found is not None:
            if _place(use) in self._read.values:
                self._stale.set()  # it came after the values were read
            return FoundValue(_as_compared(use, found))
        return None if is_search else FoundValue(None, _nearest(value, known))

    async def _keep_fresh(self) -> None:
        while True:
            wait_s = self._limits.refresh_s
            if self._read.schema is None:
                wait_s = min(wait_s, _RETRY_S)
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._stale.wait()
            self._stale.clear()
            await self._refresh()

    async def _refresh(self) -> None:
        """Read everything again; what cannot be read stays as it was."""
        try:
            if self._read.schema is None:
                schema = await read_schema(self._database, timeout_s=_SCHEMA_TIMEOUT_S)
                uses = await asyncio.to_thread(self._uses, schema)
                self._read = _Read(schema, uses)
            for use in self._columns():
                values = await self._values(use)
                if values is None:
                    self._read.values.pop(_place(use), None)
                    self._read.many.add(_place(use))
                else:
                    self._read.values[_place(use)] = values
        except ToolError as failed:
            # A restart or a change of tables: they are read anew next time.
            self._read.schema = None
            _log.warning("values of %s are not read: %s", self._database.address.shown, failed)
            return
        vocabulary = self._vocabulary()
        if vocabulary != self._told:
            await asyncio.to_thread(self._changed, vocabulary)
            self._told = vocabulary

    def _uses(self, schema: DatabaseSchema) -> dict[str, dict[str, ColumnUse]]:
        kind = self._database.address.kind
        found: dict[str, dict[str, ColumnUse]] = {}
        for template in self._library.templates.values():
            if not isinstance(template.execution, SqlExecution):
                continue
            texts = {p.name for p in template.parameters if p.type == "string" and not p.enum}
            texts -= {*template.policy.sensitive_params}
            uses = parameter_columns(template.execution.sql, kind, schema)
            found[template.id] = {
                name: use
                for name, use in uses.items()
                if name in texts
                and use.column.kind == "text"
                and use.comparison in _READ
                and self._limits.allows(use)
            }
        return found

    def _columns(self) -> list[ColumnUse]:
        """Each column that is read, once."""
        uses = (use for by_name in self._read.uses.values() for use in by_name.values())
        once = {_place(use): use for use in uses}
        return [use for place, use in once.items() if place not in self._read.many]

    def _vocabulary(self) -> ValueVocabulary:
        found: dict[str, dict[str, Sequence[str]]] = {}
        for template_id, uses in self._read.uses.items():
            for name, use in uses.items():
                if values := self._read.values.get(_place(use)):
                    written = [_as_compared(use, value) for value in values]
                    found.setdefault(template_id, {})[name] = written
        return found

    async def _values(self, use: ColumnUse) -> tuple[str, ...] | None:
        """The values of a column; None where they are too many, too long or too slow."""
        column, most = _quoted(use.column.name), self._limits.max_values
        statement = FilledSql(
            (
                f"SELECT DISTINCT {column} FROM {_table(use)} WHERE {column} IS NOT NULL "  # noqa: S608
                f"LIMIT {most + 1}",
            )
        )
        try:
            rows = await self._rows(statement, "", most + 1)
        except ToolTimedOut:
            return None
        texts = [value for value in rows if isinstance(value, str) and value.strip()]
        if len(rows) > most or any(len(value) > _LONGEST_VALUE for value in texts):
            return None
        return tuple(sorted(texts))

    async def _look_up(self, use: ColumnUse, value: str) -> str | None:
        """The value as the database has it, whatever its case."""
        column = _quoted(use.column.name)
        cases = dict.fromkeys((value, value.lower(), value.upper(), value.title()))
        for case in cases:  # each finds its way through an index
            exact = FilledSql(
                (
                    f"SELECT {column} FROM {_table(use)} WHERE {column} = ",  # noqa: S608
                    Binding(_VALUE),
                    " LIMIT 1",
                )
            )
            if found := await self._rows(exact, case, 1):
                return str(found[0])
        alike = FilledSql(
            (
                f"SELECT {column} FROM {_table(use)} WHERE LOWER({column}) = ",  # noqa: S608
                Binding(_VALUE),
                " LIMIT 1",
            )
        )
        found = await self._rows(alike, value.lower(), 1)
        return str(found[0]) if found else None

    async def _alike(self, use: ColumnUse, value: str) -> tuple[str, ...]:
        """Values of a column of many that begin alike."""
        column = _quoted(use.column.name)
        prefix = FilledSql(
            (
                f"SELECT DISTINCT {column} FROM {_table(use)} WHERE LOWER({column}) LIKE ",  # noqa: S608
                Binding(_VALUE, "part of a search"),
                f" || '%' ESCAPE '\\' LIMIT {_MOST_COMPARED}",
            )
        )
        rows = await self._rows(prefix, value[:_PREFIX].lower(), _MOST_COMPARED)
        return tuple(str(row) for row in rows if len(str(row)) <= _LONGEST_VALUE)

    async def _rows(self, filled: FilledSql, value: str, most: int) -> list[object]:
        """The first cells of the rows of a statement."""
        deadline = asyncio.get_running_loop().time() + self._limits.timeout_s
        kind = self._database.address.kind
        statement = driver_statement(filled, {_VALUE: value}, kind)
        async with self._database.rows(statement, deadline=deadline) as rows:
            return [row[0] for row in await rows.fetch(most)]


def _place(use: ColumnUse) -> Place:
    return use.table.written, use.column.name


def _same(one: str, other: str) -> bool:
    return one.casefold() == other.strip().casefold()


def _as_compared(use: ColumnUse, value: str) -> str:
    """A value in the case that the SQL puts its column into."""
    match use.folded:
        case "lower":
            return value.lower()
        case "upper":
            return value.upper()
    return value


def _nearest(value: str, known: Sequence[str]) -> tuple[str, ...]:
    by_folded = {one.casefold(): one for one in known}
    near = get_close_matches(value.casefold(), by_folded, n=_MOST_NEAR, cutoff=_ALIKE)
    if not near and len(known) <= _MOST_LISTED:
        return tuple(known)
    return tuple(by_folded[one] for one in near)


def _quoted(name: str) -> str:
    """A name of the schema within SQL, whatever signs it has."""
    return '"' + name.replace('"', '""') + '"'


def _table(use: ColumnUse) -> str:
    table = _quoted(use.table.name)
    return f"{_quoted(use.table.schema)}.{table}" if use.table.schema else table
