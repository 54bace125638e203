"""What the tools that ship have in common: operations whose arguments are read by definition."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Any

from server.core.suggestions import unknown
from server.core.tools import ToolDefinition, ToolParameter
from server.errors import ToolUnknown
from server.text.decimals import plain
from server.tools.numbers import MAX_DIGITS, read_integer, read_number

Arguments = Mapping[str, Any]

ArgumentReader = Callable[[Any, str], Any]
"""Reads an argument that is given under a name, or raises `ArgumentsInvalid`."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation; `run` gets arguments as read, none of them None, and returns a `result`."""

    definition: ToolDefinition
    run: Callable[[Arguments], dict[str, Any]]


class OperationTool:
    """Builtin operations under one name. Each argument is read as its definition says.

    A parameter is read by its vocabulary if it has one, else by its format (`readers`, or
    `percent`), else by its type: numbers as decimals, whole ones as integers.
    """

    quick = True
    """Small arguments take microseconds, so the executor needs no thread for them."""

    def __init__(
        self,
        name: str,
        operations: Iterable[Operation],
        readers: Mapping[str, ArgumentReader] | None = None,
    ) -> None:
        self.name = name
        self._operations = {each.definition.name: each for each in operations}
        self.operations = {name: each.definition for name, each in self._operations.items()}
        self._readers = {
            operation.name: {p.name: _reader_of(p, readers or {}) for p in operation.parameters}
            for operation in self.operations.values()
        }

    def run(self, operation: str, arguments: Arguments) -> dict[str, Any]:
        """Run an operation, or raise `ToolUnknown`, `ArgumentsInvalid` or `ToolFailed`."""
        try:
            found = self._operations[operation]
        except (KeyError, TypeError):
            message = unknown(f"{self.name} operation", operation, self._operations)
            raise ToolUnknown(message) from None
        given = {name: value for name, value in arguments.items() if value is not None}
        definition = found.definition
        definition.check_names(given, f"{self.name} {operation}")
        defaults = {p.name: p.default for p in definition.parameters if p.default is not None}
        readers = self._readers[operation]
        read = {name: readers[name](value, name) for name, value in (defaults | given).items()}
        answer = found.run(read)
        understood: dict[str, Any] = {}  # numbers as they were read, dates as ISO text
        for name, value in given.items():
            match read[name]:
                case Decimal() as number:
                    understood[name] = plain(number)
                case list() as numbers if numbers and isinstance(numbers[0], Decimal):
                    understood[name] = [plain(number) for number in numbers]
                case _:
                    understood[name] = value.isoformat() if isinstance(value, date) else value
        return {"result": None, "operation": operation, "input": understood} | answer


def _reader_of(parameter: ToolParameter, readers: Mapping[str, ArgumentReader]) -> ArgumentReader:
    if parameter.vocabulary is not None:
        return lambda value, _: parameter.value_of(value)
    if parameter.format is not None and parameter.format in readers:
        return readers[parameter.format]
    if parameter.type == "number":
        return partial(read_number, percent=parameter.format == "percent")
    if parameter.type == "integer":
        least = -(10**MAX_DIGITS) if parameter.minimum is None else int(parameter.minimum)
        most = 10**MAX_DIGITS if parameter.maximum is None else int(parameter.maximum)
        return partial(read_integer, least=least, most=most)
    return lambda value, _: value


class Knowledge(OperationTool):
    """tell: for templates whose own text is the whole answer."""

    def __init__(self) -> None:
        definition = ToolDefinition("tell", "Let the template's own text be the answer", ())
        super().__init__("knowledge", (Operation(definition, lambda _: {"result": "told"}),))
