"""What the builtin tools have in common: named operations with checked arguments."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from server.core.suggestions import unknown
from server.core.tools import ToolDefinition
from server.errors import ArgumentsInvalid, ToolUnknown

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation. `run` gets only known arguments, all required ones, and no None."""

    definition: ToolDefinition
    run: Callable[[Arguments], dict[str, Any]]


class BuiltinTool:
    """A tool made of operations; checks names and presence before it runs one."""

    quick = True
    """Small arguments take microseconds, so the executor needs no thread for them."""

    def __init__(self, name: str, operations: Iterable[Operation]) -> None:
        self._name = name
        self._operations = {each.definition.name: each for each in operations}

    @property
    def name(self) -> str:
        return self._name

    @property
    def operations(self) -> Mapping[str, ToolDefinition]:
        return {name: each.definition for name, each in self._operations.items()}

    def run(self, operation: str, arguments: Arguments) -> dict[str, Any]:
        """Run one operation; an argument that is None counts as not given.

        Raises:
            ToolUnknown, ArgumentsInvalid, ToolFailed.
        """
        try:
            found = self._operations[operation]
        except (KeyError, TypeError):
            message = unknown(f"{self._name} operation", operation, self._operations)
            raise ToolUnknown(message) from None
        given = {name: value for name, value in arguments.items() if value is not None}
        self._check(found.definition, given)
        return found.run(given)

    def _check(self, definition: ToolDefinition, given: Arguments) -> None:
        """Refuse arguments that are not known, or else name those that are missing."""
        names = [p.name for p in definition.parameters]
        for name in given:
            if name not in names:
                kind = f"{self._name} {definition.name} argument"
                raise ArgumentsInvalid(unknown(kind, name, names))
        missing = [p.name for p in definition.parameters if p.required and p.name not in given]
        if missing:
            raise ArgumentsInvalid(f"{self._name} {definition.name} needs {', '.join(missing)}")


class Knowledge(BuiltinTool):
    """tell."""

    def __init__(self) -> None:
        definition = ToolDefinition("tell", "Let the template's own text be the answer", ())
        super().__init__("knowledge", (Operation(definition, _tell),))


def _tell(arguments: Arguments) -> dict[str, Any]:
    return {"result": "told", "operation": "tell", "input": dict(arguments)}
