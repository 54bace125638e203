"""Times of day as the arguments of a tool, and the same moment on the clocks of other places."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any, Final
from zoneinfo import ZoneInfo

from server.core.suggestions import described_value, shown_value
from server.errors import ArgumentsInvalid, ToolFailed
from server.text.durations import Duration, read_iso_duration
from server.text.parsed_text import ParsedText
from server.text.tokens import Kind

MAX_TIME_CHARS: Final = 60
_ANY_DAY: Final = datetime(2000, 1, 1, tzinfo=UTC)
DAY: Final = timedelta(days=1)


def read_time(value: Any, name: str) -> time:
    """Return the time of day that `value` is: `17:30`, `5pm`, `half past six in the morning`.

    Raises:
        ArgumentsInvalid: it is none.
    """
    if not isinstance(value, str):
        raise ArgumentsInvalid(f"{name} must be a time of day, not {described_value(value)}")
    found = _whole(value, "time", name)
    if isinstance(found, time) and found.tzinfo is None:
        return found
    raise ArgumentsInvalid(
        f"{name} is {shown_value(value)}, which is not a time of day; write it as 17:30 or 5pm"
    )


def read_duration(value: Any, name: str) -> Duration:
    """Return the length of time that `value` is: `P1Y2M`, `18 months`, `2 quarters`.

    Raises:
        ArgumentsInvalid: it is none.
    """
    if not isinstance(value, str):
        raise ArgumentsInvalid(f"{name} must be a length of time, not {described_value(value)}")
    found = _whole(value, "duration", name)
    if isinstance(found, Duration):
        return found
    if len(value) <= MAX_TIME_CHARS and (iso := read_iso_duration(value.strip())):
        return iso
    raise ArgumentsInvalid(
        f"{name} is {shown_value(value)}, which is not a length of time; "
        "write it as 18 months or P1Y6M"
    )


def _whole(value: str, kind: Kind, name: str) -> Any:
    if len(value) > MAX_TIME_CHARS:
        raise ArgumentsInvalid(f"{name} is longer than {MAX_TIME_CHARS} characters")
    text = " ".join(value.split())
    found = ParsedText(text, _ANY_DAY, "mdy").whole(kind)
    return None if found is None else found.value


def in_words(length: Duration) -> str:
    """Return a length of time as people say it: 1 year 6 months, 14 days."""
    days, rest = divmod(length.seconds, 86_400)
    minutes, seconds = divmod(rest, 60)
    counts = (*divmod(length.months, 12), int(days), *divmod(int(minutes), 60), float(seconds))
    units = ("year", "month", "day", "hour", "minute", "second")
    said = [
        f"{count:g} {unit}{'' if count == 1 else 's'}"
        for count, unit in zip(counts, units, strict=True)
        if count
    ]
    return " ".join(said) or "0 days"


def minutes_between(first: time, second: time) -> timedelta:
    """Return how long it is from one time of day to the next time that the other comes."""
    passed = datetime.combine(date.min, second) - datetime.combine(date.min, first)
    return passed if passed >= timedelta(0) else passed + DAY


@dataclass(frozen=True, slots=True)
class Converted:
    """A moment on the clock of another place; `note` says how it was read, where that is open."""

    value: datetime
    note: str = ""


def convert(day: date, clock: time, source: tzinfo, target: tzinfo) -> Converted:
    """Return what clocks in `target` show when those in `source` show this.

    Raises:
        ToolFailed: the clocks in `source` skip that time on that day.
    """
    moment = datetime.combine(day, clock, source)
    if moment.astimezone(UTC).astimezone(source).replace(tzinfo=None) != moment.replace(
        tzinfo=None
    ):
        raise ToolFailed(
            f"The clocks in {zone_name(source)} skip {clock:%H:%M} on {day}, when they go forward"
        )
    again = moment.replace(fold=1)
    twice = again.utcoffset() != moment.utcoffset()
    note = f"the first {clock:%H:%M}, before the clocks go back" if twice else ""
    return Converted(moment.astimezone(target), note)


def zone_name(zone: tzinfo) -> str:
    return zone.key if isinstance(zone, ZoneInfo) else str(zone)
