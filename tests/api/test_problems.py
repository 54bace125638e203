"""What is wrong with an adapter's files, told to an admin while the adapter serves as before."""

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
        files = await server.client.post(
            "/admin/adapters/sums/files/check", json={}, headers={"X-API-Key": server.admin}
        )
        assert await server.ask("what is 5% of 80") == "5% of 80 is **4**"
    checked = check_path(tmp_path / "config.yaml")
    assert [each["what"] for each in found] == [
        problem.what for problem in checked if problem.kind != "suggestion"
    ]
    assert found == files.json()["problems"]
    assert not [each for each in before if each["kind"] == "error"]
    assert {
        ("unknown-operation", "sums/tools.yaml"),
        ("unknown-template", "sums/questions.yaml"),
    } <= {(each["rule"], each["id"]) for each in found}


async def test_an_adapter_that_cannot_be_opened_says_why_and_others_have_none(
    tmp_path: Path,
) -> None:
    broken = write_library(tmp_path / "broken", [NO_OPERATION])
    good = write_library(tmp_path / "sums")
    async with serving(tmp_path, adapter("sums", good), adapter("broken", broken)) as server:
        found = await server.admin_call("GET", "/admin/adapters/broken/problems")
        rules = {each["rule"] for each in found.json()["problems"]}
        unknown = await server.admin_call("GET", "/admin/adapters/nowhere/problems")
        headers = {"X-API-Key": server.key}
        refused = await server.client.get("/admin/adapters/sums/problems", headers=headers)
    assert "unknown-operation" in rules
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "adapter_unknown")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "key_foreign")
