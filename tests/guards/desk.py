"""The shipped Litecoin help desk, served in process with the real encoder."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.settings.loader import load_settings
from server.settings.models import Settings
from tests.support.api import running

FOLDER = Path(__file__).parents[2] / "examples" / "guards" / "litecoin"


def settings_in(data: Path, **changes: Any) -> Settings:
    """The example's settings, its data in `data`; `changes` are to the adapter's guards."""
    loaded = load_settings(FOLDER / "config.yaml", {})
    assert loaded.settings is not None, loaded.problems
    adapter = loaded.settings.adapters[0]
    provider = changes.pop("embedding_provider", adapter.embedding_provider)
    shared = changes.pop("shared", {})
    guards = adapter.guards.model_copy(update=changes)
    changed = adapter.model_copy(update={"guards": guards, "embedding_provider": provider})
    return loaded.settings.model_copy(
        update={
            "data_dir": data,
            "adapters": (changed.at(adapter.where),),
            "guards": loaded.settings.guards.model_copy(update=shared),
        }
    )


@dataclass(frozen=True)
class Desk:
    client: httpx.AsyncClient
    key: str
    admin: str

    async def ask(self, message: str, **more: Any) -> httpx.Response:
        return await self.client.post(
            "/chat", json={"message": message, **more}, headers={"X-API-Key": self.key}
        )

    async def guard(self, message: str) -> Any:
        """(category, method) of a blocked question, or None for one that passed."""
        response = await self.ask(message)
        assert response.status_code == 200, response.text
        blocked = response.json()["metadata"].get("blocked")
        return (blocked["category"], blocked["method"]) if blocked else None

    async def manage(self, method: str, path: str, body: Any = None, key: str = "") -> Any:
        return await self.client.request(
            method,
            f"/admin/guards{path}",
            json=body,
            headers={"X-API-Key": key or self.admin},
        )


@asynccontextmanager
async def open_desk(
    settings: Settings, environ: Mapping[str, str] | None = None
) -> AsyncIterator[Desk]:
    """The server, once its adapters are open."""
    keys = await KeyStore.open(settings.database_url, settings.secret_path)
    key, _ = await keys.create(NewKey("litecoin-help"))
    admin, _ = await keys.create(NewKey("litecoin-help", role="admin"))
    await keys.close()
    async with running(settings, environ or {}) as api:
        transport = httpx.ASGITransport(api, client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            with anyio.fail_after(60):
                while "opening" in (ready := await states(client)):  # noqa: ASYNC110
                    await anyio.sleep(0.02)
            assert set(ready) == {"ready"}
            yield Desk(client, key, admin)


async def states(client: httpx.AsyncClient) -> list[str]:
    return [row["state"] for row in (await client.get("/ready")).json()["adapters"]]
