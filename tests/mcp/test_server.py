"""The whole server by MCP: notices of what was reloaded, several adapters, and its end."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
import yaml
from mcp import Client
from mcp.shared.subscriptions import PromptsListChanged, ToolsListChanged

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.api.connections import ConnectionCount, HttpServer
from server.cli.options import Configured
from server.core.decision import Decision, Trace
from server.core.turn import Turn
from server.errors import ExtraMissing
from server.mcp.http import McpEndpoint
from server.settings.models import ConnectionSettings
from tests.mcp.conftest import Desk, client_of, mcp_over
from tests.support.api import running, served_on_loopback
from tests.support.configuring import NOW, PERCENTAGE, adapter, configure, write_library
from tests.support.deciding import table_adapter
from tests.support.ports import free_port

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def key_for(configured: Configured, name: str, role: str = "user") -> str:
    settings = configured.settings
    keys = await KeyStore.open(settings.database_url, settings.secret_path)
    raw, _ = await keys.create(NewKey(name, role=role))
    await keys.close()
    return raw


@asynccontextmanager
async def serving(configured: Configured) -> AsyncIterator[str]:
    async with running(configured.settings, configured.environ) as api:
        await api.state.api.adapters.every_one_tried()
        async with served_on_loopback(api) as url:
            yield url


async def names(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


async def reload(url: str, admin: str, name: str) -> None:
    async with httpx.AsyncClient(headers={"X-API-Key": admin}, timeout=30) as http:
        answer = await http.post(f"{url}/admin/adapters/{name}/reload")
    assert answer.status_code == 200, answer.text


async def test_a_client_that_listens_is_told_of_its_adapter_alone(tmp_path: Path) -> None:
    libraries = {name: write_library(tmp_path / name, [PERCENTAGE]) for name in ("one", "two")}
    configured = configure(tmp_path, [adapter(name, path) for name, path in libraries.items()])
    key, admin = await key_for(configured, "one"), await key_for(configured, "one", "admin")
    async with serving(configured) as url, client_of(url, key) as client:
        before = await names(client)
        async with client.listen(tools_list_changed=True, prompts_list_changed=True) as heard:
            await reload(url, admin, "two")
            write_library(libraries["one"], [PERCENTAGE, NOW])
            await reload(url, admin, "one")
            async with asyncio.timeout(10):
                told = {await anext(heard), await anext(heard)}
            after = await names(client)
    assert told == {ToolsListChanged(), PromptsListChanged()}
    assert (before, after) == (
        ["calculate_percentage", "ask", "confirm"],
        ["calculate_percentage", "current_time", "ask", "confirm"],
    )


async def test_tools_of_several_adapters_have_names_of_their_own(tmp_path: Path) -> None:
    sums = [PERCENTAGE, NOW | {"id": "ask"}]
    days = [NOW, PERCENTAGE | {"description": "The same"}]
    children = [{"adapter": "sums"}, {"adapter": "days"}]
    both: dict[str, Any] = {"name": "both", "config": {"child_adapters": children},
                            "implementation": "IntentCompositeRetriever"}  # fmt: skip
    configured = configure(
        tmp_path,
        [
            adapter("sums", write_library(tmp_path / "sums", sums)),
            adapter("days", write_library(tmp_path / "days", days)),
            both,
        ],
    )
    key = await key_for(configured, "both")
    async with serving(configured) as url, client_of(url, key) as client:
        found = await names(client)
        result = await client.call_tool(
            "days_calculate_percentage", {"value": 200, "percentage": 15}
        )
    assert found == [
        "sums_calculate_percentage", "sums_ask", "current_time", "days_calculate_percentage",
        "ask", "confirm",
    ]  # fmt: skip
    body = result.structured_content
    assert body["content"] == "15% of 200 is **30**"
    assert body["metadata"]["answered_by"]["adapter"] == "days"


async def test_an_adapter_that_is_not_open_is_told_of_to_whoever_lists_its_tools(
    tmp_path: Path,
) -> None:
    library = write_library(tmp_path / "sums", [{**PERCENTAGE, "tool_operation": "percent"}])
    configured = configure(tmp_path, [adapter("sums", library)])
    key = await key_for(configured, "sums")
    async with serving(configured) as url, client_of(url, key) as client:
        result = await client.call_tool("ask", {"question": "What is 15% of 200?"})
        with pytest.raises(Exception, match="adapter 'sums' is unavailable"):
            await client.list_tools()
    assert result.structured_content["error"]["code"] == "adapter_unavailable"


async def test_a_server_that_stops_waits_for_nobody_who_listens(desk: Desk) -> None:
    async with mcp_over(desk.state) as api:
        endpoint: McpEndpoint = api.state.mcp
        port = free_port()
        config = uvicorn.Config(
            api, port=port, log_config=None, lifespan="off", timeout_graceful_shutdown=60
        )
        metrics = desk.state.metrics
        server = HttpServer(
            config, ConnectionCount(ConnectionSettings(), metrics), endpoint.end_streams
        )
        listening = socket.create_server(("127.0.0.1", port))
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        url = f"http://127.0.0.1:{port}"
        async with (
            client_of(url, desk.keys["user"]) as client,
            client.listen(tools_list_changed=True) as heard,
        ):
            server.should_exit = True
            async with asyncio.timeout(10):
                assert [event async for event in heard] == []
        async with asyncio.timeout(10):
            await serving


class Undecided:
    """Decides nothing before it is given up."""

    def __init__(self) -> None:
        self.begun, self.given_up = asyncio.Event(), asyncio.Event()

    async def decide(self, turn: Turn, trace: Trace) -> Decision:
        self.begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            self.given_up.set()
        raise AssertionError("nobody waits that long")

    async def close(self) -> None:
        return None


@pytest.mark.parametrize("version", ["2026-07-28", "2025-11-25"])
async def test_a_call_is_given_up_when_its_client_leaves(desk: Desk, version: str) -> None:
    undecided = Undecided()
    desk.state.adapters.opened(replace(table_adapter("desk"), decider=undecided))
    meta = {"io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {}}  # fmt: skip
    params = {"name": "ask", "arguments": {"question": "anything"}, "_meta": meta}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {
        "Authorization": f"Bearer {desk.keys['user']}",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": version,
        "Mcp-Method": "tools/call",
        "Mcp-Name": "ask",
    }
    async with httpx.AsyncClient(headers=headers) as http:
        asking = asyncio.create_task(http.post(f"{desk.urls[0]}/mcp", json=call))
        async with asyncio.timeout(5):
            await undecided.begun.wait()
            asking.cancel()
            await undecided.given_up.wait()


async def test_without_the_extra_it_is_said_how_to_get_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server.streamable_http_manager", None)
    headers = {"Authorization": f"Bearer {desk.keys['user']}"}
    async with (
        mcp_over(desk.state) as api,
        served_on_loopback(api) as url,
        httpx.AsyncClient(headers=headers) as http,
    ):
        answer = await http.post(f"{url}/mcp", json={})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (501, ExtraMissing.code)
    assert "run: pip install 'orbit-server[mcp]'" in error["message"]


async def test_a_reloaded_description_introduces_anew(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums")
    configured = configure(tmp_path, [adapter("sums", library)])
    key, admin = await key_for(configured, "sums"), await key_for(configured, "sums", "admin")
    async with serving(configured) as url:
        domain = {"domain": {"name": "sums", "description": "Sums and shares", "version": "2"}}
        (library / "domain.yaml").write_text(yaml.safe_dump(domain))
        await reload(url, admin, "sums")
        async with client_of(url, key) as client:
            said = client.instructions or ""
    assert said.startswith("sums: Sums and shares\n")
