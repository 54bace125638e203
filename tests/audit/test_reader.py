"""Looking into a trail from its newest end."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from server.audit import reader
from server.audit.entry import Sink, to_row, verify_chain
from server.audit.reader import AuditReader, WantedEntries, utc_time
from server.errors import RequestInvalid, StoreUnavailable
from tests.audit.test_audit import EVENT, SEAL, SINKS, file, fill, table

pytestmark = pytest.mark.anyio

ANY = WantedEntries()


async def numbers(sink: Sink, wanted: WantedEntries, limit: int) -> list[list[int]]:
    """The numbers on each page, to the last."""
    reading = AuditReader(sink, SEAL)
    pages, before = list[list[int]](), None
    while True:
        found = await reading.search(wanted, limit=limit, before=before)
        pages.append([entry.number for entry in found.entries])
        before = found.next_before
        if before is None:
            break
    reading.close()
    sink.close()
    return pages


def count_aside(folder: Path) -> int:
    return len(list(folder.glob("audit.jsonl.[0-9]*")))


@pytest.mark.parametrize("opened", SINKS)
async def test_pages_go_from_the_newest_to_the_oldest(
    opened: Callable[[Path], Sink], tmp_path: Path
) -> None:
    sink = fill(opened(tmp_path), 10)
    assert await numbers(sink, ANY, 4) == [[10, 9, 8, 7], [6, 5, 4, 3], [2, 1]]


async def test_files_that_were_put_aside_are_read_on_into(tmp_path: Path) -> None:
    sink = fill(file(tmp_path, max_bytes=1500), 12)
    assert count_aside(tmp_path) == 3
    assert [n for page in await numbers(sink, ANY, 5) for n in page] == list(range(12, 0, -1))


async def test_long_lines_and_an_unfinished_one_are_read_as_they_are(tmp_path: Path) -> None:
    sink = file(tmp_path)
    for _ in range(3):
        sink.append([to_row(replace(EVENT, reason="é" * 100_000))])
    with (tmp_path / "audit.jsonl").open("a") as cut:
        cut.write('{"number": 4, "rea')
    assert [len(str(entry.event["reason"])) for entry in sink.newest()] == [100_000] * 3
    assert await numbers(sink, ANY, 2) == [[3, 2], [1]]


async def test_a_line_that_cannot_be_read_is_for_the_check_to_tell(tmp_path: Path) -> None:
    sink = fill(file(tmp_path), 4)
    path = tmp_path / "audit.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0], lines[1], "not JSON\n", *lines[2:], "{}\n"]))
    assert not verify_chain(sink, SEAL).whole
    assert await numbers(sink, ANY, 1) == [[4], [3], [2], [1]]


@pytest.mark.parametrize("opened", SINKS)
async def test_only_what_fits_is_found(opened: Callable[[Path], Sink], tmp_path: Path) -> None:
    sink = opened(tmp_path)
    for number in range(6):
        user, at = ("ana", "bob")[number % 2], EVENT.at + timedelta(days=number)
        sink.append([to_row(replace(EVENT, user_id=user, at=at))])
    wanted = WantedEntries(
        {"user_id": "bob", "kind": "call"},
        since=utc_time("2025-03-05T00:00Z"),
        until=utc_time("2025-03-09T10:00Z"),
    )
    assert await numbers(sink, wanted, 10) == [[4, 2]]


async def test_one_search_looks_at_so_many_and_says_where_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "_MOST_LOOKED_AT", 4)
    sink = fill(table(tmp_path), 10)
    assert await numbers(sink, WantedEntries({"request_id": "r1"}), 5) == [[], [], [2]]


async def test_who_asks_while_it_is_checked_gets_the_same_verdict(tmp_path: Path) -> None:
    sink, reads = fill(table(tmp_path), 3), list[int]()
    head = sink.head

    def counted() -> object:
        reads.append(1)
        return head()

    sink.head = counted  # type: ignore[method-assign, assignment]
    reading = AuditReader(sink, SEAL)
    verdicts = await asyncio.gather(*(reading.verify() for _ in range(5)))
    later = await reading.verify()
    assert {(v.entries, v.whole) for v in (*verdicts, later)} == {(3, True)}
    assert len(reads) == 2
    reading.close()
    sink.close()


async def test_a_trail_that_cannot_be_read_is_a_named_failure(tmp_path: Path) -> None:
    (tmp_path / "audit.jsonl").mkdir()
    reading = AuditReader(file(tmp_path), SEAL)
    for asked in (reading.search(ANY, limit=1), reading.verify()):
        with pytest.raises(StoreUnavailable, match="the audit cannot be read"):
            await asked
    reading.close()


@pytest.mark.parametrize("text", ["", "yesterday", "2025-13-01", "0001-01-01T00:00+23:00"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(RequestInvalid, match="is no time; write it as"):
        utc_time(text)
