"""Answers that take long, over a real connection: signs of life, and clients that leave."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
import pytest

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.adapters.registry import Adapters
from server.core.decision import Decision, Trace
from server.core.turn import Turn
from server.errors import ProviderUnavailable
from tests.support.api import api_over, api_state, served_on_loopback
from tests.support.deciding import DECISIONS, table_adapter

pytestmark = pytest.mark.anyio


@dataclass
class Waits:
    """Decides when it is told to, and notes when it is stopped instead."""

    begun: asyncio.Event = field(default_factory=asyncio.Event)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    stopped: asyncio.Event = field(default_factory=asyncio.Event)

    async def decide(self, turn: Turn, trace: Trace) -> Decision:
        self.begun.set()
        try:
            await self.go_on.wait()
        except asyncio.CancelledError:
            self.stopped.set()
            raise
        if turn.text == "down":
            raise ProviderUnavailable("the encoder is away")
        if turn.text == "bug":
            raise RuntimeError("sk-secret")
        return DECISIONS[turn.text]

    async def close(self) -> None:
        return None


@dataclass(frozen=True)
class Served:
    port: int
    key: str
    waits: Waits

    @asynccontextmanager
    async def asked(self, message: str, *, stream: bool) -> AsyncIterator[asyncio.StreamReader]:
        """A connection on which a question was asked; leaving the block closes it."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        body = json.dumps({"message": message, "stream": stream})
        writer.write(
            f"POST /chat HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {self.key}\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}".encode()
        )
        try:
            yield reader
        finally:
            writer.close()
            await writer.wait_closed()


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    keys = await KeyStore.open(f"sqlite:///{tmp_path / 'orbit.db'}", tmp_path / "secret")
    key, _ = await keys.create(NewKey("arithmetic"))
    waits = Waits()
    adapters = Adapters(("arithmetic",))
    adapters.opened(replace(table_adapter(), decider=waits))
    async with (
        api_state(adapters, keys, tmp_path, heartbeat_s=0.02) as state,
        served_on_loopback(api_over(state)) as url,
    ):
        yield Served(int(url.rpartition(":")[2]), key, waits)
        waits.go_on.set()
    await keys.close()


async def test_a_stream_gives_signs_of_life_until_the_answer_is_there(served: Served) -> None:
    with anyio.fail_after(20):
        async with served.asked("What is 15% of 200?", stream=True) as reader:
            for _ in range(2):
                await reader.readuntil(b": waiting\n\n")
            served.waits.go_on.set()
            rest = (await reader.read()).decode()
    assert '"status":"sources"' in rest.replace(" ", "")
    assert '"status":"complete"' in rest.replace(" ", "")


async def test_a_failure_after_the_stream_began_is_its_last_event(served: Served) -> None:
    with anyio.fail_after(20):
        for message, code in (("down", "provider_unavailable"), ("bug", "internal_error")):
            served.waits.go_on.clear()
            async with served.asked(message, stream=True) as reader:
                await reader.readuntil(b": waiting\n\n")
                served.waits.go_on.set()
                rest = (await reader.read()).decode()
            event = json.loads(rest[rest.index("{") : rest.rindex("}") + 1])
            assert (event["status"], event["isComplete"]) == ("error", True)
            assert event["error"]["code"] == code
            assert "sk-secret" not in rest


async def test_a_failure_before_the_stream_began_keeps_its_status(served: Served) -> None:
    served.waits.go_on.set()
    with anyio.fail_after(20):
        async with served.asked("down", stream=True) as reader:
            assert (await reader.readline()).startswith(b"HTTP/1.1 503 ")


@pytest.mark.parametrize("stream", [False, True])
async def test_work_stops_when_the_client_leaves(served: Served, stream: bool) -> None:
    with anyio.fail_after(20):
        async with served.asked("What is 15% of 200?", stream=stream):
            await served.waits.begun.wait()
        await served.waits.stopped.wait()
