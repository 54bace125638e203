"""Data to rows, with nothing in them that JSON cannot express."""

import json
import math
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from itertools import chain
from types import NoneType
from typing import Any, Final

from pydantic_core import from_json

from server.core.suggestions import described_value, shown_value
from server.errors import ArgumentsInvalid
from server.tools.numbers import MAX_DIGITS

MAX_ROWS: Final = 100_000
MAX_JSON_CHARS: Final = 5_000_000
MAX_DEPTH: Final = 50
"""Most levels of lists and objects inside one row."""

Row = dict[str, Any]

_TEXTS: Final = frozenset({str, bool, NoneType, date, datetime})
_NUMBERS: Final = frozenset({int, float, Decimal})
_CONTAINERS: Final = frozenset({list, tuple, dict})
_KNOWN: Final = _TEXTS | _NUMBERS | _CONTAINERS
_BOUND: Final = 10**MAX_DIGITS


def read_rows(data: Any, name: str) -> list[Row]:
    """Return the rows of a list, an object or JSON text, or raise `ArgumentsInvalid`."""
    if isinstance(data, str):
        data = parse_json_rows(data, name)
    rows = [data] if isinstance(data, Mapping) else data
    if not isinstance(rows, list | tuple):
        raise ArgumentsInvalid(f"{name} must be a list of objects, not {described_value(rows)}")
    if len(rows) > MAX_ROWS:
        raise ArgumentsInvalid(f"{name} has {len(rows)} rows; at most {MAX_ROWS} are taken")
    if not set(map(type, rows)) <= {dict}:
        for place, row in enumerate(rows):
            if not isinstance(row, Mapping):
                what = f"{name}[{place}] is {described_value(row)}; every row must be an object"
                raise ArgumentsInvalid(what)
        rows = list(map(dict, rows))
    check_values(chain.from_iterable(map(dict.values, rows)), name)
    return list(rows)


PLAIN_FIELD: Final = "value"
"""The one field of the rows that a plain list is."""


def read_rows_or_list(data: Any, name: str) -> tuple[list[Row], bool]:
    """As `read_rows`; and a plain list of numbers or words is rows of one field.

    The second is whether it was such a list.
    """
    if isinstance(data, str):
        data = parse_json_rows(data, name)
    if isinstance(data, list | tuple) and data:
        kinds = set(map(type, data))
        if kinds <= _TEXTS | _NUMBERS:
            return read_rows([{PLAIN_FIELD: value} for value in data], name), True
    return read_rows(data, name), False


def parse_json_rows(text: str, name: str) -> Any:
    """Return what JSON text holds, or raise `ArgumentsInvalid`: not JSON, too long, or too deep."""
    if len(text) > MAX_JSON_CHARS:
        raise ArgumentsInvalid(f"{name} is longer than {MAX_JSON_CHARS} characters")
    try:
        return from_json(text, cache_strings="keys")
    except ValueError:
        pass  # the slower one below says what is wrong, and reads a few things more
    try:
        return json.loads(text)
    except json.JSONDecodeError as wrong:
        where = f"line {wrong.lineno} column {wrong.colno}"
        raise ArgumentsInvalid(f"{name} is not JSON: {wrong.msg} at {where}") from None
    except RecursionError:
        raise ArgumentsInvalid(f"{name} is nested too deeply") from None
    except ValueError:  # an integer of thousands of digits
        raise ArgumentsInvalid(_too_long(name)) from None


def check_values(values: Iterable[Any], name: str) -> None:
    """Raise `ArgumentsInvalid` if JSON cannot express a value; levels are checked one by one."""
    level = list(values)
    for _ in range(MAX_DEPTH):
        kinds = set(map(type, level))
        if not kinds <= _KNOWN:
            odd = next(iter(kinds - _KNOWN)).__name__
            raise ArgumentsInvalid(f"{name} holds a {odd}, which is no JSON")
        for kind in kinds & _NUMBERS:
            _check_numbers([value for value in level if type(value) is kind], name)
        if kinds.isdisjoint(_CONTAINERS):
            return
        level = list(
            chain.from_iterable(
                value.values() if type(value) is dict else value
                for value in level
                if type(value) in _CONTAINERS
            )
        )
    raise ArgumentsInvalid(f"{name} is nested too deeply; at most {MAX_DEPTH} levels are taken")


def _check_numbers(numbers: list[Any], name: str) -> None:
    for number in numbers if isinstance(numbers[0], Decimal) else ():
        # Comparing a signalling NaN raises.
        if not number.is_finite():
            raise ArgumentsInvalid(f"{name} holds {number}, which is not a finite number")
    has_nan = isinstance(numbers[0], float) and math.isnan(sum(numbers))
    if min(numbers) > -_BOUND and max(numbers) < _BOUND and not has_nan:
        return
    for number in numbers:
        if isinstance(number, float) and not math.isfinite(number):
            raise ArgumentsInvalid(
                f"{name} holds {shown_value(number)}, which is not a finite number"
            )
    raise ArgumentsInvalid(_too_long(name))


def _too_long(name: str) -> str:
    return f"{name} holds a number of more than {MAX_DIGITS} digits"
