"""What guards keep in the database: changes, counts, and the latest decisions."""

import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, Self

import sqlalchemy as sa
from anyio import to_thread

from server.guards.changes import Change
from server.metrics.metrics import Metrics
from server.storage.announcements import Announcer
from server.storage.database import BATCH_TIMEOUT_S, Database, UtcTime
from server.storage.write_behind import WriteBehind

_WRITE_EVERY_S: Final = 1.0
_KEPT: Final = 2000
"""Decisions kept for each guard."""

_METADATA: Final = sa.MetaData()
CHANGES: Final = sa.Table(
    "guard_changes",
    _METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("at", UtcTime, nullable=False),
    sa.Column("by", sa.String(255), nullable=False),
    sa.Column("guard", sa.String(255), nullable=False, index=True),
    sa.Column("kind", sa.String(32), nullable=False),
    sa.Column("category", sa.String(255), nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("number", sa.Float),
)
COUNTS: Final = sa.Table(
    "guard_counts",
    _METADATA,
    sa.Column("guard", sa.String(255), primary_key=True),
    sa.Column("category", sa.String(255), primary_key=True),
    sa.Column("method", sa.String(32), primary_key=True),
    sa.Column("outcome", sa.String(32), primary_key=True),
    sa.Column("count", sa.BigInteger, nullable=False),
)
DECISIONS: Final = sa.Table(
    "guard_decisions",
    _METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("at", UtcTime, nullable=False),
    sa.Column("guard", sa.String(255), nullable=False, index=True),
    sa.Column("turn", sa.String(64), nullable=False),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("verdict", sa.JSON, nullable=False),
    sa.Column("other", sa.JSON),
)

Counted = tuple[str, str, str, str]
"""Guard, category, method, outcome."""


@dataclass(frozen=True, slots=True)
class GuardDecision:
    """One decision worth keeping; `question` is redacted, `other` what the compared set says."""

    at: datetime
    guard: str
    turn: str
    question: str
    verdict: Mapping[str, Any]
    other: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        data = {"at": self.at.isoformat(), "turn": self.turn, "question": self.question}
        compared = {} if self.other is None else {"compared": dict(self.other)}
        return data | dict(self.verdict) | compared


class GuardStore:
    def __init__(
        self,
        database: Database,
        metrics: Metrics | None = None,
        announcer: Announcer | None = None,
    ) -> None:
        self._database = database
        self._announcer = announcer or Announcer.of_process()
        self._noted = itertools.count()
        self._behind = WriteBehind[int, tuple[Counted, GuardDecision | None]](
            self._write, what="guard decisions", every_s=_WRITE_EVERY_S, metrics=metrics
        )

    @classmethod
    async def open(
        cls,
        url: str,
        metrics: Metrics | None = None,
        *,
        migrate: bool = True,
        announcer: Announcer | None = None,
    ) -> Self:
        """Open the store, or raise `StoreUnavailable`."""
        opened = await to_thread.run_sync(partial(Database.open, url, threads=1, migrate=migrate))
        return cls(opened, metrics, announcer)

    async def close(self) -> None:
        await self._behind.close()
        await self._database.close()

    async def changes(self, guard: str) -> tuple[Change, ...]:
        asked = sa.select(CHANGES).where(CHANGES.c.guard == guard).order_by(CHANGES.c.id)
        rows = await self._database.run(lambda c: c.execute(asked).mappings().all())
        return tuple(Change(**row) for row in rows)

    async def add_change(self, change: Change) -> Change:
        """Keep a change and announce it; return it with its id and time."""
        change = replace(change, at=datetime.now(UTC))
        row = {column: getattr(change, column) for column in CHANGES.c.keys() if column != "id"}  # noqa: SIM118

        def work(connection: sa.Connection) -> int:
            made = connection.execute(CHANGES.insert(), row).inserted_primary_key
            self._announcer.write(connection, "guards", change.guard)
            return made[0] if made else 0

        return replace(change, id=await self._database.run(work))

    def note(self, key: Counted, decided: GuardDecision | None) -> None:
        """Count a decision soon; `decided` is given when the decision itself is to be kept."""
        self._behind.note(next(self._noted), (key, decided))

    async def _write(self, noted: Mapping[int, tuple[Counted, GuardDecision | None]]) -> None:
        counts = Counter(key for key, _ in noted.values())
        decided = [decision for _, decision in noted.values() if decision is not None]
        rows = [asdict(decision) | {"turn": decision.turn[:64]} for decision in decided]

        def work(connection: sa.Connection) -> None:
            # In one order, so that no two servers wait for each other's rows.
            for key, count in sorted(counts.items()):
                _add_count(connection, key, count)
            if rows:
                connection.execute(DECISIONS.insert(), rows)
                for guard in {row["guard"] for row in rows}:
                    _drop_oldest(connection, guard)

        await self._database.run(work, timeout_s=BATCH_TIMEOUT_S)

    async def counts(self, guard: str) -> list[dict[str, Any]]:
        """Return rows of category, method, outcome and count, highest count first."""
        await self._behind.flush()
        asked = (
            sa.select(COUNTS.c.category, COUNTS.c.method, COUNTS.c.outcome, COUNTS.c.count)
            .where(COUNTS.c.guard == guard)
            .order_by(COUNTS.c.count.desc(), COUNTS.c.category, COUNTS.c.method)
        )
        rows = await self._database.run(lambda c: c.execute(asked).mappings().all())
        return [dict(row) for row in rows]

    async def decisions(
        self, guard: str, *, limit: int, differing: bool = False
    ) -> tuple[GuardDecision, ...]:
        """Return the latest decisions first, or of those that a compared set judged otherwise."""
        await self._behind.flush()
        asked = sa.select(DECISIONS).where(DECISIONS.c.guard == guard)
        if differing:
            asked = asked.where(sa.cast(DECISIONS.c.other, sa.Text) != "null")
        asked = asked.order_by(DECISIONS.c.id.desc()).limit(limit)
        rows = await self._database.run(lambda c: c.execute(asked).mappings().all())
        return tuple(GuardDecision(**{k: v for k, v in row.items() if k != "id"}) for row in rows)


def _add_count(connection: sa.Connection, key: Counted, count: int) -> None:
    names = ("guard", "category", "method", "outcome")
    row = dict(zip(names, key, strict=True))
    here = sa.and_(*(COUNTS.c[name] == value for name, value in row.items()))
    more = COUNTS.update().where(here).values(count=COUNTS.c.count + count)
    if connection.execute(more).rowcount:
        return
    try:
        with connection.begin_nested():
            connection.execute(COUNTS.insert(), row | {"count": count})
    except sa.exc.IntegrityError:  # another process was first
        connection.execute(more)


def _drop_oldest(connection: sa.Connection, guard: str) -> None:
    of_guard = DECISIONS.c.guard == guard
    newest = sa.select(DECISIONS.c.id).where(of_guard).order_by(DECISIONS.c.id.desc())
    last = connection.execute(newest.offset(_KEPT).limit(1)).scalar()
    if last is not None:
        connection.execute(DECISIONS.delete().where(of_guard, DECISIONS.c.id <= last))
