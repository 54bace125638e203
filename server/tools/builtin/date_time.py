"""The clock and the calendar."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final, get_args

from server.core.suggestions import described_value
from server.core.tools import ToolDefinition, ToolParameter
from server.errors import ArgumentsInvalid, ToolFailed
from server.text.date_formats import read_format
from server.text.language import TimeUnit, shipped_languages
from server.text.tokens import DateOrder
from server.text.zones import find_zone
from server.tools.builtin.base import Arguments, Operation, OperationTool
from server.tools.builtin.calendar_operations import CalendarOperations
from server.tools.builtin.date_answers import date_answer, date_parameter, with_readings
from server.tools.business_days import read_country
from server.tools.clock_times import read_duration, read_time
from server.tools.dates import MAX_DATE_CHARS, DateReader, DateReading, count_between

MAX_DAYS: Final = 3_652_059
"""Days from the first day of year 1 to the last of year 9999, and one more."""

UNITS: Final = {
    f"{unit}s": (unit, *(w for each in shipped_languages() for w in each.units.get(unit, ())))
    for unit in get_args(TimeUnit)
}

DIFFERENCE_UNIT: Final = ToolParameter(
    "unit", "string", "What to count", required=False, default="days", vocabulary=UNITS
)

_DAY: Final = timedelta(days=1)
_FORMAT_HELP: Final = "iso, long, YYYY-MM-DD, %d/%m/%Y …"


def _format(name: str, description: str, *, required: bool = False) -> ToolParameter:
    return ToolParameter(name, "string", description, required=required, format="date-format")


_NOW: Final = ToolDefinition(
    "now",
    "The date and time now",
    (
        _format("format", f"How to write it: {_FORMAT_HELP}"),
        ToolParameter(
            "timezone",
            "string",
            "Zone, city or offset: Europe/Paris, Tokyo, +02:00",
            required=False,
            format="timezone",
        ),
    ),
)
_FORMAT: Final = ToolDefinition(
    "format",
    "Write a date in another format",
    (
        date_parameter("date", "The date"),
        _format("format_string", f"How to write it: {_FORMAT_HELP}", required=True),
    ),
)
_DIFF: Final = ToolDefinition(
    "diff",
    "How long it is from one date to another",
    (
        date_parameter("date1", "The date to count from"),
        date_parameter("date2", "The date to count to"),
        DIFFERENCE_UNIT,
    ),
)
_ADD_DAYS: Final = ToolDefinition(
    "add_days",
    "The date some days after another, or before it",
    (
        date_parameter("date", "The date to start from"),
        ToolParameter(
            "days",
            "integer",
            "Days to add; negative ones go back",
            minimum=-MAX_DAYS,
            maximum=MAX_DAYS,
            unit="days",
        ),
    ),
)
_PARSE: Final = ToolDefinition(
    "parse",
    "Read a date, and say how it was read",
    (
        ToolParameter("date_string", "string", "The date as it was written"),
        _format("format", "How it was written, when that must be said"),
    ),
)


def local_now() -> datetime:
    """Return the time now, to the second, in the zone of the machine."""
    return datetime.now().astimezone().replace(microsecond=0)


class DateTime(OperationTool):
    """The clock and the calendar, in the zone of `clock`.

    `date_order` decides how 03/04/2025 is read.
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
                *CalendarOperations(clock).all,
            ),
            {
                "date": self._reader.read,
                "date-format": read_format,
                "timezone": find_zone,
                "time": read_time,
                "duration": read_duration,
                "country": read_country,
            },
        )

    def run(self, operation: str, arguments: Arguments) -> dict[str, Any]:
        try:
            return super().run(operation, arguments)
        except OverflowError:
            raise ToolFailed("The date lies outside the years 1 to 9999") from None

    def _now(self, given: Arguments) -> dict[str, Any]:
        now = self._clock().replace(microsecond=0)
        if "timezone" in given:
            now = now.astimezone(given["timezone"])
        answer = date_answer(now, given.get("format"))
        return answer | {"time": answer["iso"][11:19], "timezone": str(now.tzinfo)}

    def _format(self, given: Arguments) -> dict[str, Any]:
        reading = given["date"]
        return with_readings(date_answer(reading.value, given["format_string"]), date=reading)

    def _diff(self, given: Arguments) -> dict[str, Any]:
        start, end, unit = given["date1"], given["date2"], given["unit"]
        answer = {"result": count_between(start.value, end.value, unit), "unit": unit}
        return with_readings(answer, date1=start, date2=end)

    def _add_days(self, given: Arguments) -> dict[str, Any]:
        reading = given["date"]
        return with_readings(date_answer(reading.value + _DAY * given["days"]), date=reading)

    def _parse(self, given: Arguments) -> dict[str, Any]:
        text, shape = given["date_string"], given.get("format")
        if shape is None or shape.iso:
            reading = self._reader.read(text, "date_string")
        elif not isinstance(text, str):
            raise ArgumentsInvalid(f"date_string must be text, not {described_value(text)}")
        elif len(text) > MAX_DATE_CHARS:
            raise ArgumentsInvalid(f"date_string is longer than {MAX_DATE_CHARS} characters")
        else:
            reading = DateReading(shape.read(text.strip()))
        day = reading.value
        parts = {"year": day.year, "month": day.month, "day": day.day}
        return with_readings(date_answer(day) | parts, date_string=reading)
