"""The values of a database that questions may name: read on a schedule, and looked up one by one.

Columns of few values are read whole: a question is read with them. Whether a value is there is
asked of the database itself where they do not say so, since what was read grows old.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final

from server.core.data_values import FoundValue, ValueVocabulary
from server.errors import ToolError, ToolFailed, ToolTimedOut
from server.library.model import Library
from server.library.sql_model import SqlExecution
from server.library.sql_text import Binding, FilledSql
from server.tools.sql.analysis import ColumnUse, parameter_columns
from server.tools.sql.data_names import DataNames
from server.tools.sql.database import Database, DatabaseDown, DatabaseFailed
from server.tools.sql.schema import DatabaseSchema, read_schema
from server.tools.sql.statement import driver_statement

_log = logging.getLogger(__name__)

_SCHEMA_TIMEOUT_S: Final = 10.0
_LONGEST_VALUE: Final = 80
"""Longer texts are no names of anything."""
_OPENING_S: Final = 30.0
"""Longer than this, an adapter does not wait for the values of its database."""
_RETRY_S: Final = 10.0
"""A database that did not answer, or not in time, is asked again after so long."""
_MOST_TRIES: Final = 3
"""A column that was too slow so often is not read again."""
_AT_ONCE: Final = 20
"""Columns of one table that are read by one statement."""
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
        return all(
            self.allows_column(use.table.written, use.table.name, name) for name in use.names
        )

    def allows_column(self, written: str, table: str, column: str) -> bool:
        column = column.lower()
        names = {column, f"{table.lower()}.{column}", f"{written.lower()}.{column}"}
        return names.isdisjoint(self.never) and not (self.only and names.isdisjoint(self.only))


@dataclass(slots=True)
class _Read:
    """What was read of a database; nothing while it has never answered."""

    schema: DatabaseSchema | None = None
    uses: Mapping[str, Mapping[str, ColumnUse]] = field(default_factory=dict)
    values: dict[Place, tuple[str, ...]] = field(default_factory=dict)
    many: set[Place] = field(default_factory=set)
    """Columns of too many values, which are not read again."""
    late: Counter[Place] = field(default_factory=Counter)
    """How often in a row a column was too slow."""


class DatabaseValues:
    """The values of one adapter's database. `changed` hears of every new vocabulary.

    `schema` is the database's, where it was just read.

    `state` says how many columns were read, and how many are still to be.
    """

    def __init__(
        self,
        library: Library,
        database: Database,
        limits: VocabularyLimits,
        changed: Callable[[ValueVocabulary], None],
        schema: DatabaseSchema | None = None,
        names: DataNames | None = None,
    ) -> None:
        self._library, self._database, self._limits = library, database, limits
        self._changed = changed
        self._schema, self._names = schema, names
        self._read = _Read()
        self._told: ValueVocabulary = {}
        self._task: asyncio.Task[None] | None = None
        self._stale, self._tried = asyncio.Event(), asyncio.Event()
        self.state: dict[str, int | bool] = {"read": False}

    async def open(self) -> None:
        """Read the values once, and from then on again and again.

        A database that is down gives none yet, and one that is slow is read on while it serves.
        """
        self._task = asyncio.create_task(self._keep_fresh())
        tried = asyncio.create_task(self._tried.wait())
        first = asyncio.FIRST_COMPLETED
        await asyncio.wait({self._task, tried}, timeout=_OPENING_S, return_when=first)
        tried.cancel()
        if self._task.done():
            await self._task  # it never ends but by an error
        if not self._tried.is_set():
            shown = self._database.address.shown
            _log.warning("values of %s are not read yet; it serves without them until then", shown)

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
            await self._refresh()
            self._tried.set()
            wait_s = self._limits.refresh_s
            if self._read.schema is None or self._read.late:
                wait_s = min(wait_s, _RETRY_S)
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._stale.wait()
            self._stale.clear()

    async def _refresh(self) -> None:
        """Read everything again; what cannot be read stays as it was."""
        try:
            if self._read.schema is None:
                known, self._schema = self._schema, None
                schema = known or await read_schema(self._database, timeout_s=_SCHEMA_TIMEOUT_S)
                uses = await asyncio.to_thread(self._uses, schema)
                self._read = _Read(schema, uses)
            if self._names is not None:
                await self._names.refresh()
            for columns in self._tables():
                await self._read_columns(columns)
        except ToolError as failed:
            # A restart or a change of tables: they are read anew next time.
            self._read.schema = None
            self.state["read"] = False
            _log.warning("values of %s are not read: %s", self._database.address.shown, failed)
            return
        waiting = len(self._read.late)
        self.state |= {"read": not waiting, "columns": len(self._read.values), "waiting": waiting}
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
                and all(column.kind == "text" for column in use.columns)
                and use.comparison in _READ
                and self._limits.allows(use)
            }
        return found

    def _tables(self) -> list[list[ColumnUse]]:
        """The columns that are read, each once, by table."""
        uses = (use for by_name in self._read.uses.values() for use in by_name.values())
        tables: dict[str, list[ColumnUse]] = {}
        for place, use in {_place(use): use for use in uses}.items():
            if place not in self._read.many:
                tables.setdefault(place[0], []).append(use)
        return [
            own[at : at + _AT_ONCE]
            for own in tables.values()
            for at in range(0, len(own), _AT_ONCE)
        ]

    def _vocabulary(self) -> ValueVocabulary:
        found: dict[str, dict[str, Sequence[str]]] = {}
        for template_id, uses in self._read.uses.items():
            for name, use in uses.items():
                if values := self._read.values.get(_place(use)):
                    written = [_as_compared(use, value) for value in values]
                    found.setdefault(template_id, {})[name] = written
        return found

    async def _read_columns(self, uses: Sequence[ColumnUse]) -> None:
        """Read columns of one table at once; one by one where that is refused, or too slow."""
        try:
            found = await self._values(uses)
        except (ToolTimedOut, DatabaseFailed) as failed:
            if isinstance(failed, DatabaseDown):
                raise
            if len(uses) > 1:
                for use in uses:
                    await self._read_columns([use])
                return
            if not isinstance(failed, ToolTimedOut):
                raise
            self._note_late(_place(uses[0]))
            return
        for use, values in zip(uses, found, strict=True):
            place = _place(use)
            self._read.late.pop(place, None)
            if values is None:
                self._read.values.pop(place, None)
                self._read.many.add(place)
            else:
                self._read.values[place] = values

    def _note_late(self, place: Place) -> None:
        self._read.late[place] += 1
        if given_up := self._read.late[place] >= _MOST_TRIES:
            del self._read.late[place]
            self._read.many.add(place)
        said = "and are looked up one by one from now on" if given_up else "and are tried again"
        took = ".".join(place), self._database.address.shown, self._limits.timeout_s, said
        _log.warning("the values of %s of %s took longer than %g s, %s", *took)

    async def _values(self, uses: Sequence[ColumnUse]) -> list[tuple[str, ...] | None]:
        """The values of columns of one table; None for those that are too many or too long."""
        most = self._limits.max_values
        selects: list[str] = []
        for number, use in enumerate(uses):
            column = _expression(use)
            selects.append(
                f"SELECT {number} AS number, value FROM (SELECT DISTINCT {column} AS value "  # noqa: S608
                f"FROM {_table(use)} WHERE {column} IS NOT NULL LIMIT {most + 1}) AS c{number}"
            )
        statement = FilledSql((" UNION ALL ".join(selects),))
        time_s = self._limits.timeout_s * len(uses)
        rows = await self._rows(statement, "", (most + 1) * len(uses), time_s=time_s)
        columns: list[list[object]] = [[] for _ in uses]
        for number, value in rows:
            columns[number].append(value)
        return [_words(values, most) for values in columns]

    async def _look_up(self, use: ColumnUse, value: str) -> str | None:
        """The value as the database has it, whatever its case."""
        column = _expression(use)
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
                return str(found[0][0])
        alike = FilledSql(
            (
                f"SELECT {column} FROM {_table(use)} WHERE LOWER({column}) = ",  # noqa: S608
                Binding(_VALUE),
                " LIMIT 1",
            )
        )
        found = await self._rows(alike, value.lower(), 1)
        return str(found[0][0]) if found else None

    async def _alike(self, use: ColumnUse, value: str) -> tuple[str, ...]:
        """Values of a column of many that begin alike."""
        column = _expression(use)
        prefix = FilledSql(
            (
                f"SELECT DISTINCT {column} FROM {_table(use)} WHERE LOWER({column}) LIKE ",  # noqa: S608
                Binding(_VALUE, "part of a search"),
                f" || '%' ESCAPE '\\' LIMIT {_MOST_COMPARED}",
            )
        )
        rows = await self._rows(prefix, value[:_PREFIX].lower(), _MOST_COMPARED)
        return tuple(str(row[0]) for row in rows if len(str(row[0])) <= _LONGEST_VALUE)

    async def _rows(
        self, filled: FilledSql, value: str, most: int, *, time_s: float | None = None
    ) -> list[tuple[Any, ...]]:
        deadline = asyncio.get_running_loop().time() + (time_s or self._limits.timeout_s)
        kind = self._database.address.kind
        statement = driver_statement(filled, {_VALUE: value}, kind)
        async with self._database.rows(statement, deadline=deadline) as rows:
            return [tuple(row) for row in await rows.fetch(most)]


def _place(use: ColumnUse) -> Place:
    return use.table.written, " ".join(use.names)


def _words(values: Sequence[object], most: int) -> tuple[str, ...] | None:
    texts = [value for value in values if isinstance(value, str) and value.strip()]
    if len(values) > most or any(len(value) > _LONGEST_VALUE for value in texts):
        return None
    return tuple(sorted(texts))


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


def _expression(use: ColumnUse) -> str:
    return " || ' ' || ".join(map(_quoted, use.names))


def _table(use: ColumnUse) -> str:
    table = _quoted(use.table.name)
    return f"{_quoted(use.table.schema)}.{table}" if use.table.schema else table
