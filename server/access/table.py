"""The table of keys, on SQLite or whatever a database URL names."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.schema import CreateTable

from server.access.folders import make_private
from server.access.raw import DIGEST_BYTES
from server.access.records import KeyRecord
from server.errors import StoreUnavailable

_BUSY_TIMEOUT_S: Final = 5.0


class UtcTime(sa.types.TypeDecorator[datetime]):
    """An aware time. SQLite keeps no zone, so all of them are written in UTC."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, _dialect: sa.Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, _dialect: sa.Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


KEYS: Final = sa.Table(
    "api_keys",
    sa.MetaData(),
    sa.Column("key_id", sa.String(32), primary_key=True),
    sa.Column("digest", sa.LargeBinary(DIGEST_BYTES), nullable=False),
    sa.Column("adapter", sa.String(255), nullable=False),
    sa.Column("user_id", sa.String(255)),
    sa.Column("role", sa.String(255), nullable=False),
    sa.Column("limits", sa.JSON, nullable=False),
    sa.Column("label", sa.String(255), nullable=False),
    sa.Column("sample", sa.Boolean, nullable=False),
    sa.Column("created_at", UtcTime, nullable=False),
    sa.Column("expires_at", UtcTime),
    sa.Column("last_used_at", UtcTime),
    sa.Column("revoked_at", UtcTime),
)

_RECORD_COLUMNS: Final = tuple(column for column in KEYS.c if column.name != "digest")


def select_records() -> sa.Select[Any]:
    """All that a `KeyRecord` holds, and not the digest."""
    return sa.select(*_RECORD_COLUMNS)


def to_record(row: Mapping[Any, Any]) -> KeyRecord:
    """The record in a row; a digest beside it is left where it is."""
    values = {column.name: row[column.name] for column in _RECORD_COLUMNS}
    return KeyRecord(**values | {"limits": tuple(values["limits"])})


def to_row(record: KeyRecord, digest: bytes) -> dict[str, Any]:
    values = {column.name: getattr(record, column.name) for column in _RECORD_COLUMNS}
    return values | {"limits": list(record.limits), "digest": digest}


def open_engine(url: str) -> sa.Engine:
    """Return an engine on `url`, its table there. Blocks.

    Raises:
        StoreUnavailable: the URL is malformed, its driver is missing, or it cannot be
            reached. The message never holds the password of the URL.
    """
    try:
        parsed = sa.make_url(url)
        if parsed.get_backend_name() == "sqlite":
            engine = _open_sqlite(parsed)
        else:
            engine = sa.create_engine(parsed, pool_pre_ping=True)
    except (NoSuchModuleError, ModuleNotFoundError) as missing:
        raise StoreUnavailable(
            f"the key store needs a database driver that is not installed: {missing} "
            "(for PostgreSQL, run: ./bin/orbit.sh install postgres)"
        ) from missing
    except ArgumentError:
        raise StoreUnavailable(
            "the database URL of the key store is malformed: write one such as "
            "'sqlite:///data/orbit.db' or 'postgresql+psycopg://user:password@host/name'"
        ) from None
    try:
        with engine.begin() as connection:
            connection.execute(CreateTable(KEYS, if_not_exists=True))
    except sa.exc.DBAPIError as failure:
        engine.dispose()
        raise unavailable(engine, failure) from failure
    return engine


def unavailable(engine: sa.Engine, failure: sa.exc.DBAPIError) -> StoreUnavailable:
    """What went wrong, without the SQL and without the password."""
    place = engine.url.render_as_string(hide_password=True)
    reason = " ".join(str(failure.orig).split())
    return StoreUnavailable(f"the key store at {place} cannot be used: {reason}")


def _open_sqlite(url: sa.URL) -> sa.Engine:
    file = url.database
    if file and file != ":memory:":
        try:
            make_private(Path(file).parent)
            if not file.startswith("file:") and not Path(file).exists():
                # SQLite takes an empty file for a new database, and gives the files that it
                # puts beside it the same mode.
                Path(file).touch(mode=0o600)
        except OSError as failure:
            raise StoreUnavailable(
                f"the key store at {file} cannot be made: {failure.strerror}"
            ) from failure
    engine = sa.create_engine(url, connect_args={"timeout": _BUSY_TIMEOUT_S})
    sa.event.listen(engine, "connect", _use_wal)
    return engine


def _use_wal(connection: Any, _pool_record: object) -> None:
    """Let one process write while others read; the mode stays with the file."""
    cursor = connection.cursor()
    try:
        if cursor.execute("PRAGMA journal_mode").fetchone()[0] == "delete":
            cursor.execute("PRAGMA journal_mode=WAL")
    finally:
        cursor.close()
