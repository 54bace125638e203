"""`mcp` on standard input and output: what a program that starts it sees."""

import asyncio
import os
import subprocess
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.subscriptions import ToolsListChanged
from mcp_types import ElicitRequestParams, ElicitResult, ToolListChangedNotification

from tests.support.configuring import NOW, PERCENTAGE, adapter, configure, write_library

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])
WRITE = {**NOW, "id": "ring_bell", "effect": "write", "nl_examples": ["Ring the bell"]}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one adapter, `sums`; its library is in `sums`."""
    configure(tmp_path, [adapter("sums", write_library(tmp_path / "sums", [PERCENTAGE, WRITE]))])
    return tmp_path


def client_in(project: Path, **options: Any) -> AbstractAsyncContextManager[Client]:
    server = StdioServerParameters(
        command=sys.executable,
        args=[
            *("-m", "server", "mcp", str(project), "--adapter", "sums"),
            *("--data", str(project / "data")),
        ],
        cwd=ROOT,
        env=dict(os.environ),
    )
    return Client(server, **options)


@MODES
async def test_tools_are_called_and_questions_asked_without_a_server(
    project: Path, mode: str
) -> None:
    async with client_in(project, mode=mode) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        called = await client.call_tool("calculate_percentage", {"value": 200, "percentage": 15})
        asked = await client.call_tool("ask", {"question": "What is 15% of 80?"})
        session = asked.structured_content["session_id"]
        more = await client.call_tool("ask", {"question": "and of 40?", "session_id": session})
    assert tools == ["calculate_percentage", "ring_bell", "ask", "confirm"]
    contents = [each.structured_content["content"] for each in (called, asked, more)]
    assert contents == ["15% of 200 is **30**", "15% of 80 is **12**", "15% of 40 is **6**"]


@MODES
@pytest.mark.parametrize(("action", "status"), [("accept", "done"), ("decline", "declined")])
async def test_a_client_of_either_protocol_is_asked_for_the_yes(
    project: Path, mode: str, action: Any, status: str
) -> None:
    asked = list[str]()

    async def reply(_: Any, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action=action)

    async with client_in(project, mode=mode, elicitation_callback=reply) as client:
        result = await client.call_tool("ring_bell", {})
    assert len(asked) == 1
    assert result.structured_content["metadata"]["proposal"]["status"] == status


async def test_what_is_saved_is_taken_up_and_told_to_a_client_that_listens(project: Path) -> None:
    async with client_in(project) as client, client.listen(tools_list_changed=True) as heard:
        write_library(project / "sums", [PERCENTAGE, NOW])
        async with asyncio.timeout(20):
            event = await anext(heard)
        tools = [tool.name for tool in (await client.list_tools()).tools]
    assert (event, tools) == (
        ToolsListChanged(),
        ["calculate_percentage", "current_time", "ask", "confirm"],
    )


async def test_an_older_client_is_told_unasked(project: Path) -> None:
    told = asyncio.Event()

    async def note(message: Any) -> None:
        if isinstance(message, ToolListChangedNotification):
            told.set()

    async with client_in(project, mode="legacy", message_handler=note) as client:
        await client.list_tools()
        write_library(project / "sums", [PERCENTAGE, NOW])
        async with asyncio.timeout(20):
            await told.wait()


def run(*args: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "server", "mcp", *args],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def test_what_cannot_be_opened_is_said_on_standard_error(project: Path) -> None:
    unknown = run(str(project), "--adapter", "sum")
    write_library(project / "sums", [{**PERCENTAGE, "tool_operation": "percent"}])
    broken = run(str(project), "--data", str(project / "data"))
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert "there is no enabled adapter 'sum'; there are: sums" in unknown.stderr
    assert (broken.returncode, broken.stdout) == (1, "")
    assert "percent" in broken.stderr
    assert "Traceback" not in broken.stderr


def test_it_ends_with_its_input(project: Path) -> None:
    ended = run(str(project), "--data", str(project / "data"))
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stderr
