"""The audit as a table, beside the keys or wherever a database URL names."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import sqlalchemy as sa

from server.audit import head
from server.audit.entry import GENESIS, AuditEntry, AuditSeal, End, Head, Settling
from server.storage.database import open_database, unavailable

_METADATA: Final = sa.MetaData()
_BATCH: Final = 1000

ENTRIES: Final = sa.Table(
    "audit_entries",
    _METADATA,
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("at", sa.String(40), nullable=False, index=True),
    sa.Column("adapter", sa.String(255), nullable=False),
    sa.Column("key_id", sa.String(64), nullable=False),
    sa.Column("user_id", sa.String(255)),
    sa.Column("template_id", sa.String(255), nullable=False),
    sa.Column("outcome", sa.String(64), nullable=False),
    sa.Column("event", sa.Text, nullable=False),
    sa.Column("previous", sa.String(64), nullable=False),
    sa.Column("digest", sa.String(64), nullable=False),
)
"""`event` holds all of it and is what the chain is over; the others are for looking."""

_END: Final = sa.Table(
    "audit_end",
    _METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("number", sa.BigInteger, nullable=False),
    sa.Column("digest", sa.String(64), nullable=False),
    sa.Column("seal", sa.String(64), nullable=False),
)
_INSERT: Final = ENTRIES.insert()
_NEWEST: Final = (
    sa.select(ENTRIES.c.number, ENTRIES.c.digest).order_by(ENTRIES.c.number.desc()).limit(1)
)
_READ_END: Final = sa.select(_END)
_SEAL: Final = _END.update().values({name: sa.bindparam(name) for name in End._fields})
_SHOWN: Final = ("at", "adapter", "key_id", "user_id", "template_id", "outcome")


class TableSink:
    """Entries in the database of keys. Several servers may write into one: its head is locked."""

    def __init__(self, url: str, seal: AuditSeal, *, migrate: bool = True) -> None:
        """Raises `StoreUnavailable` when the database cannot be used. Blocks."""
        self._engine = open_database(url, migrate=migrate)
        self._seal = seal
        self.one_server = self._engine.dialect.name == "sqlite"

    def append(
        self, events: Sequence[Mapping[str, Any]], *, settling: Settling | None = None
    ) -> None:
        try:
            with self._engine.begin() as connection:
                lock = head.HeadLock.take(connection, "sql", self._seal)
                if not lock.allows(settling):
                    return
                found = connection.execute(_NEWEST).first()
                last = (0, GENESIS) if found is None else (found.number, found.digest)
                entries = self._seal.following(events, last, _read_end(connection), lock.end)
                if entries:
                    connection.execute(_INSERT, [_to_row(entry) for entry in entries])
                if entries or settling:
                    end = lock.move(entries, last[0], settling)
                    if end is not None and not connection.execute(_SEAL, end._asdict()).rowcount:
                        connection.execute(_END.insert(), {"id": 1, **end._asdict()})
        except sa.exc.DBAPIError as failure:
            raise unavailable(self._engine, failure) from failure

    def entries(self, *, after: int = 0) -> Iterator[AuditEntry]:
        last = after
        while True:
            query = sa.select(ENTRIES).where(ENTRIES.c.number > last).order_by(ENTRIES.c.number)
            with self._reading() as connection:
                rows = connection.execute(query.limit(_BATCH)).mappings().all()
            if not rows:
                return
            yield from map(_to_entry, rows)
            last = rows[-1]["number"]

    def newest(self, *, before: int | None = None) -> Iterator[AuditEntry]:
        last = before
        while True:
            query = sa.select(ENTRIES).order_by(ENTRIES.c.number.desc()).limit(_BATCH)
            if last is not None:
                query = query.where(ENTRIES.c.number < last)
            with self._reading() as connection:
                rows = connection.execute(query).mappings().all()
            if not rows:
                return
            yield from map(_to_entry, rows)
            last = rows[-1]["number"]

    def holds_first(self) -> bool:
        return True

    def end(self) -> End | None:
        with self._reading() as connection:
            return _read_end(connection)

    def head(self) -> Head | None:
        with self._reading() as connection:
            return head.read_head(connection, "sql")

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        try:
            with self._engine.connect() as connection:
                yield connection
        except sa.exc.DBAPIError as failure:
            raise unavailable(self._engine, failure) from failure

    def close(self) -> None:
        self._engine.dispose()


def _read_end(connection: sa.Connection) -> End | None:
    row = connection.execute(_READ_END).mappings().first()
    if row is None or (row["number"] == 0 and row["digest"] == GENESIS):
        return None
    return End(row["number"], row["digest"], row["seal"])


def _to_row(entry: AuditEntry) -> dict[str, Any]:
    return {
        "number": entry.number,
        **{name: entry.event[name] for name in _SHOWN},
        "event": json.dumps(entry.event, ensure_ascii=True, separators=(",", ":")),
        "previous": entry.previous,
        "digest": entry.digest,
    }


def _to_entry(row: Mapping[Any, Any]) -> AuditEntry:
    try:
        event = json.loads(row["event"])
    except ValueError:
        event = {"unreadable": row["event"]}
    shown = {name: row[name] for name in _SHOWN}
    if any(event.get(name) != value for name, value in shown.items()):
        # The columns for looking say something else than what was sealed.
        event = {**event, **shown, "columns": "altered"}
    return AuditEntry(row["number"], event, row["previous"], row["digest"])
