"""The table of keys, and what the store asks of it within a transaction."""

import hmac
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa

from server.access.models import DIGEST_BYTES, IssuedKey, KeyRecord
from server.errors import KeyNotFound, KeyUnchangeable, KeyUnknown, RequestInvalid
from server.storage.database import UtcTime

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
_SELECT_RECORDS: Final = sa.select(*_RECORD_COLUMNS)
_NO_DIGEST: Final = bytes(DIGEST_BYTES)


def to_record(row: Mapping[Any, Any]) -> KeyRecord:
    """Return the record in a row."""
    values = {column.name: row[column.name] for column in _RECORD_COLUMNS}
    return KeyRecord(**values | {"limits": tuple(values["limits"])})


def verified(connection: sa.Connection, key_id: str, digest: bytes) -> KeyRecord:
    """Return the record of a presented key, which may be expired or revoked.

    Raises `KeyUnknown`: no such id, or the digest is another; takes the same time for both.
    """
    row = connection.execute(sa.select(KEYS).where(KEYS.c.key_id == key_id)).mappings().first()
    stored = _NO_DIGEST if row is None else row["digest"]
    if not hmac.compare_digest(stored, digest) or row is None:
        raise KeyUnknown("this key was never issued here, or is misspelt")
    return to_record(row)


def sample_adapter(connection: sa.Connection, key_id: str, digest: bytes) -> str | None:
    """Return the adapter that a sample key opens; None where there is no such key, or no more."""
    try:
        record = verified(connection, key_id, digest)
    except KeyUnknown:
        return None
    return record.adapter if record.sample and record.revoked_at is None else None


def insert_key(connection: sa.Connection, record: KeyRecord, digest: bytes) -> None:
    values = {column.name: getattr(record, column.name) for column in _RECORD_COLUMNS}
    connection.execute(KEYS.insert(), values | {"limits": list(record.limits), "digest": digest})


def expired_of(connection: sa.Connection, label: str, before: datetime) -> tuple[str, ...]:
    """Return the ids of keys of a label, no samples, that expired before a time."""
    found = sa.select(KEYS.c.key_id).where(
        KEYS.c.label == label, ~KEYS.c.sample, KEYS.c.expires_at < before
    )
    return tuple(connection.execute(found.order_by(KEYS.c.created_at)).scalars())


def delete_keys(connection: sa.Connection, key_ids: Collection[str]) -> None:
    connection.execute(KEYS.delete().where(KEYS.c.key_id.in_(key_ids)))


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
    rows = connection.execute(_SELECT_RECORDS.order_by(KEYS.c.created_at, KEYS.c.key_id))
    return tuple(to_record(row) for row in rows.mappings())


def revoke_record(connection: sa.Connection, key_id: str, now: datetime) -> KeyRecord:
    _end(connection, key_id, now)
    return get_record(connection, key_id)


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
    old = get_record(connection, key_id)
    if not ended:
        raise KeyUnchangeable(f"key {key_id} is revoked: make a new one instead")
    if old.sample:
        raise KeyUnchangeable(f"{key_id} is a sample key, which stays as documented: revoke it")
    if grace is not None:
        end = now + grace if old.expires_at is None else min(old.expires_at, now + grace)
        values = {"revoked_at": None, "expires_at": end}
        connection.execute(KEYS.update().where(KEYS.c.key_id == key_id).values(values))
    fresh = replace(
        old,
        key_id=minted.key_id,
        created_at=now,
        expires_at=None if old.expires_at is None else now + (old.expires_at - old.created_at),
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
    row = connection.execute(_SELECT_RECORDS.where(KEYS.c.key_id == key_id)).mappings().first()
    return None if row is None else to_record(row)


def get_record(connection: sa.Connection, key_id: str) -> KeyRecord:
    if (found := _find(connection, key_id)) is None:
        raise KeyNotFound(f"there is no key with the id {key_id!r}")
    return found
