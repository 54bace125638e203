"""The HTTP edge over a real key store and a retriever that decides by table."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.adapters.registry import Adapters
from server.api.requests import ApiState
from tests.support.api import api_over, api_state
from tests.support.deciding import table_adapter


@dataclass(frozen=True)
class Edge:
    """A client on this machine, one from elsewhere, and the keys."""

    client: httpx.AsyncClient
    remote: httpx.AsyncClient
    keys: KeyStore
    adapters: Adapters
    key: str
    state: ApiState


@pytest.fixture
async def edge(tmp_path: Path) -> AsyncIterator[Edge]:
    keys = await KeyStore.open(f"sqlite:///{tmp_path / 'orbit.db'}", tmp_path / "secret")
    adapters = Adapters(("arithmetic", "broken", "late"))
    adapters.opened(table_adapter())
    adapters.failed("broken", "no template can be used")
    raw, _ = await keys.create(NewKey("arithmetic"))
    async with api_state(adapters, keys, tmp_path, turn_timeout_s=0.2, sample_keys=True) as state:
        api = api_over(state)
        local = httpx.ASGITransport(api, client=("127.0.0.1", 1))
        far = httpx.ASGITransport(api, client=("192.0.2.7", 1))
        async with (
            httpx.AsyncClient(transport=local, base_url="http://localhost") as client,
            httpx.AsyncClient(transport=far, base_url="http://localhost") as remote,
        ):
            yield Edge(client, remote, keys, adapters, raw, state)
    await keys.close()
