"""What is kept of a trail with the keys: whoever deletes the trail with its seal is noticed."""

import asyncio
import logging
import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from server.audit.entry import AuditEntry, Event, Sink, change_event, to_row, verify_chain
from server.audit.head import HEADS
from server.audit.table import ENTRIES, TableSink
from server.audit.writer import AuditWriter
from server.core.turn import Caller
from server.errors import StoreUnavailable
from tests.audit.test_audit import EVENT, SEAL, SINKS, file, fill, table
from tests.support.postgresql import postgresql, why_not

KILLS = 4


def in_database(folder: Path, *statements: Any) -> None:
    for path in (folder / "audit.db", folder / "keys.db"):
        if path.exists():
            engine = sa.create_engine(f"sqlite:///{path}")
            with engine.begin() as connection:
                for statement in statements:
                    connection.execute(statement)
            engine.dispose()


def delete_trail(folder: Path) -> None:
    """All of it, with its seal, as somebody would who wants to begin anew."""
    if (folder / "audit.db").exists():
        in_database(folder, ENTRIES.delete(), sa.text("DELETE FROM audit_end"))
    for path in folder.glob("audit.jsonl*"):
        path.unlink()


def drop_tables(folder: Path) -> None:
    in_database(folder, sa.text("DROP TABLE audit_entries"), sa.text("DROP TABLE audit_end"))


DELETED: list[tuple[Callable[[Path], Sink], Callable[[Path], None]]] = [
    (table, delete_trail),
    (file, delete_trail),
]


def test_dropped_tables_are_told_and_not_made_anew(tmp_path: Path) -> None:
    fill(table(tmp_path)).close()
    drop_tables(tmp_path)
    with pytest.raises(StoreUnavailable, match="no such table: audit_e"):
        verify_chain(table(tmp_path), SEAL)


@pytest.mark.parametrize(("opened", "delete"), DELETED)
def test_a_deleted_trail_is_noticed_and_goes_on_from_its_head(
    opened: Callable[[Path], Sink],
    delete: Callable[[Path], None],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    fill(opened(tmp_path)).close()
    delete(tmp_path)
    sink = opened(tmp_path)
    gone = "all 10 entries are missing: the trail has its head kept with the keys at entry 10"
    assert gone in verify_chain(sink, SEAL).problems
    asyncio.run(served(sink, "entries_missing"))
    assert "the audit: entries 1 to 10 are gone" in caplog.text
    fill(sink, 2)
    entries = list(sink.entries())
    assert [entry.number for entry in entries] == [11, 12, 13]
    told = entries[0].event
    assert (told["kind"], told["tool"], told["outcome"], told["reason"]) == (
        "change", "audit", "entries_missing", "entries 1 to 10 are gone"
    )  # fmt: skip
    assert verify_chain(sink, SEAL).problems == ("the entries before 11 are missing",)


async def served(sink: Sink, outcome: str = "interrupted", longest_call_s: float = 60) -> None:
    """What a server does with a trail when it starts, until an entry says so."""
    trail = AuditWriter(sink)
    serving = asyncio.create_task(trail.serve(longest_call_s))
    async with asyncio.timeout(30):
        while outcome not in {entry.event["outcome"] for entry in sink.entries()}:  # noqa: ASYNC110  the trail tells nobody
            await asyncio.sleep(0.02)
    await asyncio.sleep(0.1)  # and no second one
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    await trail.flush()


@pytest.mark.parametrize("opened", SINKS)
def test_a_trail_that_was_set_back_is_noticed(
    opened: Callable[[Path], Sink], tmp_path: Path
) -> None:
    """An older copy of entries and end is put back, as it was then."""
    fill(opened(tmp_path), 3).close()
    kept = {path: path.read_bytes() for path in tmp_path.glob("audit.jsonl*")}
    older = sa.text("CREATE TABLE older AS SELECT * FROM audit_end")
    if not kept:
        in_database(tmp_path, older)
    fill(opened(tmp_path), 3).close()
    for path, content in kept.items():
        path.write_bytes(content)
    if not kept:
        back = ("DELETE FROM audit_end", "INSERT INTO audit_end SELECT * FROM older")
        in_database(tmp_path, ENTRIES.delete().where(ENTRIES.c.number > 3), *map(sa.text, back))
    sink = opened(tmp_path)
    found = "the trail ends with entry 3, and has its head kept with the keys at entry 6"
    assert verify_chain(sink, SEAL).problems == (found,)
    fill(sink, 1)
    assert [entry.number for entry in sink.entries()] == [1, 2, 3, 7, 8]


@pytest.mark.parametrize("opened", SINKS)
@pytest.mark.parametrize(
    ("change", "found"),
    [
        (HEADS.update().values(number=4), "the head kept with the keys was altered"),
        (HEADS.delete(), "the head that is kept with the keys is missing"),
    ],
)
def test_a_change_to_the_head_is_found(
    opened: Callable[[Path], Sink], change: Any, found: str, tmp_path: Path
) -> None:
    sink = fill(opened(tmp_path))
    in_database(tmp_path, change)
    assert verify_chain(sink, SEAL).problems == (found,)


@pytest.mark.parametrize("opened", SINKS)
def test_a_trail_from_before_there_were_heads_gets_one(
    opened: Callable[[Path], Sink], tmp_path: Path
) -> None:
    sink = opened(tmp_path)
    older = {k: v for k, v in to_row(EVENT).items() if k not in ("kind", "call_id")}
    sink.append([older] * 3)
    in_database(tmp_path, HEADS.delete())
    assert verify_chain(sink, SEAL).problems == ()
    fill(sink, 1)
    head = sink.head()
    assert head is not None
    assert (head.end.number, head.settled) == (4, 3)
    assert verify_chain(sink, SEAL).problems == ()


@pytest.mark.parametrize("opened", SINKS)
@pytest.mark.parametrize("before", [0, 3])
def test_a_trail_that_is_written_while_it_is_verified_is_whole(
    opened: Callable[[Path], Sink], before: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = fill(opened(tmp_path), before)
    read = sink.entries

    def entries() -> Iterator[AuditEntry]:
        fill(sink, 2)
        return read()

    monkeypatch.setattr(sink, "entries", entries)
    verdict = verify_chain(sink, SEAL)
    assert (verdict.entries, verdict.problems) == (before + 2, ())


def test_a_head_that_cannot_be_kept_is_behind_and_no_alarm(tmp_path: Path) -> None:
    sink = fill(file(tmp_path), 2)
    before = sink.head()
    assert before is not None
    fill(sink, 1)
    old = {"number": before.end.number, "digest": before.end.digest, "seal": before.end.seal}
    in_database(tmp_path, HEADS.update().values(**old))
    assert verify_chain(sink, SEAL).problems == ()
    fill(sink, 1)
    assert [entry.number for entry in sink.entries()] == [1, 2, 3, 4]


def _write_for_ever(opened: Callable[[Path], Sink], folder: Path, told: Any) -> None:
    sink, number = opened(folder), 0
    while True:
        sink.append([to_row(replace(EVENT, arguments={"text": "x" * 3000}))] * 3)
        number += 3
        told.send(number)


@pytest.mark.chaos
@pytest.mark.parametrize("opened", SINKS)
def test_kill_9_between_trail_and_head_alarms_nobody_and_hides_nothing(
    opened: Callable[[Path], Sink], tmp_path: Path
) -> None:
    check_killed_writers(opened, tmp_path)


def in_postgresql(url: str, _: Path) -> Sink:
    return TableSink(url, SEAL)


@pytest.mark.chaos
@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
def test_the_same_and_a_deleted_trail_in_postgresql(tmp_path: Path) -> None:
    with postgresql() as url:
        check_killed_writers(partial(in_postgresql, url), tmp_path)
        sink = TableSink(url, SEAL)
        head = sink.head()
        assert head is not None
        engine = sa.create_engine(url)
        with engine.begin() as connection:
            connection.execute(ENTRIES.delete())
            connection.execute(sa.text("DELETE FROM audit_end"))
        engine.dispose()
        fill(sink, 1)
        assert [e.number for e in sink.entries()] == [head.end.number + 1, head.end.number + 2]
        sink.close()


def check_killed_writers(opened: Callable[[Path], Sink], tmp_path: Path) -> None:
    spawning, confirmed, chance = multiprocessing.get_context("spawn"), 0, random.Random(5)
    for _ in range(KILLS):
        here, there = spawning.Pipe(duplex=False)
        args = opened, tmp_path, there
        writers = [spawning.Process(target=_write_for_ever, args=args) for _ in range(2)]
        for writer in writers:
            writer.start()
        there.close()
        assert here.poll(60)
        time.sleep(0.05 + 0.2 * chance.random())
        for writer in writers:
            assert writer.pid is not None
            os.kill(writer.pid, signal.SIGKILL)
            writer.join()
        confirmed += 3 * _count(here)
        sink = opened(tmp_path)
        verdict, head = verify_chain(sink, SEAL), sink.head()
        assert verdict.problems == ()
        assert head is not None
        assert confirmed <= head.end.number <= verdict.entries
        sink.close()
    assert confirmed > 0


def _count(told: Any) -> int:
    count = 0
    try:
        while told.poll():
            told.recv()
            count += 1
    except EOFError:
        pass
    return count


def call(outcome: str, call_id: str, **more: Any) -> dict[str, Any]:
    return to_row(replace(EVENT, outcome=outcome, call_id=call_id, **more))


@pytest.mark.parametrize("opened", SINKS)
def test_a_call_without_an_end_gets_one_at_the_next_start(
    opened: Callable[[Path], Sink], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sink = fill(opened(tmp_path), 2)
    sink.append([call("started", "dead-1"), call("started", "dead-2"), call("success", "dead-1")])
    sink.append([to_row(replace(change, call_id="dead-3"))])
    with caplog.at_level(logging.WARNING):
        asyncio.run(served(sink))
        asyncio.run(served(sink))
    ended = [e.event for e in sink.entries() if e.event["outcome"] == "interrupted"]
    assert [(e["call_id"], e["kind"], e["operation"]) for e in ended] == [
        ("dead-2", "call", "add"), ("dead-3", "change", "revoke"),
    ]  # fmt: skip
    assert "whether it was done is not known" in ended[0]["reason"]
    assert "2 calls in the audit had begun and were not seen to end" in caplog.text
    head = sink.head()
    assert head is not None
    assert head.settled >= 6
    assert verify_chain(sink, SEAL).problems == ()


change: Event = change_event(Caller("k", "a"), "keys", "revoke", "started")


def test_what_another_server_may_still_be_doing_is_left_to_it(tmp_path: Path) -> None:
    sink = table(tmp_path)
    sink.one_server = False
    fresh = replace(change, at=datetime.now(UTC), call_id="living-1")
    sink.append([call("started", "dead-1"), to_row(fresh)])
    asyncio.run(served(sink, longest_call_s=60))
    ended = [e.event["call_id"] for e in sink.entries() if e.event["outcome"] == "interrupted"]
    head = sink.head()
    assert head is not None
    assert (ended, head.settled) == (["dead-1"], 1)
    sink.close()


def test_of_two_servers_one_ends_what_a_third_left(tmp_path: Path) -> None:
    sinks = [table(tmp_path) for _ in range(2)]
    sinks[0].append([call("started", "dead-1")])

    async def both() -> None:
        await asyncio.gather(*(served(sink) for sink in sinks))

    asyncio.run(both())
    outcomes = [entry.event["outcome"] for entry in sinks[0].entries()]
    assert outcomes == ["started", "interrupted"]
    for sink in sinks:
        sink.close()
