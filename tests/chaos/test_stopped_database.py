"""A PostgreSQL that is stopped: connections stay open, and nobody answers."""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from server.access.models import NewKey
from server.audit.table import TableSink
from server.audit.writer import AuditWriter
from server.errors import StoreUnavailable
from tests.audit.test_audit import EVENT, SEAL
from tests.support.api import running
from tests.support.configuring import PERCENTAGE, adapter, configure, write_library
from tests.support.postgresql import postgresql_process, stopped, why_not

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
]

TIMEOUT_S = 0.5
SLACK_S = 1.0


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, int]]:
    with postgresql_process() as started:
        yield started


async def test_a_question_waits_for_each_store_no_longer_than_its_share(
    server: tuple[str, int], tmp_path: Path
) -> None:
    url, pid = server
    confirmed = {**PERCENTAGE, "confirm": True}
    library = write_library(tmp_path / "library", [confirmed])
    access = {"database_url": url, "store_timeout_s": TIMEOUT_S}
    found = configure(tmp_path, [adapter("sums", library)], access=access)
    async with running(found.settings, found.environ) as app:
        state = app.state.api
        await state.adapters.every_one_tried()
        key, _ = await state.keys.create(NewKey("sums"))
        other, _ = await state.keys.create(NewKey("sums"))
        transport = httpx.ASGITransport(app, client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:

            async def ask(key: str, **more: Any) -> tuple[int, str, float]:
                began = time.monotonic()
                body = {"message": "What is 15% of 200?", **more}
                async with asyncio.timeout(10):
                    response = await client.post("/chat", json=body, headers={"X-API-Key": key})
                code = response.json().get("error", {}).get("code", "")
                return response.status_code, code, time.monotonic() - began

            assert (await ask(key, session_id="one"))[0] == 200
            with stopped(pid):
                unchecked = await ask(other)
                remembered = await ask(key, session_id="one")
                health = await client.get("/health")
            again = await ask(other, session_id="one")
    assert (unchecked[:2], remembered[:2]) == ((503, "store_unavailable"),) * 2
    assert unchecked[2] < TIMEOUT_S + SLACK_S
    assert remembered[2] < TIMEOUT_S + SLACK_S
    assert (health.status_code, again[0]) == (200, 200)


async def test_who_must_be_written_down_waits_no_longer_than_his_share(
    server: tuple[str, int],
) -> None:
    url, pid = server
    sink = TableSink(url, SEAL)
    trail = AuditWriter(sink, timeout_s=TIMEOUT_S)
    await trail.write(replace(EVENT, request_id="before"))
    began = time.monotonic()
    with stopped(pid):
        trail.note(replace(EVENT, request_id="noted"))
        with pytest.raises(StoreUnavailable, match="in time"):
            async with asyncio.timeout(10):
                await trail.write(replace(EVENT, request_id="refused"))
        waited_s = time.monotonic() - began
    await trail.write(replace(EVENT, request_id="after"))
    kept = [entry.event["request_id"] for entry in sink.entries()]
    kept = [name for name in kept if name in ("before", "noted", "refused", "after")]
    await trail.close()
    assert waited_s < TIMEOUT_S + SLACK_S
    assert kept == ["before", "noted", "after"]
