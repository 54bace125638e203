"""The adapter with three models of an Ollama server, over real HTTP from end to end."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.providers.embeddings.local import LocalEmbedder
from server.settings.loader import load_settings
from tests.support.api import running
from tests.support.as_specified import AS_SPECIFIED
from tests.support.ollama_server import OllamaStandIn, Said, ollama_stand_in

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
TRUE = ["The ", "answer ", "is ", "30: ", "15% ", "of ", "200."]


@dataclass(frozen=True)
class Asking:
    client: httpx.AsyncClient
    ollama: OllamaStandIn

    async def ask(self, message: str, session: str | None = None) -> dict[str, Any]:
        body = {"message": message} | ({"session_id": session} if session else {})
        response = await self.client.post("/chat", json=body)
        assert response.status_code == 200, response.text
        answer = response.json()
        assert isinstance(answer, dict)
        return answer

    async def stream(self, message: str) -> list[dict[str, Any]]:
        body = {"message": message, "stream": True}
        response = await self.client.post("/chat", json=body)
        lines = response.text.splitlines()
        return [json.loads(line[6:]) for line in lines if line.startswith("data: ")]


def thinking(asked: Mapping[str, Any]) -> Said:
    """FunctionGemma calls the function it is told of; the other model words the answer."""
    if asked["model"] == "functiongemma":
        assert [tool["function"]["name"] for tool in asked["tools"]] == ["calculate_percentage"]
        yield {"name": "calculate_percentage", "arguments": {"percentage": 15, "value": 200}}
    else:
        assert asked["model"] == "gemma3:270m"
        yield from TRUE


@pytest.fixture(scope="module")
def ollama() -> Iterator[OllamaStandIn]:
    """Ollama's API on loopback; its vectors are those of the encoder in process."""
    embedder = LocalEmbedder()
    with ollama_stand_in() as stand_in:
        stand_in.embed = lambda texts: asyncio.run(embedder.embed(texts)).tolist()
        yield stand_in
    asyncio.run(embedder.close())


@asynccontextmanager
async def asking(ollama: OllamaStandIn, folder: Path) -> AsyncIterator[Asking]:
    """The whole server over that adapter, and a client with its key."""
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config" / "adapters.yaml").write_text(AS_SPECIFIED)
    (folder / "examples").symlink_to(ROOT / "examples")
    where = {"ollama": {"base_url": ollama.base_url}}
    config = {"import": "adapters.yaml", "embeddings": where, "models": where}
    (folder / "config" / "config.yaml").write_text(yaml.safe_dump(config))
    loaded = load_settings(folder / "config" / "config.yaml", {})
    assert loaded.settings is not None, loaded.problems
    settings = loaded.settings
    async with running(settings, loaded.environ) as app:
        keys = await KeyStore.open(settings.database_url, settings.secret_path)
        key, _ = await keys.create(NewKey("intent-agent-example"))
        await keys.close()
        transport = httpx.ASGITransport(app, client=("127.0.0.1", 1))
        headers = {"Authorization": f"Bearer {key}"}
        async with httpx.AsyncClient(
            transport=transport, base_url="http://localhost", headers=headers, timeout=60
        ) as client:
            await opened(client)
            yield Asking(client, ollama)


async def opened(client: httpx.AsyncClient) -> None:
    """Return when the adapter serves."""
    for _ in range(1200):
        if (await client.get("/ready")).status_code == 200:
            return
        await asyncio.sleep(0.05)
    pytest.fail("the adapter did not open within a minute")


async def test_three_models_of_ollama_serve_one_adapter(
    ollama: OllamaStandIn, tmp_path: Path
) -> None:
    ollama.think = thinking
    async with asking(ollama, tmp_path) as chat:
        answer = await chat.ask("What is 15% of 200?")
        assert answer["content"] == "The answer is 30: 15% of 200."
        assert answer["metadata"]["synthesized"] is True
        assert answer["metadata"]["synthesis"] == {"model": "ollama:gemma3:270m"}

        await chat.ask("Let us take two hundred of something", "s")
        filled = await chat.ask("what is 15 percent", "s")
        assert filled["metadata"]["arguments"]["value"] == {"kind": "model"}
        assert filled["content"] == "The answer is 30: 15% of 200."

        ollama.dies_after = 3
        events = await chat.stream("What is 15% of 200?")
        statuses = [event["status"] for event in events]
        at = statuses.index("reset")
        assert statuses[:at] == ["sources", "streaming", "streaming", "streaming"]
        assert events[-1]["status"] == "complete"
        assert events[-1]["metadata"]["synthesized"] is False
        rest = [event["chunk"] for event in events[at:] if event["status"] == "streaming"]
        assert "".join(rest) == "15% of 200 is **30**"

        ollama.dies_after = None
        again = await chat.ask("What is 15% of 200?")
        assert again["content"] == "The answer is 30: 15% of 200."
