"""The clock and the calendar."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any, Final

from server.core.suggestions import described_value
from server.core.tools import ToolDefinition, ToolParameter
from server.errors import ArgumentsInvalid, ToolFailed
from server.text.date_formats import Format, read_format
from server.text.dates import WEEKDAY_NAMES
from server.text.span import DateOrder
from server.text.zones import find_zone
from server.tools.builtin.base import Arguments, BuiltinTool, Operation
from server.tools.dates import (
    MAX_DATE_CHARS,
    UNITS,
    DateReader,
    DateReading,
    count_between,
    read_unit,
    to_the_second,
)
from server.tools.numbers import read_integer

MAX_DAYS: Final = 3_652_059
"""Days from the first day of year 1 to the last of year 9999, and one more."""

_DAY: Final = timedelta(days=1)
_OUT_OF_RANGE: Final = "The date lies outside the years 1 to 9999"


def local_now() -> datetime:
    """The time now, to the second, in the zone of the machine."""
    return datetime.now().astimezone().replace(microsecond=0)


class DateTime(BuiltinTool):
    """now, format, diff, add_days and parse.

    `clock` returns an aware datetime; its zone is the one that "today" and the time
    are in. `date_order` decides how 03/04/2025 is read.
    """

    def __init__(
        self, *, clock: Callable[[], datetime] = local_now, date_order: DateOrder = "mdy"
    ) -> None:
        self._clock = clock
        self._reader = DateReader(date_order, clock)
        super().__init__(
            "date_time",
            (
                Operation(_NOW, self._now),
                Operation(_FORMAT, self._format),
                Operation(_DIFF, self._diff),
                Operation(_ADD_DAYS, self._add_days),
                Operation(_PARSE, self._parse),
            ),
        )

    def _now(self, given: Arguments) -> dict[str, Any]:
        now = to_the_second(self._clock())
        if "timezone" in given:
            now = _in_zone(now, given["timezone"])
        shape = _optional_format(given, "format")
        answer = _dated("now", now, given, shape)
        answer["time"] = answer["iso"][11:19]
        answer["timezone"] = str(now.tzinfo)
        return answer

    def _format(self, given: Arguments) -> dict[str, Any]:
        shape = read_format(given["format_string"], "format_string")
        reading = self._reader.read(given["date"], "date")
        return _interpreted(_dated("format", reading.value, given, shape), reading)

    def _diff(self, given: Arguments) -> dict[str, Any]:
        start = self._reader.read(given["date1"], "date1")
        end = self._reader.read(given["date2"], "date2")
        unit = read_unit(given.get("unit", "days"), "unit")
        try:
            between = count_between(start.value, end.value, unit)
        except OverflowError:
            raise ToolFailed(_OUT_OF_RANGE) from None
        answer = {"result": between, "operation": "diff", "input": _echo(given), "unit": unit}
        if start.how or end.how:
            readings = {"date1": start.describe(), "date2": end.describe()}
            notes = [f"{name}: {note}" for name, note in readings.items() if note]
            answer["interpreted_as"] = ", ".join(notes)
        return answer

    def _add_days(self, given: Arguments) -> dict[str, Any]:
        reading = self._reader.read(given["date"], "date")
        days = read_integer(given["days"], "days", least=-MAX_DAYS, most=MAX_DAYS)
        try:
            moved = reading.value + _DAY * days
        except OverflowError:
            raise ToolFailed(_OUT_OF_RANGE) from None
        return _interpreted(_dated("add_days", moved, given), reading)

    def _parse(self, given: Arguments) -> dict[str, Any]:
        text = given["date_string"]
        shape = _optional_format(given, "format")
        if shape is None or shape.iso:
            reading = self._reader.read(text, "date_string")
        else:
            reading = DateReading(shape.read(_short_text(text, "date_string")))
        day = reading.value
        answer = _dated("parse", day, given)
        answer["year"], answer["month"], answer["day"] = day.year, day.month, day.day
        return _interpreted(answer, reading)


def _parameter(name: str, description: str, *, required: bool = True, **more: Any) -> ToolParameter:
    return ToolParameter(name, "string", description, required=required, **more)


_FORMAT_HELP: Final = "iso, long, YYYY-MM-DD, %d/%m/%Y …"

_NOW: Final = ToolDefinition(
    "now",
    "The date and time now",
    (
        _parameter("format", f"How to write it: {_FORMAT_HELP}", required=False),
        _parameter("timezone", "Zone, city or offset: Europe/Paris, Tokyo, +02:00", required=False),
    ),
)
_FORMAT: Final = ToolDefinition(
    "format",
    "Write a date in another format",
    (
        _parameter("date", "The date"),
        _parameter("format_string", f"How to write it: {_FORMAT_HELP}"),
    ),
)
_DIFF: Final = ToolDefinition(
    "diff",
    "How long it is from one date to another",
    (
        _parameter("date1", "The date to count from"),
        _parameter("date2", "The date to count to"),
        _parameter("unit", "What to count", required=False, default="days", enum=UNITS),
    ),
)
_ADD_DAYS: Final = ToolDefinition(
    "add_days",
    "The date some days after another, or before it",
    (
        _parameter("date", "The date to start from"),
        ToolParameter("days", "integer", "Days to add; negative ones go back"),
    ),
)
_PARSE: Final = ToolDefinition(
    "parse",
    "Read a date, and say how it was read",
    (
        _parameter("date_string", "The date as it was written"),
        _parameter("format", "How it was written, when that must be said", required=False),
    ),
)


def _dated(
    operation: str, value: date, given: Arguments, shape: Format | None = None
) -> dict[str, Any]:
    """The answer of an operation that ends in a date; `shape` is how it was asked for."""
    iso = value.isoformat()
    written = shape.write(value) if shape is not None else None
    return {
        "result": iso if written is None else written,
        "operation": operation,
        "input": _echo(given),
        "formatted_date": iso[:19].replace("T", " ") if written is None else written,
        "iso": iso,
        "weekday": WEEKDAY_NAMES[value.weekday()],
    }


def _interpreted(answer: dict[str, Any], reading: DateReading) -> dict[str, Any]:
    """The answer, which says how the date was read where that was a choice."""
    if reading.how:
        answer["interpreted_as"] = reading.describe()
    return answer


def _echo(given: Arguments) -> dict[str, Any]:
    """The arguments as they were given, dates as ISO text."""
    echo = dict(given)
    for name, value in given.items():
        if isinstance(value, date):
            echo[name] = value.isoformat()
    return echo


def _optional_format(given: Arguments, name: str) -> Format | None:
    return read_format(given[name], name) if name in given else None


def _in_zone(now: datetime, zone: Any) -> datetime:
    try:
        return now.astimezone(find_zone(zone, "timezone"))
    except OverflowError:
        raise ToolFailed(_OUT_OF_RANGE) from None


def _short_text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise ArgumentsInvalid(f"{name} must be text, not {described_value(value)}")
    if len(value) > MAX_DATE_CHARS:
        raise ArgumentsInvalid(f"{name} is longer than {MAX_DATE_CHARS} characters")
    return value.strip()
