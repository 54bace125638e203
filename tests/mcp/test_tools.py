"""Tools over HTTP, as the SDK's clients of both generations of the protocol see them."""

import re
from dataclasses import replace
from typing import Any

import httpx
import pytest
from mcp import MCPError
from mcp.client.session import ClientRequestContext
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult, TextContent

from server.library.model import Library
from server.mcp.tools import named_templates
from tests.mcp.conftest import Desk
from tests.support.deciding import LIBRARY, PERCENTAGE, table_adapter

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])


def text_of(result: CallToolResult, at: int = 0) -> str:
    block = result.content[at]
    assert isinstance(block, TextContent)
    return block.text


def proposal_of(result: CallToolResult) -> dict[str, Any]:
    """What `confirm` takes of a proposal."""
    body = result.structured_content
    return {
        "proposal_id": body["metadata"]["proposal"]["proposal_id"],
        "session_id": body["session_id"],
    }


def replying(action: Any, asked: list[str]) -> Any:
    async def reply(_: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action=action, content={} if action == "accept" else None)

    return reply


@MODES
async def test_each_template_that_a_role_may_run_is_a_tool_with_its_schema(
    desk: Desk, mode: str
) -> None:
    async with desk.client(mode=mode) as admin, desk.client("user", mode=mode) as user:
        tools = {tool.name: tool for tool in (await admin.list_tools()).tools}
        usual = {tool.name for tool in (await user.list_tools()).tools}
    assert tools.keys() - usual == {"erase"}
    assert tools.keys() == {"note", "erase", "pay", "whisper", "fail", "ask", "confirm"}
    assert tools["pay"].input_schema == {
        "type": "object",
        "properties": {
            "amount": {"type": "number", "minimum": 1, "maximum": 1000},
            "currency": {"type": "string", "enum": ["EUR", "USD"], "default": "EUR"},
        },
        "required": ["amount"],
        "additionalProperties": False,
    }
    hints = {name: tool.annotations for name, tool in tools.items()}
    assert [(n, h.read_only_hint, h.destructive_hint) for n, h in hints.items() if h] == [
        ("note", True, False), ("erase", False, True), ("pay", False, True),
        ("whisper", True, False), ("fail", False, True), ("ask", False, True),
        ("confirm", False, True),
    ]  # fmt: skip


def test_names_are_those_that_the_apis_of_models_take() -> None:
    ids = ("shop.find orders", "shop/find orders", "n" * 80, "n" * 90)
    templates = {id_: replace(PERCENTAGE, id=id_) for id_ in ids}
    named = named_templates(table_adapter(library=Library(LIBRARY.domain, templates)))
    assert [each.id for each in named.values()] == list(ids)
    assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", name) for name in named)


@MODES
async def test_a_call_answers_as_chat_does_and_is_audited(desk: Desk, mode: str) -> None:
    async with desk.client(mode=mode) as client:
        result = await client.call_tool("note", {"text": "milk"})
    body = result.structured_content
    assert not result.is_error
    assert (text_of(result), body["metadata"]["template_id"]) == (body["content"], "note")
    assert body.keys() == {"content", "metadata", "confidence", "session_id"}
    assert body["metadata"]["arguments"] == {"text": {"kind": "given"}}
    assert desk.floor.tool.ran == [("note", {"text": "milk"})]
    entry = (await desk.floor.audited())[-1]
    told = (entry["template_id"], entry["outcome"], entry["user_id"], entry["proposed_by"])
    assert told == ("note", "success", "admin", "caller")


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("pay", {"amount": 5000}, "amount: 5000"),
        ("pay", {"amount": "5"}, "amount: '5' has to be a number"),
        ("pay", {}, "amount is missing"),
        ("note", {"txt": "x", "text": "y"}, "there is no parameter 'txt'; did you mean 'text'?"),
        ("ask", {"question": " "}, "'question' is empty"),
        ("ask", {"question": "x" * 201}, "the most is 200"),
        ("ask", {}, "ask takes question (string, required), session_id (string)"),
        ("ask", {"question": "note x", "session_id": "a b"}, "session_id: "),
        ("confirm", {"proposal_id": "x", "accept": "yes", "session_id": "s"}, "accept: "),
        ("confirm", {"proposal_id": "x", "accept": True, "session_id": "s"}, "no proposal"),
    ],
)
async def test_what_is_wrong_is_an_error_of_the_tool_that_says_what_is_right(
    desk: Desk, tool: str, arguments: dict[str, Any], said: str
) -> None:
    async with desk.client() as client:
        result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert said in text_of(result)
    assert desk.floor.tool.ran == []


async def test_arguments_of_a_template_are_told_after_wrong_ones(desk: Desk) -> None:
    async with desk.client() as client:
        result = await client.call_tool("pay", {"amount": 0})
    assert text_of(result, 1) == "It takes amount (number, required), currency (string)."
    assert result.structured_content["metadata"]["policy"]["outcome"] == "arguments_invalid"


async def test_a_tool_that_is_not_there_is_refused_with_the_one_that_is_meant(desk: Desk) -> None:
    async with desk.client() as client:
        with pytest.raises(MCPError, match="there is no tool 'erese'; did you mean 'erase'"):
            await client.call_tool("erese", {"text": "all"})


async def test_a_role_is_judged_by_the_chain_whatever_was_listed(desk: Desk) -> None:
    async with desk.client("user") as client:
        result = await client.call_tool("erase", {"text": "all"})
    assert result.is_error
    assert result.structured_content["metadata"]["policy"] == {"outcome": "role_forbids"}
    assert (await desk.floor.audited())[-1]["outcome"] == "role_forbids"


@MODES
async def test_a_write_is_proposed_and_runs_once_when_it_is_confirmed_on_any_replica(
    desk: Desk, mode: str
) -> None:
    async with (
        desk.client(mode=mode) as client,
        desk.client(mode=mode, replica=1) as elsewhere,
        desk.client("user", mode=mode) as stranger,
    ):
        held = await client.call_tool("erase", {"text": "all"})
        reply = proposal_of(held) | {"accept": True}
        assert not held.is_error
        assert reply["proposal_id"] in text_of(held, 1)
        assert desk.floor.tool.ran == []
        foreign = await stranger.call_tool("confirm", reply)
        done = await elsewhere.call_tool("confirm", reply)
        again = await client.call_tool("confirm", reply)
    assert foreign.structured_content["error"]["code"] == "proposal_unknown"
    assert done.structured_content["metadata"]["proposal"]["status"] == "done"
    assert (again.is_error, again.structured_content["error"]["code"]) == (
        True, "proposal_settled",
    )  # fmt: skip
    assert desk.floor.tool.ran == [("erase", {"text": "all"})]
    last = (await desk.floor.audited())[-1]
    assert (last["outcome"], last["proposed_by"]) == ("success", "caller")


async def test_a_no_runs_nothing(desk: Desk) -> None:
    async with desk.client() as client:
        held = await client.call_tool("erase", {"text": "all"})
        no = await client.call_tool("confirm", proposal_of(held) | {"accept": False})
    assert (text_of(no), desk.floor.tool.ran) == ("All right, nothing was done.", [])


@pytest.mark.parametrize(
    ("action", "ran"), [("accept", [("erase", {"text": "all"})]), ("decline", []), ("cancel", [])]
)
@pytest.mark.parametrize(
    ("tool", "arguments"), [("erase", {"text": "all"}), ("ask", {"question": "erase all"})]
)
async def test_a_client_that_can_ask_its_person_is_asked_for_the_yes(
    desk: Desk, tool: str, arguments: dict[str, Any], action: str, ran: list[Any]
) -> None:
    asked: list[str] = []
    async with desk.client(elicitation_callback=replying(action, asked)) as client:
        result = await client.call_tool(tool, arguments)
    assert len(asked) == 1
    assert "`all`" in asked[0]
    assert (result.is_error, desk.floor.tool.ran) == (False, ran)
    status = "done" if ran else "declined"
    assert result.structured_content["metadata"]["proposal"]["status"] == status


async def test_without_a_way_back_to_the_client_it_is_answered_with_the_proposal(
    desk: Desk,
) -> None:
    asked: list[str] = []
    callback = replying("accept", asked)
    async with desk.client(mode="legacy", elicitation_callback=callback) as client:
        held = await client.call_tool("erase", {"text": "all"})
    assert held.structured_content["metadata"]["proposal"]["status"] == "held"
    assert (asked, desk.floor.tool.ran) == ([], [])


async def test_what_goes_on_with_nothing_is_refused(desk: Desk) -> None:
    async with desk.client() as client:
        result = await client.call_tool("erase", {"text": "all"}, request_state="s " + "0" * 32)
    assert result.is_error
    assert "goes on with no call" in text_of(result)


async def test_a_conversation_goes_on_by_its_session(desk: Desk) -> None:
    async with desk.client() as client:
        held = await client.call_tool("erase", {"text": "all"})
        session = held.structured_content["session_id"]
        done = await client.call_tool("ask", {"question": "yes", "session_id": session})
    assert done.structured_content["session_id"] == session
    assert desk.floor.tool.ran == [("erase", {"text": "all"})]


async def test_what_is_sensitive_is_neither_shown_nor_kept(desk: Desk) -> None:
    async with desk.client() as client:
        held = await client.call_tool("whisper", {"secret": "hunter22", "text": "hi"})
        reply = proposal_of(held) | {"accept": True}
        done = await client.call_tool("confirm", reply)
    assert "hunter22" not in str(done.structured_content)
    assert "hunter22" not in str(await desk.floor.audited())


async def test_a_tool_that_fails_is_an_error_with_its_answer(desk: Desk) -> None:
    async with desk.client() as client:
        held = await client.call_tool("fail", {"text": "x"})
        failed = await client.call_tool("confirm", proposal_of(held) | {"accept": True})
    assert failed.is_error
    assert failed.structured_content["metadata"]["tool_execution"]["status"] == "error"


@pytest.mark.parametrize(
    ("method", "headers", "status", "code"),
    [
        ("POST", {}, 401, "key_missing"),
        ("POST", {"Authorization": "Bearer wrong"}, 401, "key_unknown"),
        ("POST", {"Origin": "https://evil.example"}, 403, "origin_foreign"),
        ("POST", {"Origin": "null"}, 403, "origin_foreign"),
        ("GET", {}, 405, "method_not_allowed"),
        ("DELETE", {}, 405, "method_not_allowed"),
    ],
)
async def test_who_may_speak_is_decided_before_anything_is_read(
    desk: Desk, method: str, headers: dict[str, str], status: int, code: str
) -> None:
    key = {"Authorization": f"Bearer {desk.keys['user']}"} if "Origin" in headers else {}
    async with httpx.AsyncClient() as client:
        answer = await client.request(method, f"{desk.urls[0]}/mcp", headers=key | headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


async def test_requests_count_towards_the_limit_of_a_key(desk: Desk) -> None:
    headers = {"Authorization": f"Bearer {desk.keys['limited']}", "Accept": "application/json"}
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    async with httpx.AsyncClient(headers=headers) as client:
        statuses = [
            (await client.post(f"{desk.urls[0]}/mcp", json=ping)).status_code for _ in range(3)
        ]
    assert statuses[-1] == 429


@pytest.mark.parametrize("version", ["2026-07-28", "2025-11-25"])
@pytest.mark.parametrize(
    "arguments",
    [
        '{"text": "\\ud800"}',
        '{"text": "\\u0000"}',
        '{"\\ud800": 1}',
        '{"text": ' + "[" * 200 + "]" * 200 + "}",
        '{"text": NaN}',
        '{"text": 1e999}',
    ],
)
async def test_arguments_that_no_database_takes_are_refused_by_the_chain(
    desk: Desk, version: str, arguments: str
) -> None:
    meta = (
        f'{{"io.modelcontextprotocol/protocolVersion": "{version}", '
        '"io.modelcontextprotocol/clientCapabilities": {}}'
    )
    body = (
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": '
        f'{{"name": "note", "arguments": {arguments}, "_meta": {meta}}}}}'
    )
    headers = {
        "Authorization": f"Bearer {desk.keys['user']}",
        "Accept": "application/json",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": version,
        "Mcp-Method": "tools/call",
        "Mcp-Name": "note",
    }
    async with httpx.AsyncClient(headers=headers) as http:
        answer = await http.post(f"{desk.urls[0]}/mcp", content=body)
    said = answer.json()
    if "error" in said:  # what is no JSON is none for the protocol either
        assert answer.status_code == 400
        return
    assert said["result"]["isError"]
    policy = said["result"]["structuredContent"]["metadata"]["policy"]
    assert policy == {"outcome": "arguments_invalid"}
    assert desk.floor.tool.ran == []
