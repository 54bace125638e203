"""Operations of the calendar and the clock beside the five that `date_time` began with."""

from calendar import isleap
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, get_args

from server.core.tools import ToolDefinition, ToolParameter
from server.errors import ToolFailed
from server.text.calendar import Period, period_around, shift
from server.text.decimals import divide
from server.text.durations import Duration
from server.text.language import Unit
from server.tools.builtin.base import Arguments, Operation
from server.tools.builtin.date_answers import date_answer, date_parameter, day_of, with_readings
from server.tools.business_days import (
    HolidaysOf,
    add_business_days,
    count_both_ends,
    count_business_days,
    is_business_day,
    no_holidays,
    public_holidays,
)
from server.tools.clock_times import convert, in_words, minutes_between, zone_name
from server.tools.dates import DateReading, count_between

MOST_BUSINESS_DAYS: Final = 1_000_000
_DAY: Final = timedelta(days=1)
_PERIODS: Final = {unit: (f"{unit}s",) for unit in get_args(Unit) if unit != "day"}
_WHICH: Final = {
    "this": ("current", "the"),
    "next": ("coming", "following", "upcoming"),
    "last": ("previous", "past"),
}
_STEPS: Final = {"this": 0, "next": 1, "last": -1}

_COUNTRY: Final = ToolParameter(
    "country",
    "string",
    "Country whose public holidays are left out as well: Germany, US",
    required=False,
    format="country",
)


def _time(name: str, description: str) -> ToolParameter:
    return ToolParameter(name, "string", description, format="time")


def _zone(name: str, description: str) -> ToolParameter:
    return ToolParameter(name, "string", description, format="timezone")


_DURATION: Final = ToolParameter("duration", "string", "18 months, P1Y6M", format="duration")
_ON: Final = date_parameter("date", "The day; today when left out", required=False)

BUSINESS_DAYS: Final = ToolDefinition(
    "business_days",
    "How many business days come after one date, up to and with another",
    (
        date_parameter("date1", "The date to count from"),
        date_parameter("date2", "The date to count to"),
        _COUNTRY,
    ),
)
ADD_BUSINESS_DAYS: Final = ToolDefinition(
    "add_business_days",
    "The date some business days after another, or before it",
    (
        date_parameter("date", "The date to start from; today when left out", required=False),
        ToolParameter(
            "days",
            "integer",
            "Business days to add; negative ones go back",
            minimum=-MOST_BUSINESS_DAYS,
            maximum=MOST_BUSINESS_DAYS,
            unit="days",
        ),
        _COUNTRY,
    ),
)
IS_BUSINESS_DAY: Final = ToolDefinition(
    "is_business_day",
    "Whether a date is a business day",
    (date_parameter("date", "The date"), _COUNTRY),
)
PERIOD: Final = ToolDefinition(
    "period",
    "The first and last day of a week, month, quarter or year, and what is left of it",
    (
        ToolParameter("unit", "string", "What kind of period", vocabulary=_PERIODS),
        ToolParameter(
            "which", "string", "Which one", required=False, default="this", vocabulary=_WHICH
        ),
        date_parameter("date", "A day in it; today when left out", required=False),
    ),
)
AGE: Final = ToolDefinition(
    "age",
    "How old somebody is on a day",
    (
        date_parameter("birth_date", "The date of birth"),
        date_parameter("at_day", "The day; today when left out", required=False),
    ),
)
TIME_BETWEEN: Final = ToolDefinition(
    "time_between",
    "How long it is from one time of day to another",
    (_time("time1", "The time to count from"), _time("time2", "The time to count to")),
)
WEEK_NUMBER: Final = ToolDefinition("week_number", "The ISO week that a date lies in", (_ON,))
WEEK_DATES: Final = ToolDefinition(
    "week_dates",
    "The dates of an ISO week",
    (
        ToolParameter("week", "integer", "The number of the week", minimum=1, maximum=53),
        ToolParameter(
            "year",
            "integer",
            "The year; this one when left out",
            required=False,
            minimum=1,
            maximum=9998,
        ),
    ),
)
LEAP_YEAR: Final = ToolDefinition(
    "leap_year",
    "Whether a year is a leap year",
    (ToolParameter("year", "integer", "The year", minimum=1, maximum=9999),),
)
ADD: Final = ToolDefinition(
    "add",
    "The date a length of time after another",
    (date_parameter("date", "The date to start from"), _DURATION),
)
SUBTRACT: Final = ToolDefinition(
    "subtract",
    "The date a length of time before another",
    (date_parameter("date", "The date to start from"), _DURATION),
)
CONVERT_TIME: Final = ToolDefinition(
    "convert_time",
    "What the clocks of one place show when it is a time of day in another",
    (
        _time("time", "The time of day"),
        _zone("from_zone", "The place where it is that time"),
        _zone("to_zone", "The place whose time is wanted"),
        _ON,
    ),
)
ZONE_DIFFERENCE: Final = ToolDefinition(
    "zone_difference",
    "How many hours the clocks of one place are ahead of those of another",
    (
        _zone("zone1", "The first place"),
        _zone("zone2", "The place that it is compared with"),
        _ON,
    ),
)


class CalendarOperations:
    """What the operations above answer, by one clock."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self.all = (
            Operation(BUSINESS_DAYS, self._business_days),
            Operation(ADD_BUSINESS_DAYS, self._add_business_days),
            Operation(IS_BUSINESS_DAY, self._is_business_day),
            Operation(PERIOD, self._period),
            Operation(AGE, self._age),
            Operation(TIME_BETWEEN, self._time_between),
            Operation(WEEK_NUMBER, self._week_number),
            Operation(WEEK_DATES, self._week_dates),
            Operation(LEAP_YEAR, self._leap_year),
            Operation(ADD, lambda given: self._moved(given, 1)),
            Operation(SUBTRACT, lambda given: self._moved(given, -1)),
            Operation(CONVERT_TIME, self._convert_time),
            Operation(ZONE_DIFFERENCE, self._zone_difference),
        )

    def _day(self, given: Arguments, name: str = "date") -> DateReading:
        return given.get(name) or DateReading(self._clock().date())

    def _business_days(self, given: Arguments) -> dict[str, Any]:
        start, end, holidays = day_of(given["date1"]), day_of(given["date2"]), _holidays(given)
        answer = {
            "result": count_business_days(start, end, holidays),
            "inclusive": count_both_ends(start, end, holidays),
        }
        return with_readings(answer, date1=given["date1"], date2=given["date2"])

    def _add_business_days(self, given: Arguments) -> dict[str, Any]:
        reading = self._day(given)
        found = add_business_days(day_of(reading), given["days"], _holidays(given))
        return with_readings(
            date_answer(found) | {"from_date": day_of(reading).isoformat()}, date=reading
        )

    def _is_business_day(self, given: Arguments) -> dict[str, Any]:
        day, holidays = day_of(given["date"]), _holidays(given)
        holiday = holidays(day.year).get(day)
        answer = date_answer(day) | {
            "result": is_business_day(day, holidays),
            "why": holiday or ("a weekend" if day.weekday() >= 5 else "a working day"),
        }
        return with_readings(answer, date=given["date"])

    def _period(self, given: Arguments) -> dict[str, Any]:
        unit, reading = given["unit"], self._day(given)
        day = shift(day_of(reading), unit, _STEPS[given["which"]])
        answer = _period_answer(period_around(day, unit), day_of(reading))
        return with_readings(answer | {"unit": unit}, date=reading)

    def _age(self, given: Arguments) -> dict[str, Any]:
        born, on = given["birth_date"], self._day(given, "at_day")
        first, last = day_of(born), day_of(on)
        if last < first:
            raise ToolFailed(f"{last} is before the date of birth, {first}")
        months = int(count_between(first, last, "months"))
        years, over = divmod(months, 12)
        answer = {
            "result": years,
            "years": years,
            "months": over,
            "days": (last - shift(first, "month", months)).days,
            "total_days": (last - first).days,
            "on": last.isoformat(),
        }
        return with_readings(answer, birth_date=born, at_day=on)

    def _time_between(self, given: Arguments) -> dict[str, Any]:
        first, second = given["time1"], given["time2"]
        seconds = int(minutes_between(first, second).total_seconds())
        answer = {
            "result": in_words(Duration(seconds=Fraction(seconds))) if seconds else "0 minutes",
            "hours": divide(Decimal(seconds), Decimal(3600)),
            "minutes": divide(Decimal(seconds), Decimal(60)),
            "seconds": seconds,
        }
        if second < first:
            answer["interpreted_as"] = f"{second:%H:%M} on the next day"
        return answer

    def _week_number(self, given: Arguments) -> dict[str, Any]:
        reading = self._day(given)
        year, week, _ = day_of(reading).isocalendar()
        answer = {"result": week, "year": year, **_period_of_week(year, week)}
        return with_readings(answer, date=reading)

    def _week_dates(self, given: Arguments) -> dict[str, Any]:
        week = given["week"]
        year = given.get("year", self._clock().isocalendar().year)
        if week > date(year, 12, 28).isocalendar().week:
            raise ToolFailed(f"{year} has no week {week}, only 52")
        days = _period_of_week(year, week)
        return {"result": f"{days['start']}/{days['end']}", "week": week, "year": year, **days}

    def _leap_year(self, given: Arguments) -> dict[str, Any]:
        year = given["year"]
        following = next((y for y in range(year + 1, year + 9) if isleap(y)), None)
        return {"result": isleap(year), "days": 365 + isleap(year), "next": following}

    def _moved(self, given: Arguments, sign: int) -> dict[str, Any]:
        reading, length = given["date"], given["duration"]
        value = _add(reading.value, length, sign)
        return with_readings(date_answer(value) | {"length": in_words(length)}, date=reading)

    def _convert_time(self, given: Arguments) -> dict[str, Any]:
        source, target = given["from_zone"], given["to_zone"]
        day = day_of(given["date"]) if "date" in given else self._clock().astimezone(source).date()
        converted = convert(day, given["time"], source, target)
        value = converted.value
        away = (value.date() - day).days
        answer = {
            "result": value.strftime("%H:%M"),
            "iso": value.isoformat(),
            "date": value.date().isoformat(),
            "day": {-1: "the day before", 0: "the same day", 1: "the next day"}[away],
            "from_date": day.isoformat(),
            "from_zone": zone_name(source),
            "to_zone": zone_name(target),
        }
        return answer | {"interpreted_as": converted.note} if converted.note else answer

    def _zone_difference(self, given: Arguments) -> dict[str, Any]:
        day = self._day(given)
        noon = datetime.combine(day_of(day), datetime.min.time()) + _DAY / 2
        if "date" not in given:
            noon = self._clock().replace(tzinfo=None)
        offsets = [noon.replace(tzinfo=given[name]).utcoffset() for name in ("zone1", "zone2")]
        ahead = (offsets[0] or timedelta(0)) - (offsets[1] or timedelta(0))
        seconds = int(ahead.total_seconds())
        return {
            "result": divide(Decimal(seconds), Decimal(3600)),
            "length": in_words(Duration(seconds=Fraction(abs(seconds)))),
            "direction": "ahead of" if seconds > 0 else "behind" if seconds < 0 else "level with",
            "zone1": zone_name(given["zone1"]),
            "zone2": zone_name(given["zone2"]),
        }


def _holidays(given: Arguments) -> HolidaysOf:
    return public_holidays(given["country"]) if "country" in given else no_holidays


def _period_answer(period: Period, day: date) -> dict[str, Any]:
    within = period.start <= day <= period.end
    return {
        "result": f"{period.start}/{period.end}",
        "start": period.start.isoformat(),
        "end": period.end.isoformat(),
        "days": (period.end - period.start).days + 1,
        "elapsed": (day - period.start).days + 1 if within else None,
        "left": (period.end - day).days if within else None,
    }


def _period_of_week(year: int, week: int) -> dict[str, str]:
    monday = date.fromisocalendar(year, week, 1)
    return {"start": monday.isoformat(), "end": (monday + 6 * _DAY).isoformat()}


def _add(value: date, length: Duration, sign: int) -> date:
    """Return the date a length of time away: its months first, then its days."""
    moved = shift(value, "month", sign * length.months)
    days = length.whole_days()
    if days is not None:
        return shift(moved, "day", sign * days)
    if not isinstance(moved, datetime):
        raise ToolFailed(
            f"{value} has no time of day that {length.to_iso()} could be added to; give one"
        )
    seconds = length.seconds
    return moved + timedelta(seconds=seconds.numerator / seconds.denominator) * sign
