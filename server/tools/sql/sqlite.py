"""SQLite: opened with `mode=ro`, and nothing attached or loaded beside it."""

import re
import sqlite3
from typing import Any, Final
from urllib.parse import quote

from server.tools.sql.database import FailureKind
from server.tools.sql.file_database import FileDatabase

_BUSY_S: Final = 5.0
"""How long a statement waits for another program's lock."""

_MISSING: Final = re.compile(r"no such (?:table|column|function|view): [\w.]+", re.ASCII)


class SqliteDatabase(FileDatabase):
    """One file of SQLite."""

    begins_change = "BEGIN IMMEDIATE"

    def connect(self) -> sqlite3.Connection:
        connection = self._open("ro")
        connection.execute("PRAGMA query_only = ON")
        return connection

    def connect_to_change(self) -> sqlite3.Connection:
        self.identity()
        connection = self._open("rw")
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

    def _open(self, mode: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"file:{quote(str(self.address.path))}?mode={mode}",
            uri=True,
            timeout=_BUSY_S,
            check_same_thread=False,  # one thread after the other has it
            isolation_level=None,
        )
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.text_factory = _text
        return connection

    def driver_errors(self) -> tuple[type[Exception], ...]:
        return (sqlite3.Error, sqlite3.Warning, OverflowError)

    def failure_of(self, error: Exception) -> tuple[FailureKind, str]:
        said = str(error)
        name = getattr(error, "sqlite_errorname", "") or ""
        if isinstance(error, sqlite3.IntegrityError):
            return "constraint", said
        if isinstance(error, OverflowError) or name.startswith("SQLITE_MISMATCH"):
            return "value", ""
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return "locked", ""
        if name.startswith("SQLITE_READONLY"):
            return "read-only", ""
        if name.startswith("SQLITE_CANTOPEN"):
            return "down", "its file cannot be opened"
        if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
            return "damaged", ""
        missing = _MISSING.search(said)
        return ("changed", missing[0]) if missing else ("other", "")


def _text(raw: bytes) -> Any:
    return raw.decode(errors="replace")
