"""The whole server but for its socket: real settings, encoder, index, tools and keys."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.cli.options import Configured
from tests.support.api import running
from tests.support.configuring import PERCENTAGE, adapter, configure, write_library
from tests.support.ollama_server import ollama_stand_in

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@asynccontextmanager
async def serving(configured: Configured) -> AsyncIterator[httpx.AsyncClient]:
    async with running(configured.settings, configured.environ) as api:
        transport = httpx.ASGITransport(api, client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            yield client


async def key_for(configured: Configured, name: str) -> str:
    settings = configured.settings
    keys = await KeyStore.open(settings.database_url, settings.secret_path)
    raw, _ = await keys.create(NewKey(name))
    await keys.close()
    return raw


async def readiness(client: httpx.AsyncClient, until: set[str]) -> dict[str, Any]:
    """Rows of `/ready` by adapter, once every state is one of `until`."""
    while True:
        rows = {row["name"]: row for row in (await client.get("/ready")).json()["adapters"]}
        if all(row["state"] in until for row in rows.values()):
            return rows
        await asyncio.sleep(0.05)


async def ask(client: httpx.AsyncClient, key: str, message: str) -> httpx.Response:
    return await client.post("/chat", json={"message": message}, headers={"X-API-Key": key})


async def test_a_question_is_answered_and_the_answer_explains_itself(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums")
    configured = configure(tmp_path, [adapter("sums", library)])
    key = await key_for(configured, "sums")
    async with serving(configured) as client:
        await readiness(client, {"ready"})
        answer = (await ask(client, key, "what's 15% of 200")).json()
    metadata = answer["metadata"]
    assert answer["content"] == "15% of 200 is **30**"
    assert metadata["tool_execution"]["parameters"] == {"value": 200, "percentage": 15}
    assert metadata["arguments"]["value"]["text"] == "200"
    assert metadata["match"]["runner_up"]["template_id"] == "current_time"
    assert metadata["match"]["why"]
    assert 0.6 <= answer["confidence"] <= 1


async def test_a_broken_adapter_leaves_the_others_alone(tmp_path: Path) -> None:
    good = write_library(tmp_path / "good")
    broken = write_library(tmp_path / "broken", [{**PERCENTAGE, "tool_operation": "percent"}])
    configured = configure(tmp_path, [adapter("good", good), adapter("broken", broken)])
    good_key = await key_for(configured, "good")
    broken_key = await key_for(configured, "broken")
    async with serving(configured) as client:
        rows = await readiness(client, {"ready", "unavailable"})
        served = await ask(client, good_key, "what is 5% of 80")
        refused = await ask(client, broken_key, "what is 5% of 80")
    assert "percent" in rows["broken"]["why"]
    assert "tools.yaml:" in rows["broken"]["why"]
    assert (rows["good"]["state"], served.json()["content"]) == ("ready", "5% of 80 is **4**")
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "adapter_unavailable")


async def test_a_provider_that_comes_up_late_opens_its_adapter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.adapters.manager._FIRST_RETRY_S", 0.05)
    library = write_library(tmp_path / "sums")
    with ollama_stand_in() as served:
        served.statuses = [400]
        configured = configure(
            tmp_path,
            [adapter("sums", library), adapter("far", library, embedding_provider="ollama")],
            embeddings={"ollama": {"base_url": served.base_url}},
        )
        async with serving(configured) as client:
            rows = await readiness(client, {"ready"})
    assert rows["far"]["details"]["embedder"] == "ollama:nomic-embed-text"


async def test_a_provider_that_goes_down_is_named_and_the_others_serve(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums")
    with ollama_stand_in() as served:
        configured = configure(
            tmp_path,
            [adapter("sums", library), adapter("far", library, embedding_provider="ollama")],
            embeddings={"ollama": {"base_url": served.base_url, "max_retries": 0}},
        )
        near_key, far_key = await key_for(configured, "sums"), await key_for(configured, "far")
        async with serving(configured) as client:
            await readiness(client, {"ready"})
            served.statuses = [500]
            refused = await ask(client, far_key, "what is 9% of 50")
            near = await ask(client, near_key, "what is 9% of 50")
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "provider_unavailable")
    assert "'ollama' at 127.0.0.1" in refused.json()["error"]["message"]
    assert near.json()["content"] == "9% of 50 is **4.5**"


async def test_an_unchanged_library_embeds_nothing_at_the_next_start(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums")
    configured = configure(tmp_path, [adapter("sums", library)])
    counts = []
    for change in (False, False, True):
        if change:
            changed = {**PERCENTAGE, "nl_examples": [*PERCENTAGE["nl_examples"], "7% of 3?"]}
            text = yaml.safe_load((library / "tools.yaml").read_text())
            (library / "tools.yaml").write_text(
                yaml.safe_dump({"templates": [changed, *text["templates"][1:]]})
            )
        async with serving(configured) as client:
            details = (await readiness(client, {"ready"}))["sums"]["details"]
        counts.append((details["embedded"], details["reused"]))
    assert counts == [(8, 0), (0, 8), (1, 8)]


async def test_two_adapters_of_one_library_keep_their_vectors_apart(tmp_path: Path) -> None:
    one, two = write_library(tmp_path / "one"), write_library(tmp_path / "two", [PERCENTAGE])
    configured = configure(tmp_path, [adapter("one", one), adapter("two", two)])
    key = await key_for(configured, "two")
    async with serving(configured) as client:
        await readiness(client, {"ready"})
        answer = (await ask(client, key, "what time is it")).json()
    assert answer["metadata"]["template_id"] is None
