"""The tools there are: those that ship, and those an operator adds by dotted path."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Self

from server import plugins
from server.core.ports import Tool
from server.core.suggestions import unknown
from server.core.tools import ToolDefinition
from server.errors import PluginInvalid, ToolUnknown
from server.text.tokens import DateOrder
from server.tools.functions import FunctionTool, tool_functions

Clock = Callable[[], datetime]
"""Returns the time now, aware."""


class ToolRegistry:
    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}

    @classmethod
    def build(
        cls,
        names_to_paths: Mapping[str, str] | None = None,
        *,
        date_order: DateOrder = "mdy",
        clock: Clock | None = None,
    ) -> Self:
        """Construct the shipped tools and those of `names_to_paths`, or raise `PluginInvalid`.

        A path is a name of `plugins.TABLES`, a dotted path to a class, whose constructor is
        given `date_order` and `clock` if it takes them by name, or one to a `ToolFunction`.
        """
        paths = {name: name for name in plugins.known("tool")} | dict(names_to_paths or {})
        offered: dict[str, Any] = {"date_order": date_order}
        if clock is not None:
            offered["clock"] = clock
        added = {name: each for name, each in tool_functions().items() if name not in paths}
        return cls(
            [
                *(_construct(name, path, offered) for name, path in paths.items()),
                *(FunctionTool(name, function) for name, function in added.items()),
            ]
        )

    def get(self, name: str) -> Tool:
        """Return the tool of that name, or raise `ToolUnknown`."""
        try:
            return self._tools[name]
        except (KeyError, TypeError):
            raise ToolUnknown(unknown("tool", name, self._tools)) from None

    def offers(self, name: str, operation: str) -> bool:
        """Whether there is such a tool, and it may have such an operation."""
        tool = self._tools.get(name)
        return tool is not None and (not tool.operations or operation in tool.operations)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())


def _construct(name: str, path: str, offered: Mapping[str, Any]) -> Tool:
    found = plugins.resolve("tool", path)
    if inspect.isfunction(found):
        return FunctionTool(name, found)
    if not callable(found):
        raise PluginInvalid(f"tool {name!r}: {path!r} is no class and no function")
    try:
        taken = inspect.signature(found).parameters
        tool = found(**{key: value for key, value in offered.items() if key in taken})
    except Exception as failed:  # a constructor may be anybody's code
        reason = f"{type(failed).__name__}: {failed}"
        raise PluginInvalid(f"tool {name!r}: {path!r} cannot be constructed: {reason}") from failed
    if not isinstance(tool, Tool):
        raise PluginInvalid(f"tool {name!r}: {path!r} needs a name, operations and run")
    operations: Any = tool.operations
    if not isinstance(operations, Mapping) or not all(
        isinstance(definition, ToolDefinition) for definition in operations.values()
    ):
        raise PluginInvalid(
            f"tool {name!r}: operations of {path!r} must map names to ToolDefinition objects"
        )
    if tool.name != name:
        raise PluginInvalid(
            f"tool {name!r}: {path!r} calls itself {tool.name!r}; configure it under that name"
        )
    return tool
