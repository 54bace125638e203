"""Everything a text says that reads as a value, found once and shared by all templates."""

import re
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime, time
from functools import cached_property
from operator import attrgetter
from typing import Any, Final

from server.text.blocks import find_blocks
from server.text.calendar import add_months, shift, weekday_after, weekday_before
from server.text.calendar_phrases import PHRASE_STARTERS, NoSuchDay, read_phrase, year_after
from server.text.date_formats import find_date_formats
from server.text.dates import (
    DIRECTIONS,
    MONTHS,
    NAMED_TIMES,
    ORDINALS,
    PRESENT,
    RELATIVE_STARTERS,
    SPOKEN_STARTERS,
    WEEKDAYS,
    DateParts,
    match_date,
    match_day_and_month,
    match_time,
    read_bare_hour,
    read_day_of_month,
    read_relative_day,
    read_spoken_time,
    read_time_after_date,
)
from server.text.decimals import Number, exact_quotient, opposite
from server.text.durations import (
    MAX_COUNT,
    SINGLE_LENGTHS,
    UNITS,
    Duration,
    read_duration,
    read_iso_run,
    read_unit_alone,
    unit_at,
)
from server.text.language import load_language
from server.text.local_values import local_reader
from server.text.money import CURRENCY_STARTERS, currency_beside, read_currency
from server.text.numbers import NUMBER_STARTERS, PART_NAMES, minus_before, read_digits, read_words
from server.text.rates import find_rates
from server.text.tables import may_hold_table
from server.text.tokens import DateOrder, Kind, Span, Tokens, is_digits
from server.text.zones import find_countries, find_places

MAX_CHARS: Final = 1_000_000
"""A text of more characters is not read at all."""
MANY: Final = 200
"""Values of a kind that are considered for a single argument; bounds hostile text."""

_MAY_HOLD_BLOCKS: Final = re.compile(r"""[\[{@"'`“„«‘]|://|www\.""")
_SILENT: Final = frozenset({"anchor", "currency"})
"""Kinds that say something only together with another value."""
_MOMENTS: Final[tuple[Kind, ...]] = ("date", "datetime", "time", "duration", "offset")


class ParsedText:
    """A text, its words and its values.

    `spans` may overlap: "3 days ago" is a number, a duration and a date. A number
    within a date, a quote, JSON, a URL or an email is none of its own.
    """

    def __init__(
        self, text: str, now: datetime, date_order: DateOrder, languages: Sequence[str] = ()
    ) -> None:
        """Read `text`, in English and in the words of `languages`, whose own words come first."""
        self.text = text
        self.languages = tuple(languages)
        self.now = now
        self.date_order = date_order
        clean = text if len(text) <= MAX_CHARS else ""
        if not clean.isascii():  # lone surrogates
            clean = clean.encode("utf-8", "replace").decode()
        self.clean = clean
        """The text that patterns may run on: same places, but always valid Unicode."""
        may = _MAY_HOLD_BLOCKS.search(clean) or may_hold_table(clean)
        blocks = find_blocks(clean) if may else []
        self.tokens = tokens = Tokens(clean, blocks, self.languages)
        self.too_long = tokens.too_many or len(text) > MAX_CHARS
        places = () if self.too_long else [tokens.index_at(block.start) for block in blocks]
        scanned = _Scanner(tokens, now.date(), date_order).scan()
        rates = find_rates(tokens, scanned)
        if rates:
            # The year of “24 days a year” is no length of time.
            units = {rate.last for rate in rates}
            scanned = [s for s in scanned if s.kind != "duration" or not _is_tail(s, rates, units)]
        self.spans: Sequence[Span] = [
            *(b._replace(first=at, last=at + 1) for b, at in zip(blocks, places, strict=False)),
            *scanned,
        ]
        self.rates = rates
        """Numbers that are per some time; each is a number as well."""
        self.memo: dict[tuple[str, str], Any] = {}
        """What was worked out of this text before, by purpose and name."""
        self.by_kind: dict[Kind, list[Span]] = {}
        for span in self.spans:
            self.by_kind.setdefault(span.kind, []).append(span)

    @property
    def today(self) -> date:
        return self.now.date()

    def of(self, kind: Kind) -> Sequence[Span]:
        """Values of one kind, in order of mention, as many as one argument may be among."""
        return self.by_kind.get(kind, [])[:MANY]

    def every(self, kind: Kind) -> Sequence[Span]:
        """All values of one kind, however many: the members of a list."""
        return self.by_kind.get(kind, ())

    @cached_property
    def outside_json(self) -> str:
        """The clean text with every block of JSON blanked out."""
        pieces, position = list[str](), 0
        for span in self.spans:
            if {span.kind, span.unit} & {"array", "object"}:
                pieces += self.clean[position : span.start], "\0" * (span.end - span.start)
                position = span.end
        return "".join((*pieces, self.clean[position:]))

    @cached_property
    def moments(self) -> frozenset[int]:
        """The words that belong to a date, a time or a duration."""
        return frozenset(
            index
            for kind in _MOMENTS
            for span in self.every(kind)
            if not span.weak
            for index in range(span.first, span.last)
        )

    @cached_property
    def date_formats(self) -> Sequence[Span]:
        return find_date_formats(self.tokens)

    @cached_property
    def places(self) -> Sequence[Span]:
        """Places and time zones, and countries that have no single one."""
        return find_places(self.tokens)

    @cached_property
    def countries(self) -> Sequence[Span]:
        return find_countries(self.tokens)

    @cached_property
    def values(self) -> tuple[tuple[int, int], ...]:
        """Where the text holds a value, each place once, in order."""
        present = [word in PRESENT for word in self.tokens.words]
        places = sorted(
            (span.start, span.end)
            for span in self.spans
            if not (span.weak or span.kind in _SILENT)
            and not (span.last - span.first == 1 and present[span.first])
        )
        merged: list[tuple[int, int]] = []
        for start, end in places:
            if merged and start < merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        return tuple(merged)

    def is_present(self, span: Span) -> bool:
        """Whether it is a "today" or "now", which may say nothing in particular."""
        return span.last - span.first == 1 and self.tokens.words[span.first] in PRESENT

    def quoted(self, kind: Kind) -> Iterator[Span]:
        """Values of one kind that fill a quote: the date of "2025-03-05"."""
        for quote in self.of("quoted"):
            text = quote.value.strip() if len(quote.value) <= 100 else ""
            if whole := ParsedText(text, self.now, self.date_order, self.languages).whole(kind):
                yield quote._replace(kind=kind, value=whole.value, unit=whole.unit)

    def whole(self, kind: Kind) -> Span | None:
        """The value of one kind that is the whole text."""
        everything = (0, len(self.text))
        return next((s for s in self.of(kind) if (s.start, s.end) == everything), None)


def _is_tail(span: Span, rates: Sequence[Span], units: Container[int]) -> bool:
    """Whether it is what a rate is per."""
    return span.last in units and any(
        rate.first < span.first and span.last == rate.last for rate in rates
    )


_ENGLISH: Final = load_language("en")
_PERCENT: Final = frozenset({"%", "percent", "pct", "percents", "precent", "percentage"})
_ON_A_DAY: Final = _ENGLISH.group("day_leads") - {"by", "to", "through"}
"""What comes before a day, and before no fraction: divided by 1/2."""
_UP_TO_A_DAY: Final = frozenset({"to", "through"})
_AFTER_DAY: Final = MONTHS.keys() | {"-", "/", ".", "of", "st", "nd", "rd", "th"}
_AFTER_HOUR: Final = frozenset({":", "a", "am", "p", "pm", "o", "oclock"})
_SPEAKS_TIME: Final = _ENGLISH.clock.past | _ENGLISH.clock.to | _ENGLISH.clock.minutes
_ORDINALS: Final = frozenset(ORDINALS.split("|"))
_THROUGH: Final = _ENGLISH.group("through")
_LONG_DAY: Final = 3
"""Digits that no day of a month has."""
_RANGE_LEADS: Final = _ENGLISH.group("range_leads")
_NOT_A_NOW: Final = _ENGLISH.group("not_a_now")
_OF_CLOCK: Final = frozenset({"time", "unreadable"})
_BETWEEN_DATE_AND_TIME: Final = frozenset({"at", ",", "@", "on"})
# Sat and sun are words as well; only after these they are days.
_SHORT_WEEKDAYS: Final = {day for day in WEEKDAYS if len(day) < 5 and f"{day}day" not in WEEKDAYS}
_ARTICLES: Final = _ENGLISH.group("articles")
_SHORTEST_DAY: Final = 3
_BEFORE_SHORT_WEEKDAY: Final = DIRECTIONS.keys() | {"on", "by", "until", "this"}
# Which way a duration counts, by the word after or before it.
_BACKWARDS_AFTER: Final = _ENGLISH.group("back_after")
_BACKWARDS_BEFORE: Final = _ENGLISH.group("back_before") | {"-"}
_FORWARDS_AFTER: Final = _ENGLISH.group("forwards_after")
_BESIDE: Final = dict.fromkeys(_ENGLISH.group("forwards_after") - {"past"}, 1) | {"before": -1}
_BEFORE_BESIDE: Final = frozenset({"the", "first", "last"})
_NEAREST: Final = {1: frozenset({"first"}), -1: frozenset({"last"})}
_NOT_NEAREST: Final = (
    _ENGLISH.numbers.ordinals.keys() | DIRECTIONS.keys() | _ENGLISH.group("any_day") | _ORDINALS
)
"""The second Friday before Christmas is not the one before it."""


class _Scanner:
    """One walk over the words of a text that finds numbers, dates, times and durations."""

    def __init__(self, tokens: Tokens, today: date, order: DateOrder) -> None:
        self.tokens = tokens
        self.today = today
        self.order: DateOrder = order
        self.found: list[Span] = []
        self.durations: list[Span] = []
        self.next_duration = 0
        readers = map(local_reader, tokens.languages)
        self.local = [reader for reader in readers if reader is not None]
        self.not_english = frozenset[str]().union(*(one.own_words for one in self.local))

    def scan(self) -> list[Span]:
        """Return every value that is no block, by place, the longest first."""
        words, index, found = self.tokens.words, 0, self.found
        while index < len(words):
            word = words[index]
            if self.local and (after := self._local(index)):
                index = after
            elif "0" <= word[0] <= "9":
                index = self._digits(index)
            elif word in _READERS and word not in self.not_english:
                index = max(index + 1, *(read(self, index) for read in _READERS[word]))
            else:
                index += 1
        if self.durations:
            self._count_from_dates()
        with suppress(OverflowError):
            self._days_beside_dates()
        if any(span.kind == "time" for span in found):
            self._join_dates_and_times()
        found.sort(key=attrgetter("end"), reverse=True)
        found.sort(key=attrgetter("start"))
        return found

    def _local(self, index: int) -> int:
        """Add what a language beside English reads there, and return the index to go on from."""
        for reader in self.local:
            read = reader.read(self.tokens, index, self.today)
            if read is not None:
                for one in read[0]:
                    self._add(*one[:5], weak=one.weak)
                return read[1]
        return 0

    def _add(
        self, kind: Kind, first: int, last: int, value: Any, unit: str = "", *, weak: bool = False
    ) -> Span:
        start, end = self.tokens.starts[first], self.tokens.ends[last - 1]
        span = Span(kind, start, end, first, last, value, unit, weak)
        self.found.append(span)
        return span

    # Each reader returns the index to go on from; 0 when it found nothing.

    def _digits(self, index: int) -> int:
        tokens, start = self.tokens, self.tokens.starts[index]
        word, after = tokens.words[index], tokens.word(index + 1)
        if after in _ORDINALS and (phrase := self.read_phrase(index)):
            return phrase
        may_be_date = after in _AFTER_DAY or len(word) == 8
        date_parts = match_date(tokens.folded, start, self.order) if may_be_date else None
        if date_parts is not None and not date_parts.doubtful:
            return self._date(index, date_parts)
        if after == "/" and date_parts is None:
            day = match_day_and_month(tokens.folded, start, self.order)
            if day is not None and self._is_day(index, day):
                return self._date(index, day)
        if after in _ORDINALS and tokens.glued(index + 1) and len(word) < _LONG_DAY:
            return self._day_of_month(index)
        time_parts = (
            match_time(tokens.folded, start)
            if after in _AFTER_HOUR and after not in self.not_english
            else None
        )
        if time_parts is not None:
            last = tokens.index_at(time_parts.end)
            try:
                self._add("time", index, last, time_parts.on_clock())
            except ValueError:
                why = f"{tokens.slice(index, last)} is not a time"
                self._add("unreadable", index, last, why, "time")
            return last
        if date_parts is not None and tokens.index_at(date_parts.end) == index + 1:
            with suppress(ValueError):
                self._add("date", index, index + 1, date_parts.on_calendar(self.today), weak=True)
        if after in _SPEAKS_TIME and (spoken := self._spoken_time(index)):
            return spoken
        if after not in self.not_english and (certain := self._bare_hour(index)):
            return certain
        digits = read_digits(tokens, index)
        if digits.value is None:
            return max(digits.last, index + 1)
        return self._number(
            digits.first, digits.last, digits.value, "-" if digits.after_number else ""
        )

    def _is_day(self, index: int, parts: DateParts) -> bool:
        """Whether day and month without a year are no fraction: on 1/2, 1/2 at 5 pm, to 14/12."""
        tokens, last = self.tokens, self.tokens.index_at(parts.end)
        if tokens.word(last) == "%" or unit_at(tokens.word(last), glued=False):
            return False
        before = tokens.word(index - 1)
        led = before in _ON_A_DAY or (before in _UP_TO_A_DAY and not parts.doubtful)
        timed = tokens.word(last) == "at" and tokens.word(last + 1)[:1].isdigit()
        return led or timed

    def _day_of_month(self, index: int) -> int:
        """Add the day of “on the 21st”; a count of anything else is no number either."""
        try:
            read = read_day_of_month(self.tokens, index, self.today)
        except (OverflowError, ValueError):
            return index + 2
        return self._add("date", *read[:3]).last if read is not None else index + 2

    def read_number_word(self, index: int) -> int:
        before = self.found[-1] if self.found else None
        if before and before.kind in _OF_CLOCK and not before.weak and before.last > index:
            return 0  # the ten of ten past six
        read = read_words(self.tokens, index)
        if read is not None:
            value, last = read
            if minus_before(self.tokens, index, last):
                return self._number(index - 1, last, opposite(value))
            return self._number(index, last, value)
        alone = read_unit_alone(self.tokens, index)  # an hour, half a day
        if alone is None:
            return 0
        value, unit_index = alone
        self._duration(index, unit_index, value)
        return unit_index + 1

    def _number(self, first: int, last: int, value: Number, otherwise: str = "") -> int:
        """Add a number with its unit; `otherwise` stands where it has none."""
        tokens = self.tokens
        word = tokens.word(last)
        per_cent = word == "per" and tokens.word(last + 1) == "cent"
        if word in _PERCENT or per_cent:
            return self._add("number", first, last + 1 + per_cent, value, "%").last
        if word in PART_NAMES and tokens.word(last + 1) == "of":
            # Two fifths of something are 0.4 of it; two thirds have no exact decimal.
            part = exact_quotient(value, PART_NAMES[word])
            if part is None:
                why = f"{tokens.slice(first, last + 1)} has no exact decimal"
                return self._add("unreadable", first, last + 1, why, "number").last
            return self._add("number", first, last + 1, part).last
        hyphen = word == "-" and tokens.glued(last) and tokens.glued(last + 1)
        unit_index = last + hyphen  # a 7-day forecast
        unit_word = tokens.word(unit_index)
        unit: str = UNITS.get(unit_word, "")
        if unit and (len(unit_word) > 1 or (tokens.glued(last) and not hyphen)):
            self._duration(first, unit_index, value)
        elif word in CURRENCY_STARTERS or tokens.word(first - 1) in CURRENCY_STARTERS:
            unit = currency_beside(tokens, first, last)
        else:
            unit = ""
        return self._add("number", first, last, value, unit or otherwise).last

    def _duration(self, first: int, unit_index: int, value: Number) -> None:
        """Keep the duration that begins at `first`, unless it is a part of the one before."""
        if first < self.next_duration:
            return
        tokens = self.tokens
        length, last = read_duration(tokens, unit_index, value)
        if length is not None:
            before = tokens.word(first - 1)
            if before in ("by", "exactly", "about"):
                before = tokens.word(first - 2)
            backwards = tokens.word(last) in _BACKWARDS_AFTER or before in _BACKWARDS_BEFORE
            self.durations.append(
                self._add("duration", first, last, length, "-" if backwards else "")
            )
        self.next_duration = last

    def read_month(self, index: int) -> int:
        parts = match_date(self.tokens.folded, self.tokens.starts[index], self.order)
        return self._date(index, parts) if parts is not None else 0

    def _date(self, index: int, parts: DateParts) -> int:
        tokens, last = self.tokens, self.tokens.index_at(parts.end)
        if parts.day is None:
            return last  # a month, which is no date, but its year is no free number
        said = None if parts.year is not None else year_after(tokens, last, self.today)
        if said is not None:
            last = said[1]
            parts = parts._replace(year=said[0], end=tokens.ends[last - 1])
        try:
            day = parts.on_calendar(self.today)
        except ValueError:
            why = f"{tokens.slice(index, last)} is not a date"
            return self._add("unreadable", index, last, why, "date").last
        weekday = index - 1
        weekday -= tokens.word(weekday) in (",", "the")
        weekday -= tokens.word(weekday) == ","
        first = weekday if tokens.word(weekday) in WEEKDAYS else index
        tail = read_time_after_date(tokens.folded, parts.end)
        if tail is not None:
            last = tokens.index_at(tail[1])
            self._add_parts(first, parts.end, last, day, tail[0])
            return self._add("datetime", first, last, datetime.combine(day, tail[0])).last
        if tokens.word(first - 1) in _THROUGH:
            self._first_day(first - 2, day)
        # The weekday that was taken for a date of its own belongs to this one.
        while self.found and self.found[-1].first >= first and self.found[-1].kind == "date":
            self.found.pop()
        return self._add("date", first, last, day).last

    def _first_day(self, index: int, last: date) -> None:
        """Read the 1 of "from 1 to 15 October" as a date: its month is said with the last day."""
        tokens = self.tokens
        index -= tokens.word(index) in _ORDINALS and tokens.glued(index)
        lead = index - 1 - (tokens.word(index - 1) == "the")
        word = tokens.word(index)
        if not is_digits(word) or len(word) > 2 or tokens.word(lead) not in _RANGE_LEADS:
            return
        if 1 <= int(word) < last.day:
            while self.found and self.found[-1].first >= index:
                self.found.pop()
            self._add("date", index, index + 1, last.replace(day=int(word)))

    def _add_parts(self, first: int, end: int, last: int, day: date, clock: time) -> None:
        """Add date and time on their own, where they are not written in one."""
        between = self.tokens.index_at(end)
        if clock.tzinfo is None and self.tokens.starts[between] > end:
            self._add("date", first, between, day)
            self._add("time", between, last, clock)

    def read_relative_day(self, index: int) -> int:
        word, before = self.tokens.words[index], self.tokens.word(index - 1)
        if word in _SHORT_WEEKDAYS and before not in _BEFORE_SHORT_WEEKDAY:
            return 0
        if before in _ARTICLES and word in WEEKDAYS and len(word) <= _SHORTEST_DAY:
            return 0  # let the sun in
        try:
            read = read_relative_day(self.tokens, index, self.today)
        except OverflowError:
            return 0
        return self._add("date", *read[:3]).last if read is not None else 0

    def read_phrase(self, index: int) -> int:
        """Add a day that is called by its place or its name: the first Monday of May."""
        try:
            phrase = read_phrase(self.tokens, index, self.today)
        except OverflowError:
            return 0
        except NoSuchDay as none:
            return self._add("unreadable", index, none.last, str(none), "date").last
        if phrase is None:
            return 0
        return self._add("date", *phrase.day[:3], weak=phrase.weak).last

    def read_single_length(self, index: int) -> int:
        """Add the length of time that is one word: a fortnight."""
        tokens = self.tokens
        before = self.found[-1] if self.found else None
        counted = before is not None and before.kind == "number" and before.last == index
        count = before.value if before is not None and counted and not before.unit else 1
        if not counted and tokens.word(index - 1) != "a":
            return 0
        if not isinstance(count, int) or count > MAX_COUNT or tokens.word(index + 1) == "of":
            return 0  # three quarters of it
        first = before.first if before is not None and counted else index - 1
        one = SINGLE_LENGTHS[tokens.words[index]]
        length = Duration(one.months * count, one.seconds * count)
        self.durations.append(self._add("duration", first, index + 1, length))
        return index + 1

    def read_now(self, index: int) -> int:
        if self.tokens.word(index - 1) in _NOT_A_NOW:
            return 0
        return self._add("date", index, index + 1, self.today, weak=True).last

    def read_spoken_time(self, index: int) -> int:
        last = self._spoken_time(index)
        if not last:
            self._bare_hour(index)
        return last

    def _spoken_time(self, index: int) -> int:
        read = read_spoken_time(self.tokens, index)
        if read is None:
            return 0
        value, last = read
        if value is None:
            said = self.tokens.slice(index, last)
            why = f"{said} can be in the morning or in the afternoon"
            return self._add("unreadable", index, last, why, "time").last
        return self._add("time", index, last, value).last

    def _bare_hour(self, index: int) -> int:
        """Add the time of "at 8", which stays a number unless a half of the day is said."""
        read = read_bare_hour(self.tokens, index)
        if read is None:
            return 0
        value, last, certain = read
        self._add("time", index, last, value, weak=not certain)
        return last if certain else 0

    def read_named_time(self, index: int) -> int:
        return self._add("time", index, index + 1, NAMED_TIMES[self.tokens.words[index]]).last

    def read_iso_duration(self, index: int) -> int:
        read = read_iso_run(self.tokens, index)
        if read is None:
            return 0
        self.durations.append(self._add("duration", index, read[1], read[0]))
        return read[1]

    def read_currency(self, index: int) -> int:
        read = read_currency(self.tokens, index)
        return self._add("currency", index, read[1], read[0]).last if read is not None else 0

    def _count_from_dates(self) -> None:
        """Add the dates that durations lead to, and the day that `ago` or `in` counts from."""
        tokens = self.tokens
        dates = {span.first: span for span in self.found if span.kind == "date"}
        for span in self.durations:
            after, before = tokens.word(span.last), tokens.word(span.first - 1)
            first, base, sign, anchor = span.first, self.today, 1, -1
            if after == "ago":
                last, sign, anchor = span.last + 1, -1, span.last
            elif after in _FORWARDS_AFTER or after == "before":
                day = dates.get(span.last + 1)
                if day is None:
                    continue
                last, base, sign = day.last, day.value, -1 if after == "before" else 1
            elif before == "in":
                first = anchor = span.first - 1
                last = self._after_time(span.last)
            elif before == "" and after in ("hence", "later"):
                anchor, last = span.last, span.last + 1
            else:
                continue
            days = span.value.whole_days()
            if days is None:
                continue
            with suppress(OverflowError):
                moved = add_months(base, sign * span.value.months)
                self._add("offset", first, last, shift(moved, "day", sign * days))
            if anchor >= 0:
                self._add("anchor", anchor, anchor + 1, base)

    def _after_time(self, index: int) -> int:
        """The index after the “time” of “in 2 weeks' time”, where it is said."""
        word = self.tokens.word
        at = index
        if word(at) in ("'", "’"):
            at += 1 + (word(at + 1) == "s")
        return at + 1 if word(at) in ("hence", "time") else index

    def _days_beside_dates(self) -> None:
        """Add the day after a date and the Friday before it, which are counted from it."""
        tokens = self.tokens
        for span in [span for span in self.found if span.kind == "date"]:
            lead = tokens.word(span.first - 1)
            way = _BESIDE.get(lead)
            if way is None:
                continue
            at = span.first - 2
            kind, before = tokens.word(at), tokens.word(at - 1)
            first = at - (before in _BEFORE_BESIDE)
            first -= first < at and before != "the" and tokens.word(first - 1) == "the"
            if kind == "day" and before == "the":
                day = shift(span.value, "day", way)
            elif kind in WEEKDAYS and (before in _NEAREST[way] or before not in _NOT_NEAREST):
                find = weekday_before if way < 0 else weekday_after
                day = find(span.value, WEEKDAYS[kind])
            else:
                continue
            self._add("offset", first, span.last, day)

    def _join_dates_and_times(self) -> None:
        word = self.tokens.word
        begins = {span.first: span for span in self.found if span.kind == "date"}
        ends = {span.last: span for span in begins.values()}
        between = _BETWEEN_DATE_AND_TIME.union(*(one.between_date_and_time for one in self.local))
        for clock in [span for span in self.found if span.kind == "time"]:
            begins_at = clock.first - (word(clock.first - 1) in between)
            if self.local and word(begins_at - 1) in between:
                begins_at -= 1  # mañana a las 8
            day = ends.get(begins_at)
            if day is None:
                day = begins.get(clock.last + (word(clock.last) in _BETWEEN_DATE_AND_TIME))
            if day is not None and not day.weak:
                first, last = min(day.first, clock.first), max(day.last, clock.last)
                if not any(s.kind == "datetime" and s.first <= first < s.last for s in self.found):
                    moment = datetime.combine(day.value, clock.value)
                    self._add("datetime", first, last, moment, weak=clock.weak)


_Reader = Callable[[_Scanner, int], int]
_TABLES: Final[tuple[tuple[frozenset[str], _Reader], ...]] = (
    (frozenset(MONTHS), _Scanner.read_month),
    (frozenset(RELATIVE_STARTERS), _Scanner.read_relative_day),
    (frozenset(PHRASE_STARTERS), _Scanner.read_phrase),
    (frozenset(SINGLE_LENGTHS), _Scanner.read_single_length),
    (frozenset({"now"}), _Scanner.read_now),
    (frozenset(SPOKEN_STARTERS), _Scanner.read_spoken_time),
    (frozenset(NUMBER_STARTERS), _Scanner.read_number_word),
    (frozenset(NAMED_TIMES), _Scanner.read_named_time),
    (frozenset({"p", "pt"}), _Scanner.read_iso_duration),
    (frozenset(CURRENCY_STARTERS), _Scanner.read_currency),
)
_READERS: Final = {
    word: tuple(read for words, read in _TABLES if word in words)
    for word in frozenset().union(*(words for words, _ in _TABLES))
}
