"""What every database offers, and how it fails."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, Protocol

from server.errors import ToolFailed
from server.tools.sql.address import DatabaseAddress
from server.tools.sql.statement import Statement

FETCHED_AT_ONCE: Final = 500
"""Rows that are taken from a database at a time."""


class Rows(Protocol):
    """What a statement found, taken piece by piece."""

    @property
    def columns(self) -> Sequence[str]: ...

    async def fetch(self, most: int) -> Sequence[Sequence[Any]]:
        """The next rows, at most so many; none when there are no more."""


class HeldRows:
    """Rows that are all here."""

    def __init__(self, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        self.columns, self._rows = columns, rows

    async def fetch(self, most: int) -> Sequence[Sequence[Any]]:
        taken, self._rows = self._rows[:most], self._rows[most:]
        return taken


class Database(Protocol):
    """One database. All that it raises are the errors of tools, without inner texts of drivers."""

    @property
    def address(self) -> DatabaseAddress: ...

    def rows(self, statement: Statement, *, deadline: float) -> AbstractAsyncContextManager[Rows]:
        """Run a statement that only reads, until the `deadline` on the clock of the event loop.

        Raises:
            ToolFailed, ToolTimedOut: it could not be run, or not in time.
        """

    async def change(self, statement: Statement, *, deadline: float) -> tuple[Rows, int]:
        """Run a statement that changes something, alone in a transaction, and commit it.

        Returns the rows that it gives back, with no columns where it gives none, and how many rows
        it changed. Raises as `rows`.
        """

    async def close(self) -> None: ...


class DatabaseDown(ToolFailed):
    """The database does not answer at all, whatever is asked."""

    code = "database_down"


def failure(shown: str, kind: str, said: str = "") -> ToolFailed:
    """The failure of a statement in the words that a person is told, by its kind."""
    detail = f": {said}" if said else ""
    match kind:
        case "down":
            return DatabaseDown(f"the database cannot be reached{detail}")
        case "missing":
            return DatabaseDown(f"there is no database at {shown}")
        case "locked":
            return ToolFailed("the database is locked by another program; try again later")
        case "busy":
            return ToolFailed("all connections to the database are taken; try again later")
        case "changed":
            return ToolFailed(f"the database no longer has what this asks for{detail}")
        case "value":
            what = f"the database does not take a value that was given{detail}"
            return ToolFailed(what, what)
        case "constraint":
            what = f"the database refuses the change{detail}"
            return ToolFailed(what, what)
        case "read-only":
            return ToolFailed("the statement would change the database, and may only read it")
        case "damaged":
            return DatabaseDown("the file is damaged, or no database")
        case _:
            return ToolFailed("the database could not run this; the server's log says why")
