"""Tools that are functions: `function(operation, **arguments)`, which returns a mapping."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from server.core.tools import ToolDefinition
from server.errors import ToolFailed
from server.tools.builtin.calculator import Calculator
from server.tools.builtin.date_time import DateTime
from server.tools.builtin.json_transform import JsonTransform

ToolFunction = Callable[..., Mapping[str, Any]]
"""Takes the operation and the arguments by name; raises ValueError with what is wrong."""


class BuiltinTools:
    """The builtin tools as functions, by name. A static method that is added is a tool as well."""

    @staticmethod
    def calculator(operation: str, **arguments: Any) -> dict[str, Any]:
        return Calculator().run(operation, arguments)

    @staticmethod
    def date_time(operation: str, **arguments: Any) -> dict[str, Any]:
        return DateTime().run(operation, arguments)

    @staticmethod
    def json_transform(operation: str, **arguments: Any) -> dict[str, Any]:
        return JsonTransform().run(operation, arguments)


class FunctionTool:
    """A function as a tool. Which operations there are, and what they take, only it knows."""

    operations: Mapping[str, ToolDefinition] = {}

    def __init__(self, name: str, function: ToolFunction) -> None:
        self.name = name
        self._function = function

    def run(self, operation: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Call the function, or raise `ToolFailed` with the words of its ValueError."""
        try:
            inspect.signature(self._function).bind(operation, **arguments)
        except TypeError as unfit:
            raise ToolFailed(f"{self.name} {operation}: {unfit}") from None
        try:
            answer = self._function(operation, **arguments)
        except ValueError as refused:
            raise ToolFailed(str(refused)) from refused
        if not isinstance(answer, Mapping):
            return {}  # which the executor refuses, as of any tool
        return {"operation": operation, "input": dict(arguments), **answer}


def tool_functions() -> dict[str, ToolFunction]:
    """Return the static methods of `BuiltinTools` by name, those that were added as well."""
    return {
        name: getattr(BuiltinTools, name)
        for name, value in vars(BuiltinTools).items()
        if isinstance(value, staticmethod) and not name.startswith("_")
    }
