"""A template that cannot be used is left out and named wherever one looks; the rest serves."""

import logging
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from server.cli.launcher import ServerReadiness, fault_lines
from server.cli.main import command_line
from tests.e2e.test_reloading import PACK, SUMS, serving
from tests.support.configuring import NOW, PERCENTAGE, adapter, write_library

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

COMMANDS = command_line("check")

BROKEN = {**NOW, "tool_operation": "later"}
"""Found when the tools are known, long after the YAML was read."""
MISSPELT = {**NOW, "id": "other_time", "nl_exmples": ["the hour"]}

TIME = "What time is it?"


async def test_the_others_serve_and_ready_names_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    library = write_library(tmp_path / "sums", [BROKEN, PERCENTAGE, MISSPELT])
    with caplog.at_level(logging.WARNING, "server.adapters.build"):
        async with serving(tmp_path, adapter("sums", library)) as server:
            assert await server.ask(SUMS) == "5% of 80 is **4**"
            ready = await server.client.get("/ready")
    assert (ready.status_code, ready.json()["status"]) == (200, "ready")
    (row,) = ready.json()["adapters"]
    assert (row["state"], row["details"]["templates"]) == ("ready", 1)
    named = {each["template"]: each["why"] for each in row["details"]["left_out"]}
    assert named.keys() == {"current_time", "other_time"}
    assert "date_time operation 'later' is not one of" in named["current_time"]
    assert "unknown key 'nl_exmples'; did you mean 'nl_examples'?" in named["other_time"]
    logged = {record.getMessage() for record in caplog.records}
    assert logged == {f"adapter sums: {name} is left out: {why}" for name, why in named.items()}


async def test_a_library_that_is_whole_names_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path, adapter("sums", write_library(tmp_path / "sums"))) as server:
        (row,) = (await server.client.get("/ready")).json()["adapters"]
        assert "left_out" not in row["details"]


async def test_without_one_usable_template_the_adapter_does_not_serve(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums", [BROKEN, MISSPELT])
    async with serving(tmp_path, adapter("sums", library)) as server:
        ready = await server.client.get("/ready")
        (row,) = ready.json()["adapters"]
        assert (ready.status_code, row["state"]) == (503, "unavailable")
        assert row["why"].endswith("(and 1 more; see check)")


async def test_a_reload_leaves_out_and_takes_back(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums", [PERCENTAGE, NOW])
    async with serving(tmp_path, adapter("sums", library)) as server:
        write_library(library, [PERCENTAGE, BROKEN])
        reloaded = (await server.reload()).json()
        assert reloaded["state"] == "ready"
        assert [each["template"] for each in reloaded["details"]["left_out"]] == ["current_time"]
        assert await server.ask(SUMS) == "5% of 80 is **4**"
        write_library(library, [PERCENTAGE, NOW])
        (row,) = (await server.admin_call("POST", "/admin/reload")).json()["adapters"]
        assert (row["reloaded"], "left_out" in row["details"]) == (True, False)
        assert "nearest" not in await server.ask(TIME)


@pytest.mark.parametrize("at_start", [True, False])
async def test_what_leads_to_it_does_nothing_and_breaks_nothing(
    tmp_path: Path, at_start: bool
) -> None:
    """A guard's route, and an intent's only tool, are the adapter's: they stay as written."""
    guard, pack = tmp_path / "guard.yaml", tmp_path / "pack.yaml"
    route = {"action": "route", "patterns": "the hour", "route_to": {"template": "current_time"}}
    guard.write_text(yaml.safe_dump({"name": "g", "categories": {"hour": route}}))
    pack.write_text(PACK.replace("WORD", "percent"))
    config: dict[str, Any] = {"intents": str(pack), "policy": {"intent_tools": INTENT_TOOLS}}
    library = write_library(tmp_path / "sums", [PERCENTAGE, BROKEN if at_start else NOW])
    wired = adapter("sums", library, config=config, guards={"packs": str(guard)})
    async with serving(tmp_path, wired) as server:
        if not at_start:
            write_library(library, [PERCENTAGE, BROKEN])
            assert (await server.reload()).status_code == 200
        answer = await server.client.post(
            "/chat", json={"message": "tell me the hour"}, headers={"X-API-Key": server.key}
        )
        assert (answer.status_code, "tool_execution" in answer.json()["metadata"]) == (200, False)
        assert await server.ask("what is 5 percent of 80") == "5% of 80 is **4**"


INTENT_TOOLS = {"SUM": ["calculate_percentage", "current_time"], "CHAT": ["current_time"]}


async def test_an_intent_whose_only_tool_is_left_out_does_nothing(tmp_path: Path) -> None:
    pack = tmp_path / "pack.yaml"
    pack.write_text(PACK.replace("WORD", "percent"))
    by_intent = "retrievers.implementations.intent.IntentPackRetriever"
    config: dict[str, Any] = {"intents": str(pack), "policy": {"intent_tools": INTENT_TOOLS}}
    library = write_library(tmp_path / "sums", [PERCENTAGE, BROKEN])
    wired = adapter("sums", library, config=config, implementation=by_intent)
    async with serving(tmp_path, wired) as server:
        assert await server.ask("what is 5 percent of 80") == "5% of 80 is **4**"
        assert "current_time" not in await server.ask("hello")


async def test_a_required_argument_that_no_example_gives_is_asked_for(tmp_path: Path) -> None:
    asking = {**PERCENTAGE, "nl_examples": ["work out a percentage", "I need a share of something"]}
    library = write_library(tmp_path / "sums", [asking])
    async with serving(tmp_path, adapter("sums", library)) as server:
        (row,) = (await server.client.get("/ready")).json()["adapters"]
        assert (row["state"], "left_out" in row["details"]) == ("ready", False)
        assert "base value" in (await server.ask("work out a percentage")).lower()


def test_check_exits_with_1_and_names_the_template(tmp_path: Path) -> None:
    write_library(tmp_path / "sums", [PERCENTAGE, BROKEN])
    (tmp_path / "sums" / "questions.yaml").write_text(
        "questions:\n  - {ask: the time, template: current_time}\n"
    )
    checked = CliRunner().invoke(COMMANDS, ["check", str(tmp_path / "sums"), "--json"])
    (problem,) = yaml.safe_load(checked.stdout)
    assert (checked.exit_code, problem["kind"], problem["template"]) == (
        1,
        "unknown-operation",
        "current_time",
    )


def test_check_warns_of_what_is_always_asked_for(tmp_path: Path) -> None:
    write_library(tmp_path / "sums", [{**PERCENTAGE, "nl_examples": ["work out a percentage"]}])
    checked = CliRunner().invoke(COMMANDS, ["check", str(tmp_path / "sums")])
    assert checked.exit_code == 0
    assert "gives its 'value', so it is always asked for" in checked.stdout


def test_status_shows_it() -> None:
    row = {"name": "sums", "state": "ready", "details": {"left_out": [ROW, NAMELESS]}}
    assert fault_lines(row) == (
        "now is left out: it is wrong @ tools.yaml:3",
        "a template is left out: is not valid YAML @ more.yaml:1",
    )
    assert tuple(ServerReadiness("ready", (row,)).complaints()) == tuple(
        f"adapter sums: {line}" for line in fault_lines(row)
    )


ROW = {"template": "now", "why": "it is wrong @ tools.yaml:3"}
NAMELESS = {"template": None, "why": "is not valid YAML @ more.yaml:1"}
