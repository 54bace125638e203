"""DuckDB: a file, or files of CSV, Parquet and JSON, with no way to anything beside them.

The driver is the extra `duckdb`.
"""

import re
import threading
import time
from pathlib import Path
from typing import Final

import duckdb

from server.tools.sql.address import DatabaseAddress
from server.tools.sql.database import FailureKind, failure
from server.tools.sql.file_database import FileDatabase

_BUSY_S: Final = 5.0
_RETRY_S: Final = 0.05
_CLOSED: Final[dict[str, str | bool | int | float | list[str]]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
}
_READERS: Final = {
    ".csv": "read_csv", ".tsv": "read_csv", ".parquet": "read_parquet",
    ".json": "read_json", ".jsonl": "read_json", ".ndjson": "read_json",
}  # fmt: skip
_MISSING: Final = re.compile(
    r"(?:Table with name|Referenced column|column) \"?([\w.]+)\"? (?:does not exist|not found)"
)


class DuckdbDatabase(FileDatabase):
    """One file of DuckDB, or files of data that it reads as tables."""

    def __init__(self, address: DatabaseAddress, *, pool_size: int) -> None:
        super().__init__(address, pool_size=pool_size)
        self._root: tuple[object, duckdb.DuckDBPyConnection] | None = None
        self._opening = threading.Lock()

    def connect(self) -> duckdb.DuckDBPyConnection:
        identity = self.identity()
        with self._opening:
            if self._root is None or self._root[0] != identity:
                self._root = identity, self._open()
            return self._root[1].cursor()

    def connect_to_change(self) -> duckdb.DuckDBPyConnection:
        if self.address.path is None:
            raise failure("read-only")
        self.identity()
        until = time.monotonic() + _BUSY_S
        with self._opening:  # nobody opens it to be read meanwhile, which excludes changing it
            self.disconnect()
            if self._root is not None:
                self._root[1].close()
                self._root = None
            while True:
                try:
                    return duckdb.connect(
                        str(self.address.path), config={**_CLOSED, "enable_external_access": False}
                    )
                except (duckdb.ConnectionException, duckdb.IOException):
                    if time.monotonic() > until:
                        raise failure("locked") from None
                time.sleep(_RETRY_S)

    def _open(self) -> duckdb.DuckDBPyConnection:
        if self.address.path is not None:
            config = {**_CLOSED, "enable_external_access": False, "lock_configuration": True}
            return duckdb.connect(str(self.address.path), read_only=True, config=config)
        root = duckdb.connect(":memory:", config=dict(_CLOSED))
        for file in self.address.files:
            view = f"CREATE VIEW {_quoted(file.stem)} AS "
            root.execute(f"{view} SELECT * FROM {_reading(file)}")  # noqa: S608  the operator's own
        allowed = ", ".join(_literal(str(file)) for file in self.address.files)
        root.execute(f"SET allowed_paths = [{allowed}]")
        root.execute("SET enable_external_access = false")
        root.execute("SET lock_configuration = true")
        return root

    def driver_errors(self) -> tuple[type[Exception], ...]:
        return (duckdb.Error,)

    def failure_of(self, error: Exception) -> tuple[FailureKind, str]:
        if isinstance(error, duckdb.ConstraintException):
            return "constraint", ""
        if isinstance(error, duckdb.ConversionException | duckdb.OutOfRangeException):
            return "value", ""
        if isinstance(error, duckdb.CatalogException | duckdb.BinderException):
            missing = _MISSING.search(str(error))
            return "changed", f"no {missing[1]}" if missing else ""
        if isinstance(error, duckdb.IOException):
            is_lock = "lock" in str(error).lower()
            return ("locked", "") if is_lock else ("down", "its file cannot be read")
        if isinstance(error, duckdb.PermissionException):
            return "read-only", ""
        if isinstance(error, duckdb.InvalidInputException) and "read-only" in str(error):
            return "read-only", ""
        return "other", ""


def _reading(file: Path) -> str:
    return f"{_READERS[file.suffix.lower()]}({_literal(str(file))})"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
