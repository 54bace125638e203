"""A called service that misbehaves is an error with a name, and nobody else waits for it."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from server.core.tools import ToolCall, ToolResult, ToolResultStatus
from server.tools.executor import ToolExecutor
from server.tools.http.engine import HttpCalls, HttpEngine
from tests.chaos.behaviours import BEHAVIOURS, Behaviour
from tests.tools.http.calls import FAST, LOOPBACK, execution
from tests.tools.http.upstream import upstream

TIMEOUT_S = 1.5
MAX_PAUSE_S = 0.5


class Pulse:
    """The longest time for which the event loop did nothing else."""

    longest_s = 0.0

    async def beat(self) -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.01)
            self.longest_s = max(self.longest_s, time.perf_counter() - before - 0.01)


@asynccontextmanager
async def beating() -> AsyncIterator[Pulse]:
    pulse = Pulse()
    beat = asyncio.create_task(pulse.beat())
    try:
        yield pulse
    finally:
        beat.cancel()


async def called(behaviour: Behaviour) -> tuple[ToolResult, Pulse]:
    # Not tried again unless that is what is tested, so that the table is quick.
    service = replace(FAST, timeout_s=TIMEOUT_S, retries=0)
    async with upstream(behaviour.answering) as there, beating() as pulse:
        call = execution(
            "GET",
            "/x",
            base_url=there.origin,
            service=service,
            mapping=behaviour.mapping,
            pagination=behaviour.pagination,
        )
        http = HttpCalls({"t": (call, {})}, HttpEngine(egress=LOOPBACK))
        executor = ToolExecutor(http=http)
        try:
            result = await executor.execute(ToolCall("t", "http_call", "op", {}), timeout_s=5.0)
        finally:
            await executor.aclose()
    return result, pulse


@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda each: each.name)
def test_what_a_service_does_wrong_has_a_name(
    behaviour: Behaviour, caplog: pytest.LogCaptureFixture
) -> None:
    began = time.perf_counter()
    result, pulse = asyncio.run(called(behaviour))
    said = result.error_message or ""
    assert behaviour.says in said
    assert bool(behaviour.says) == (result.status is not ToolResultStatus.SUCCESS), said
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert "unexpectedly" not in said
    assert pulse.longest_s < MAX_PAUSE_S
    assert time.perf_counter() - began < TIMEOUT_S + 3


def test_the_table_is_long_enough() -> None:
    assert len({each.name for each in BEHAVIOURS}) == len(BEHAVIOURS) >= 60
