"""Days with a name of their own: Christmas, Good Friday, the day after Thanksgiving."""

import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Final, NamedTuple

from server.text.calendar import Period, easter, nth_weekday, period_around
from server.text.language import load_language
from server.text.tokens import split_words

_ENGLISH: Final = load_language("en")
_SPEC: Final = re.compile(r"(?:(\d\d)-(\d\d)|easter|(\d) ([a-z]+) (\d\d))(?:([+-]\d+))?")
_MOST_YEARS_AWAY: Final = 8
"""How far a year with a leap day may be."""


def _words(phrase: str) -> tuple[str, ...]:
    return split_words(phrase)


_PHRASES: Final = {
    words: (phrase, spec)
    for phrase, spec in _ENGLISH.dates.named.items()
    for words in (_words(phrase), _words(phrase.replace("'", "")))
}
_LONGEST: Final = max((len(words) for words in _PHRASES), default=0)
_APOSTROPHES: Final = {"’": "'", "´": "'", "`": "'"}
NAMED_STARTERS: Final = frozenset(words[0] for words in _PHRASES)
"""Words that the name of a day may begin with."""


class NamedDay(NamedTuple):
    """The name that stands up to the word `last`."""

    last: int
    name: str
    spec: str

    def of(self, year: int) -> date | None:
        """Return the day in that year; None where it has none, as most have no leap day.

        Raises:
            OverflowError: the year lies outside the calendar.
        """
        if not date.min.year <= year <= date.max.year:
            raise OverflowError("year out of range")
        match = _SPEC.fullmatch(self.spec)
        if match is None:
            return None
        month, day, nth, weekday, its_month, moved = match.groups()
        if month:
            try:
                found: date | None = date(year, int(month), int(day))
            except ValueError:
                return None
        elif nth:
            of_month = _month(year, int(its_month))
            found = nth_weekday(of_month, _ENGLISH.dates.weekdays[weekday], int(nth))
        else:
            found = easter(year)
        return None if found is None else found + timedelta(days=int(moved or 0))

    def next_from(self, today: date) -> date | None:
        """Return the first such day from `today` on."""
        years = range(today.year, today.year + _MOST_YEARS_AWAY + 1)
        days = (self.of(year) for year in years)
        return next((day for day in days if day is not None and day >= today), None)

    def last_before(self, today: date) -> date | None:
        """Return the last such day before `today`."""
        years = range(today.year, today.year - _MOST_YEARS_AWAY - 1, -1)
        days = (self.of(year) for year in years)
        return next((day for day in days if day is not None and day < today), None)


def _month(year: int, month: int) -> Period:
    return period_around(date(year, month, 1), "month")


def named_day_at(words: Sequence[str], index: int) -> NamedDay | None:
    """Return the longest name of a day that begins at the word at `index`."""
    there = [_APOSTROPHES.get(word, word) for word in words[index : index + _LONGEST]]
    for size in range(len(there), 0, -1):
        found = _PHRASES.get(tuple(there[:size]))
        if found is not None:
            return NamedDay(index + size, *found)
    return None
