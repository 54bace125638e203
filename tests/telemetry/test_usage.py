"""Usage: added up over restarts and servers that share a database, reported as it is asked for."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from server.errors import RequestInvalid
from server.storage.database import Database
from server.telemetry.usage import Count, UsageQuery, UsageStore
from tests.support.postgresql import postgresql, why_not

pytestmark = pytest.mark.anyio

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
ALL = UsageQuery.read("2020-01-01", "2099-01-01", "day,key_id,adapter")
ANSWERED: Mapping[Count, int] = {"turns": 1, "answered": 1, "tool_calls": 1}
DECLINED: Mapping[Count, int] = {"turns": 1, "declined": 1}


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'orbit.db'}"
    elif reason := why_not():
        pytest.skip(reason)
    else:
        with postgresql() as started:
            yield started


@asynccontextmanager
async def store(url: str, *, at: datetime = NOON, keep_days: int = 30) -> AsyncIterator[UsageStore]:
    database = await asyncio.to_thread(Database.open, url)
    opened = UsageStore(database, keep_days=keep_days, now=lambda: at)
    try:
        yield opened
    finally:
        await opened.close()
        await database.close()


def shown(rows: Any, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row.to_dict()[name] for name in names) for row in rows]


async def test_counts_hold_over_restarts_and_servers_at_once(url: str) -> None:
    for _ in range(2):
        async with store(url) as one, store(url) as other:
            for n in range(50):
                one.note("ana", "shop", ANSWERED, 20)
                other.note("ana", "shop", DECLINED, 20)
                other.note(f"key{n % 5}", "shop", ANSWERED, 20)
                one.note(f"key{n % 5}", "shop", ANSWERED, 20)
            await asyncio.gather(one.report(ALL), other.report(ALL))
    async with store(url) as later:
        rows = await later.report(ALL)
    assert shown(rows, "day", "key_id", "turns", "answered", "declined", "tool_calls") == [
        ("2026-03-04", "ana", 200, 100, 100, 100),
        *(("2026-03-04", f"key{n}", 40, 40, 0, 40) for n in range(5)),
    ]


@pytest.mark.parametrize(
    ("begin", "end", "by", "rows"),
    [
        ("2026-03-04", "2026-03-04", "key_id", [("ana", 2), ("ben", 1)]),
        ("2026-03-01", "2026-03-05", "key_id", [("ana", 3), ("ben", 1)]),
        ("2026-03-01", "2026-03-05", "adapter", [("orders", 1), ("shop", 3)]),
        ("2026-03-01", "2026-03-05", "day", [("2026-03-04", 3), ("2026-03-05", 1)]),
        ("2026-03-05", "2026-03-05", "adapter, day", [("2026-03-05", "shop", 1)]),
        ("2026-01-01", "2026-01-31", "key_id", []),
    ],
)
async def test_rows_are_for_the_days_and_names_that_are_asked_for(
    tmp_path: Path, begin: str, end: str, by: str, rows: list[tuple[Any, ...]]
) -> None:
    url, asked = f"sqlite:///{tmp_path / 'orbit.db'}", UsageQuery.read(begin, end, by)
    async with store(url) as day, store(url, at=NOON + timedelta(days=1)) as next_day:
        for key, adapter in (("ana", "shop"), ("ana", "orders"), ("ben", "shop")):
            day.note(key, adapter, ANSWERED, 5)
        next_day.note("ana", "shop", ANSWERED, 5)
        await next_day.report(asked)
        assert shown(await day.report(asked), *asked.by, "turns") == rows


@pytest.mark.parametrize(
    ("timed", "median"),
    [
        ([], None),
        ([8] * 4, 5.0),
        ([20] * 10, 17.5),
        ([20] * 6 + [400] * 5, 23.8),
        ([20] * 5 + [400] * 15, 333.3),
        ([60_000] * 3, 30_000.0),
    ],
)
async def test_the_median_of_turns_is_near(
    tmp_path: Path, timed: list[float], median: float | None
) -> None:
    async with store(f"sqlite:///{tmp_path / 'orbit.db'}") as counted:
        for ms in timed:
            counted.note("ana", "shop", ANSWERED, ms)
        rows = await counted.report(ALL)
    assert [row.p50_ms for row in rows] == ([] if median is None else [median])


async def test_old_counts_are_deleted(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'orbit.db'}"
    async with store(url) as counted:
        counted.note("ana", "shop", ANSWERED, 5)
    for days, left in ((30, 1), (31, 0)):
        async with store(url, at=NOON + timedelta(days=days)) as later:
            await later.tidy()
            assert len(await later.report(ALL)) == left


async def test_more_rows_than_anybody_reads_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.telemetry.usage.MOST_ROWS", 3)
    async with store(f"sqlite:///{tmp_path / 'orbit.db'}") as counted:
        for n in range(3):
            counted.note(f"key{n}", "shop", ANSWERED, 5)
        assert len(await counted.report(ALL)) == 3
        counted.note("key3", "shop", ANSWERED, 5)
        with pytest.raises(RequestInvalid, match="ask for fewer days"):
            await counted.report(ALL)


@pytest.mark.parametrize(
    ("begin", "end", "by", "message"),
    [
        ("yesterday", None, None, "'yesterday' is no day; write it as 2025-03-04"),
        ("2026-03-04", "2026-03-01", None, "the first is after the last"),
        (None, None, "key", "is not one of day, key_id, adapter"),
    ],
)
def test_what_cannot_be_asked_for(
    begin: str | None, end: str | None, by: str | None, message: str
) -> None:
    with pytest.raises(RequestInvalid, match=message):
        UsageQuery.read(begin, end, by)


def test_without_days_it_is_the_last_thirty() -> None:
    asked = UsageQuery.read(None, "2026-03-30", None)
    assert (asked.begin.isoformat(), asked.by) == ("2026-03-01", ("key_id", "adapter"))
