"""The registry: what is in it, and what cannot be."""

from datetime import UTC, datetime

import pytest

from server.errors import PluginInvalid, ToolUnknown
from server.tools.registry import ToolRegistry
from tests.tools.samples import Greeter, Settable

SAMPLES = "tests.tools.samples"


def noon() -> datetime:
    return datetime(2025, 3, 4, 12, tzinfo=UTC)


def test_the_shipped_tools_are_there_without_configuration() -> None:
    assert ToolRegistry.build().names == ("calculator", "date_time", "json_transform")


def test_an_operators_tool_joins_them() -> None:
    registry = ToolRegistry.build({"greeter": f"{SAMPLES}.Greeter"})
    assert registry.names == ("calculator", "date_time", "json_transform", "greeter")
    assert isinstance(registry.get("greeter"), Greeter)


def test_a_tool_is_handed_the_settings_its_constructor_names() -> None:
    registry = ToolRegistry.build({"settable": f"{SAMPLES}:Settable"}, date_order="dmy", clock=noon)
    tool = registry.get("settable")
    assert isinstance(tool, Settable)
    assert (tool.date_order, tool.clock) == ("dmy", noon)


def test_the_date_order_of_a_domain_reaches_the_shipped_tool() -> None:
    tool = ToolRegistry.build(date_order="dmy").get("date_time")
    assert tool.run("parse", {"date_string": "03/04/2025"})["result"] == "2025-04-03"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("Missing", "module 'tests.tools.samples' has no 'Missing'"),
        (
            "Demanding",
            "tool 'mine': 'tests.tools.samples.Demanding' cannot be constructed: TypeError: "
            "Demanding.__init__() missing 1 required positional argument: 'secret'",
        ),
        (
            "Nameless",
            "tool 'mine': 'tests.tools.samples.Nameless' needs a name, operations and run",
        ),
        (
            "Undefined",
            "tool 'mine': operations of 'tests.tools.samples.Undefined' must map names to "
            "ToolDefinition objects",
        ),
        (
            "Greeter",
            "tool 'mine': 'tests.tools.samples.Greeter' calls itself 'greeter'; "
            "configure it under that name",
        ),
        ("__name__", "tool 'mine': 'tests.tools.samples.__name__' is no class and no function"),
    ],
)
def test_what_is_no_usable_tool_is_refused(path: str, message: str) -> None:
    with pytest.raises(PluginInvalid) as refused:
        ToolRegistry.build({"mine": f"{SAMPLES}.{path}"})
    assert str(refused.value).endswith(message)


def test_an_unknown_tool_is_told_with_those_there_are() -> None:
    with pytest.raises(ToolUnknown) as refused:
        ToolRegistry([Greeter()]).get("greter")
    assert str(refused.value) == "tool 'greter' is not one of greeter; did you mean 'greeter'?"
