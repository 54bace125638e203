"""A tool in Python: a function that a template names in `execution`."""

from datetime import date

_HOURS = {5: "open from 10:00 to 14:00", 6: "closed"}


def opening_hours(day: str) -> dict[str, str]:
    """`day` is in ISO 8601. What is returned are the names that `response_template` can use."""
    when = date.fromisoformat(day)
    return {"weekday": f"{when:%A}", "hours": _HOURS.get(when.weekday(), "open from 9:00 to 18:00")}
