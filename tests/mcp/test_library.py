"""Prompts and resources: what a library says of itself, and never how it is carried out."""

import json

import httpx
import pytest
from mcp import MCPError
from mcp_types import PromptReference, TextContent, TextResourceContents

from tests.mcp.conftest import Desk

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_examples_are_prompts_that_ask_them(desk: Desk) -> None:
    async with desk.client("user") as client:
        prompts = {each.name: each for each in (await client.list_prompts()).prompts}
        first = (await client.get_prompt("note")).messages
        own = (await client.get_prompt("note", {"question": "note milk"})).messages
        with pytest.raises(MCPError, match="there is no prompt 'nota'; did you mean 'note'"):
            await client.get_prompt("nota")
        reference = PromptReference(name="note")
        found = await client.complete(reference, {"name": "question", "value": "NO"})
        nothing = await client.complete(reference, {"name": "question", "value": "x"})
    assert prompts.keys() == {"note", "pay", "whisper", "fail"}
    assert (prompts["note"].title, prompts["note"].description) == ("note", "To note")
    said = [each.content.text for each in (*first, *own) if isinstance(each.content, TextContent)]
    assert said == ["note", "note milk"]
    assert (found.completion.values, nothing.completion.values) == (["note"], [])


async def test_domain_and_templates_are_resources_as_the_library_tells_them(desk: Desk) -> None:
    headers = {"Authorization": f"Bearer {desk.keys['user']}"}
    async with desk.client("user") as client, httpx.AsyncClient(headers=headers) as http:
        listed = {each.uri for each in (await client.list_resources()).resources}
        read = []
        for uri in ("orbit://domain", "orbit://templates/pay"):
            content = (await client.read_resource(uri)).contents[0]
            assert isinstance(content, TextResourceContents)
            read.append(json.loads(content.text))
        with pytest.raises(MCPError, match="there is no resource"):
            await client.read_resource("orbit://templates/erase")
        patterns = (await client.list_resource_templates()).resource_templates
        library = (await http.get(f"{desk.urls[0]}/adapters/desk/library")).json()
    templates = {each["id"]: each for each in library.pop("templates")}
    assert listed == {"orbit://domain", *(f"orbit://templates/{name}" for name in templates)}
    assert read == [library, templates["pay"]]
    assert [each.uri_template for each in patterns] == ["orbit://templates/{name}"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_is_introduced_to_the_adapter_of_its_key(desk: Desk, mode: str) -> None:
    async with desk.client(mode=mode) as client:
        said = client.instructions or ""
        info, capabilities = client.server_info, client.server_capabilities
    assert said.startswith("desk\n\nCall the tool")
    assert info is not None
    assert info.name == "orbit"
    assert capabilities.tools is not None
    # Changes are told where the client listens, which only the current protocol has over HTTP.
    assert capabilities.tools.list_changed is (mode == "auto")
