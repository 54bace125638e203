"""The values by which questions name rows of a data model's tables, read from the database."""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from server.core.data_values import NameVocabulary
from server.errors import ToolError, ToolTimedOut
from server.library.data_model import DataModel
from server.library.sql_text import FilledSql
from server.tools.sql.database import Database, DatabaseDown
from server.tools.sql.statement import driver_statement

_log = logging.getLogger(__name__)

_MOST_NAMES: Final = 50_000
"""Most names of one table; of more, none is known."""
_MOST_VALUES: Final = 2_000
"""Most values of a column that is no name."""
_LONGEST: Final = 80
_AT_ONCE: Final = 5_000

Allows = Callable[[str, str, str], bool]
"""Whether a column may be looked at: the table as it is written, its name, and the column."""


class DataNames:
    """Reads names and kinds, and gives them to `learn` where they have changed."""

    def __init__(
        self,
        model: DataModel,
        database: Database,
        learn: Callable[[NameVocabulary], None],
        allows: Allows,
        timeout_s: float,
    ) -> None:
        self._model, self._database, self._learn = model, database, learn
        self._allows, self._timeout_s = allows, timeout_s
        self._told: NameVocabulary = {}

    async def refresh(self) -> None:
        """Read everything again; a column that takes too long is left out.

        Raises:
            DatabaseDown: nothing can be read.
        """
        found: dict[tuple[str, tuple[str, ...]], tuple[tuple[str, ...], ...]] = {}
        for table, columns, most in self._wanted():
            try:
                rows = await self._values(table, columns, most)
            except DatabaseDown:
                raise
            except (ToolTimedOut, ToolError) as failed:
                _log.warning("names of %s.%s are not read: %s", table, columns[0], failed)
                continue
            if rows is not None:
                found[table, columns] = rows
        if found != self._told:
            await asyncio.to_thread(self._learn, found)
            self._told = found

    def _wanted(self) -> list[tuple[str, tuple[str, ...], int]]:
        wanted: list[tuple[str, tuple[str, ...], int]] = []
        for name, table in self._model.tables.items():
            own = tuple(table.name)
            told = [table.columns[column].kind for column in own if column in table.columns]
            if own and "contact" not in told:
                wanted.append((name, own, _MOST_NAMES))
            wanted += [
                (name, (column,), _MOST_VALUES)
                for column, told in table.columns.items()
                if told.kind in ("category", "text") and (column,) != own and column not in own
            ]
        short = {name: name.rpartition(".")[2] for name, *_ in wanted}
        return [
            (table, columns, most)
            for table, columns, most in wanted
            if all(self._allows(table, short[table], column) for column in columns)
        ]

    async def _values(
        self, table: str, columns: tuple[str, ...], most: int
    ) -> tuple[tuple[str, ...], ...] | None:
        """The values, each once; None where they are too many."""
        names = ", ".join(map(_quoted, columns))
        source = ".".join(map(_quoted, table.rsplit(".", 1)))
        text = (
            f"SELECT DISTINCT {names} FROM {source} "  # noqa: S608
            f"WHERE {_quoted(columns[0])} IS NOT NULL LIMIT {most + 1}"
        )
        statement = driver_statement(FilledSql((text,)), {}, self._database.address.kind)
        deadline = asyncio.get_running_loop().time() + self._timeout_s
        found: list[tuple[str, ...]] = []
        async with self._database.rows(statement, deadline=deadline) as rows:
            while piece := await rows.fetch(_AT_ONCE):
                found += [tuple("" if v is None else str(v) for v in row) for row in piece]
        if len(found) > most:
            return None
        return tuple(sorted(row for row in found if len(" ".join(row)) <= _LONGEST))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
