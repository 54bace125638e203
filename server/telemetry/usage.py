"""Usage: turns counted by key, adapter and day, in the database of keys. No words are kept."""

import asyncio
import itertools
import logging
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final, Literal, NamedTuple, Self, get_args

import sqlalchemy as sa

from server.core.suggestions import unknown
from server.errors import RequestInvalid, StoreUnavailable
from server.metrics.metrics import Metrics
from server.storage.database import BATCH_TIMEOUT_S, Database, utc_now
from server.storage.write_behind import WriteBehind

_log = logging.getLogger(__name__)

_WRITE_EVERY_S: Final = 1.0
_TIDY_EVERY_S: Final = 3600.0

Count = Literal[
    "turns", "answered", "asked_back", "declined", "blocked", "failed",
    "tool_calls", "tool_failures", "writes_confirmed", "prompt_tokens", "completion_tokens",
]  # fmt: skip
"""Each turn is one of `answered` … `failed`."""
COUNTS: Final[tuple[Count, ...]] = get_args(Count)

WITHIN_MS: Final = (10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000)
"""Turns are counted by the least of these that they did not exceed, for a median of many."""
_LATENCIES: Final = (*(f"within_{ms}_ms" for ms in WITHIN_MS), "slower")

USAGE: Final = sa.Table(
    "usage_counts",
    sa.MetaData(),
    sa.Column("day", sa.Date, primary_key=True),
    sa.Column("key_id", sa.String(64), primary_key=True),
    sa.Column("adapter", sa.String(255), primary_key=True),
    *(sa.Column(name, sa.BigInteger, nullable=False) for name in (*COUNTS, *_LATENCIES)),
)

Dimension = Literal["day", "key_id", "adapter"]
DIMENSIONS: Final[tuple[Dimension, ...]] = get_args(Dimension)


_DAYS: Final = 30
MOST_ROWS: Final = 100_000


class UsageQuery(NamedTuple):
    """From which day to which, both included, and what each row is for."""

    begin: date
    end: date
    by: tuple[Dimension, ...]

    @classmethod
    def read(cls, begin: str | None, end: str | None, by: str | None) -> Self:
        """Return what is asked for in words: days in UTC, and names with commas between.

        Without days it is the last thirty, and without names one row for each key and adapter.
        Raises `RequestInvalid`.
        """
        last = _day(end) if end else utc_now().date()
        first = _day(begin) if begin else last - timedelta(days=_DAYS - 1)
        if first > last:
            raise RequestInvalid(f"no day is from {first} to {last}: the first is after the last")
        named = [each.strip() for each in by.split(",")] if by else list(_USUAL)
        for each in named:
            if each not in DIMENSIONS:
                raise RequestInvalid(unknown("way to group usage", each, DIMENSIONS))
        return cls(first, last, tuple(each for each in DIMENSIONS if each in named))


_USUAL: Final[tuple[Dimension, ...]] = ("key_id", "adapter")


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise RequestInvalid(f"{text!r} is no day; write it as 2025-03-04") from None


class _Place(NamedTuple):
    day: date
    key_id: str
    adapter: str


@dataclass(frozen=True, slots=True)
class UsageRow:
    """What was counted for one value of each dimension that was asked for.

    `p50_ms` is about the median of the milliseconds that turns took; None where none was timed.
    """

    of: Mapping[str, str]
    counts: Mapping[str, int]
    p50_ms: float | None

    def to_dict(self) -> dict[str, Any]:
        return {**self.of, **self.counts, "p50_ms": self.p50_ms}


class UsageStore:
    """Counts of turns, added up in batches, so that several servers may share one database."""

    def __init__(
        self,
        database: Database,
        *,
        keep_days: int,
        metrics: Metrics | None = None,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        """`keep_days` is for how long counts are kept; the database is its owner's to close."""
        self._database = database
        self._kept_for = timedelta(days=keep_days)
        self._now = now
        self._noted = itertools.count()
        self._behind = WriteBehind[int, tuple[_Place, Counter[str]]](
            self._write, what="counts of usage", every_s=_WRITE_EVERY_S, metrics=metrics
        )

    def note(self, key_id: str, adapter: str, counts: Mapping[Count, int], ms: float) -> None:
        """Count a turn, which took `ms`, soon."""
        place = _Place(self._now().date(), key_id, adapter)
        timed = _LATENCIES[bisect_left(WITHIN_MS, ms)]
        self._behind.note(next(self._noted), (place, Counter[str](counts) + Counter([timed])))

    async def report(self, asked: UsageQuery) -> list[UsageRow]:
        """Return the counts that are asked for.

        Raises:
            StoreUnavailable: they cannot be read.
            RequestInvalid: they are more than anybody reads at once.
        """
        await self._behind.flush()
        begin, end, by = asked
        group = [USAGE.c[name] for name in by]
        summed = [sa.func.sum(USAGE.c[name]).label(name) for name in (*COUNTS, *_LATENCIES)]
        found = sa.select(*group, *summed).where(USAGE.c.day.between(begin, end))
        found = found.group_by(*group).order_by(*group).limit(MOST_ROWS + 1)

        def work(connection: sa.Connection) -> list[UsageRow]:
            rows = connection.execute(found).mappings()
            return [_report_row(dict(row), by) for row in rows]

        rows = await self._database.run(work, timeout_s=BATCH_TIMEOUT_S)
        if len(rows) > MOST_ROWS:
            raise RequestInvalid(f"there are more than {MOST_ROWS} rows: ask for fewer days")
        return rows

    async def serve(self) -> None:
        """Delete what was kept long enough, until cancelled."""
        while True:
            try:
                await self.tidy()
            except StoreUnavailable as failed:
                _log.warning("old counts of usage are not deleted yet: %s", failed)
            await asyncio.sleep(_TIDY_EVERY_S)

    async def tidy(self) -> None:
        before = self._now().date() - self._kept_for
        old = USAGE.delete().where(USAGE.c.day < before)
        await self._database.run(lambda c: c.execute(old), timeout_s=BATCH_TIMEOUT_S)

    async def close(self) -> None:
        """Write what waits."""
        await self._behind.close()

    async def _write(self, noted: Mapping[int, tuple[_Place, Counter[str]]]) -> None:
        sums: dict[_Place, Counter[str]] = {}
        for place, counts in noted.values():
            sums.setdefault(place, Counter()).update(counts)
        # In one order everywhere, so that no two servers wait for each other.
        rows = [
            place._asdict() | {name: counts[name] for name in (*COUNTS, *_LATENCIES)}
            for place, counts in sorted(sums.items())
        ]

        def work(connection: sa.Connection) -> None:
            for row in rows:
                _add(connection, row)

        await self._database.run(work, timeout_s=BATCH_TIMEOUT_S)


def _add(connection: sa.Connection, row: Mapping[str, Any]) -> None:
    here = sa.and_(*(USAGE.c[name] == row[name] for name in DIMENSIONS))
    sums = {name: USAGE.c[name] + row[name] for name in (*COUNTS, *_LATENCIES)}
    more = USAGE.update().where(here).values(sums)
    if connection.execute(more).rowcount:
        return
    try:
        with connection.begin_nested():
            connection.execute(USAGE.insert(), row)
    except sa.exc.IntegrityError:  # another process was first
        connection.execute(more)


def _report_row(row: Mapping[str, Any], by: Sequence[Dimension]) -> UsageRow:
    of: dict[str, str] = {name: str(row[name]) for name in by}
    counts: dict[str, int] = {name: int(row[name]) for name in COUNTS}
    return UsageRow(of, counts, _median_ms([int(row[name]) for name in _LATENCIES]))


def usage_table(asked: UsageQuery, rows: Sequence[UsageRow]) -> list[list[Any]]:
    """Return rows as a table, the names of its columns first."""
    columns = [*asked.by, *COUNTS, "p50_ms"]
    shown = [row.to_dict() for row in rows]
    return [list(columns), *([row[name] for name in columns] for row in shown)]


def _median_ms(timed: Sequence[int]) -> float | None:
    """The median of what lies between bounds, as if it were spread evenly there."""
    half = sum(timed) / 2
    if not half:
        return None
    below, bounds = 0, (0, *WITHIN_MS)
    for place, count in enumerate(timed):
        if below + count >= half:
            begin, end = bounds[place], bounds[min(place + 1, len(WITHIN_MS))]
            return round(begin + (end - begin) * (half - below) / count, 1)
        below += count
    return None
