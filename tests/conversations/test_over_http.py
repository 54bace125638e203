"""Conversations over HTTP, with keys of their own."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.settings.loader import load_settings
from tests.examples.running import ROOT, services
from tests.support.api import running

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

AGENT = "intent-agent-example"


class Server:
    def __init__(self, client: httpx.AsyncClient, keys: list[str]) -> None:
        self._client = client
        self._keys = keys

    async def say(self, text: str, session: str, key: int = 0) -> dict[str, Any]:
        response = await self._client.post(
            "/chat",
            json={"message": text, "session_id": session},
            headers={"Authorization": f"Bearer {self._keys[key]}"},
        )
        answer: dict[str, Any] = response.json()
        return answer

    async def complete(self, text: str) -> dict[str, Any]:
        response = await self._client.post(
            "/v1/chat/completions",
            json={"messages": [{"role": "user", "content": text}]},
            headers={"Authorization": f"Bearer {self._keys[0]}"},
        )
        completion: dict[str, Any] = response.json()
        return completion

    async def forget(self, session: str) -> None:
        headers = {"Authorization": f"Bearer {self._keys[0]}"}
        await self._client.delete(f"/chat/sessions/{session}", headers=headers)


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    loaded = load_settings(ROOT / "config" / "config.yaml", {})
    assert loaded.settings is not None
    (agent,) = (one for one in loaded.settings.adapters if one.name == AGENT)
    settings = loaded.settings.model_copy(update={"data_dir": tmp_path, "adapters": (agent,)})
    with services() as address:
        async with running(settings, {"DEMO_SERVICES_URL": address}) as api:
            transport = httpx.ASGITransport(api, client=("127.0.0.1", 1))
            async with httpx.AsyncClient(
                transport=transport, base_url="http://localhost"
            ) as client:
                while (await client.get("/ready")).status_code != 200:  # noqa: ASYNC110
                    await anyio.sleep(0.05)
                store = await KeyStore.open(settings.database_url, settings.secret_path)
                keys = [(await store.create(NewKey(AGENT)))[0] for _ in range(2)]
                await store.close()
                yield Server(client, keys)


async def test_a_conversation_goes_on_for_its_key_alone_until_it_is_forgotten(
    server: Server,
) -> None:
    asked = await server.say("How is the weather?", "s")
    assert [missing["name"] for missing in asked["metadata"]["missing"]] == ["location"]
    other = await server.say("Oslo", "s", key=1)
    assert other["metadata"].get("conversation") is None
    filled = await server.say("Paris", "s")
    assert filled["metadata"]["tool_execution"]["parameters"] == {
        "location": "Paris",
        "units": "metric",
    }
    assert filled["metadata"]["conversation"] == {"as": "answer"}
    corrected = await server.say("no, London", "s")
    assert corrected["content"].startswith("London, United Kingdom:")
    assert corrected["metadata"]["conversation"] == {"as": "correction"}
    converted = await server.say("Convert 100 USD to EUR", "s")
    assert converted["content"].startswith("100 USD is **80 EUR**")
    yen = await server.say("and in yen?", "s")
    kinds = {name: source["kind"] for name, source in yen["metadata"]["arguments"].items()}
    assert (kinds["amount"], kinds["from_currency"]) == ("conversation", "conversation")
    assert yen["content"].startswith("100 USD is **13120 JPY**")
    await server.forget("s")
    assert "conversation" not in (await server.say("and in euros?", "s"))["metadata"]
    await server.say("What is 15% of 200?", "s")
    assert (await server.say("and of 400?", "s"))["content"] == "15% of 400 is **60**"


async def test_a_courtesy_is_answered_and_runs_nothing(server: Server) -> None:
    hello = await server.say("Hello, what can you do?", "c")
    assert hello["content"].startswith("I can help with this: ")
    assert hello["content"].count("\n- ") == 3
    assert hello["metadata"]["courtesy"] == {"kind": "help", "language": "en"}
    assert (hello["metadata"]["template_id"], hello["confidence"]) == (None, 1.0)
    assert "tool_execution" not in hello["metadata"]
    asked = await server.say("Hello, what is 15% of 200?", "c")
    assert asked["metadata"]["template_id"] == "calculate_percentage"
    completion = await server.complete("Merci beaucoup !")
    assert completion["choices"][0]["message"]["content"] == "De rien."
    assert completion["orbit"]["metadata"]["courtesy"] == {"kind": "thanks", "language": "fr"}
