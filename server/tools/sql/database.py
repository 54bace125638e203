"""What every database offers, and how it fails."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, Literal, Protocol

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


FailureKind = Literal[
    "down", "missing", "damaged", "locked", "busy", "changed", "value", "constraint", "read-only",
    "forbidden", "other",
]  # fmt: skip


class DatabaseFailed(ToolFailed):
    """A statement that the database did not run."""

    def __init__(self, kind: FailureKind, message: str, rejection: str | None = None) -> None:
        super().__init__(message, rejection)
        self.kind = kind


class DatabaseDown(DatabaseFailed):
    """The database does not answer at all, whatever is asked."""


def failure(kind: FailureKind, said: str = "") -> DatabaseFailed:
    """The failure of a statement in the words that a person is told, by its kind."""
    detail = f": {said}" if said else ""
    messages: dict[FailureKind, str] = {
        "down": f"the database cannot be reached{detail}",
        "missing": "the database is not there",
        "damaged": "the file is damaged, or no database",
        "locked": "the database is locked by another program; try again later",
        "busy": "all connections to the database are taken; try again later",
        "changed": f"the database does not have what this asks for{detail}",
        "value": f"the database does not take a value that was given{detail}",
        "constraint": f"the database refuses the change{detail}",
        "read-only": "the statement would change the database, and may only read it",
        "forbidden": "the database does not allow its user to do this",
        "other": "the database could not run this; the server's log says why",
    }
    message = messages[kind]
    if kind in ("down", "missing", "damaged"):
        return DatabaseDown(kind, message)
    return DatabaseFailed(kind, message, message if kind in ("value", "constraint") else None)
