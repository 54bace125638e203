"""Dates and ranges of dates, by the formats, words and connectors of a language file."""

from calendar import monthrange
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Final, NamedTuple

from server.intents import dates
from server.intents.numbers import parse_int
from server.intents.patterns import PackPattern, PatternSet, Spans
from server.text.language import Counting, RangeMeaning, Unit
from server.text.normalizer import DATE_MARK

_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12}
_DAYS: Final = {"day": 1, "week": 7}


class Period(NamedTuple):
    """Both days are part of it."""

    start: date
    end: date


@dataclass(frozen=True, slots=True)
class Relative:
    """A period named from today.

    `whole` with -1 is the calendar unit before this one, `last` with 2 the two units
    that end today, and `ago` with 3 the whole unit that lay three back.
    """

    unit: Unit
    number: int = 0
    counting: Counting = "whole"


def day(year: int, month: int, number: int) -> Period | None:
    """One day, or None when the calendar has no such day."""
    try:
        found = date(year, month, number)
    except (ValueError, OverflowError):
        return None
    return Period(found, found)


def month(year: int, number: int) -> Period | None:
    if not (1 <= number <= 12 and date.min.year <= year <= date.max.year):
        return None
    return Period(date(year, number, 1), date(year, number, monthrange(year, number)[1]))


def year(number: int) -> Period | None:
    if not date.min.year <= number <= date.max.year:
        return None
    return Period(date(number, 1, 1), date(number, 12, 31))


def relative(what: Relative, today: date, first_weekday: int) -> Period | None:
    """The days that `what` covers, or None when they leave the calendar.

    `first_weekday` counts from Monday, 0.
    """
    try:
        if what.counting == "last":
            return Period(_shift(today, what.unit, -what.number), today)
        offset = -what.number if what.counting == "ago" else what.number
        return _around(_shift(today, what.unit, offset), what.unit, first_weekday)
    except (ValueError, OverflowError):
        return None


def full_year(two_digits: int, pivot: int) -> int:
    """1998 for 98 and 2023 for 23, when `pivot` lies between them."""
    return two_digits + (2000 if two_digits < pivot else 1900)


def _shift(today: date, unit: Unit, number: int) -> date:
    if unit in _DAYS:
        return today + timedelta(days=number * _DAYS[unit])
    months = today.year * 12 + today.month - 1 + number * _MONTHS[unit]
    last = monthrange(months // 12, months % 12 + 1)[1]
    return date(months // 12, months % 12 + 1, min(today.day, last))


def _around(middle: date, unit: Unit, first_weekday: int) -> Period | None:
    if unit == "day":
        return Period(middle, middle)
    if unit == "week":
        start = middle - timedelta(days=(middle.weekday() - first_weekday) % 7)
        return Period(start, start + timedelta(days=6))
    if unit == "year":
        return year(middle.year)
    span = _MONTHS[unit]
    first = date(middle.year, (middle.month - 1) // span * span + 1, 1)
    last = first.month + span - 1
    return Period(first, date(first.year, last, monthrange(first.year, last)[1]))


Today = Callable[[], date]
"""The day it is, for dates that are said from there."""

_MARK: Final = DATE_MARK.encode()
_MOST_DATES: Final = 8
"""As many as a question is searched for."""


@dataclass(frozen=True, slots=True)
class DateFormat:
    """A way to write one date or period.

    The pattern's groups say which part is what: `year`, `month`, `day`, `month_name`,
    `word` (a key of `words`; beside a month, which year it is in), `last_day` where several
    days of a month are meant, and `date` all of it when more had to stand around. With
    `counted`, its first group is how many units.
    """

    pattern: PackPattern
    counted: Relative | None = None

    @property
    def whole(self) -> int:
        """The group that is the date itself, without what had to stand around it."""
        names = self.pattern.names
        return names.get("date", names.get("word", 0))


@dataclass(frozen=True, slots=True)
class DateRange:
    """A way to join dates; `{date}` in the pattern stands for each."""

    pattern: PackPattern
    means: RangeMeaning


@dataclass(frozen=True, slots=True)
class DateRules:
    """`joins` are the patterns of `ranges`."""

    formats: tuple[DateFormat, ...] = ()
    ranges: tuple[DateRange, ...] = ()
    joins: PatternSet | None = None
    words: Mapping[str, Relative] = field(default_factory=dict)
    months: Mapping[str, int] = field(default_factory=dict)
    first_weekday: int = 0
    century_pivot: int = 50


class DateToken(NamedTuple):
    """A date as it stands in the text, from byte `start` to `end`.

    `month` and `day` are given where the text names no year, so that another date may.
    """

    start: int
    end: int
    period: Period
    month: int | None = None
    day: int | None = None


class Dates(NamedTuple):
    """The dates of a text, and the first place that is written as one and cannot be."""

    atoms: list[DateToken]
    impossible: tuple[int, int] | None = None


def read_dates(
    rules: DateRules,
    data: bytes,
    matching: frozenset[int],
    today: Today,
    free: Callable[[int, int], bool],
) -> Dates:
    """The dates in `data` from left to right, only where it is `free`.

    Where two begin at once, the format that is declared first reads them.
    """
    atoms: list[DateToken] = []
    impossible: tuple[int, int] | None = None
    ahead = [
        (form, spans)
        for form in rules.formats
        if form.pattern.number in matching and (spans := form.pattern.search(data)) is not None
    ]
    for _ in range(_MOST_DATES):
        if not ahead:
            break
        form, spans = ahead[0] if len(ahead) == 1 else min(ahead, key=_beginning)
        start, at = spans[form.whole]
        if free(start, at):
            atom = _atom(rules, form, data, spans, today)
            if atom is not None:
                atoms.append(atom)
            elif impossible is None:
                impossible = start, at
        if at == len(data):
            break
        ahead = [
            (form, later)
            for form, spans in ahead
            if (later := spans if spans[0][0] >= at else form.pattern.search(data, at)) is not None
        ]
    return Dates(atoms, impossible)


def _beginning(found: tuple[DateFormat, Spans]) -> int:
    return found[1][0][0]


def join(
    rules: DateRules, data: bytes, atoms: list[DateToken], today: Today, earliest: date
) -> DateToken | None:
    """The first range that `atoms` make with the words around them; the first atom at least."""
    if not atoms:
        return None
    if rules.joins is None:
        return atoms[0]
    marked, starts = _mark(data, atoms)
    matching = rules.joins.matching(marked)
    for form in rules.ranges:
        if form.pattern.number not in matching:
            continue
        spans = form.pattern.search(marked)
        if spans is None:
            continue
        begin, end = spans[0]
        which = marked.count(_MARK, 0, begin)
        used = atoms[which : which + marked.count(_MARK, begin, end)]
        start = used[0].start - (starts[which] - begin)
        return DateToken(start, used[-1].end, _range(form.means, used, today, earliest))
    return atoms[0]


def _mark(data: bytes, atoms: list[DateToken]) -> tuple[bytes, list[int]]:
    """`data` with a mark for each atom, and where each mark begins."""
    parts: list[bytes] = []
    starts: list[int] = []
    done = length = 0
    for atom in atoms:
        parts += (data[done : atom.start], _MARK)
        length += atom.start - done
        starts.append(length)
        length += len(_MARK)
        done = atom.end
    parts.append(data[done:])
    return b"".join(parts), starts


def _range(means: RangeMeaning, used: list[DateToken], today: Today, earliest: date) -> Period:
    first, last = used[0].period, used[-1].period
    if means == "between":
        first, last = _same_year(used[0], used[-1])
        # Either order; and of "this year until today" the end is today.
        first, last = sorted((first, last), key=lambda period: period.start)
        return Period(first.start, last.end)
    if means == "on":
        return first
    if means in {"until", "before"}:
        end = first.end if means == "until" else _day_before(first.start)
        return Period(min(earliest, end), end)
    start = first.start if means == "since" else _day_after(first.end)
    return Period(start, max(start, today()))


def _same_year(first: DateToken, last: DateToken) -> tuple[Period, Period]:
    """The periods, one without a year in that of the other: "April to June 2021"."""
    begins, ends = first.period, last.period
    if first.month is not None:
        year = ends.start.year
        same = (_in_year(each, first.month, first.day) for each in (year, year - 1))
        begins = next((found for found in same if found and found.start <= ends.start), begins)
    elif last.month is not None:
        year = begins.start.year
        same = (_in_year(each, last.month, last.day) for each in (year, year + 1))
        ends = next((found for found in same if found and found.start >= begins.start), ends)
    return begins, ends


def _day_before(moment: date) -> date:
    return moment - timedelta(days=1) if moment > date.min else moment


def _day_after(moment: date) -> date:
    return moment + timedelta(days=1) if moment < date.max else moment


def _atom(
    rules: DateRules, form: DateFormat, data: bytes, spans: Spans, today: Today
) -> DateToken | None:
    at = spans[form.whole]
    if form.counted is not None:
        start, end = spans[1]
        number = parse_int(data[start:end].decode())
        if number is None:
            return None
        counted = Relative(form.counted.unit, number, form.counted.counting)
        period = dates.relative(counted, today(), rules.first_weekday)
        return None if period is None else DateToken(*at, period)
    parts: dict[str, str] = {}
    for name, group in form.pattern.names.items():
        start, end = spans[group]
        if start >= 0:
            parts[name] = data[start:end].decode()
    month = rules.months[parts["month_name"]] if "month_name" in parts else None
    if "month" in parts:
        month = int(parts["month"])
    day = int(parts["day"]) if "day" in parts else None
    year: int | None = None
    if "year" in parts:
        year = int(parts["year"])
        if len(parts["year"]) == 2:
            year = dates.full_year(year, rules.century_pivot)
    elif "word" in parts:
        named = dates.relative(rules.words[parts["word"]], today(), rules.first_weekday)
        if named is None or month is None:
            return None if named is None else DateToken(*at, named)
        year = named.start.year
    if month is None:
        period = dates.year(year) if year is not None else None
    elif year is not None:
        period = _in_year(year, month, day)
    else:
        period = _last_begun(month, day, today())
    if period is not None and "last_day" in parts:
        last = dates.day(period.start.year, period.start.month, int(parts["last_day"]))
        period = None if last is None or last < period else Period(period.start, last.end)
        return None if period is None else DateToken(*at, period)
    if period is None:
        return None
    return DateToken(*at, period) if year is not None else DateToken(*at, period, month, day)


def _last_begun(month: int, day: int | None, today: date) -> Period | None:
    """What has no year is the last one that has begun."""
    this_year = _in_year(today.year, month, day)
    if this_year is not None and this_year.start <= today:
        return this_year
    return _in_year(today.year - 1, month, day)


def _in_year(year: int, month: int, day: int | None) -> Period | None:
    return dates.month(year, month) if day is None else dates.day(year, month, day)
