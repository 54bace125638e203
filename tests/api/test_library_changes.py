"""One sentence more or less in a library, over HTTP: shown first, and then made."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.test_files import TIME, call
from tests.e2e.test_reloading import Server, serving
from tests.support.configuring import DOMAIN, adapter, write_library

pytestmark = pytest.mark.anyio

TOOLS = """\
# What people ask, by hand.
templates:
  - id: calculate_percentage   # sums
    description: Calculate a percentage of a given value
    tool_type: function
    nl_examples:
      - "What is 15% of 200?"
      - "Calculate 20 percent of 500"  # said by Ann
    tool_name: calculator
    tool_operation: percentage
    parameters:
      - {name: value, type: number, description: The base value}
      - {name: percentage, type: percentage, description: The part}
  - id: current_time
    description: Tell the current date and time
    tool_type: function
    nl_examples: ["current time please"]
    tool_name: date_time
    tool_operation: now
"""
ADD = {"kind": "add_example", "template": "current_time", "text": "is it late already?"}


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    library = write_library(tmp_path / "sums", [], DOMAIN)
    (library / "tools.yaml").write_text(TOOLS)
    async with serving(tmp_path, adapter("sums", library)) as found:
        yield found


async def change(server: Server, *rows: dict[str, Any], preview: bool = False) -> Any:
    body = {"changes": list(rows), "preview": preview}
    return await call(server, "POST", "library/changes", body)


def tools(server: Server) -> str:
    return (server.folder / "sums" / "tools.yaml").read_text()


async def test_a_change_is_shown_with_what_it_would_change(server: Server) -> None:
    shown = (await change(server, ADD, preview=True)).json()
    (file,) = shown["files"]
    assert (file["id"], file["line"]) == ("sums/tools.yaml", 17)
    assert '+    nl_examples: ["current time please", "is it late already?"]' in file["diff"]
    (row,) = shown["would_change"]["changed"]
    assert (row["ask"], row["kind"]) == (ADD["text"], "fixed")
    assert shown["would_change"]["counts"]["broken"] == 0
    assert tools(server) == TOOLS


async def test_a_change_is_made_and_nothing_else(server: Server) -> None:
    assert "nearest" in await server.ask(ADD["text"])
    made = await change(
        server,
        ADD,
        {"kind": "add_counter_example", "template": "calculate_percentage", "text": "${HOME} 5%"},
        {
            "kind": "remove_example",
            "template": "calculate_percentage",
            "text": "What is 15% of 200?",
        },
        {"kind": "add_synonym", "word": "percentage", "text": "share"},
    )
    assert (made.status_code, made.json()["state"]) == (200, "ready")
    assert [row["id"] for row in made.json()["files"]] == ["sums/domain.yaml", "sums/tools.yaml"]
    assert tools(server) == TOOLS.replace('      - "What is 15% of 200?"\n', "").replace(
        "  # said by Ann\n", '  # said by Ann\n    counter_examples:\n      - "$${HOME} 5%"\n'
    ).replace('"current time please"', '"current time please", "is it late already?"')
    domain = (server.folder / "sums" / "domain.yaml").read_text()
    assert domain.endswith('  vocabulary:\n    synonyms:\n      percentage: ["share"]\n')
    assert "nearest" not in await server.ask(ADD["text"])


@pytest.mark.parametrize(
    ("row", "status", "code", "why"),
    [
        ({**ADD, "template": "current_tim"}, 409, "edit_refused", "did you mean 'current_time'?"),
        ({**ADD, "text": "current time please"}, 409, "edit_refused", "it stands there already"),
        ({**ADD, "kind": "remove_example"}, 409, "edit_refused", "it does not stand there"),
        (
            {**ADD, "word": "x"},
            400,
            "request_invalid",
            "needs 'template' and 'text', and no 'word'",
        ),
        ({**ADD, "text": " "}, 422, "fields_invalid", "there are only blanks"),
        ({**ADD, "text": "x" * 2001}, 422, "fields_invalid", "at most 2000 characters"),
        ({**ADD, "kind": "rename"}, 422, "fields_invalid", "add_example"),
    ],
)
async def test_what_cannot_be_changed_is_said(
    server: Server, row: dict[str, Any], status: int, code: str, why: str
) -> None:
    refused = await change(server, row)
    error = refused.json()["error"]
    assert (refused.status_code, error["code"]) == (status, code)
    assert why in error["message"]
    assert tools(server) == TOOLS


async def test_of_several_changes_all_are_made_or_none(server: Server) -> None:
    refused = await change(server, ADD, {**ADD, "template": "nowhere"})
    assert refused.status_code == 409
    assert tools(server) == TOOLS


async def test_examples_in_a_file_that_is_generated_are_refused_plainly(server: Server) -> None:
    shared = TOOLS.replace('["current time please"]', "&all [now, today]").replace(
        "    tool_operation: now", "    counter_examples: *all\n    tool_operation: now"
    )
    (server.folder / "sums" / "tools.yaml").write_text(shared)
    refused = await change(server, {**ADD, "text": TIME})
    assert "it is shared with another part of the file (&all)" in refused.json()["error"]["message"]
