"""The heads of trails, which stay with the keys when a trail is deleted with its seal."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Literal

import sqlalchemy as sa

from server.audit.entry import AuditEntry, AuditSeal, End, Head, Settling
from server.storage.database import open_database, unavailable

_log = logging.getLogger(__name__)

Trail = Literal["sql", "jsonl"]

METADATA: Final = sa.MetaData()
HEADS: Final = sa.Table(
    "audit_heads",
    METADATA,
    sa.Column("trail", sa.String(16), primary_key=True),
    sa.Column("number", sa.BigInteger, nullable=False),
    sa.Column("digest", sa.String(64), nullable=False),
    sa.Column("seal", sa.String(64), nullable=False),
    sa.Column("settled", sa.BigInteger, nullable=False),
)
_OF_TRAIL: Final = HEADS.c.trail == sa.bindparam("of")
_TOUCH: Final = HEADS.update().where(_OF_TRAIL).values(trail=HEADS.c.trail)
_READ: Final = sa.select(HEADS).where(_OF_TRAIL)
_MOVE: Final = (
    HEADS.update()
    .where(_OF_TRAIL)
    .values({c.name: sa.bindparam(f"new_{c.name}") for c in HEADS.c if not c.primary_key})
)


@dataclass(slots=True)
class HeadLock:
    """The head of a trail in a transaction in which nobody else can write to that trail."""

    connection: sa.Connection
    trail: Trail
    seal: AuditSeal
    found: Head | None
    moved: bool = False
    """Whether the trail itself has what the head is moved to."""

    @classmethod
    def take(cls, connection: sa.Connection, trail: Trail, seal: AuditSeal) -> "HeadLock":
        """Take it. An update locks before anything is read, on every database."""
        if connection.execute(_TOUCH, {"of": trail}).rowcount == 0:
            try:
                with connection.begin_nested():
                    nothing = {"trail": trail, "number": 0, "digest": "", "seal": "", "settled": 0}
                    connection.execute(HEADS.insert(), nothing)
            except sa.exc.IntegrityError:  # another server was faster
                connection.execute(_TOUCH, {"of": trail})
        return cls(connection, trail, seal, read_head(connection, trail))

    @property
    def end(self) -> End | None:
        return self.found and self.found.end

    def allows(self, settling: Settling | None) -> bool:
        return settling is None or (
            self.found is not None and self.found.settled == settling.before
        )

    def move(self, entries: list[AuditEntry], last: int, settling: Settling | None) -> End | None:
        """Move the head to the last of new entries, and return the sealed end.

        `last` is the number that an older trail had before it had a head.
        """
        self.moved = True
        end = self.seal.end(entries[-1].number, entries[-1].digest) if entries else self.end
        if end is None:
            return None
        settled = last if self.found is None else self.found.settled
        settled = settling.after if settling else settled
        new = {**end._asdict(), "settled": settled}
        values = {f"new_{name}": value for name, value in new.items()}
        self.connection.execute(_MOVE, {"of": self.trail, **values})
        return end


def read_head(connection: sa.Connection, trail: Trail) -> Head | None:
    row = connection.execute(_READ, {"of": trail}).mappings().first()
    if row is None or not row["seal"]:
        return None
    return Head(End(row["number"], row["digest"], row["seal"]), row["settled"])


class KeptHead:
    """The head of a trail that is kept elsewhere, in the database of keys."""

    def __init__(self, url: str, trail: Trail, seal: AuditSeal, *, migrate: bool = True) -> None:
        """Raises `StoreUnavailable`: the database cannot be used. Blocks."""
        self._engine = open_database(url, migrate=migrate)
        self._trail: Trail = trail
        self._seal = seal
        self.one_server = self._engine.dialect.name == "sqlite"

    @contextmanager
    def lock(self) -> Iterator[HeadLock]:
        """Keep others from the trail for the block, and then keep its new head.

        Raises `StoreUnavailable`: the block did not begin. Where only the new head cannot be
        kept, the next entries take it along: it is behind the trail then, and never ahead.
        """
        held: HeadLock | None = None
        try:
            with self._engine.begin() as connection:
                held = HeadLock.take(connection, self._trail, self._seal)
                yield held
        except sa.exc.DBAPIError as failure:
            told = unavailable(self._engine, failure)
            if held is None or not held.moved:
                raise told from failure
            _log.warning("the head of the audit is kept with the next entry: %s", told)

    def read(self) -> Head | None:
        """Raises `StoreUnavailable`."""
        try:
            with self._engine.connect() as connection:
                return read_head(connection, self._trail)
        except sa.exc.DBAPIError as failure:
            raise unavailable(self._engine, failure) from failure

    def close(self) -> None:
        self._engine.dispose()
