"""The table of keys, and what the store asks of it within a transaction."""

import hmac
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.schema import CreateTable

from server.access.key_format import DIGEST_BYTES, IssuedKey
from server.access.models import KeyRecord
from server.errors import KeyNotFound, KeyUnchangeable, KeyUnknown, RequestInvalid, StoreUnavailable
from server.storage.private_dirs import make_private

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


def key_row(record: KeyRecord, digest: bytes) -> dict[str, Any]:
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


_NO_DIGEST: Final = bytes(DIGEST_BYTES)


def verified(connection: sa.Connection, key_id: str, digest: bytes) -> KeyRecord:
    """The record of a presented key. Whether it may be used is for the caller to judge.

    Raises:
        KeyUnknown: no such id, or the digest is another; takes the same time for both.
    """
    row = connection.execute(sa.select(KEYS).where(KEYS.c.key_id == key_id)).mappings().first()
    stored = _NO_DIGEST if row is None else row["digest"]
    if not hmac.compare_digest(stored, digest) or row is None:
        raise KeyUnknown("this key was never issued here, or is misspelt")
    return to_record(row)


def insert_key(connection: sa.Connection, record: KeyRecord, digest: bytes) -> None:
    connection.execute(KEYS.insert(), key_row(record, digest))


def put_sample(connection: sa.Connection, record: KeyRecord, digest: bytes) -> None:
    """Store a sample key, over an earlier one of the same adapter or a revoked one."""
    found = _find(connection, record.key_id)
    if found is not None and found.adapter != record.adapter and found.revoked_at is None:
        raise RequestInvalid(
            f"this sample key opens adapter {found.adapter!r} already: revoke {found.key_id}, "
            f"or make an ordinary key for {record.adapter!r}"
        )
    connection.execute(KEYS.delete().where(KEYS.c.key_id == record.key_id))
    insert_key(connection, record, digest)


def list_records(connection: sa.Connection) -> tuple[KeyRecord, ...]:
    rows = connection.execute(select_records().order_by(KEYS.c.created_at, KEYS.c.key_id))
    return tuple(to_record(row) for row in rows.mappings())


def revoke_record(connection: sa.Connection, key_id: str, now: datetime) -> KeyRecord:
    _end(connection, key_id, now)
    found = _find(connection, key_id)
    if found is None:
        raise _no_such(key_id)
    return found


def rotate_record(
    connection: sa.Connection,
    key_id: str,
    minted: IssuedKey,
    now: datetime,
    grace: timedelta | None,
) -> KeyRecord:
    """End a key, now or after `grace`, and store one that opens the same."""
    # Ending it first decides between two rotations at once: only one of them ends it.
    ended = _end(connection, key_id, now)
    old = _find(connection, key_id)
    if old is None:
        raise _no_such(key_id)
    if not ended:
        raise KeyUnchangeable(f"key {key_id} is revoked: make a new one instead")
    if old.sample:
        raise KeyUnchangeable(f"{key_id} is a sample key, which stays as documented: revoke it")
    if grace is not None:
        end = now + grace if old.expires_at is None else min(old.expires_at, now + grace)
        values = {"revoked_at": None, "expires_at": end}
        connection.execute(KEYS.update().where(KEYS.c.key_id == key_id).values(values))
    lifetime = None if old.expires_at is None else old.expires_at - old.created_at
    fresh = replace(
        old,
        key_id=minted.key_id,
        created_at=now,
        expires_at=None if lifetime is None else now + lifetime,
        last_used_at=None,
        revoked_at=None,
    )
    insert_key(connection, fresh, minted.digest)
    return fresh


def note_uses(connection: sa.Connection, uses: Mapping[str, datetime]) -> None:
    at = sa.bindparam("at", type_=KEYS.c.last_used_at.type)
    earlier = KEYS.c.last_used_at.is_(None) | (KEYS.c.last_used_at < at)
    statement = KEYS.update().where(KEYS.c.key_id == sa.bindparam("id"), earlier)
    # One order for all writers, so that two batches cannot wait for each other.
    rows = [{"id": key_id, "at": uses[key_id]} for key_id in sorted(uses)]
    connection.execute(statement.values(last_used_at=at), rows)


def count(connection: sa.Connection) -> int:
    return connection.execute(sa.select(sa.func.count()).select_from(KEYS)).scalar_one()


def _end(connection: sa.Connection, key_id: str, now: datetime) -> bool:
    living = sa.and_(KEYS.c.key_id == key_id, KEYS.c.revoked_at.is_(None))
    return connection.execute(KEYS.update().where(living).values(revoked_at=now)).rowcount == 1


def _find(connection: sa.Connection, key_id: str) -> KeyRecord | None:
    row = connection.execute(select_records().where(KEYS.c.key_id == key_id)).mappings().first()
    return None if row is None else to_record(row)


def _no_such(key_id: str) -> KeyNotFound:
    return KeyNotFound(f"there is no key with the id {key_id!r}")
