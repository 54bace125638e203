"""The table of commit events, from which they are delivered."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa

from server.core.json import to_json
from server.storage.database import UtcTime

COMMIT: Final = "J01"


@dataclass(frozen=True, slots=True)
class CommitEvent:
    """A confirmed call. Its `id` is the same for every delivery, and unique."""

    id: str
    at: datetime
    intent: str
    target: str | None
    session_id: str

    def to_dict(self) -> dict[str, Any]:
        """Return the event as it is sent, logged and kept."""
        return {
            "event": COMMIT,
            "id": self.id,
            "time": self.at.astimezone(UTC).isoformat(timespec="milliseconds"),
            "intent": self.intent,
            "target": self.target,
            "session_id": self.session_id,
            "status": "COMMITTED",
        }

    def to_text(self) -> str:
        return to_json(self.to_dict())


METADATA: Final = sa.MetaData()
EVENTS: Final = sa.Table(
    "commit_events",
    METADATA,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("at", UtcTime, nullable=False, index=True),
    sa.Column("intent", sa.String(255), nullable=False),
    sa.Column("target", sa.Text),
    sa.Column("session_id", sa.String(128), nullable=False),
    sa.Column("event", sa.Text, nullable=False),
    sa.Column("due_at", UtcTime, index=True),
    sa.Column("leased_by", sa.String(32)),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("delivered_at", UtcTime),
    sa.Column("failure", sa.Text, nullable=False, server_default=""),
)
"""`event` is the body that is sent. `due_at` is when it is to be tried (again): empty when
nobody is to be sent it, when it was delivered, and when it was given up. While a server is
trying, `due_at` is when another one may."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """One event to be delivered; `attempts` counts this one."""

    id: str
    body: str
    at: datetime
    attempts: int


def insert_event(connection: sa.Connection, event: CommitEvent, *, to_deliver: bool) -> None:
    row = {
        "id": event.id,
        "at": event.at,
        "intent": event.intent,
        "target": event.target,
        "session_id": event.session_id,
        "event": event.to_text(),
        "due_at": event.at if to_deliver else None,
        "attempts": 0,
    }
    connection.execute(EVENTS.insert(), row)


def claim(
    connection: sa.Connection, worker: str, now: datetime, *, lease: timedelta, most: int
) -> Sequence[Parcel]:
    """Lease the events that are due, oldest first; no other server gets them meanwhile."""
    due = EVENTS.c.due_at <= now
    asked = sa.select(EVENTS.c.id).where(due).order_by(EVENTS.c.at, EVENTS.c.id).limit(most)
    ids = connection.execute(asked).scalars().all()
    leased = {"due_at": now + lease, "leased_by": worker, "attempts": EVENTS.c.attempts + 1}
    won = [
        id_
        for id_ in ids
        if connection.execute(
            EVENTS.update().where(EVENTS.c.id == id_, due).values(leased)
        ).rowcount
    ]
    if not won:
        return ()
    mine = sa.select(EVENTS.c.id, EVENTS.c.event, EVENTS.c.at, EVENTS.c.attempts)
    rows = connection.execute(
        mine.where(EVENTS.c.id.in_(won)).order_by(EVENTS.c.at, EVENTS.c.id)
    ).all()
    return tuple(Parcel(*row) for row in rows)


def delivered(connection: sa.Connection, id_: str, now: datetime, *, keep: bool) -> None:
    if not keep:
        connection.execute(EVENTS.delete().where(EVENTS.c.id == id_))
        return
    values = {"due_at": None, "leased_by": None, "delivered_at": now, "failure": ""}
    connection.execute(EVENTS.update().where(EVENTS.c.id == id_).values(values))


def failed(
    connection: sa.Connection, parcel: Parcel, worker: str, why: str, again_at: datetime | None
) -> None:
    """Note a failure, and when to try again; without a time, never."""
    mine = sa.and_(EVENTS.c.id == parcel.id, EVENTS.c.leased_by == worker)
    values = {"due_at": again_at, "leased_by": None, "failure": why[:1000]}
    connection.execute(EVENTS.update().where(mine).values(values))


def waiting(connection: sa.Connection) -> int:
    """Return how many events are still to be delivered."""
    asked = sa.select(sa.func.count()).select_from(EVENTS).where(EVENTS.c.due_at.is_not(None))
    return connection.execute(asked).scalar_one()


def delete_events_before(connection: sa.Connection, end: datetime) -> None:
    """Delete old events that need no delivery any more."""
    over = sa.and_(EVENTS.c.at < end, EVENTS.c.due_at.is_(None))
    connection.execute(EVENTS.delete().where(over))
