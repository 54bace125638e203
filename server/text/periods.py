"""Stretches of days as people say them: last month, since March, the past two weeks, in 2025."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Literal, NamedTuple

from server.text.calendar import Period, add_months, period_around, shift
from server.text.calendar_phrases import read_part_of_year, read_period
from server.text.dates import DIRECTIONS, MONTHS, WEEKDAYS
from server.text.durations import Duration
from server.text.language import Unit, load_language
from server.text.parsed_text import ParsedText
from server.text.tokens import Tokens, is_digits

Reach = Literal["within", "since", "after", "until", "before", "between"]
"""How a stretch lies to the days that were named."""

_ENGLISH: Final = load_language("en")
_group: Final = _ENGLISH.group
_THIS: Final = frozenset({"this", "current"})
_BACK: Final = _group("last") | {"recent"}
_ROLLING: Final = frozenset({"past"})
"""Before one unit of time: that long until today, and not the unit of the calendar."""
_PERIODS: Final = _ENGLISH.dates.periods | {"day": "day"}
_BEFORE_PERIOD: Final = _group("period_leads")
_APOSTROPHES: Final = ("'", "’")
_REACHES: Final[dict[str, Reach]] = {
    **dict.fromkeys(_group("since_words"), "since"),
    **dict.fromkeys(_group("until_words"), "until"),
    "after": "after",
    "before": "before",
}
_BETWEEN: Final = frozenset({"between"})
_FROM: Final = frozenset({"from"})
_JOINTS: Final = _group("through")
_ONWARDS: Final = _group("onwards")
_STARTING: Final = _group("since_words") - {"since"}
_OR: Final = frozenset({"or", "and"})
_OPEN_ENDS: Final[dict[str, Reach]] = {
    **dict.fromkeys(_group("later"), "since"),
    **dict.fromkeys(_group("earlier"), "until"),
}
"""After “or”: in which direction it goes on."""
_WEEK_STARTS: Final = WEEKDAYS[_ENGLISH.dates.week_starts]
_NAMING_PERIODS: Final = MONTHS.keys() | _ENGLISH.numbers.ordinals.keys() | {"q", "year"}
_YEARS_AHEAD, _YEARS = 10, 110
"""A number of four digits is a year within these."""
_DIGITS_OF_A_DECADE: Final = 2
_DIGITS_OF_A_DAY: Final = 2
_ORDINAL_ENDINGS: Final = frozenset({"st", "nd", "rd", "th"})
_MOST_PERIODS: Final = 8
_DAY_S: Final = 86_400
_WEEK: Final = 7
_MONTHS_IN: Final = {"month": 1, "quarter": 3, "year": 12}
_PERIODS_KEY: Final = ("periods", "")


class Back(NamedTuple):
    """How far something reaches back from today: whole months, and days."""

    months: int = 0
    days: int = 0

    @classmethod
    def of(cls, unit: Unit) -> "Back":
        months = _MONTHS_IN.get(unit, 0)
        return cls(months, 0 if months else 7 if unit == "week" else 1)

    def count_in(self, unit: str) -> int:
        """So many units, or the whole ones that hold it; a month has 30 days, a year 365."""
        years, months = divmod(self.months, 12)
        days = years * 365 + months * 30 + self.days
        match unit:
            case "hour":
                return days * 24
            case "week":
                return -(-days // 7)
            case "month":
                return self.months + -(-self.days // 30)
            case "year":
                return -(-days // 365)
        return days


class _Named(NamedTuple):
    """Days that words from `first` up to `last` name.

    `back` is how far they count back from today, where that is how they are told; `open_year`
    says that a year was taken for granted.
    """

    first: int
    last: int
    period: Period
    back: Back | None = None
    open_year: bool = False
    is_day: bool = False


@dataclass(frozen=True, slots=True)
class SpokenPeriod:
    """A stretch of days in a question: the words, and which days it covers, both ends included.

    `start` or `end` is None where it is open there. `split` is the word from which on the second
    of two named ends stands. `back` is how far it counts back from today.
    """

    first: int
    last: int
    start: date | None
    end: date | None
    reach: Reach
    back: Back | None
    is_days: bool
    """Whether only single days were named."""
    split: int | None = None


def find_periods(reading: ParsedText) -> Sequence[SpokenPeriod]:
    """The stretches of days of a text, in order; a year that is not said is the last one."""
    found: Sequence[SpokenPeriod] | None = reading.memo.get(_PERIODS_KEY)
    if found is None:
        try:
            found = tuple(_joined(reading.tokens, list(_named(reading)), reading.today))
        except OverflowError:
            found = ()
        reading.memo[_PERIODS_KEY] = found
    return found


def _named(reading: ParsedText) -> Iterator[_Named]:
    tokens, index = reading.tokens, 0
    days = {
        (span.first, span.last, span.value)
        for span in (*reading.of("date"), *reading.of("offset"))
        if not span.weak
    }
    amounts = {span.first for span in reading.of("number") if span.unit}
    timed = {at for span in reading.of("datetime") for at in range(span.first, span.last)}
    lengths = {span.first: (span.last, span.value) for span in reading.of("duration")}
    while index < len(tokens):
        found = None
        if index not in timed and index not in amounts:
            found = (
                _first_of_two(tokens, days, index)
                or _counted(tokens, index, reading.today, lengths)
                or _day(tokens, days, index)
                or _calendar(tokens, index, reading.today)
            )
        if found is not None:
            yield found
        index = found.last if found is not None else index + 1


def _day(tokens: Tokens, days: set[tuple[int, int, date]], index: int) -> _Named | None:
    """A day, with the article before it: since the 1st of October."""
    begins = {index, index + (tokens.word(index) == "the")}
    here = [(last, day) for first, last, day in days if first in begins]
    if not here:
        return None
    last, day = max(here)
    return _Named(index, last, Period(day, day), is_day=True)


def _first_of_two(tokens: Tokens, days: set[tuple[int, int, date]], index: int) -> _Named | None:
    """The first of two days of one month: between the 1st and the 10th of November."""
    at = index + (tokens.word(index) == "the")
    lead, number = tokens.word(index - 1), tokens.word(at)
    if lead not in _BETWEEN | _FROM or not is_digits(number) or len(number) > _DIGITS_OF_A_DAY:
        return None
    last = at + 1 + (tokens.word(at + 1) in _ORDINAL_ENDINGS)
    if tokens.word(last) not in _JOINTS:
        return None
    begins = {last + 1, last + 1 + (tokens.word(last + 1) == "the")}
    second = next((day for first, _, day in days if first in begins), None)
    if second is None or not 0 < int(number) <= second.day:
        return None
    first_day = second.replace(day=int(number))
    return _Named(index, last, Period(first_day, first_day), is_day=True)


def _counted(
    tokens: Tokens, index: int, today: date, lengths: dict[int, tuple[int, Duration]]
) -> _Named | None:
    """The last 2 weeks, the past month."""
    at = index + (tokens.word(index) == "the")
    word, after = tokens.word(at), tokens.word(at + 1)
    if word in _ROLLING and after in _PERIODS:
        unit: Unit = _PERIODS[after]
        return _Named(index, at + 2, Period(shift(today, unit, -1), today), Back.of(unit))
    if word not in _BACK or at + 1 not in lengths:
        return None
    last, length = lengths[at + 1]
    days = -(-length.seconds // _DAY_S)  # part of a day is that day
    back = Back(length.months, int(days))
    start = add_months(today, -length.months) - timedelta(days=int(days))
    return _Named(index, last, Period(start, today), back)


def _calendar(tokens: Tokens, index: int, today: date) -> _Named | None:
    """Last month, this year, March, Q3 2025, 2025."""
    at = index + (tokens.word(index) == "the")
    word, after = tokens.word(at), tokens.word(at + 1)
    towards = DIRECTIONS.get(word, 0)
    decade = _decade(tokens, at, today, told=at > index)
    if decade is not None:
        return _Named(index, at + 2, decade)
    part = read_part_of_year(tokens, at, today)
    if part is not None:
        return _Named(index, part.last, part.period, open_year=part.open_year)
    if (towards or word in _THIS) and after in _PERIODS:
        unit: Unit = _PERIODS[after]
        period = period_around(shift(today, unit, towards), unit, _WEEK_STARTS)
        back = Back.of(unit) if towards <= 0 else None
        return _Named(index, at + 2, period, back)
    if (towards or word in _THIS) and after in MONTHS:
        read = read_period(tokens, at + 1, today)
        if read is None or not read.open_year:
            return None
        period = read.period
        if towards < 0 and period.end >= today:
            period = _years_later(period, -1)
        elif towards > 0 and period.start <= today:
            period = _years_later(period, 1)
        return _Named(index, read.last, period)
    if word in _PERIODS and not (word == "year" and is_digits(after)):
        return None  # "the month" may be any
    if is_digits(word) and not _is_year(word, today):
        return None
    if not (is_digits(word) or word in _NAMING_PERIODS):
        return None  # the “in” of in 2025
    lead = tokens.word(index - 1)
    if is_digits(word) and lead in _BETWEEN and not _is_year(tokens.word(index + 2), today):
        return None  # between 2000 and 3000
    read = read_period(tokens, index, today)
    if read is None or ((read.open_year or is_digits(word)) and lead not in _BEFORE_PERIOD):
        return None
    if word in DIRECTIONS or is_digits(tokens.word(read.last)):
        return None
    period = read.period
    if read.open_year and period.start > today:
        period = _years_later(period, -1)
    return _Named(index, read.last, period, open_year=read.open_year)


def _decade(tokens: Tokens, at: int, today: date, *, told: bool) -> Period | None:
    """The 2010s, 1990s; the 90s, where an article tells that it is one."""
    word = tokens.word(at)
    glued = tokens.word(at + 1) == "s" and tokens.ends[at] == tokens.starts[at + 1]
    if not (glued and is_digits(word) and word.endswith("0")):
        return None
    first = int(word[:9])
    if told and len(word) == _DIGITS_OF_A_DECADE:
        first += 1900 if first > today.year % 100 else 2000
    elif not _is_year(word, today):
        return None
    return Period(date(first, 1, 1), date(first + 9, 12, 31))


def _is_year(word: str, today: date) -> bool:
    return is_digits(word) and 0 <= today.year + _YEARS_AHEAD - int(word[:9]) <= _YEARS


def _years_later(period: Period, years: int) -> Period:
    start = add_months(period.start, 12 * years)
    months = (period.end.year - period.start.year) * 12 + period.end.month - period.start.month
    return Period(start, add_months(start, months + 1) - timedelta(days=1))


def _joined(tokens: Tokens, named: list[_Named], today: date) -> Iterator[SpokenPeriod]:
    index = 0
    while index < len(named[:_MOST_PERIODS]):
        one = named[index]
        index += 1
        if index < len(named):
            both = _between(tokens, one, named[index])
            if both is not None:
                index += 1
                yield both
                continue
        yield _alone(tokens, one, today)


def _between(tokens: Tokens, one: _Named, two: _Named) -> SpokenPeriod | None:
    """From June to September, between March and May 2025, 2024 - 2025."""
    between = tokens.words[one.last : two.first]
    if between[:1] == ["the"] or not between or between[0] not in _JOINTS or len(between) > 2:
        return None
    lead = tokens.word(one.first - 1)
    if (between[0] == "and") is not (lead in _BETWEEN):
        return None
    begins, ends = one.period, two.period
    if one.open_year and not two.open_year:
        begins = _years_later(begins, ends.start.year - begins.start.year)
    if begins.start > ends.start:
        if one.open_year:
            begins = _years_later(begins, -1)
        else:
            begins, ends = ends, begins
    first = one.first - (lead in _BETWEEN | _FROM)
    days = one.is_day and two.is_day
    split = two.first - len(between)
    return SpokenPeriod(first, two.last, begins.start, ends.end, "between", None, days, split)


def _alone(tokens: Tokens, one: _Named, today: date) -> SpokenPeriod:
    lead, after = tokens.word(one.first - 1), tokens.word(one.last)
    if after in _APOSTROPHES and tokens.word(one.last + 1) == "s":
        lead = ""  # by last year's sales: what is “by” is the sales
    first, last, (start, end) = one.first, one.last, one.period
    reach: Reach = _REACHES.get(lead, "within")
    if lead == "to" and tokens.word(one.first - 2) == "up":
        reach, first = "until", one.first - 1
    if tokens.word(one.first - 2) in _STARTING and lead in _BEFORE_PERIOD:
        reach, first = "since", one.first - 1
    onwards = lead in _FROM and after in _ONWARDS
    onwards_too = lead in _FROM and after == "on" and tokens.word(one.last + 1) not in MONTHS
    if onwards or onwards_too:
        reach, last = "since", last + 1
    if reach != "within" or lead in _FROM:
        first -= 1
    if reach == "within" and after in _OR and tokens.word(last + 1) in _OPEN_ENDS:
        reach, last = _OPEN_ENDS[tokens.word(last + 1)], last + 2
    if reach == "since" and one.is_day and 0 < (start - today).days <= _WEEK:
        start -= timedelta(days=_WEEK)  # since Monday: the last one
    back = one.back if reach == "within" else None
    ago = (today - start).days
    if (reach == "since" and ago >= 0) or (one.is_day and reach == "within" and 0 <= ago <= 1):
        back = Back(days=max(ago, 1))
    match reach:
        case "since":
            return SpokenPeriod(first, last, start, None, reach, back, one.is_day)
        case "after":
            begins = end + timedelta(days=1)
            return SpokenPeriod(first, last, begins, None, reach, None, one.is_day)
        case "until":
            return SpokenPeriod(first, last, None, end, reach, None, one.is_day)
        case "before":
            ends = start - timedelta(days=1)
            return SpokenPeriod(first, last, None, ends, reach, None, one.is_day)
    return SpokenPeriod(first, last, start, end, reach, back, one.is_day)
