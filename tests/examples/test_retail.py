"""The shop: what a customer wants is proposed, and done only after a yes."""

import asyncio
import hmac
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.settings.loader import load_settings
from server.settings.models import Settings, WebhookSettings
from tests.examples.running import ROOT, services
from tests.support.api import running


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
            httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
            httpx.AsyncClient(base_url=address) as shop,
        ):
            while (await client.get("/ready")).status_code != 200:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            keys = await KeyStore.open(settings.database_url, settings.secret_path)
            client.headers["X-API-Key"], _ = await keys.create(NewKey("retail"))
            await keys.close()
            yield Customer(client, shop)


class Kernel:
    """A receiver of commit events, which keeps what it was told."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []
        told = self.told

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                stamp, _, signature = self.headers["X-Orbit-Signature"].partition(",v1=")
                signed = stamp.removeprefix("t=").encode() + b"." + body
                good = hmac.new(SECRET.encode(), signed, "sha256").hexdigest()
                told.append({"path": self.path, "signed": good == signature, **json.loads(body)})
                self.send_response(204)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1/kernel/commit"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def __enter__(self) -> "Kernel":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    async def events(self, number: int) -> list[dict[str, Any]]:
        """The events, once there are that many."""
        while len(self.told) < number:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        return self.told


SECRET = "a secret of two and thirty letters"

pytestmark = pytest.mark.anyio

STATUS = 'I understand you want to perform "Order Status" for "#001". Is this correct?'
CANCEL = 'I understand you want to perform "Cancel Order" for "#001". Is this correct?'


async def test_a_proposal_runs_nothing(settings: Settings, address: str) -> None:
    async with customer(settings, address) as somebody:
        assert await somebody.reads("Check the status of order #001", "a") == STATUS
        answer = await somebody.say("Actually, cancel it.", "a")
        assert answer["content"] == CANCEL
        proposal = answer["metadata"]["proposal"]
        told = {name: proposal[name] for name in ("intent", "target")}
        assert told == {"intent": "cancel_order", "target": "#001"}
        assert answer["metadata"]["arguments"] == {"order": {"kind": "conversation"}}
        assert "tool_execution" not in answer["metadata"]
        assert await somebody.state("001") == "being shipped"


async def test_from_a_question_to_a_commit_that_arrives(settings: Settings, address: str) -> None:
    with Kernel() as kernel:
        webhook = WebhookSettings(url=kernel.url, secret=SecretStr(SECRET))
        conversation = settings.conversation.model_copy(
            update={
                "commits": settings.conversation.commits.model_copy(update={"webhook": webhook})
            }
        )
        telling = settings.model_copy(update={"conversation": conversation})
        async with customer(telling, address) as somebody:
            assert await somebody.reads("Check the status of order #001") == STATUS
            looked = "Order #001 is being shipped (running jacket, 89.90 EUR)."
            assert await somebody.reads("yes") == looked
            proposal = (await somebody.say("Actually, cancel it."))["metadata"]["proposal"]
            assert await somebody.state("001") == "being shipped"
            yes = {"session_id": "s", "proposal_id": proposal["proposal_id"], "accept": True}
            ran, again = await asyncio.gather(
                *(somebody.client.post("/chat/confirm", json=yes) for _ in range(2))
            )
            told = sorted((ran.status_code, again.status_code))
            assert told == [200, 409]
            assert await somebody.state("001") == "cancelled"
            events = await asyncio.wait_for(kernel.events(2), 30)
            shown = ("path", "signed", "event", "intent", "target", "session_id", "status")
            assert [tuple(event[name] for name in shown) for event in events] == [
                ("/v1/kernel/commit", True, "J01", intent, "#001", "s", "COMMITTED")
                for intent in ("order_status", "cancel_order")
            ]


async def test_a_session_is_nobody_elses(settings: Settings, address: str) -> None:
    async with customer(settings, address) as somebody:
        await somebody.say("It is about #001", "mine")
        keys = await KeyStore.open(settings.database_url, settings.secret_path)
        other, _ = await keys.create(NewKey("retail"))
        await keys.close()
        assert (await somebody.reads("cancel it", "mine")) == CANCEL
        somebody.client.headers["X-API-Key"] = other
        assert (await somebody.reads("yes", "mine")).startswith("I am not sure")
        assert (await somebody.reads("cancel it", "mine")).startswith("I need one more thing")
        assert await somebody.state("001") == "being shipped"
