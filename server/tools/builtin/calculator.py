"""The calculator: exact decimal arithmetic on one, two, or many numbers."""

import json
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

from server.core.suggestions import described_value
from server.core.tools import ToolDefinition, ToolParameter
from server.errors import ArgumentsInvalid, ToolFailed
from server.text.decimals import EXACT, add_up, divide, plain
from server.tools.builtin.base import Arguments, BuiltinTool, Operation
from server.tools.numbers import (
    MAX_DIGITS,
    as_given,
    read_as_number,
    read_integer,
    read_number,
    read_numbers,
)

MAX_VALUES: Final = 10_000
"""Most numbers one call may add or average."""

_MAX_LIST_CHARS: Final = 200_000
_HUNDRED: Final = Decimal(100)
_HUNDREDTH: Final = Decimal("0.01")
_STEPS: Final = {
    decimals: Decimal(1).scaleb(-decimals) for decimals in range(-MAX_DIGITS, MAX_DIGITS + 1)
}
"""What a number is rounded to a multiple of, by decimal places."""
_BETWEEN_NUMBERS: Final = re.compile(r"\s*(?:;|\s\+\s|&|\band\b|,(?=\s))\s*|\s+")

_Taken = dict[str, Any]
"""The numbers as they were understood, by the names they were given under."""


class Calculator(BuiltinTool):
    """percentage, add, subtract, multiply, divide, average and round."""

    def __init__(self) -> None:
        a, b = _number("a", "The first number"), _number("b", "The second number")
        values = ToolParameter("values", "array", "The numbers", items={"type": "number"})
        super().__init__(
            "calculator",
            (
                Operation(_PERCENTAGE, _percentage),
                Operation(ToolDefinition("add", "Add numbers", (values,)), _add),
                Operation(ToolDefinition("subtract", "Subtract b from a", (a, b)), _subtract),
                Operation(ToolDefinition("multiply", "Multiply a by b", (a, b)), _multiply),
                Operation(ToolDefinition("divide", "Divide a by b", (a, b)), _divide),
                Operation(ToolDefinition("average", "Average numbers", (values,)), _average),
                Operation(_ROUND, _round),
            ),
        )


def _number(name: str, description: str, *, required: bool = True) -> ToolParameter:
    return ToolParameter(name, "number", description, required=required)


_PERCENTAGE: Final = ToolDefinition(
    "percentage",
    "A percentage of a value, or what percentage of a total a value is",
    (
        _number("value", "The base value, or the part of a total"),
        _number("percentage", "The percentage to take of the value", required=False),
        _number("total", "The total of which the value is a part", required=False),
    ),
    exactly_one_of=(("percentage", "total"),),
)

_ROUND: Final = ToolDefinition(
    "round",
    "Round to decimal places, halves away from zero",
    (
        _number("value", "The number to round"),
        ToolParameter(
            "decimals",
            "integer",
            "Decimal places; negative ones round to tens, hundreds …",
            required=False,
            default=0,
            minimum=-MAX_DIGITS,
            maximum=MAX_DIGITS,
        ),
    ),
)


def _percentage(given: Arguments) -> dict[str, Any]:
    value = read_number(given["value"], "value")
    taken = {"value": as_given(given["value"], value)}
    if "percentage" in given and "total" in given:
        raise ArgumentsInvalid("percentage takes either percentage or total, not both")
    if "percentage" in given:
        percentage = read_number(given["percentage"], "percentage", percent=True)
        taken["percentage"] = as_given(given["percentage"], percentage)
        hundredfold = EXACT.multiply(value, percentage)
        return _answer("percentage", plain(EXACT.multiply(hundredfold, _HUNDREDTH)), taken)
    if "total" in given:
        total = read_number(given["total"], "total")
        if not total:
            raise ToolFailed("Division by zero")
        taken["total"] = as_given(given["total"], total)
        return _answer("percentage", divide(EXACT.multiply(value, _HUNDRED), total), taken)
    raise ArgumentsInvalid("percentage needs percentage or total beside value")


def _add(given: Arguments) -> dict[str, Any]:
    values, taken = _read_values(given)
    return _answer("add", plain(add_up(values)), taken)


def _subtract(given: Arguments) -> dict[str, Any]:
    a, b, taken = _read_pair(given)
    return _answer("subtract", plain(EXACT.subtract(a, b)), taken)


def _multiply(given: Arguments) -> dict[str, Any]:
    a, b, taken = _read_pair(given)
    return _answer("multiply", plain(EXACT.multiply(a, b)), taken)


def _divide(given: Arguments) -> dict[str, Any]:
    a, b, taken = _read_pair(given)
    if not b:
        raise ToolFailed("Division by zero")
    return _answer("divide", divide(a, b), taken)


def _average(given: Arguments) -> dict[str, Any]:
    values, taken = _read_values(given)
    return _answer("average", divide(add_up(values), Decimal(len(values))), taken)


def _round(given: Arguments) -> dict[str, Any]:
    value = read_number(given["value"], "value")
    decimals = read_integer(
        given.get("decimals", 0), "decimals", least=-MAX_DIGITS, most=MAX_DIGITS
    )
    rounded = value.quantize(_STEPS[decimals], context=EXACT)
    taken = {"value": as_given(given["value"], value), "decimals": decimals}
    return _answer("round", plain(rounded), taken)


def _read_pair(given: Arguments) -> tuple[Decimal, Decimal, _Taken]:
    a, b = read_number(given["a"], "a"), read_number(given["b"], "b")
    return a, b, {"a": as_given(given["a"], a), "b": as_given(given["b"], b)}


def _read_values(given: Arguments) -> tuple[list[Decimal], _Taken]:
    items = _items(given["values"], "values")
    values = read_numbers(items, "values[{}]".format)
    return values, {"values": list(map(as_given, items, values))}


def _items(value: Any, name: str) -> Sequence[Any]:
    """Return what a list of numbers holds; text is a JSON array, or numbers in a row.

    Raises:
        ArgumentsInvalid: no list, an empty one, or one that is too long.
    """
    items = _split(value, name) if isinstance(value, str) else value
    if type(items) is not list and not isinstance(items, tuple):
        raise ArgumentsInvalid(f"{name} must be a list of numbers, not {described_value(value)}")
    if not items:
        raise ArgumentsInvalid(f"{name} is empty; at least one number is needed")
    if len(items) > MAX_VALUES:
        raise ArgumentsInvalid(f"{name} holds {len(items)} numbers; at most {MAX_VALUES} are taken")
    return items


def _split(text: str, name: str) -> Any:
    """Text to items: a JSON array, else what stands between separators.

    A comma before a digit may group thousands, so it separates only when the text
    makes no sense otherwise: `1,500` is one number and `1,2,3` are three.
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


def _answer(operation: str, result: Any, taken: _Taken) -> dict[str, Any]:
    return {"result": result, "operation": operation, "input": taken}
