"""One walk over the words of a text that finds numbers, dates, times and durations."""

from collections.abc import Callable
from datetime import date, datetime
from typing import Any, Final

from server.text.calendar import MONTHS
from server.text.dates import WrittenDate, read_date, read_month, with_weekday
from server.text.decimals import Number, exact_quotient
from server.text.durations import read_duration, read_iso_run, read_unit_alone, unit_at
from server.text.money import STARTERS as CURRENCY_STARTERS
from server.text.money import currency_beside, read_currency
from server.text.number_words import PART_NAMES, read_words
from server.text.number_words import STARTERS as NUMBER_STARTERS
from server.text.numbers import minus_before, opposite, read_digits
from server.text.relative_dates import STARTERS as RELATIVE_STARTERS
from server.text.relative_dates import counted_dates, directed, read_relative
from server.text.span import DateOrder, Kind, Span
from server.text.times import NAMED, read_iso_tail, read_time
from server.text.tokens import Tokens

_PERCENT: Final = frozenset({"%", "percent", "pct", "percents", "precent", "percentage"})
_BETWEEN_DATE_AND_TIME: Final = frozenset({"at", ",", "@", "on"})


def scan(tokens: Tokens, today: date, order: DateOrder) -> list[Span]:
    """Every value of `tokens` that is no block, in order of mention within each kind."""
    scanner = _Scanner(tokens, today, order)
    scanner.walk()
    scanner.combine()
    scanner.found.sort(key=_place)
    return scanner.found


def _place(span: Span) -> tuple[int, int]:
    return span.start, -span.end


class _Scanner:
    __slots__ = ("durations", "found", "next_duration", "order", "today", "tokens")

    def __init__(self, tokens: Tokens, today: date, order: DateOrder) -> None:
        self.tokens = tokens
        self.today = today
        self.order: DateOrder = order
        self.found: list[Span] = []
        self.durations: list[Span] = []
        self.next_duration = 0

    def walk(self) -> None:
        words, index, count = self.tokens.words, 0, len(self.tokens)
        while index < count:
            word = words[index]
            if "0" <= word[0] <= "9":
                index = self._digits(index)
            elif word in _HANDLERS:
                index = max(index + 1, max(handler(self, index) for handler in _HANDLERS[word]))
            else:
                index += 1

    def _add(self, kind: Kind, first: int, last: int, value: Any, unit: str = "") -> Span:
        tokens = self.tokens
        span = Span(kind, tokens.starts[first], tokens.ends[last - 1], first, last, value, unit)
        self.found.append(span)
        return span

    # Each reader returns the index to go on from; 0 when it found nothing.

    def _digits(self, index: int) -> int:
        tokens = self.tokens
        written = read_date(tokens, index, self.order, self.today)
        if written is not None and not written.weak:
            return self._date(written)
        clock = read_time(tokens, index)
        if clock is not None:
            if clock.value is None:
                text = tokens.slice(index, clock.last)
                self._add("unreadable", index, clock.last, f"{text} is not a time", "time")
            else:
                self._add("time", index, clock.last, clock.value)
            return clock.last
        if written is not None:
            span = self._add("date", index, written.last, written.value)
            self.found[-1] = span._replace(weak=True)
        digits = read_digits(tokens, index)
        if digits.value is None:
            return max(digits.last, index + 1)
        return self._number(digits.first, digits.last, digits.value, after=digits.after_number)

    def number_word(self, index: int) -> int:
        read = read_words(self.tokens, index)
        if read is not None:
            value, last = read
            if minus_before(self.tokens, index, last):
                return self._number(index - 1, last, opposite(value))
            return self._number(index, last, value)
        return self._article(index)

    def _article(self, index: int) -> int:
        """An hour, half an hour, half a day."""
        read = read_unit_alone(self.tokens, index)
        if read is None:
            return 0
        value, unit_index = read
        self._duration(index, unit_index, value)
        return unit_index + 1

    def _number(self, first: int, last: int, value: Number, *, after: bool = False) -> int:
        tokens = self.tokens
        word = tokens.word(last)
        if word in _PERCENT:
            self._add("number", first, last + 1, value, "%")
            return last + 1
        if word in PART_NAMES and tokens.word(last + 1) == "of":
            return self._part(first, last, value)
        if word == "per" and tokens.word(last + 1) == "cent":
            self._add("number", first, last + 2, value, "%")
            return last + 2
        hyphen = word == "-" and tokens.glued(last) and tokens.glued(last + 1)
        unit_index = last + hyphen  # a 7-day forecast
        unit = unit_at(tokens.word(unit_index), glued=tokens.glued(unit_index) and not hyphen)
        if unit:
            self._duration(first, unit_index, value)
        else:
            unit = currency_beside(tokens, first, last)
        self._add("number", first, last, value, unit)
        if after:
            self.found[-1] = self.found[-1]._replace(weak=False, unit=unit or "-")
        return last

    def _part(self, first: int, last: int, value: Number) -> int:
        """Two fifths of something are 0.4 of it; two thirds have no exact decimal."""
        part = exact_quotient(value, PART_NAMES[self.tokens.words[last]])
        if part is None:
            why = f"{self.tokens.slice(first, last + 1)} has no exact decimal"
            self._add("unreadable", first, last + 1, why, "number")
        else:
            self._add("number", first, last + 1, part)
        return last + 1

    def _duration(self, first: int, unit_index: int, value: Number) -> None:
        """Keep the duration that begins at `first`, unless it is a part of the one before."""
        if first < self.next_duration:
            return
        length, last = read_duration(self.tokens, unit_index, value)
        if length is not None:
            span = directed(self.tokens, self._add("duration", first, last, length))
            self.found[-1] = span
            self.durations.append(span)
        self.next_duration = last

    def _date(self, written: WrittenDate) -> int:
        tokens = self.tokens
        if written.value is None:
            if not written.weak:
                text = tokens.slice(written.first, written.last)
                self._add(
                    "unreadable", written.first, written.last, f"{text} is not a date", "date"
                )
            return written.last
        tail = read_iso_tail(tokens, written.last)
        written = with_weekday(tokens, written)
        if tail is not None and tail.value is not None:
            moment = datetime.combine(written.value or self.today, tail.value)
            self._add("datetime", written.first, tail.last, moment)
            return tail.last
        self._drop_weekday(written.first)
        self._add("date", written.first, written.last, written.value)
        return written.last

    def _drop_weekday(self, first: int) -> None:
        """Forget the weekday that turned out to belong to a date."""
        while self.found and self.found[-1].first >= first and self.found[-1].kind == "date":
            self.found.pop()

    def month(self, index: int) -> int:
        written = read_month(self.tokens, index, self.today)
        return self._date(written) if written else 0

    def relative(self, index: int) -> int:
        written = read_relative(self.tokens, index, self.today)
        if written is None:
            return 0
        span = self._add("date", written.first, written.last, written.value)
        if written.weak:
            self.found[-1] = span._replace(weak=True)
        return written.last

    def named_time(self, index: int) -> int:
        self._add("time", index, index + 1, NAMED[self.tokens.words[index]])
        return index + 1

    def iso_duration(self, index: int) -> int:
        read = read_iso_run(self.tokens, index)
        if read is None:
            return 0
        length, last = read
        self.durations.append(self._add("duration", index, last, length))
        return last

    def currency(self, index: int) -> int:
        read = read_currency(self.tokens, index)
        if read is None:
            return 0
        self._add("currency", index, read[1], read[0])
        return read[1]

    def combine(self) -> None:
        """Put dates and times that stand together into moments, and count from dates."""
        dates = {span.first: span for span in self.found if span.kind == "date"}
        if self.durations:
            self.found += counted_dates(self.tokens, self.durations, dates, self.today)
        times = [span for span in self.found if span.kind == "time"]
        if not times or not dates:
            return
        ends = {span.last: span for span in dates.values()}
        for clock in times:
            first, last = clock.first, clock.last
            first -= self.tokens.word(first - 1) in _BETWEEN_DATE_AND_TIME
            last += self.tokens.word(last) in _BETWEEN_DATE_AND_TIME
            day = ends.get(first) or dates.get(last)
            if day is not None:
                moment = datetime.combine(day.value, clock.value)
                low, high = min(day.first, clock.first), max(day.last, clock.last)
                self._add("datetime", low, high, moment)


_Handler = Callable[[_Scanner, int], int]
_TABLES: Final[tuple[tuple[frozenset[str], _Handler], ...]] = (
    (frozenset(MONTHS), _Scanner.month),
    (RELATIVE_STARTERS, _Scanner.relative),
    (NUMBER_STARTERS, _Scanner.number_word),
    (frozenset(NAMED), _Scanner.named_time),
    (frozenset({"p", "pt"}), _Scanner.iso_duration),
    (CURRENCY_STARTERS, _Scanner.currency),
)
_HANDLERS: Final = {
    word: tuple(handler for words, handler in _TABLES if word in words)
    for words, _ in _TABLES
    for word in words
}
