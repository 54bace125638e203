"""Days that are called by their place: the first Monday of May, the end of the quarter, Christmas.

Each reader takes the words of a text from one index on and returns the day and where it ends.
"""

from datetime import date, timedelta
from typing import Final, NamedTuple

from server.text.calendar import Period, nth_weekday, period_around, shift
from server.text.dates import (
    DIRECTIONS,
    MONTH_NAMES,
    MONTHS,
    ORDINALS,
    WEEKDAY_NAMES,
    WEEKDAYS,
    RelativeDay,
)
from server.text.language import load_language
from server.text.named_days import NAMED_STARTERS, NamedDay, named_day_at
from server.text.tokens import Tokens, is_digits, is_word

_ENGLISH: Final = load_language("en")
_DATES: Final = _ENGLISH.dates
_PLACES: Final = _ENGLISH.numbers.ordinals | _DATES.counted_back
_PERIODS: Final = _DATES.periods
_WEEK_STARTS: Final = WEEKDAYS[_DATES.week_starts]
_ENDINGS: Final = frozenset(ORDINALS.split("|"))
_THIS: Final = {"this": 0, "current": 0} | DIRECTIONS
_WITHIN: Final = frozenset({"of", "in"})
_LEADS: Final = _ENGLISH.group("named_day_leads")
_VERBS: Final = _ENGLISH.group("named_day_verbs")
_MIDDLE: Final = 15
_MOST_PLACE: Final = 53
"""The last week of a year."""

PHRASE_STARTERS: Final = frozenset(_PLACES) | _DATES.edges.keys() | NAMED_STARTERS | _PERIODS.keys()
"""Words that may begin such a day, beside the digits of 1st."""
_YEAR_DIGITS: Final = 4


class PeriodRead(NamedTuple):
    """A period that ends before the word `last`; `open_year` says that no year was said."""

    period: Period
    last: int
    name: str
    open_year: bool = False


class PhraseDay(NamedTuple):
    day: RelativeDay
    weak: bool


class NoSuchDay(ValueError):
    """The words up to `last` name a day that the calendar does not have."""

    def __init__(self, why: str, last: int) -> None:
        super().__init__(why)
        self.last = last


def read_phrase(tokens: Tokens, index: int, today: date) -> PhraseDay | None:
    """Return the day that is called by its place or its name from the word at `index` on.

    Raises:
        NoSuchDay: the period has no such day, as most months have no fifth Friday.
        OverflowError: it lies outside the years 1 to 9999.
    """
    found = (
        _read_edge(tokens, index, today)
        or _read_place(tokens, index, today)
        or _read_edge_after(tokens, index, today)
    )
    return PhraseDay(found, weak=False) if found else _read_named(tokens, index, today)


def read_period(tokens: Tokens, index: int, today: date) -> PeriodRead | None:
    """Return the period that is named at `index`: next month, May 2027, Q3, the year, 2028."""
    index += tokens.word(index) == "the"
    word = tokens.word(index)
    if (part := read_part_of_year(tokens, index, today)) is not None:
        return part
    if word in _THIS and tokens.word(index + 1) in _PERIODS:
        unit = _PERIODS[tokens.word(index + 1)]
        period = period_around(shift(today, unit, _THIS[word]), unit, _WEEK_STARTS)
        return PeriodRead(period, index + 2, f"{word} {unit}")
    if word in MONTHS:
        year = _year_at(tokens, index + 1, today)
        at, last = year or (today.year, index + 1)
        name = f"{MONTH_NAMES[MONTHS[word] - 1]} {at}"
        month = period_around(date(at, MONTHS[word], 1), "month")
        return PeriodRead(month, last, name, year is None)
    if word == "q" and tokens.glued(index + 1):
        return _quarter(tokens, index + 2, tokens.word(index + 1), today)
    if word in _PLACES and _PERIODS.get(tokens.word(index + 1)) == "quarter":
        return _quarter(tokens, index + 2, str(_PLACES[word]), today)
    if (year := _year_at(tokens, index, today)) is not None:
        return PeriodRead(period_around(date(year[0], 1, 1), "year"), year[1], str(year[0]))
    if word not in _PERIODS or word != _PERIODS[word]:
        return None
    if word == "month" and tokens.word(index + 1) == "of" and tokens.word(index + 2) in MONTHS:
        return read_period(tokens, index + 2, today)
    if word == "year" and (year := _year_at(tokens, index + 1, today)) is not None:
        return PeriodRead(period_around(date(year[0], 1, 1), "year"), year[1], str(year[0]))
    if is_digits(tokens.word(index + 1)):
        return None  # week 23 is another
    period = period_around(today, _PERIODS[word], _WEEK_STARTS)
    return PeriodRead(period, index + 1, f"the {word} of {today}")


def read_part_of_year(tokens: Tokens, index: int, today: date) -> PeriodRead | None:
    """A half or a quarter of a year that is said: the last quarter of 2025, the first half."""
    place, part = _PLACES.get(tokens.word(index)), tokens.word(index + 1)
    if place is not None and part in _DATES.halves:
        return _half(tokens, index + 2, place, today)
    if place == -1 and _PERIODS.get(part) == "quarter" and _year_at(tokens, index + 2, today):
        return _quarter(tokens, index + 2, "4", today)
    return None


def _quarter(tokens: Tokens, index: int, number: str, today: date) -> PeriodRead | None:
    if number not in ("1", "2", "3", "4"):
        return None
    year, at, last = _year_after(tokens, index, today)
    quarter = period_around(date(at, int(number) * 3, 1), "quarter")
    return PeriodRead(quarter, last, f"Q{number} {at}", year is None)


def _half(tokens: Tokens, index: int, number: int, today: date) -> PeriodRead | None:
    """The first half of 2026, the second half of the year."""
    if number not in (1, 2, -1):
        return None
    year, at, last = _year_after(tokens, index, today)
    if year is None and last == index:
        return _half_of_month(tokens, index, number, today)
    if number == 1:
        period, name = Period(date(at, 1, 1), date(at, 6, 30)), f"the first half of {at}"
    else:
        period, name = Period(date(at, 7, 1), date(at, 12, 31)), f"the second half of {at}"
    return PeriodRead(period, last, name, year is None)


def _half_of_month(tokens: Tokens, index: int, number: int, today: date) -> PeriodRead | None:
    """The first half of November, which has fifteen days; None where it is of something else."""
    at = index + (tokens.word(index) in _WITHIN)
    month = read_period(tokens, at, today) if tokens.word(at) in MONTHS else None
    if month is None:
        return None
    start, end = month.period
    middle = start.replace(day=_MIDDLE)
    period = Period(start, middle) if number == 1 else Period(middle + timedelta(days=1), end)
    name = f"the {'first' if number == 1 else 'second'} half of {month.name}"
    return PeriodRead(period, month.last, name, month.open_year)


def _year_after(tokens: Tokens, index: int, today: date) -> tuple[int | None, int, int]:
    """The year that is said, the one that is meant, and where it ends: of the year is this one."""
    year = _year_at(tokens, index, today)
    if year is not None:
        return year[0], *year
    at = index + (tokens.word(index) in _WITHIN)
    at += at > index and tokens.word(at) == "the"
    if at > index and _PERIODS.get(tokens.word(at)) == "year":
        return None, today.year, at + 1
    return None, today.year, index


def _year_at(tokens: Tokens, index: int, today: date) -> tuple[int, int] | None:
    """The year that is said at `index`, of 2027 or next year, and the index after it."""
    index += tokens.word(index) == ","
    index += tokens.word(index) in _WITHIN
    word = tokens.word(index)
    if len(word) == _YEAR_DIGITS and is_digits(word) and 1700 <= int(word) < 2200:
        number = tokens.word(index + 1)
        goes_on = tokens.glued(index + 1) and number not in (".", ",", "?", "!", ";", ")")
        return None if goes_on else (int(word), index + 1)
    if word in _THIS and _PERIODS.get(tokens.word(index + 1)) == "year":
        return today.year + _THIS[word], index + 2
    return None


def _read_edge(tokens: Tokens, index: int, today: date) -> RelativeDay | None:
    """The end of the quarter, the beginning of next week, year end."""
    word = tokens.words[index]
    edge = _DATES.edges.get(word)
    if edge is None:
        unit = _PERIODS.get(word)
        edge = _DATES.edges.get(tokens.word(index + 1)) if unit else None
        at = index + 2
        if unit is None or edge != "end" or is_word(tokens.word(at)) or word != unit:
            return None
        period = period_around(today, unit, _WEEK_STARTS)
        return RelativeDay(_first(tokens, index), at, period.end, f"the end of the {word}")
    if tokens.word(index + 1) != "of":
        return None
    read = read_period(tokens, index + 2, today)
    if read is None:
        return None
    day = read.period.start if edge == "start" else read.period.end
    return RelativeDay(_first(tokens, index), read.last, day, f"the {edge} of {read.name}")


def _read_edge_after(tokens: Tokens, index: int, today: date) -> RelativeDay | None:
    """When the second quarter of 2027 ends; only of a period that is named whole."""
    if _PERIODS.get(tokens.word(index + 1)) != "quarter":
        return None
    read = read_period(tokens, index, today)
    edge = _DATES.edges.get(tokens.word(read.last)) if read else None
    if read is None or edge is None or read.open_year:
        return None
    day = read.period.start if edge == "start" else read.period.end
    return RelativeDay(_first(tokens, index), read.last + 1, day, f"the {edge} of {read.name}")


def _read_place(tokens: Tokens, index: int, today: date) -> RelativeDay | None:
    """The first Monday of May 2027, the 3rd Friday in June, the last working day of the month."""
    at = _place_at(tokens, index)
    if at is None:
        return None
    nth, named = at
    working = tokens.word(named) in _DATES.working
    named += working
    word = tokens.word(named)
    if tokens.word(named + 1) not in _WITHIN or not (word == "day" or word in WEEKDAYS):
        if not working and word in _WITHIN and nth > 0:
            return _read_ordinal_day(tokens, index, nth, named, today)
        return None
    read = read_period(tokens, named + 2, today)
    if read is None or (working and word != "day"):
        return None
    day = nth_day(read.period, nth, word, working=working)
    kind = WEEKDAY_NAMES[WEEKDAYS[word]] if word in WEEKDAYS else "day"
    if day is None:
        raise NoSuchDay(
            f"there is no {tokens.slice(index, named)} {kind} in {read.name}", read.last
        )
    return RelativeDay(_first(tokens, index), read.last, day, f"a {kind} of {read.name}")


def _read_ordinal_day(
    tokens: Tokens, index: int, nth: int, named: int, today: date
) -> RelativeDay | None:
    """The first of May, where the number is a word: those in digits are read with the month."""
    month = tokens.word(named + 1)
    if is_digits(tokens.words[index]) or tokens.word(named) != "of" or month not in MONTHS:
        return None
    read = read_period(tokens, named + 1, today)
    if read is None:
        return None
    day = read.period.start.replace(day=nth)
    return RelativeDay(_first(tokens, index), read.last, day, f"day {nth} of {read.name}")


def _place_at(tokens: Tokens, index: int) -> tuple[int, int] | None:
    """Which one in a row is meant, first or 3rd or last, and the index after it."""
    word = tokens.words[index]
    if word in _PLACES:
        return _PLACES[word], index + 1
    if is_digits(word) and len(word) < 3 and tokens.word(index + 1) in _ENDINGS:
        number = int(word)
        return (number, index + 2) if 1 <= number <= _MOST_PLACE else None
    return None


def nth_day(period: Period, nth: int, kind: str, *, working: bool = False) -> date | None:
    """Return the nth day, working day or weekday of a period, from its end where it is negative."""
    if kind in WEEKDAYS:
        return nth_weekday(period, WEEKDAYS[kind], nth)
    step = timedelta(days=1 if nth > 0 else -1)
    day, left = (period.start if nth > 0 else period.end), abs(nth)
    while period.start <= day <= period.end:
        left -= not working or day.weekday() < WEEKDAYS["saturday"]
        if not left:
            return day
        day += step
    return None


def _read_named(tokens: Tokens, index: int, today: date) -> PhraseDay | None:
    """Christmas, next Christmas, Christmas 2026, next year's Easter."""
    named = named_day_at(tokens.words, index)
    if named is None:
        return None
    first, year, direction = _before_name(tokens, index, today)
    said = None if year is not None else year_after(tokens, named.last, today)
    last = named.last
    if said is not None:
        year, last = said
    day = _occurrence(named, today, year, direction, tokens.word(first - 1))
    if day is None and year is not None:
        raise NoSuchDay(f"{year} has no {named.name}", last)
    after = tokens.word(last)
    goes_on = is_word(after) and after not in _ENGLISH.function_words | _VERBS
    goes_on = goes_on or is_digits(after)
    if day is None or (goes_on and year is None):
        return None  # Christmas songs, and the date of Christmas 25 December
    lead = tokens.word(first - 1)
    weak = year is None and not direction and lead not in _LEADS
    return PhraseDay(RelativeDay(first, last, day, named.name), weak)


def year_after(tokens: Tokens, index: int, today: date) -> tuple[int, int] | None:
    """The year that is said after a day, and the index after it: next year, falls on in 2028."""
    if tokens.word(index) in _VERBS:
        index += 1 + (tokens.word(index + 1) == "on")
    return _year_at(tokens, index, today)


def _before_name(tokens: Tokens, index: int, today: date) -> tuple[int, int | None, int]:
    """Where the words before a name begin, and the year or the direction that they say."""
    word, at = tokens.word(index - 1), index - 1
    if word in _THIS:
        return at, (today.year if word == "this" else None), _THIS[word]
    if word == "s" and tokens.word(at - 1) in ("'", "’"):
        word, at = tokens.word(at - 2), at - 2
        word = f"{word}s"
    if word == "years" and tokens.word(at - 1) in _THIS:
        return at - 1, today.year + _THIS[tokens.word(at - 1)], 0
    return index - (tokens.word(index - 1) == "the"), None, 0


def _occurrence(
    named: NamedDay, today: date, year: int | None, direction: int, lead: str
) -> date | None:
    if year is not None:
        return named.of(year)
    if direction < 0 or lead == "since":
        return named.last_before(today)
    if direction > 0:
        return named.next_from(today + timedelta(days=1))
    return named.next_from(today)


def _first(tokens: Tokens, index: int) -> int:
    return index - (tokens.word(index - 1) == "the")
