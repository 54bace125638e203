"""A desk whose calls are written down, served by MCP on loopback, and the SDK's own clients."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.adapters.registry import Adapters
from server.api.auth import caller_of
from server.api.error_responses import describe_failure
from server.api.requests import ApiState
from server.mcp.http import McpEndpoint, create_router
from server.mcp.peer import Host
from tests.conversation.confirmations.shopfloor import Floor, floor
from tests.support.api import api_over, api_state, served_on_loopback


@asynccontextmanager
async def client_of(url: str, key: str, **options: Any) -> AsyncIterator[Client]:
    """A client of the SDK, of the current protocol unless `mode` says another."""
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        transport = streamable_http_client(f"{url}/mcp", http_client=http)
        async with Client(transport, **options) as client:
            yield client


@asynccontextmanager
async def mcp_over(state: ApiState) -> AsyncIterator[FastAPI]:
    """An application that speaks MCP, over what a server has."""
    api = api_over(state)
    api.include_router(create_router(caller_of))
    host = Host(state.adapters, describe_failure, state.turn_timeout_s, state.max_message_chars)
    api.state.mcp = McpEndpoint(host, max_body_bytes=1 << 20)
    serving = asyncio.create_task(api.state.mcp.serve())
    try:
        yield api
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


@dataclass
class Desk:
    """The floor, two replicas of a server over it, and keys by role."""

    floor: Floor
    state: ApiState
    urls: tuple[str, str]
    keys: dict[str, str]

    def client(
        self, role: str = "admin", *, replica: int = 0, **options: Any
    ) -> AbstractAsyncContextManager[Client]:
        return client_of(self.urls[replica], self.keys[role], **options)


@asynccontextmanager
async def served(state: ApiState) -> AsyncIterator[str]:
    async with mcp_over(state) as api, served_on_loopback(api) as url:
        yield url


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    store = await KeyStore.open(f"sqlite:///{tmp_path / 'orbit.db'}", tmp_path / "secret")
    keys = {
        role: (await store.create(NewKey("desk", user_id=role, role=role)))[0]
        for role in ("admin", "user")
    }
    keys["limited"] = (await store.create(NewKey("desk", limits=("2/hour",))))[0]
    async with floor(tmp_path) as opened:
        adapters = Adapters(("desk",))
        adapters.opened(opened.adapter)
        async with (
            api_state(adapters, store, tmp_path) as state,
            served(state) as first,
            served(state) as second,
        ):
            yield Desk(opened, state, (first, second), keys)
    await store.close()
