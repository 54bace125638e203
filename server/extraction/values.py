"""From what was recognised to the value a tool takes, or why it cannot be taken."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final

from server.core.tools import Source
from server.library.model import Parameter
from server.library.parameter_types import Constraints
from server.text.decimals import Number, as_decimal, opposite, plain_number, read_plain
from server.text.durations import Duration
from server.text.span import DateOrder

_LONGEST_QUOTE: Final = 60


class InvalidValue(ValueError):
    """A value that stands in the question and cannot be given to the tool."""


def written(value: Any) -> Any:
    """A recognised value as tools take it: dates and times as ISO 8601 text."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, time):
        return value.isoformat("seconds" if value.second else "minutes")
    return value.to_iso() if isinstance(value, Duration) else value


def number(value: Any) -> Number:
    """`value` as an exact number.

    Raises:
        InvalidValue: it is none.
    """
    found: Number | None = None
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        found = plain_number(as_decimal(value))
    elif isinstance(value, str):
        found = read_plain(value.strip(" ,.%$€£").replace(",", ""))
    if found is None:
        raise InvalidValue(f"{show_value(value)} is not a number")
    return found


class ValueChecker:
    """Judges values of one parameter."""

    __slots__ = ("_constraints", "_descriptor", "_parameter")

    def __init__(self, parameter: Parameter, *, closed: bool = True) -> None:
        """`closed` says that there are no values but those of the enum."""
        self._parameter, self._descriptor = parameter, parameter.descriptor
        listed = closed and self._descriptor.json_type != "array"
        found = parameter.constraints
        self._constraints = found if listed else replace(found, enum=())

    @property
    def takes_anything(self) -> bool:
        return self._constraints == Constraints()

    def numeric(self, value: Number) -> Number:
        """Return `value` if the parameter takes such a number.

        A parameter that only takes numbers below zero takes "30 days ago" as -30.

        Raises:
            InvalidValue: not whole, out of range, or none of the enum.
        """
        parameter = self._parameter
        expected = self._descriptor.expected(value)
        if expected is not None:
            raise InvalidValue(f"{value} is not {expected}")
        if parameter.le is not None and parameter.le <= 0 < value:
            value = opposite(value)
        self.check(value)
        return value

    def check(self, value: Any) -> None:
        """Raise `InvalidValue` when `value` is outside what the parameter allows."""
        problem = self._constraints.problem(value)
        if problem is not None:
            raise InvalidValue(f"{show_value(value)} {problem}")


def show_value(value: Any) -> str:
    """`value` short enough for a sentence."""
    text = str(value)
    return text if len(text) <= _LONGEST_QUOTE else f"{text[: _LONGEST_QUOTE - 1]}…"


_NUMERIC: Final = re.compile(r"(\d{1,2})([/\-])(\d{1,2})\2\d{2,4}")
_MONTHS: Final = 12
_FIRST: Final[Mapping[DateOrder, str]] = {"mdy": "month first", "dmy": "day first"}


def note_ambiguous_dates(
    arguments: Mapping[str, Any], sources: Mapping[str, Source], date_order: DateOrder
) -> Mapping[str, Source]:
    """`sources`, each that holds a date with two readings saying which one was taken.

    03/04/2025 is such a date; 13/04/2025 and 04/04/2025 are not, and with dots the day is first.
    """
    noted = dict(sources)
    for name, source in sources.items():
        value = arguments.get(name)
        found = _NUMERIC.fullmatch((source.text or "").strip())
        if found is None or not isinstance(value, str) or value == source.text:
            continue
        first, second = int(found.group(1)), int(found.group(3))
        if first != second and 1 <= first <= _MONTHS and 1 <= second <= _MONTHS:
            note = f"{source.text} was read as {value}, {_FIRST[date_order]}"
            noted[name] = replace(source, note=note)
    return noted
