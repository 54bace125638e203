"""What answers about dates have in common."""

from datetime import date, datetime
from typing import Any

from server.core.tools import ToolParameter
from server.text.date_formats import Format
from server.text.dates import WEEKDAY_NAMES
from server.tools.dates import DateReading


def date_parameter(name: str, description: str, *, required: bool = True) -> ToolParameter:
    return ToolParameter(name, "string", description, required=required, format="date")


def date_answer(value: date, shape: Format | None = None) -> dict[str, Any]:
    """Return a date in every way that an answer may show it."""
    iso = value.isoformat()
    written = shape.write(value) if shape is not None else None
    return {
        "result": iso if written is None else written,
        "formatted_date": iso[:19].replace("T", " ") if written is None else written,
        "iso": iso,
        "weekday": WEEKDAY_NAMES[value.weekday()],
    }


def with_readings(answer: dict[str, Any], **readings: DateReading) -> dict[str, Any]:
    """Return the answer, with how its dates were read where they could be read otherwise."""
    notes = [f"{name}: {note}" for name, one in readings.items() if (note := one.describe())]
    if not notes:
        return answer
    alone = len(readings) == 1
    said = notes[0].partition(": ")[2] if alone else ", ".join(notes)
    return answer | {"interpreted_as": said}


def day_of(reading: DateReading) -> date:
    """Return the day of a reading, without its time."""
    value = reading.value
    return value.date() if isinstance(value, datetime) else value
