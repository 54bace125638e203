"""What of a call is written down, and when: its end is there before the answer goes out."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from server.audit import writer
from server.audit.entry import Settling
from server.audit.table import TableSink
from server.audit.writer import AuditWriter
from server.core.tools import ToolCall, ToolResult
from server.errors import ProposalSettled, StoreUnavailable
from server.settings.models import AccessSettings, AuditSettings
from server.tools.policy.checks import Proposal
from tests.tools.policy.chains import ADA, SEAL, Bench, bench

pytestmark = pytest.mark.anyio

ALL_MUST = AccessSettings(audit=AuditSettings(failing_reads="deny"))
PAY = ("pay", {"amount": 5})


def written(desk: Bench) -> list[tuple[str, str]]:
    """What is in the trail at this moment, without waiting for anything."""
    found = [entry.event for entry in desk.sink.entries()]
    return [(event["template_id"], event["outcome"]) for event in found]


async def test_the_end_of_a_write_is_written_when_its_answer_goes_out(tmp_path: Path) -> None:
    desk = bench(tmp_path)
    for number in range(1, 4):
        await desk.ask(*PAY)
        assert written(desk) == [("pay", "started"), ("pay", "success")] * number
    refused = await desk.ask(*PAY)
    assert (refused.outcome, len(written(desk))) == ("rate_limited", 6)


async def test_reads_are_written_too_where_they_must_be(tmp_path: Path) -> None:
    desk = bench(tmp_path, access=ALL_MUST)
    await desk.ask("report")
    assert written(desk) == [("report", "started"), ("report", "success")]


async def test_start_and_end_of_a_call_have_its_id_and_no_other_has_it(tmp_path: Path) -> None:
    desk = bench(tmp_path)
    await asyncio.gather(*(desk.ask(*PAY) for _ in range(3)))
    events = await desk.events()
    by_id: dict[str, list[str]] = {}
    for event in events:
        by_id.setdefault(event["call_id"], []).append(event["outcome"])
    assert list(by_id.values()) == [["started", "success"]] * 3


class FailingFromSecond(TableSink):
    """A database that goes away as soon as a call began."""

    away = True
    appended = 0

    def append(
        self, events: Sequence[Mapping[str, Any]], *, settling: Settling | None = None
    ) -> None:
        self.appended += 1
        if self.away and self.appended > 1:
            raise StoreUnavailable("away")
        super().append(events, settling=settling)


async def test_an_end_that_cannot_be_written_is_written_later(tmp_path: Path) -> None:
    sink = FailingFromSecond(f"sqlite:///{tmp_path / 'audit.db'}", SEAL)
    desk = bench(tmp_path, sink=sink)
    assert (await desk.ask(*PAY)).outcome == "success"
    assert written(desk) == [("pay", "started")]
    refused = await desk.ask(*PAY)
    assert (refused.outcome, len(desk.desk.ran)) == ("audit_unavailable", 1)
    sink.away = False
    await desk.trail.flush()
    outcomes = [outcome for _, outcome in written(desk)]
    assert outcomes == ["started", "success", "audit_unavailable"]


class Hanging:
    """Runs nothing to its end."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()

    async def execute(self, call: ToolCall, *, timeout_s: float) -> ToolResult:
        self.begun.set()
        await asyncio.sleep(60)
        raise AssertionError

    async def aclose(self) -> None:
        return None


@pytest.mark.parametrize(("name", "arguments"), [PAY, ("report", {})])
async def test_a_call_whose_asker_leaves_is_written_as_interrupted(
    name: str, arguments: Mapping[str, Any], tmp_path: Path
) -> None:
    desk, hanging = bench(tmp_path), Hanging()
    desk.chain = replace(desk.chain, runner=hanging)
    asking = asyncio.create_task(desk.ask(name, arguments))
    await hanging.begun.wait()
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    last = (await desk.events())[-1]
    assert (last["template_id"], last["outcome"]) == (name, "interrupted")
    assert last["reason"] == "given up (CancelledError): whether it was done is not known"


async def test_a_call_that_is_given_up_before_it_runs_is_written_so(tmp_path: Path) -> None:
    async def settled() -> None:
        raise ProposalSettled("elsewhere")

    desk = bench(tmp_path)
    with pytest.raises(ProposalSettled):
        await propose(desk, settled)
    events = await desk.events()
    assert [event["outcome"] for event in events] == ["started", "interrupted"]
    assert events[1]["reason"] == "given up (ProposalSettled): nothing was done"
    assert desk.desk.ran == []


async def propose(desk: Bench, commit: Callable[[], Awaitable[None]]) -> None:
    call = ToolCall("pay", "desk", "pay", {"amount": 5})
    proposal = Proposal(call, ADA, request_id="r", confirmed=True, commit=commit)
    await desk.chain.carry_out(proposal, timeout_s=5)


async def test_who_leaves_while_the_start_is_written_leaves_no_start_without_an_end(
    tmp_path: Path,
) -> None:
    desk = bench(tmp_path)
    for steps in range(12):
        asking = asyncio.create_task(desk.ask(*PAY))
        for _ in range(steps):
            await asyncio.sleep(0)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
    by_id: dict[str, list[str]] = {}
    for event in await desk.events():
        by_id.setdefault(event["call_id"], []).append(event["outcome"])
    assert by_id
    for outcomes in by_id.values():
        assert outcomes in (["started", "interrupted"], ["interrupted"])


async def test_a_write_is_not_held_up_by_more_than_its_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trail hangs from the end of the call on."""
    monkeypatch.setattr(writer, "_WRITE_EVERY_S", 3600)
    hung = asyncio.Event()

    class Hung(AuditWriter):
        async def flush(self) -> None:
            if desk.desk.ran:
                await hung.wait()
            await super().flush()

    desk = bench(tmp_path)
    trail = Hung(desk.sink, timeout_s=0.2)
    desk.chain = replace(desk.chain, recorder=replace(desk.chain.recorder, trail=trail))
    async with asyncio.timeout(5):
        assert (await desk.ask(*PAY)).outcome == "success"
    assert written(desk) == [("pay", "started")]
    hung.set()
    await trail.flush()
    assert written(desk) == [("pay", "started"), ("pay", "success")]
