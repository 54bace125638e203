"""The schema of the database: read when it is opened, and brought to this version if it is older.

The version stands in a table of its own. Who finds it up to date asks one question and imports
nothing; else Alembic runs what is missing, in one transaction, while all others wait.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Final, NoReturn

import sqlalchemy as sa

from server.core.installation import command
from server.errors import StoreUnavailable

_log = logging.getLogger(__name__)

_TABLE: Final = "orbit_schema_version"
_COLUMN: Final = sa.column("version_num", sa.String)
_SELECT: Final = sa.select(_COLUMN).select_from(sa.table(_TABLE))

_LONGEST_WAIT_S: Final = 60
_ALONE: Final = {
    "postgresql": (
        f"SET LOCAL lock_timeout = '{_LONGEST_WAIT_S}s'",
        f"SELECT pg_advisory_xact_lock({int.from_bytes(b'orbit-db')})",
    ),
    "sqlite": (f"PRAGMA busy_timeout = {_LONGEST_WAIT_S * 1000}", "BEGIN IMMEDIATE"),
}
"""What begins a transaction in which nobody else migrates."""

_ALEMBIC: Final = Lock()
"""Alembic keeps what it is doing in a module, so one thread at a time may use it."""


class Migrations:
    """The versions that stand in a folder, as Alembic reads it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._opened: set[sa.URL] = set()

    @cached_property
    def versions(self) -> dict[str, str]:
        """Every version, oldest first, and what it is about: both are in the name of its file."""
        files = sorted((self._folder / "versions").glob("[0-9]*.py"))
        parts = (file.stem.partition("_") for file in files)
        return {version: about.replace("_", " ") for version, _, about in parts}

    @property
    def newest(self) -> str:
        return list(self.versions)[-1]

    def pending(self, engine: sa.Engine, version: str | None) -> dict[str, str]:
        """Return what is to be done from `version` on; raise `StoreUnavailable` if it is newer."""
        if version is None:
            return self.versions
        if version not in self.versions:
            raise StoreUnavailable(
                f"{_named(engine)} has schema {version}, which this version of Orbit does not "
                f"know; its newest is {self.newest}: upgrade Orbit, or restore the backup that "
                "was made before the database was upgraded"
            )
        return {each: about for each, about in self.versions.items() if each > version}

    def prepare(self, engine: sa.Engine, *, migrate: bool) -> None:
        """Bring an older schema to the newest version, or refuse it without `migrate`.

        A server is asked once in a process; a file may be another one the next time. Raises
        `StoreUnavailable`: the schema is not known, or older; or SQLAlchemy's failures.
        """
        if engine.url in self._opened:
            return
        version = read_version(engine)
        if self.pending(engine, version):
            if not migrate:
                self._refuse_older(engine, version)
            self.run(engine)
        if engine.dialect.name != "sqlite":
            self._opened.add(engine.url)

    def _refuse_older(self, engine: sa.Engine, version: str | None) -> NoReturn:
        has = f"has schema {version}" if version else "has not been set up"
        raise StoreUnavailable(
            f"{_named(engine)} {has}, and this version of Orbit needs {self.newest}: "
            f"run '{command('migrate')}', since access.migrate is never"
        )

    def run(self, engine: sa.Engine) -> str | None:
        """Bring the schema to the newest version, all of it or nothing; return what it was.

        Raises `StoreUnavailable`: the schema is not known; or SQLAlchemy's failures.
        """
        from alembic import command  # takes long, and is needed after an upgrade only
        from alembic.config import Config

        with _ALEMBIC, _alone(engine) as connection:
            before = _version(connection)  # by now another process may have done it
            if self.pending(engine, before):
                config = Config()
                config.set_main_option("script_location", str(self._folder).replace("%", "%%"))
                config.attributes.update(connection=connection, version_table=_TABLE)
                command.upgrade(config, "head")
                _log.info("%s has schema %s now; it had %s", _named(engine), self.newest, before)
        return before


MIGRATIONS: Final = Migrations(Path(__file__).parent / "migrations")


def read_version(engine: sa.Engine) -> str | None:
    """Return the version of the schema, None where none was noted; with one query if one was."""
    with engine.connect() as connection:
        try:
            return connection.execute(_SELECT).scalar_one_or_none()
        except sa.exc.DBAPIError:
            connection.rollback()
            return _version(connection)


def _version(connection: sa.Connection) -> str | None:
    """The same where the table may not be there: asking it would end a transaction."""
    has_version = sa.inspect(connection).has_table(_TABLE)
    return connection.execute(_SELECT).scalar_one_or_none() if has_version else None


def _named(engine: sa.Engine) -> str:
    return f"the database at {engine.url.render_as_string(hide_password=True)}"


@contextmanager
def _alone(engine: sa.Engine) -> Iterator[sa.Connection]:
    """A transaction that takes back even tables, and in which no other process migrates."""
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            # Else its driver commits by itself before each statement that makes a table.
            connection.execution_options(isolation_level="AUTOCOMMIT")
        connection.detach()  # how long it waits is not for others to inherit
        with connection.begin():
            for statement in _ALONE.get(engine.dialect.name, ()):
                connection.exec_driver_sql(statement)
            yield connection
