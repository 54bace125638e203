"""The log of decisions: written behind everybody's back, put aside by size, in nobody's way."""

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from server.errors import ConfigurationInvalid
from server.metrics.metrics import Metrics
from server.settings.models import DecisionLogSettings
from server.telemetry.decision_log import DecisionLogWriter

pytestmark = pytest.mark.anyio

LOST = 'orbit_values_lost_total{what="decisions of the log"}'


def writer(path: Path, **options: Any) -> DecisionLogWriter:
    return DecisionLogWriter(path, **{"max_bytes": 10_000, "keep": 2} | options)


def numbers(path: Path) -> list[int]:
    return [json.loads(line)["n"] for line in path.read_text().splitlines()]


def lost(metrics: Metrics) -> int:
    found = [line for line in metrics.text().decode().splitlines() if line.startswith(LOST)]
    return int(float(found[0].rpartition(" ")[2])) if found else 0


class Stuck(dict[str, Any]):
    """A line that takes as long to be written as somebody wants."""

    def __init__(self, until: threading.Event) -> None:
        super().__init__(n=0)
        self._until = until
        self.begun = threading.Event()

    def items(self) -> Any:
        self.begun.set()
        self._until.wait(10)
        return super().items()


async def test_lines_are_written_in_order_and_for_their_owner_alone(tmp_path: Path) -> None:
    log = writer(tmp_path / "log.jsonl")
    for n in range(500):
        log.note({"n": n, "question": "Grüße"})
    await log.close()
    assert numbers(tmp_path / "log.jsonl") == list(range(500))
    assert (tmp_path / "log.jsonl").stat().st_mode & 0o077 == 0


async def test_files_are_put_aside_by_size_and_the_oldest_go(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    for n in range(5):
        log = writer(path, max_bytes=5)
        log.note({"n": n})
        await log.close()
    assert [numbers(path.with_name(f"log.jsonl.{n}")) for n in (3, 4)] == [[2], [3]]
    assert numbers(path) == [4]
    assert not path.with_name("log.jsonl.2").exists()


async def test_what_comes_too_fast_is_lost_and_counted_and_nobody_waits(tmp_path: Path) -> None:
    metrics, go_on = Metrics(), threading.Event()
    log = writer(tmp_path / "log.jsonl", metrics=metrics, most_waiting=3)
    log.note(stuck := Stuck(go_on))
    assert stuck.begun.wait(10)
    for n in range(1, 11):
        log.note({"n": n})
    assert lost(metrics) == 7
    go_on.set()
    await log.close()
    assert numbers(tmp_path / "log.jsonl") == [0, 1, 2, 3]


async def test_what_is_not_written_in_time_at_the_end_is_counted(tmp_path: Path) -> None:
    metrics, go_on = Metrics(), threading.Event()
    log = writer(tmp_path / "log.jsonl", metrics=metrics)
    log.note(stuck := Stuck(go_on))
    assert stuck.begun.wait(10)
    log.note({"n": 1})
    await log.close(within_s=0.05)
    assert lost(metrics) == 2
    go_on.set()


async def test_a_disk_that_fails_costs_lines_and_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    metrics, folder = Metrics(), tmp_path / "logs"
    folder.mkdir()
    log = writer(folder / "log.jsonl", metrics=metrics)
    folder.rmdir()
    for n in range(3):
        log.note({"n": n})
        while log._waiting.qsize() or lost(metrics) <= n:
            pass
    assert len(caplog.records) == 1
    folder.mkdir()
    log.note({"n": 3})
    await log.close()
    assert (lost(metrics), numbers(folder / "log.jsonl")) == (3, [3])


def taken(log: DecisionLogWriter) -> int:
    return sum(log.takes_next() for _ in range(4000))


async def test_a_part_of_the_turns_is_written(tmp_path: Path) -> None:
    every, some = writer(tmp_path / "a"), writer(tmp_path / "b", sample=0.25)
    assert taken(every) == 4000
    assert 800 < taken(some) < 1200
    await every.close()
    await some.close()


@pytest.mark.parametrize("settings", [{}, {"path": None}])
def test_without_a_path_there_is_none(settings: Mapping[str, Any]) -> None:
    assert DecisionLogWriter.open(DecisionLogSettings(**settings), Metrics()) is None


def test_a_path_that_cannot_be_written_is_named_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings = DecisionLogSettings(path=tmp_path / "file" / "log.jsonl")
    with pytest.raises(ConfigurationInvalid) as refused:
        DecisionLogWriter.open(settings, Metrics())
    assert "log of decisions cannot be written" in str(refused.value)
