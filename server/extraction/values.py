"""From what was recognised to the value a tool takes, or why it cannot be taken."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final

from server.core.suggestions import join_words
from server.core.tools import Source
from server.extraction.patterns import matches_whole
from server.library.model import Parameter
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
        Unusable: it is none.
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
    """Judges values of one parameter, with what can be prepared prepared."""

    __slots__ = ("_checks", "_parameter", "_pattern")

    def __init__(self, parameter: Parameter, *, closed: bool = True) -> None:
        """`closed` says that there are no values but those of the enum."""
        self._parameter = parameter
        self._pattern = matches_whole(parameter.pattern) if parameter.pattern else None
        checks: list[Callable[[Any], None]] = []
        if parameter.ge is not None or parameter.le is not None:
            checks.append(self._bounds)
        if parameter.min_length is not None or parameter.max_length is not None:
            checks.append(self._length)
        if self._pattern is not None:
            checks.append(self._shape)
        if closed and parameter.enum and parameter.type != "array":
            checks.append(self._membership)
        self._checks = tuple(checks)

    @property
    def takes_anything(self) -> bool:
        return not self._checks

    def numeric(self, value: Number) -> Number:
        """`value` if the parameter takes such a number.

        A parameter that only takes numbers below zero takes "30 days ago" as -30.

        Raises:
            Unusable: not whole, out of range, or none of the enum.
        """
        parameter = self._parameter
        if parameter.type == "integer" and not isinstance(value, int):
            raise InvalidValue(f"{value} is not a whole number")
        if parameter.le is not None and parameter.le <= 0 < value:
            value = opposite(value)
        self.check(value)
        return value

    def check(self, value: Any) -> None:
        """Raise `Unusable` when `value` is outside what the parameter allows."""
        for check in self._checks:
            check(value)

    def _bounds(self, value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            return
        least, most = self._parameter.ge, self._parameter.le
        if least is not None and value < least:
            raise InvalidValue(f"{value} is below {least:g}")
        if most is not None and value > most:
            raise InvalidValue(f"{value} is above {most:g}")

    def _length(self, value: Any) -> None:
        if not isinstance(value, str | list | tuple):
            return
        least, most = self._parameter.min_length, self._parameter.max_length
        what = "characters" if isinstance(value, str) else "items"
        if least is not None and len(value) < least:
            raise InvalidValue(f"{show_value(value)} has fewer than {least} {what}")
        if most is not None and len(value) > most:
            raise InvalidValue(f"{show_value(value)} has more than {most} {what}")

    def _shape(self, value: Any) -> None:
        if isinstance(value, str) and self._pattern is not None and not self._pattern.search(value):
            raise InvalidValue(f"{show_value(value)} does not look like {self._parameter.pattern}")

    def _membership(self, value: Any) -> None:
        if value not in self._parameter.enum:
            raise InvalidValue(
                f"{show_value(value)} is not one of {join_words(self._parameter.enum)}"
            )


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
    return {
        name: _noted(source, arguments.get(name), date_order) for name, source in sources.items()
    }


def _noted(source: Source, value: Any, date_order: DateOrder) -> Source:
    found = _NUMERIC.fullmatch((source.text or "").strip())
    if found is None or not isinstance(value, str) or value == source.text:
        return source
    first, second = int(found.group(1)), int(found.group(3))
    if first == second or not (1 <= first <= _MONTHS and 1 <= second <= _MONTHS):
        return source
    return replace(source, note=f"{source.text} was read as {value}, {_FIRST[date_order]}")
