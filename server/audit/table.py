"""The audit as a table, beside the keys or wherever a database URL names."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import sqlalchemy as sa

from server.audit.entry import GENESIS, AuditEntry, AuditSeal
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
_SHOWN: Final = ("at", "adapter", "key_id", "user_id", "template_id", "outcome")


class TableSink:
    """Entries in a database. Several servers may write into one: the end is locked."""

    def __init__(self, url: str, seal: AuditSeal, *, migrate: bool = True) -> None:
        """Raises `StoreUnavailable` when the database cannot be used. Blocks."""
        self._engine = open_database(url, migrate=migrate)
        self._seal = seal
        try:
            with self._engine.begin() as connection:
                self._begin_chain(connection)
        except sa.exc.DBAPIError as failure:
            self._engine.dispose()
            raise unavailable(self._engine, failure) from failure

    def _begin_chain(self, connection: sa.Connection) -> None:
        if connection.execute(sa.select(_END.c.id)).first() is not None:
            return
        seal = self._seal.end(0, GENESIS)
        try:
            with connection.begin_nested():
                connection.execute(_END.insert().values(id=1, number=0, digest=GENESIS, seal=seal))
        except sa.exc.IntegrityError:
            pass  # another server began it in the meantime

    def append(self, events: Sequence[Mapping[str, Any]]) -> None:
        try:
            with self._engine.begin() as connection:
                # An update takes the write lock before the end is read, on every database.
                connection.execute(_END.update().values(id=_END.c.id))
                number, digest = connection.execute(sa.select(_END.c.number, _END.c.digest)).one()
                entries = self._seal.entries(events, number, digest)
                connection.execute(ENTRIES.insert(), [_to_row(entry) for entry in entries])
                number, digest = entries[-1].number, entries[-1].digest
                seal = self._seal.end(number, digest)
                connection.execute(_END.update().values(number=number, digest=digest, seal=seal))
        except sa.exc.DBAPIError as failure:
            raise unavailable(self._engine, failure) from failure

    def entries(self) -> Iterator[AuditEntry]:
        last = 0
        while True:
            query = sa.select(ENTRIES).where(ENTRIES.c.number > last).order_by(ENTRIES.c.number)
            with self._engine.connect() as connection:
                rows = connection.execute(query.limit(_BATCH)).mappings().all()
            if not rows:
                return
            yield from map(_to_entry, rows)
            last = rows[-1]["number"]

    def holds_first(self) -> bool:
        return True

    def end(self) -> tuple[int, str, str] | None:
        with self._engine.connect() as connection:
            found = connection.execute(sa.select(_END)).mappings().first()
        if found is None or (found["number"] == 0 and found["digest"] == GENESIS):
            return None
        return found["number"], found["digest"], found["seal"]

    def close(self) -> None:
        self._engine.dispose()


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
