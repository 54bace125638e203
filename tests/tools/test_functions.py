"""Tools that are functions, and the types that describe tools, used by themselves."""

import asyncio
import math
from pathlib import Path
from typing import Any

import pytest

from server.adapters.local import ask_once, open_adapter
from server.cli.check import check_configuration
from server.llm import ResponseSynthesizer
from server.tools import (
    BuiltinTools,
    ToolDefinition,
    ToolExecutor,
    ToolParameter,
    ToolRegistry,
    ToolResult,
    ToolResultStatus,
)
from server.tools.functions import tool_functions
from tests.support.configuring import adapter, configure, write_library
from tests.tools.test_executor import call, run, said


def my_custom_tool(operation: str, **kwargs: Any) -> dict[str, Any]:
    if operation == "my_operation":
        return {"result": sum(kwargs.get("values", []))}
    raise ValueError(f"Unknown operation: {operation}")


class MyTools(BuiltinTools):
    my_custom_tool = staticmethod(my_custom_tool)


def narrow(operation: str, *, value: float) -> dict[str, Any]:
    return {"result": 1 / value}


def mute(operation: str) -> Any:
    return operation


CUSTOM = call("my_custom_tool", "my_operation", {"values": [1, 2]})


def test_the_builtin_tools_are_functions_by_name() -> None:
    assert BuiltinTools.calculator("percentage", value=150, percentage=20)["result"] == 30
    assert BuiltinTools.date_time("parse", date_string="4 March 2025")["iso"] == "2025-03-04"
    rows = [{"n": 2}, {"n": 1}]
    assert BuiltinTools.json_transform("sort", data=rows, field="n")["result"][0] == {"n": 1}
    shipped = {"calculator", "date_time", "json_transform"}
    assert set(tool_functions()) == shipped == set(ToolRegistry.build().names)


def test_a_method_that_is_added_to_them_is_a_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(run(ToolExecutor(), CUSTOM))[0] == "error"
    added = staticmethod(my_custom_tool)
    monkeypatch.setattr(BuiltinTools, "my_custom_tool", added, raising=False)
    executor = ToolExecutor()
    assert run(executor, CUSTOM).result == {
        "operation": "my_operation",
        "input": {"values": [1, 2]},
        "result": 3,
    }
    assert said(run(executor, call("my_custom_tool", "other", {}))) == (
        "error",
        "Unknown operation: other",
    )


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        ("narrow", {"value": 4}, ("success", 0.25)),
        ("narrow", {"values": 4}, ("error", "mine go: missing a required argument: 'value'")),
        ("narrow", {"value": 0}, ("error", "mine failed unexpectedly; the server's log says why")),
        ("mute", {}, ("error", "mine returned no result")),
        ("MyTools.my_custom_tool", {}, ("error", "Unknown operation: go")),
    ],
)
def test_a_function_named_in_the_configuration_is_a_tool(
    function: str, arguments: dict[str, Any], expected: tuple[str, Any]
) -> None:
    executor = ToolExecutor(ToolRegistry.build({"mine": f"{__name__}:{function}"}))
    found = run(executor, call("mine", "go", arguments))
    said_of = found.error_message or found.result["result"]
    assert (str(found.status), said_of) == expected


def test_a_template_of_such_a_tool_passes_check_and_answers(tmp_path: Path) -> None:
    template = {
        "id": "my_custom_operation",
        "description": "Perform my custom operation",
        "tool_type": "function",
        "tool_name": "my_custom_tool",
        "tool_operation": "my_operation",
        "nl_examples": ["Customise 1, 2 and 3", "customise 4 and 5", "do customise 7, 8"],
        "parameters": [{"name": "values", "type": "array", "required": True}],
        "response_template": "Customised: {{ result }}",
    }
    library = write_library(tmp_path / "sums", [template])
    tools = {"my_custom_tool": f"{__name__}:MyTools.my_custom_tool"}
    found = configure(tmp_path, [adapter("sums", library)], tools=tools)
    assert check_configuration(tmp_path / "config.yaml") == []

    async def ask() -> str:
        settings = found.settings.model_copy(update={"data_dir": tmp_path / "data"})
        async with open_adapter(settings, {}, settings.adapters[0]) as opened:
            return (await ask_once(settings, opened, "Customise 3, 4 and 5", "s")).content

    assert asyncio.run(ask()) == "Customised: 12"


def test_definitions_are_function_schemas() -> None:
    unit = ToolParameter("unit", "string", "Of length", False, ("km", "mi"), default="km")
    definition = ToolDefinition("measure", "Measure", [unit])
    assert definition.to_openai_schema()["function"]["parameters"] == {
        "type": "object",
        "properties": {
            "unit": {
                "type": "string",
                "description": "Of length",
                "enum": ["km", "mi"],
                "default": "km",
            }
        },
        "required": [],
    }


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: ToolParameter("x", "text"), "type 'text' is not one of string, number"),  # type: ignore[arg-type]
        (lambda: ToolParameter("", "string"), "a parameter needs a name"),
        (
            lambda: ToolParameter("x", "string", enum=("a", "b"), default="c"),
            "default 'c' is not one of a, b",
        ),
        (lambda: ToolDefinition(" ", "Blank"), "a tool needs a name"),
        (
            lambda: ToolDefinition("t", "", [ToolParameter("x", "string")] * 2),
            "t has two parameters 'x'",
        ),
        (
            lambda: ToolDefinition("t", "", (), exactly_one_of=(("y",),)),
            "t: parameter 'y' is not one of",
        ),
        (lambda: ToolResult("t", "o", "done", 1, {}), "'done' is not a valid ToolResultStatus"),  # type: ignore[arg-type]
        (lambda: ToolResult("t", "o", ToolResultStatus.SUCCESS, -1, {}), "no time is"),
        (lambda: ToolResult("t", "o", ToolResultStatus.SUCCESS, math.nan, {}), "no time is"),
        (
            lambda: ToolResult("t", "o", ToolResultStatus.SUCCESS, 1, {}, None, "no"),
            "a success has no error_message",
        ),
        (lambda: ToolResult("t", "o", ToolResultStatus.ERROR, 1, {}), "has an error_message"),
        (
            lambda: ToolResult("t", "o", ToolResultStatus.TIMEOUT, 1, {}, 30, "late"),
            "and no result",
        ),
        (
            lambda: ToolResult("t", "o", ToolResultStatus.SUCCESS, 1, None),  # type: ignore[arg-type]
            "ToolResult: parameters cannot be nothing",
        ),
        (
            lambda: ToolParameter("x", "string", required="maybe"),  # type: ignore[arg-type]
            "ToolParameter: required cannot be",
        ),
        (lambda: ToolDefinition("t", "d", [{"name": "x"}]), "is no ToolParameter"),  # type: ignore[list-item]
        (lambda: ToolDefinition("t", "d", None), "parameters cannot be nothing"),  # type: ignore[arg-type]
    ],
)
def test_what_no_tool_can_be_is_refused(make: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        make()


def test_a_status_may_be_given_as_text() -> None:
    result = ToolResult("t", "o", "timeout", 1, {}, None, "late")  # type: ignore[arg-type]
    assert result.status is ToolResultStatus.TIMEOUT


def test_the_synthesizer_can_be_imported_beside_them() -> None:
    assert ResponseSynthesizer.__module__ == "server.llm.response_synthesizer"
