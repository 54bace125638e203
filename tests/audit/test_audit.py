"""What is kept of calls, and what is found when somebody changes it."""

import asyncio
import errno
import json
import os
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from server.audit.entry import AuditSeal, Event, Sink, to_row, verify_chain
from server.audit.file import FileSink
from server.audit.head import KeptHead
from server.audit.table import ENTRIES, TableSink
from server.audit.writer import AuditWriter
from server.errors import StoreUnavailable
from server.metrics.metrics import Metrics
from server.storage.database import open_engine

SEAL = AuditSeal(b"k" * 32)
EVENT = Event(
    at=datetime(2025, 3, 4, 10, 0, 0, 123456, tzinfo=UTC),
    request_id="r",
    adapter="a",
    key_id="k",
    user_id="ana",
    role="user",
    intent=None,
    template_id="t",
    tool="calculator",
    operation="add",
    outcome="success",
    arguments={"a": 1, "b": "é"},
)


def table(folder: Path) -> TableSink:
    return TableSink(f"sqlite:///{folder / 'audit.db'}", SEAL)


def file(folder: Path, *, max_bytes: int = 10**9, keep: int = 100) -> FileSink:
    head = KeptHead(f"sqlite:///{folder / 'keys.db'}", "jsonl", SEAL)
    return FileSink(folder / "audit.jsonl", SEAL, head, max_bytes=max_bytes, keep=keep)


SINKS: list[Callable[[Path], Sink]] = [table, file]


def fill(sink: Sink, count: int = 10) -> Sink:
    for number in range(count):
        sink.append([to_row(replace(EVENT, request_id=f"r{number}"))])
    return sink


@pytest.mark.parametrize("opened", SINKS)
def test_a_trail_reads_back_as_it_was_written(
    opened: Callable[[Path], Sink], tmp_path: Path
) -> None:
    sink = fill(opened(tmp_path))
    entries = list(sink.entries())
    assert [entry.number for entry in entries] == list(range(1, 11))
    assert entries[3].event == {
        "at": "2025-03-04T10:00:00.123+00:00",
        "request_id": "r3",
        "adapter": "a",
        "key_id": "k",
        "user_id": "ana",
        "role": "user",
        "intent": None,
        "template_id": "t",
        "tool": "calculator",
        "operation": "add",
        "outcome": "success",
        "reason": "",
        "duration_ms": 0.0,
        "proposed_by": "system",
        "proposal_id": None,
        "arguments": {"a": 1, "b": "é"},
        "kind": "call",
        "call_id": None,
    }
    assert verify_chain(sink, SEAL).problems == ()
    sink.close()


@pytest.mark.parametrize("opened", SINKS)
def test_a_trail_goes_on_where_it_ended(opened: Callable[[Path], Sink], tmp_path: Path) -> None:
    fill(opened(tmp_path), 3).close()
    again = fill(opened(tmp_path), 3)
    verdict = verify_chain(again, SEAL)
    assert (verdict.entries, verdict.problems) == (6, ())
    again.close()


@pytest.mark.parametrize("opened", SINKS)
def test_another_installations_secret_fits_nothing(
    opened: Callable[[Path], Sink], tmp_path: Path
) -> None:
    sink = fill(opened(tmp_path), 2)
    assert verify_chain(sink, AuditSeal(b"x" * 32)).problems[:2] == (
        "entry 1 was altered", "entry 2 was altered"
    )  # fmt: skip
    sink.close()


def _sql(folder: Path, statement: Any) -> None:
    engine = sa.create_engine(f"sqlite:///{folder / 'audit.db'}")
    with engine.begin() as connection:
        connection.execute(statement)
    engine.dispose()


NUMBER = ENTRIES.c.number


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (ENTRIES.update().where(NUMBER == 4).values(outcome="error"), "entry 4 was altered"),
        (ENTRIES.update().where(NUMBER == 4).values(event="{}"), "entry 4 was altered"),
        (ENTRIES.delete().where(NUMBER == 4), "between entries 3 and 5 some are missing"),
        (ENTRIES.delete().where(NUMBER < 4), "the entries before 4 are missing"),
        (ENTRIES.delete().where(NUMBER > 7),
         "the trail ends with entry 7, and was sealed at entry 10"),
        (ENTRIES.delete(), "all 10 entries are missing: the trail was sealed at entry 10"),
        (ENTRIES.update().where(NUMBER == 10).values(number=11), "entry 11 was altered"),
        (sa.text("UPDATE audit_end SET number = 7"), "the seal of the trail's end was altered"),
        (sa.text("DELETE FROM audit_end"), "the seal of the trail's end is missing"),
    ],
)  # fmt: skip
def test_a_change_to_the_table_is_found(change: Any, found: str, tmp_path: Path) -> None:
    sink = fill(table(tmp_path))
    _sql(tmp_path, change)
    assert found in verify_chain(sink, SEAL).problems
    sink.close()


def _without(place: slice) -> Callable[[list[str]], list[str]]:
    def change(lines: list[str]) -> list[str]:
        del lines[place]
        return lines

    return change


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (_without(slice(3, 4)), "between entries 3 and 5 some are missing"),
        (_without(slice(0, 2)), "the entries before 3 are missing"),
        (_without(slice(8, 10)), "the trail ends with entry 8, and was sealed at entry 10"),
        (_without(slice(0, 10)), "all 10 entries are missing: the trail was sealed at entry 10"),
        (lambda lines: [line.replace('"r4"', '"r9"') for line in lines], "entry 5 was altered"),
        (lambda lines: [*lines[:4], lines[5], lines[4], *lines[6:]],
         "between entries 4 and 6 some are missing"),
        (lambda lines: [*lines, "not JSON"], "entry 0 was altered"),
    ],
)  # fmt: skip
def test_a_change_to_the_file_is_found(
    change: Callable[[list[str]], list[str]], found: str, tmp_path: Path
) -> None:
    sink = fill(file(tmp_path))
    path = tmp_path / "audit.jsonl"
    path.write_text("".join(f"{line}\n" for line in change(path.read_text().splitlines())))
    assert found in verify_chain(sink, SEAL).problems


@pytest.mark.parametrize("opened", SINKS)
def test_what_was_cut_off_stays_missing_after_more_is_written(
    opened: Callable[[Path], Sink], tmp_path: Path
) -> None:
    sink = fill(opened(tmp_path))
    path = tmp_path / "audit.jsonl"
    if path.exists():
        path.write_text("".join(f"{line}\n" for line in path.read_text().splitlines()[:7]))
    else:
        _sql(tmp_path, ENTRIES.delete().where(NUMBER > 7))
    fill(sink, 1)
    assert verify_chain(sink, SEAL).problems == ("between entries 7 and 11 some are missing",)
    sink.close()


def test_what_is_committed_is_on_the_disk(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'audit.db'}")
    with engine.connect() as connection:
        modes = [
            connection.execute(sa.text(f"PRAGMA {name}")).scalar_one()
            for name in ("journal_mode", "synchronous")
        ]
    engine.dispose()
    assert modes == ["wal", 2]  # FULL


def test_full_files_are_put_aside_and_old_ones_deleted(tmp_path: Path) -> None:
    sink = fill(file(tmp_path, max_bytes=1500, keep=2), 30)
    names = sorted(path.name for path in tmp_path.iterdir())
    aside = [name for name in names if name.rpartition(".")[2].isdigit()]
    assert len(aside) == 2
    assert all(os.stat(tmp_path / name).st_mode & 0o077 == 0 for name in names)
    verdict = verify_chain(sink, SEAL)
    assert verdict.entries < 30
    assert verdict.problems == ()


def test_a_line_that_a_crash_cut_is_no_entry_and_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fill(file(tmp_path), 3)
    with (tmp_path / "audit.jsonl").open("a") as lines:
        lines.write('{"number": 4, "previ')
    assert verify_chain(file(tmp_path), SEAL).problems == ()
    sink = fill(file(tmp_path), 1)
    assert [entry.number for entry in sink.entries()] == [1, 2, 3, 4]
    assert verify_chain(sink, SEAL).problems == ()
    assert "was not written to its end" in caplog.text


def test_a_disk_that_fills_in_the_middle_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = fill(file(tmp_path), 3)

    def full(path: Path, text: str, *, durable: bool) -> None:
        path.write_text(path.read_text() + text[: len(text) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr("server.audit.file.append_text", full)
        with pytest.raises(StoreUnavailable, match="No space left"):
            fill(sink, 1)
    fill(sink, 1)
    verdict = verify_chain(sink, SEAL)
    assert (verdict.entries, verdict.problems) == (4, ())


def test_many_writers_make_one_chain(tmp_path: Path) -> None:
    async def write(sink: Sink) -> None:
        trail = AuditWriter(sink)
        await asyncio.gather(*(trail.write(EVENT) for _ in range(20)))
        await trail.close()

    async def all_of_them() -> None:
        await asyncio.gather(*(write(table(tmp_path)) for _ in range(4)))

    asyncio.run(all_of_them())
    sink = table(tmp_path)
    verdict = verify_chain(sink, SEAL)
    assert (verdict.entries, verdict.problems) == (80, ())
    sink.close()


@pytest.mark.parametrize("opened", [table, file, partial(file, max_bytes=900)])
def test_a_clock_that_jumps_changes_neither_order_nor_chain(
    opened: Callable[[Path], Sink], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jumps = [timedelta(), timedelta(days=1), timedelta(days=-400), timedelta(hours=-1)] * 3
    sink, now = opened(tmp_path), time.time()

    async def run() -> None:
        trail = AuditWriter(sink)
        for number, jump in enumerate(jumps):
            moment = now + jump.total_seconds()
            monkeypatch.setattr(time, "time", lambda moment=moment: moment)
            event = replace(EVENT, at=EVENT.at + jump, request_id=f"r{number}")
            await trail.write(event)
            trail.note(event)
        await trail.close()

    asyncio.run(run())
    entries = list(sink.entries())
    assert [entry.number for entry in entries] == list(range(1, 2 * len(jumps) + 1))
    said = [(entry.event["request_id"], entry.event["at"]) for entry in entries]
    assert said == [
        (f"r{number}", to_row(replace(EVENT, at=EVENT.at + jump))["at"])
        for number, jump in enumerate(jumps)
        for _ in range(2)
    ]
    assert verify_chain(sink, SEAL).whole


def test_what_is_noted_is_written_before_the_trail_closes(tmp_path: Path) -> None:
    async def run() -> None:
        trail = AuditWriter(file(tmp_path))
        for _ in range(1000):
            trail.note(EVENT)
        await trail.close()

    asyncio.run(run())
    assert verify_chain(file(tmp_path), SEAL).entries == 1000


def test_what_is_noted_is_written_though_nobody_asks_for_it(tmp_path: Path) -> None:
    async def run() -> int:
        trail = AuditWriter(file(tmp_path))
        trail.note(EVENT)
        for _ in range(1000):
            if (entries := verify_chain(file(tmp_path), SEAL).entries) > 0:
                break
            await asyncio.sleep(0.01)
        await trail.close()
        return entries

    assert asyncio.run(run()) == 1


def test_whoever_waits_finds_all_that_came_before_written_in_order(tmp_path: Path) -> None:
    numbers = [str(number) for number in range(1201)]

    async def run() -> list[str]:
        trail = AuditWriter(file(tmp_path))
        for number in numbers[:-1]:
            trail.note(replace(EVENT, request_id=number))
        await trail.write(replace(EVENT, request_id=numbers[-1]))
        written = [entry.event["request_id"] for entry in file(tmp_path).entries()]
        await trail.close()
        return written

    assert asyncio.run(run()) == numbers


def named(number: int) -> Event:
    return replace(EVENT, request_id=f"r{number}")


def test_what_cannot_be_written_is_told_and_written_later_in_order(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sink, metrics = file(tmp_path), Metrics()
    (tmp_path / "audit.jsonl").mkdir()

    async def run() -> None:
        trail = AuditWriter(sink, metrics)
        with pytest.raises(StoreUnavailable, match="cannot be written"):
            await trail.write(named(0))
        for number in (1, 2):
            trail.note(named(number))
            await trail.flush()
        await trail.record(named(3))
        with pytest.raises(StoreUnavailable, match="is behind"):
            await trail.write(named(4))
        (tmp_path / "audit.jsonl").rmdir()
        await trail.write(named(5))
        await trail.close()

    asyncio.run(run())
    written = [entry.event["request_id"] for entry in file(tmp_path).entries()]
    assert written == ["r1", "r2", "r3", "r5"]
    assert caplog.text.count("audit events are not written yet: the audit at") == 1
    assert b'orbit_values_lost_total{what="audit events"}' not in metrics.text()


def test_what_cannot_be_written_before_the_end_is_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sink, metrics = file(tmp_path), Metrics()
    (tmp_path / "audit.jsonl").mkdir()

    async def run() -> None:
        trail = AuditWriter(sink, metrics)
        for number in range(3):
            trail.note(named(number))
        await trail.close()

    asyncio.run(run())
    assert "3 audit events could not be written at the end, and may be lost" in caplog.text
    assert b'orbit_values_lost_total{what="audit events"} 3.0' in metrics.text()


def test_long_arguments_are_cut(tmp_path: Path) -> None:
    row = to_row(replace(EVENT, arguments={"text": "x" * 100_000}))
    assert row["arguments"]["chars"] == 100_011
    assert len(json.dumps(row)) < 25_000
