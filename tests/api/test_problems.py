"""What is wrong with an adapter's files, told to an admin while the adapter serves as before."""

import re
from pathlib import Path

import pytest

from server.cli.check import check_path
from tests.e2e.test_reloading import serving
from tests.support.configuring import NOW, PERCENTAGE, adapter, write_library

pytestmark = pytest.mark.anyio

NO_OPERATION = {**PERCENTAGE, "tool_operation": "percent"}


async def test_problems_are_those_that_check_finds_in_the_files_as_they_are(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums")
    async with serving(tmp_path, adapter("sums", library)) as server:
        path = "/admin/adapters/sums/problems"
        before = (await server.admin_call("GET", path)).json()["problems"]
        write_library(library, [NO_OPERATION, NOW])
        (library / "questions.yaml").write_text("questions:\n  - {ask: hi, template: sing}\n")
        found = (await server.admin_call("GET", path)).json()["problems"]
        assert await server.ask("what is 5% of 80") == "5% of 80 is **4**"
    checked = check_path(tmp_path / "config.yaml")
    assert [f"{each['what']} @ {each['where']}" for each in found] == [
        re.sub("^warning: ", "", str(problem)) for problem in checked
    ]
    assert not [each for each in before if each["severity"] == "error"]
    assert {"unknown-operation", "unknown-template"} <= {each["kind"] for each in found}


async def test_a_configuration_that_cannot_be_read_is_a_problem_too(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums")
    async with serving(tmp_path, adapter("sums", library)) as server:
        (tmp_path / "config.yaml").write_text("adapters: [")
        [found] = (await server.admin_call("GET", "/admin/adapters/sums/problems")).json()[
            "problems"
        ]
    assert (found["severity"], "config.yaml" in found["where"]) == ("error", True)


async def test_an_adapter_that_cannot_be_opened_says_why_and_others_have_none(
    tmp_path: Path,
) -> None:
    broken = write_library(tmp_path / "broken", [NO_OPERATION])
    good = write_library(tmp_path / "sums")
    async with serving(tmp_path, adapter("sums", good), adapter("broken", broken)) as server:
        found = await server.admin_call("GET", "/admin/adapters/broken/problems")
        kinds = {each["kind"] for each in found.json()["problems"]}
        unknown = await server.admin_call("GET", "/admin/adapters/nowhere/problems")
        headers = {"X-API-Key": server.key}
        refused = await server.client.get("/admin/adapters/sums/problems", headers=headers)
    assert "unknown-operation" in kinds
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "adapter_unknown")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "key_foreign")
