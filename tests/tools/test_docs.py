"""docs/tools.md shows what the tools do: every example is run, every name is there."""

import asyncio
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from server.core.tools import ToolCall
from server.text.date_formats import NAMED
from server.tools.builtin.date_time import UNITS
from server.tools.executor import ToolExecutor
from server.tools.functions import FunctionTool
from server.tools.registry import ToolRegistry
from server.tools.rows.aggregates import AGGREGATES
from server.tools.rows.conditions import OPERATORS

PAGE = (Path(__file__).parents[2] / "docs" / "tools.md").read_text(encoding="utf-8")
REGISTRY = ToolRegistry.build(clock=lambda: datetime(2025, 3, 4, 15, 6, 7, tzinfo=UTC))


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def examples() -> list[tuple[str, str]]:
    lines = "".join(blocks("tool")).splitlines()
    return list(zip(lines[::2], lines[1::2], strict=True))


def run(registry: ToolRegistry, tool: str, operation: str, arguments: dict[str, Any]) -> str:
    executor = ToolExecutor(registry)
    call = ToolCall("docs", tool, operation, arguments)
    result = asyncio.run(executor.execute(call, timeout_s=30))
    executor.close()
    if result.error_message is not None:
        return f"!! {result.error_message}"
    return f"=> {json.dumps(result.result['result'])}"


@pytest.mark.parametrize(("asked", "answered"), examples())
def test_an_example_answers_as_written(asked: str, answered: str) -> None:
    tool, operation, arguments = asked.split(" ", 2)
    assert run(REGISTRY, tool, operation, json.loads(arguments)) == answered


def test_every_operation_and_parameter_is_documented() -> None:
    for tool in REGISTRY:
        section = PAGE.split(f"\n## {tool.name}\n")[1].split("\n## ")[0]
        for operation in tool.operations.values():
            (row,) = re.findall(rf"^\| `{operation.name}` \|(.*?)\|", section, re.MULTILINE)
            names = [p.name for p in operation.parameters]
            assert [name for name in re.findall(r"`(\w+)`", row) if name in names] == names


def test_every_operator_is_documented_with_names_that_work() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (`.*?) \| (?:is|holds)", PAGE, re.MULTILINE)
    parameter = REGISTRY.get("json_transform").operations["filter"].parameters[2]
    assert [operator for operator, _ in rows] == list(parameter.vocabulary or ()) == list(OPERATORS)
    for operator, also in rows:
        names = re.findall(r"`(.+?)`", also)
        assert [parameter.value_of(name) for name in names] == [operator] * len(names)


def test_every_name_of_the_rest_is_documented() -> None:
    for name in [*NAMED, *UNITS, *AGGREGATES]:
        assert f"`{name}`" in PAGE


def test_documented_aggregates_are_known() -> None:
    paragraph = PAGE.split("**Aggregates.**")[1].split("\n\n")[0].replace("`field`", "")
    names = re.findall(r"`(.+?)`", paragraph)
    operation = REGISTRY.get("json_transform").operations["aggregate"].parameters[2]
    assert {operation.value_of(name) for name in names} == set(AGGREGATES)


def test_the_tool_of_the_page_works_as_it_stands() -> None:
    (source,) = (block for block in blocks("python") if "class Stock" in block)
    names: dict[str, Any] = {}
    exec(source, names)
    registry = ToolRegistry([names["Stock"]()])
    assert run(registry, "stock", "level", {"article": "A-100"}) == "=> 12"
    assert run(registry, "stock", "level", {"article": "B"}) == "!! There is no article B"
    assert run(registry, "stock", "level", {}) == (
        "!! article must be an article number, such as A-100"
    )


def test_the_function_of_the_page_works_as_it_stands() -> None:
    (source,) = (block for block in blocks("python") if "class MyTools" in block)
    names: dict[str, Any] = {"Any": Any}
    exec(source, names)
    registry = ToolRegistry([FunctionTool("mine", names["MyTools"].my_custom_tool)])
    assert run(registry, "mine", "my_operation", {"values": [1, 2]}) == "=> 3"
    assert run(registry, "mine", "other", {}) == "!! Unknown operation: other"
