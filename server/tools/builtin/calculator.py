"""The calculator: exact decimal arithmetic on one, two, or many numbers."""

import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from server.core.suggestions import described_value
from server.core.tools import ToolDefinition, ToolParameter
from server.errors import ArgumentsInvalid, ToolFailed
from server.text.decimals import EXACT, Number, add_up, divide, plain
from server.text.expressions import CannotCalculate, read_expression
from server.tools.builtin.base import Arguments, Operation, OperationTool
from server.tools.numbers import MAX_DIGITS, read_as_number, read_numbers

MAX_VALUES: Final = 10_000
"""Most numbers one call may add or average."""

_MAX_LIST_CHARS: Final = 200_000
_HUNDRED: Final = Decimal(100)
_HUNDREDTH: Final = Decimal("0.01")
_BETWEEN_NUMBERS: Final = re.compile(r"\s*(?:;|\s\+\s|&|\band\b|,(?=\s))\s*|\s+")

_A: Final = ToolParameter("a", "number", "The first number")
_B: Final = ToolParameter("b", "number", "The second number")
_VALUES: Final = ToolParameter(
    "values", "array", "The numbers", items={"type": "number"}, format="numbers"
)
_PERCENTAGE: Final = ToolDefinition(
    "percentage",
    "A percentage of a value, or what percentage of a total a value is",
    (
        ToolParameter("value", "number", "The base value, or the part of a total"),
        ToolParameter(
            "percentage",
            "number",
            "The percentage to take of the value",
            required=False,
            format="percent",
            unit="%",
        ),
        ToolParameter("total", "number", "The total of which the value is a part", required=False),
    ),
    exactly_one_of=(("percentage", "total"),),
)
_ROUND: Final = ToolDefinition(
    "round",
    "Round to decimal places, halves away from zero",
    (
        ToolParameter("value", "number", "The number to round"),
        ToolParameter(
            "decimals",
            "integer",
            "Decimal places; negative ones round to tens, hundreds …",
            required=False,
            default=0,
            minimum=-MAX_DIGITS,
            maximum=MAX_DIGITS,
            unit="decimal places",
        ),
    ),
)
_EVALUATE: Final = ToolDefinition(
    "evaluate",
    "Work out an expression in digits or in words",
    (
        ToolParameter(
            "expression",
            "string",
            "What to work out: 20% off 80, or (2 + 3) × 4",
            format="expression",
        ),
    ),
)


class Calculator(OperationTool):
    """percentage, add, subtract, multiply, divide, average, round and evaluate."""

    def __init__(self) -> None:
        super().__init__(
            "calculator",
            (
                Operation(_PERCENTAGE, _percentage),
                _of_list("add", "Add numbers", lambda values: plain(add_up(values))),
                _of_two("subtract", "Subtract b from a", lambda a, b: plain(EXACT.subtract(a, b))),
                _of_two("multiply", "Multiply a by b", lambda a, b: plain(EXACT.multiply(a, b))),
                _of_two("divide", "Divide a by b", _quotient),
                _of_list("average", "Average numbers", _average),
                Operation(_ROUND, _round),
                Operation(_EVALUATE, _evaluate),
            ),
            {"numbers": _read_list, "expression": _read_text},
        )


def _of_two(
    name: str, description: str, compute: Callable[[Decimal, Decimal], Number]
) -> Operation:
    definition = ToolDefinition(name, description, (_A, _B))
    return Operation(definition, lambda given: {"result": compute(given["a"], given["b"])})


def _of_list(name: str, description: str, compute: Callable[[list[Decimal]], Number]) -> Operation:
    definition = ToolDefinition(name, description, (_VALUES,))
    return Operation(definition, lambda given: {"result": compute(given["values"])})


def _average(values: list[Decimal]) -> Number:
    return divide(add_up(values), Decimal(len(values)))


def _percentage(given: Arguments) -> dict[str, Any]:
    if "percentage" in given:
        hundredfold = EXACT.multiply(given["value"], given["percentage"])
        return {"result": plain(EXACT.multiply(hundredfold, _HUNDREDTH))}
    return {"result": _quotient(EXACT.multiply(given["value"], _HUNDRED), given["total"])}


def _round(given: Arguments) -> dict[str, Any]:
    value, decimals = given["value"], given["decimals"]
    rounded = value.quantize(Decimal(1).scaleb(-decimals), context=EXACT)
    return {"result": plain(rounded), "input": {"value": plain(value), "decimals": decimals}}


def _evaluate(given: Arguments) -> dict[str, Any]:
    """Return the value, its unit, how both are written, and what was worked out."""
    try:
        expression = read_expression(given["expression"])
    except ValueError as wrong:
        raise ArgumentsInvalid(f"expression: {wrong}") from None
    try:
        value = expression.value
    except CannotCalculate as why:
        raise ToolFailed(str(why)) from None
    return {
        "result": value.number,
        "unit": value.unit_name,
        "answer": str(value),
        "reading": expression.text,
    }


def _read_text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise ArgumentsInvalid(f"{name} must be a text, not {described_value(value)}")
    return value


def _quotient(dividend: Decimal, divisor: Decimal) -> Number:
    if not divisor:
        raise ToolFailed("Division by zero")
    return divide(dividend, divisor)


def _read_list(value: Any, name: str) -> list[Decimal]:
    items = _split(value, name) if isinstance(value, str) else value
    if type(items) is not list and not isinstance(items, tuple):
        raise ArgumentsInvalid(f"{name} must be a list of numbers, not {described_value(value)}")
    if not items:
        raise ArgumentsInvalid(f"{name} is empty; at least one number is needed")
    if len(items) > MAX_VALUES:
        raise ArgumentsInvalid(f"{name} holds {len(items)} numbers; at most {MAX_VALUES} are taken")
    return read_numbers(items, f"{name}[{{}}]".format)


def _split(text: str, name: str) -> Any:
    """Return the items of a JSON array, else those between separators.

    A comma before a digit separates only where `1,2,3` could not group thousands.
    """
    if len(text) > _MAX_LIST_CHARS:
        raise ArgumentsInvalid(f"{name} is longer than {_MAX_LIST_CHARS} characters")
    text = text.strip()
    if text.startswith("["):
        try:
            return json.loads(text, parse_float=Decimal)
        except (ValueError, RecursionError):
            raise ArgumentsInvalid(f"{name} is not a JSON array of numbers") from None
    items = [item for item in _BETWEEN_NUMBERS.split(text) if item]
    if len(items) == 1 and "," in items[0] and read_as_number(items[0]) is None:
        return [item for item in items[0].split(",") if item]
    return items
