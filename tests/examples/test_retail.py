"""The shop: what a customer wants is proposed, and done only after a yes."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from server.access.keys import KeyStore
from server.access.records import NewKey
from server.app import running
from server.settings.loading import load_settings
from server.settings.models import Settings
from tests.examples.running import ROOT, services


@pytest.fixture
def address() -> Iterator[str]:
    with services() as found:
        yield found


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The configuration that ships, with the shop switched on and nothing else."""
    loaded = load_settings(ROOT / "config" / "config.yaml", {})
    assert loaded.settings is not None
    (adapter,) = [one for one in loaded.settings.adapters if one.name == "retail"]
    enabled = adapter.model_copy(update={"enabled": True})
    data: Path = tmp_path_factory.mktemp("retail")
    return loaded.settings.model_copy(update={"data_dir": data, "adapters": (enabled,)})


class Customer:
    """Somebody with a key, in one session, and the shop that they talk about."""

    def __init__(self, client: httpx.AsyncClient, shop: httpx.AsyncClient) -> None:
        self.client = client
        self._shop = shop

    async def say(self, message: str, session: str = "s") -> dict[str, Any]:
        asked = {"message": message, "session_id": session}
        answer = await self.client.post("/chat", json=asked)
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json()
        return body

    async def reads(self, message: str, session: str = "s") -> str:
        return str((await self.say(message, session))["content"])

    async def state(self, order: str) -> str:
        return str((await self._shop.get(f"/orders/{order}")).json()["state"])


@asynccontextmanager
async def customer(settings: Settings, address: str) -> AsyncIterator[Customer]:
    async with running(settings, {"DEMO_SERVICES_URL": address}) as api:
        transport = httpx.ASGITransport(api, client=("127.0.0.1", 1))
        async with (
            httpx.AsyncClient(transport=transport, base_url="http://orbit") as client,
            httpx.AsyncClient(base_url=address) as shop,
        ):
            while (await client.get("/ready")).status_code != 200:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            keys = await KeyStore.open(settings.database_url, settings.secret_path)
            client.headers["X-API-Key"], _ = await keys.create(NewKey("retail"))
            await keys.close()
            yield Customer(client, shop)


pytestmark = pytest.mark.anyio

STATUS = 'I understand you want to perform "Order Status" for "#001". Is this correct?'
CANCEL = 'I understand you want to perform "Cancel Order" for "#001". Is this correct?'


async def test_a_proposal_runs_nothing(settings: Settings, address: str) -> None:
    async with customer(settings, address) as somebody:
        assert await somebody.reads("Check the status of order #001", "a") == STATUS
        answer = await somebody.say("Actually, cancel it.", "a")
        assert answer["content"] == CANCEL
        told = {name: answer["metadata"]["proposal"][name] for name in ("intent", "target")}
        assert told == {"intent": "cancel_order", "target": "#001"}
        assert answer["metadata"]["arguments"] == {"order": {"kind": "conversation"}}
        assert "tool_execution" not in answer["metadata"]
        assert await somebody.state("001") == "being shipped"
