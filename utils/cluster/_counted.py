"""A server that counts what it asks of its database: `python -m utils.cluster._counted serve …`.

The counts stand in the file that `ORBIT_BENCH_COUNTS` names, where another process reads them.
"""

import mmap
import os
import struct
import sys
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

VARIABLE: Final = "ORBIT_BENCH_COUNTS"
_FORM: Final = struct.Struct("=qqd")


class Asked(NamedTuple):
    """What was asked of the database since the start."""

    statements: int
    transactions: int
    seconds: float
    """In statements and commits, as the threads that wait for them see it."""

    def since(self, before: "Asked") -> "Asked":
        return Asked(
            self.statements - before.statements,
            self.transactions - before.transactions,
            self.seconds - before.seconds,
        )


def make_counts(path: Path) -> Mapping[str, str]:
    """Make the file, and return the environment that names it."""
    path.write_bytes(_FORM.pack(0, 0, 0.0))
    return {VARIABLE: str(path)}


def read_counts(path: Path) -> Asked:
    return Asked(*_FORM.unpack(path.read_bytes()))


class _Counter:
    """Listens to every engine of this process."""

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), _FORM.size)
        self._lock = Lock()
        self._counted = Asked(0, 0, 0.0)

    def listen(self) -> None:
        sa.event.listen(sa.Engine, "before_cursor_execute", self._began)
        sa.event.listen(sa.Engine, "after_cursor_execute", self._ended)
        sa.event.listen(sa.Engine, "commit", self._committing)
        # An engine says when it begins to commit, and not when it has.
        dialect = sa.engine.default.DefaultDialect
        commit = dialect.do_commit

        def timed(self_: Any, connection: Any) -> None:
            since = perf_counter()
            commit(self_, connection)  # type: ignore[no-untyped-call]
            self._add(seconds=perf_counter() - since)

        dialect.do_commit = timed  # type: ignore[method-assign]

    def _add(self, *, statements: int = 0, transactions: int = 0, seconds: float = 0.0) -> None:
        with self._lock:
            so_far = self._counted
            self._counted = Asked(
                so_far.statements + statements,
                so_far.transactions + transactions,
                so_far.seconds + seconds,
            )
            self._shared[:] = _FORM.pack(*self._counted)

    def _began(self, connection: sa.Connection, *_: Any) -> None:
        connection.info["began"] = perf_counter()

    def _ended(self, connection: sa.Connection, *_: Any) -> None:
        self._add(statements=1, seconds=perf_counter() - connection.info["began"])

    def _committing(self, _connection: sa.Connection) -> None:
        self._add(transactions=1)


def main() -> None:
    _Counter(Path(os.environ[VARIABLE])).listen()
    sys.argv[0] = "orbit"
    from server.cli.main import main as serve

    serve()


if __name__ == "__main__":
    main()
