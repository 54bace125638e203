"""What the builtin tools have in common: named operations with checked arguments."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
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
        table = {operation.definition.name: operation for operation in operations}
        self._definitions = MappingProxyType(
            {key: operation.definition for key, operation in table.items()}
        )
        self._prepared = {
            key: (
                operation.run,
                frozenset(p.name for p in operation.definition.parameters),
                frozenset(p.name for p in operation.definition.parameters if p.required),
            )
            for key, operation in table.items()
        }

    @property
    def name(self) -> str:
        return self._name

    @property
    def operations(self) -> Mapping[str, ToolDefinition]:
        return self._definitions

    def run(self, operation: str, arguments: Arguments) -> dict[str, Any]:
        """Run one operation; an argument that is None counts as not given.

        Raises:
            ToolUnknown, ArgumentsInvalid, ToolFailed.
        """
        try:
            run, known, required = self._prepared[operation]
        except (KeyError, TypeError):
            message = unknown(f"{self._name} operation", operation, self._prepared)
            raise ToolUnknown(message) from None
        given = arguments
        for value in arguments.values():
            if value is None:
                given = {name: value for name, value in arguments.items() if value is not None}
                break
        if not required <= given.keys() <= known:
            self._refuse(operation, given)
        return run(given)

    def _refuse(self, operation: str, given: Arguments) -> None:
        """Name the arguments that are not known, or else those that are missing."""
        parameters = self._definitions[operation].parameters
        names = [p.name for p in parameters]
        for name in given:
            if name not in names:
                kind = f"{self._name} {operation} argument"
                raise ArgumentsInvalid(unknown(kind, name, names))
        missing = [p.name for p in parameters if p.required and p.name not in given]
        raise ArgumentsInvalid(f"{self._name} {operation} needs {', '.join(missing)}")


class Knowledge(BuiltinTool):
    """tell."""

    def __init__(self) -> None:
        definition = ToolDefinition("tell", "Let the template's own text be the answer", ())
        super().__init__("knowledge", (Operation(definition, _tell),))


def _tell(arguments: Arguments) -> dict[str, Any]:
    return {"result": "told", "operation": "tell", "input": dict(arguments)}
