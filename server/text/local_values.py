"""Numbers, dates, times of day and durations in the words of a language beside English.

Each language's own words stand in its file; what is written in digits alone is read in `dates`
and `numbers`, unless the language writes it in another way: 2,5 or 25.11.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import date, time
from functools import cache, cached_property
from typing import Any, Final, NamedTuple, TypeVar

from server.text.calendar import add_months, full_year, shift, weekday_after, weekday_before
from server.text.decimals import Number, read_plain
from server.text.durations import Duration, Part, total_duration
from server.text.language import Language, TimeUnit, load_language, shipped_names
from server.text.number_words import NumberPart, compose_number
from server.text.numbers import read_digits
from server.text.tokens import LETTER, Kind, Tokens, is_digits, is_word

T = TypeVar("T")

_HYPHENS: Final = frozenset("-‐")
_LONGEST_PHRASE: Final = 6
_HALF_DAY: Final = 12
_LAST_HOUR: Final = 24
_LAST_MINUTE: Final = 59
_DECIMAL: Final = re.compile(
    r"([0-9]{1,3}(?:\.[0-9]{3})+|[0-9]+)(?:,([0-9]{1,2}|[0-9]{4,}))?(?![0-9]|[.,:/][0-9])"
)
_DOTTED: Final = re.compile(r"([0-9]{1,2})\.\s?([0-9]{1,2})\.(?![0-9])")
_SLASHED: Final = re.compile(r"([0-9]{1,2})/([0-9]{1,2})(?![0-9/.,%])")
_CLOCK: Final = re.compile(r"([0-9]{1,2})([:.])([0-9]{2})(?![0-9]|[.:][0-9])")


class Found(NamedTuple):
    """A value at the words from `first` up to `last`, as a `Span` has it."""

    kind: Kind
    first: int
    last: int
    value: Any
    unit: str = ""
    weak: bool = False


Read = tuple[list[Found], int]
"""What begins at a word, and the index to go on from."""


class _Phrases(dict[tuple[str, ...], T]):
    """What phrases mean, looked up by the words of a text; hyphens within them do not count."""

    def __init__(self, phrases: Iterable[tuple[str, T]]) -> None:
        super().__init__(
            (tuple(w for w in Tokens(phrase).words if w not in _HYPHENS), meaning)
            for phrase, meaning in phrases
        )
        self._begins = {words[0] for words in self if words}

    def at(self, tokens: Tokens, index: int) -> tuple[T, int] | None:
        """The meaning of the longest phrase that begins at `index`, and the index after it."""
        if tokens.word(index) not in self._begins:
            return None
        words, ends = list[str](), list[int]()
        at = index
        while len(words) < _LONGEST_PHRASE and at < len(tokens):
            words.append(tokens.words[at])
            at += 1
            ends.append(at)
            if tokens.word(at) in _HYPHENS and tokens.glued(at) and tokens.glued(at + 1):
                at += 1
        for size in range(len(words), 0, -1):
            if (key := tuple(words[:size])) in self:
                return self[key], ends[size - 1]
        return None

    def before(self, tokens: Tokens, index: int) -> tuple[T, int] | None:
        """The meaning of the longest phrase that ends before `index`, and where it begins."""
        for size in range(_LONGEST_PHRASE, 0, -1):
            first = index - size
            if first >= 0 and (key := tuple(tokens.words[first:index])) in self:
                return self[key], first
        return None


class LocalReader:
    """Reads the values that one language writes in its own way."""

    def __init__(self, language: Language) -> None:
        self._language = language
        numbers, dates, clock = language.numbers, language.dates, language.clock
        self._numbers = _Phrases(
            [
                *((word, (value, False)) for word, value in numbers.words.items()),
                *((word, (value, True)) for word, value in numbers.multipliers.items()),
            ]
        )
        self._ordinals = _Phrases(numbers.ordinals.items())
        self._joining = frozenset(numbers.joining_words)
        self._days = _Phrases(
            (word, day.number)
            for word, day in dates.words.items()
            if day.unit == "day" and day.counting == "whole"
        )
        self._directions = _Phrases([*((w, 1) for w in dates.next), *((w, -1) for w in dates.last)])
        self._counts = _Phrases([*((w, 1) for w in dates.ahead), *((w, -1) for w in dates.ago)])
        self._units: Mapping[str, TimeUnit] = {
            word: unit for unit, words in language.units.items() for word in words
        }
        self._currencies = _Phrases(
            (name, code) for code, names in language.currencies.names.items() for name in names
        )
        self._halves = _Phrases(clock.halves.items())
        self._leads = _Phrases((phrase, True) for phrase in clock.before_hour)
        self._times = _Phrases(language.times.items())
        self._articles = language.group("articles")

    @cached_property
    def own_words(self) -> frozenset[str]:
        """Words that are this language's own, whatever they may be in English."""
        language = self._language
        single = {
            phrase
            for phrases in language.senses.values()
            for phrase in phrases
            if " " not in phrase and len(phrase) > 1
        }
        tables = (self._numbers, self._days, self._times, self._halves)
        return (
            language.function_words
            | single
            | {word for table in tables for words in table for word in words}
            | language.dates.weekdays.keys()
            | language.dates.months.keys()
            | self._units.keys()
        )

    @cached_property
    def between_date_and_time(self) -> frozenset[str]:
        """Words that may stand between a day and its time."""
        return frozenset(word for phrase in self._leads for word in phrase)

    def read(self, tokens: Tokens, index: int, today: date) -> Read | None:
        """Return the values that begin at the word at `index`; None where there are none."""
        word = tokens.words[index]
        if is_digits(word):
            return self._in_digits(tokens, index, today)
        if not is_word(word):
            return None
        return (
            self._time(tokens, index)
            or self._half_of_day(tokens, index)
            or self._day(tokens, index, today)
            or self._in_words(tokens, index, today)
            or self._ordinal(tokens, index)
        )

    # Numbers, and what they count.

    def _in_digits(self, tokens: Tokens, index: int, today: date) -> Read | None:
        found = self._time(tokens, index) or self._written_date(tokens, index, today)
        if found is not None:
            return found
        value: Number | None
        number, last = self._with_comma(tokens, index), 0
        if number is not None:
            value, last = number
        else:
            digits = read_digits(tokens, index)
            value, last = digits.value, digits.last
            if digits.first != index or digits.after_number:
                return None
        if value is None:
            return None
        return self._counted(tokens, index, last, value, today, plain=number is not None)

    def _with_comma(self, tokens: Tokens, index: int) -> tuple[Number, int] | None:
        if self._language.numbers.decimal != ",":
            return None
        start = tokens.starts[index]
        if start and (tokens.folded[start - 1] in ".,/:-" or tokens.folded[start - 1].isalnum()):
            return None
        match = _DECIMAL.match(tokens.folded, start)
        if match is None or not (match[2] or "." in match[1]):
            return None
        whole = match[1].replace(".", "")
        value = read_plain(f"{whole}.{match[2]}" if match[2] else whole)
        return None if value is None else (value, tokens.index_at(match.end() - 1) + 1)

    def _in_words(self, tokens: Tokens, index: int, today: date) -> Read | None:
        read = self.number(tokens, index)
        if read is not None:
            return self._counted(tokens, index, read[1], read[0], today, plain=True)
        unit = self._units.get(tokens.word(index + 1), "")
        if unit and tokens.words[index] in self._language.numbers.ones:
            return self._counted(tokens, index, index + 1, 1, today, plain=False)
        return None

    def _counted(
        self, tokens: Tokens, first: int, last: int, value: Number, today: date, *, plain: bool
    ) -> Read | None:
        """A number with its unit; without one it is none of ours, unless it is `plain`."""
        word = tokens.word(last)
        if unit := self._unit_at(tokens, last):
            length, end = self._length(tokens, last, value)
            found = [Found("number", first, last, value, unit)]
            if tokens.words[first] in self._language.numbers.ones:
                found = []
            if length is not None:
                found.append(Found("duration", first, end, length))
                found += self._moved(tokens, first, end, length, today)
            return found, end
        if word in self._language.group("percent_names"):
            return [Found("number", first, last + 1, value, "%")], last + 1
        if money := self._currencies.at(tokens, last):
            currency, end = money
            return [
                Found("number", first, last, value, currency),
                Found("currency", last, end, currency),
            ], end
        return ([Found("number", first, last, value)], last) if plain else None

    def _unit_at(self, tokens: Tokens, index: int) -> TimeUnit | None:
        word = tokens.word(index)
        return self._units.get(word) if len(word) > 1 or tokens.glued(index) else None

    def _length(
        self, tokens: Tokens, unit_index: int, value: Number
    ) -> tuple[Duration | None, int]:
        parts = [Part(value, self._units[tokens.words[unit_index]])]
        last = unit_index + 1
        while True:
            at = last + (
                tokens.word(last) in self._joining or tokens.word(last) in ("und", "et", "y")
            )
            read = self._small(tokens, at)
            if read is None or not (unit := self._unit_at(tokens, read[1])):
                break
            parts.append(Part(read[0], unit))
            last = read[1] + 1
        return total_duration(parts), last

    def _moved(
        self, tokens: Tokens, first: int, last: int, length: Duration, today: date
    ) -> list[Found]:
        """The day that a length of time leads to, where a word before it counts from today."""
        counts, days = self._counts.before(tokens, first), length.whole_days()
        if counts is None or days is None:
            return []
        sign, begins = counts
        try:
            day = shift(add_months(today, sign * length.months), "day", sign * days)
        except OverflowError:
            return []
        return [Found("offset", begins, last, day)]

    def number(self, tokens: Tokens, index: int) -> tuple[int, int] | None:
        """Return the number in words that begins at `index`, and the index after it."""
        parts, ends, at = list[NumberPart](), list[int](), index
        while True:
            if parts and self._is_hyphen(tokens, at):
                at += 1
            joined = bool(parts) and tokens.word(at) in self._joining
            at += joined
            if joined and self._is_hyphen(tokens, at):
                at += 1
            found = self._number_at(tokens, at)
            if found is None:
                break
            (value, multiplies), at = found
            parts.append(NumberPart(value, multiplies and bool(parts), joined))
            ends.append(at)
        if not parts:
            return None
        count, total = compose_number(parts)
        return total, ends[count - 1]

    def _is_hyphen(self, tokens: Tokens, index: int) -> bool:
        return tokens.word(index) in _HYPHENS and tokens.glued(index) and tokens.glued(index + 1)

    def _number_at(self, tokens: Tokens, index: int) -> tuple[tuple[int, bool], int] | None:
        known = self._numbers.at(tokens, index)
        if known is not None or not self._language.numbers.joiner_in_words:
            return known
        value = self._compound(tokens.word(index))
        return None if value is None else ((value, False), index + 1)

    def _compound(self, word: str) -> int | None:
        """The number that one long word is: dreihundertzwölf, einundzwanzig."""
        numbers = self._language.numbers
        if word in numbers.words:
            return numbers.words[word]
        for scale, size in sorted(numbers.multipliers.items(), key=lambda one: -one[1]):
            head, found, tail = word.partition(scale)
            if not found:
                continue
            many = 1 if not head or head in numbers.ones else self._compound(head)
            rest = tail.removeprefix(numbers.joiner_in_words)
            more = self._compound(rest) if rest else 0
            return None if many is None or more is None else many * size + more
        head, found, tail = word.partition(numbers.joiner_in_words)
        one = 1 if head in numbers.ones else numbers.words.get(head, 0)
        ten = numbers.words.get(tail, 0)
        return ten + one if found and 0 < one < 10 <= ten - ten % 10 == ten else None

    def _ordinal(self, tokens: Tokens, index: int) -> Read | None:
        """An ordinal before a noun, which is a number where nothing better is: the third floor."""
        found = self._ordinals.at(tokens, index)
        if found is None:
            return None
        value, last = found
        return [Found("number", index, last, value, "", weak=True)], last

    # Days.

    def _written_date(self, tokens: Tokens, index: int, today: date) -> Read | None:
        text, start = tokens.folded, tokens.starts[index]
        if match := self._day_and_month.match(text, start):
            day, name, year = int(match[1]), match[2], match[3]
            return self._on(tokens, index, match.end(), day, self._months[name], year, today)
        dates = self._language.dates
        if dates.day_first and (match := _DOTTED.match(text, start)):
            return self._on(tokens, index, match.end(), int(match[1]), int(match[2]), None, today)
        led = tokens.word(index - 1) in self._language.function_words
        if dates.day_first and led and (match := _SLASHED.match(text, start)):
            return self._on(tokens, index, match.end(), int(match[1]), int(match[2]), None, today)
        return None

    def _on(
        self,
        tokens: Tokens,
        index: int,
        end: int,
        day: int,
        month: int,
        year: str | None,
        today: date,
    ) -> Read | None:
        its_year = today.year if not year else full_year(int(year)) if len(year) < 3 else int(year)
        last = tokens.index_at(end - 1) + 1
        try:
            return [Found("date", index, last, date(its_year, month, day))], last
        except ValueError:
            return None

    @cached_property
    def _months(self) -> Mapping[str, int]:
        return self._language.dates.months

    @cached_property
    def _day_and_month(self) -> re.Pattern[str]:
        names = "|".join(sorted(self._months, key=len, reverse=True)) or "(?!)"
        return re.compile(
            rf"([0-9]{{1,2}})(?:\.|er|º|°)?\s*(?:de\s+)?({names})(?!{LETTER})"
            r"\.?(?:,?\s*(?:del?\s+)?((?:19|20)[0-9]{2})(?![0-9]))?"
        )

    def _day(self, tokens: Tokens, index: int, today: date) -> Read | None:
        known = self._days.at(tokens, index)
        if known is not None:
            return [Found("date", index, known[1], shift(today, "day", known[0]))], known[1]
        weekday = self._language.dates.weekdays.get(tokens.words[index])
        if weekday is None:
            return None
        first, last = index, index + 1
        ahead = self._directions.before(tokens, index)
        behind = self._directions.at(tokens, last)
        direction = 0
        if ahead is not None:
            direction, first = ahead
        elif behind is not None:
            direction, last = behind
        if direction < 0:
            day = weekday_before(today, weekday)
        else:
            day = weekday_after(today, weekday, today_counts=not direction)
        return [Found("date", first, last, day)], last

    # Times of day.

    def _half_of_day(self, tokens: Tokens, index: int) -> Read | None:
        """Skip “the morning” where its word alone would be another: de la mañana."""
        found = self._halves.at(tokens, index)
        return ([], found[1]) if found is not None and found[1] - index > 1 else None

    def _time(self, tokens: Tokens, index: int) -> Read | None:
        named = self._times.at(tokens, index)
        if named is not None:
            return [Found("time", index, named[1], named[0])], named[1]
        lead = self._leads.before(tokens, index)
        read = (
            self._clock(tokens, index)
            or self._part_first(tokens, index, led=lead is not None)
            or self._hour_first(tokens, index, led=lead is not None)
        )
        if read is None:
            return None
        hour, minute, last, weak = read
        counted = hour
        half = self._halves.at(tokens, last)
        if half is not None:
            last, weak = half[1], False
        else:
            half = self._halves.before(tokens, lead[1] if lead is not None else index)
        if half is not None and 1 <= hour <= _HALF_DAY:
            hour = hour % _HALF_DAY + (_HALF_DAY if half[0] == "p" else 0)
        hour %= _LAST_HOUR
        found = Found("time", index, last, time(hour, minute), "", weak)
        return ([found, Found("number", index, last, counted)], last) if weak else ([found], last)

    def _clock(self, tokens: Tokens, index: int) -> tuple[int, int, int, bool] | None:
        match = _CLOCK.match(tokens.folded, tokens.starts[index])
        if match is None:
            return None
        last = tokens.index_at(match.end() - 1) + 1
        said = tokens.word(last) in self._language.clock.oclock
        if match[2] == "." and not said:
            return None
        hour, minute = int(match[1]), int(match[3])
        if hour >= _LAST_HOUR or minute > _LAST_MINUTE:
            return None
        return hour, minute, last + said, False

    def _part_first(
        self, tokens: Tokens, index: int, *, led: bool
    ) -> tuple[int, int, int, bool] | None:
        """Half seven, which is 6:30 here; quarter past four, ten to eight."""
        clock = self._language.clock
        word = tokens.words[index]
        if word in clock.half_to:
            hour = self._small(tokens, index + 1)
            if hour is None or not 1 <= hour[0] <= _HALF_DAY:
                return None
            return (hour[0] - 1) % _HALF_DAY, 30, self._after_oclock(tokens, hour[1]), False
        named = clock.parts.get(word)
        minutes, at = (named, index + 1) if named else self._small(tokens, index) or (0, index)
        spoken = tokens.word(at) in clock.minutes
        at += spoken
        joint = tokens.word(at)
        if not minutes or joint not in clock.past | clock.to or not (named or spoken or led):
            return None
        hour = self._small(tokens, at + 1)
        if hour is None or not 0 <= hour[0] < _LAST_HOUR or minutes > _LAST_MINUTE:
            return None
        total = (hour[0] * 60 + (minutes if joint in clock.past else -minutes)) % (24 * 60)
        return total // 60, total % 60, self._after_oclock(tokens, hour[1]), False

    def _hour_first(
        self, tokens: Tokens, index: int, *, led: bool
    ) -> tuple[int, int, int, bool] | None:
        """8 Uhr 30, six heures et demie, las siete menos cuarto, and a bare hour after its lead."""
        clock = self._language.clock
        hour = self._small(tokens, index)
        if hour is None or not 0 <= hour[0] <= _LAST_HOUR:
            return None
        value, at = hour
        spoken = tokens.word(at) in clock.oclock
        at += spoken
        minute = tokens.word(at)
        if spoken and is_digits(minute) and len(minute) == 2 and int(minute) <= _LAST_MINUTE:
            is_counted = self._unit_at(tokens, at + 1) not in (None, "minute")
            if not is_counted:
                after = at + 1 + (tokens.word(at + 1) in clock.minutes)
                return value, int(minute), after, False
        if (spoken or led) and (more := self._more(tokens, at)):
            total = (value * 60 + more[0]) % (24 * 60)
            return total // 60, total % 60, more[1], False
        is_length = spoken and tokens.word(at - 1) in self._units
        if spoken and not is_length:
            return value, 0, at, False
        if is_length or led:
            half = self._halves.at(tokens, at) is not None
            if is_length and not (led or half):
                return None
            if not (spoken or half or self._stands_alone(tokens, at)):
                return None
            in_digits = is_digits(tokens.words[index]) and not (spoken or half)
            return value, 0, at, in_digits
        return None

    def _more(self, tokens: Tokens, index: int) -> tuple[int, int] | None:
        """The minutes after a full hour, or before it: et quart, menos diez."""
        clock = self._language.clock
        joint = tokens.word(index)
        if joint not in clock.more | clock.less:
            return None
        at = index + 1
        at += tokens.word(at) in self._articles
        named = clock.parts.get(tokens.word(at))
        minutes, last = (named, at + 1) if named else self._small(tokens, at) or (0, at)
        if not 0 < minutes <= _LAST_MINUTE or self._unit_at(tokens, last):
            return None
        return (minutes if joint in clock.more else -minutes), last

    def _small(self, tokens: Tokens, index: int) -> tuple[int, int] | None:
        """A small whole number at `index`, in digits or in words."""
        word = tokens.word(index)
        if is_digits(word):
            return (int(word), index + 1) if len(word) < 3 else None
        if word in self._language.numbers.ones:
            return 1, index + 1
        return self.number(tokens, index) if word else None

    def _after_oclock(self, tokens: Tokens, index: int) -> int:
        return index + (tokens.word(index) in self._language.clock.oclock)

    def _stands_alone(self, tokens: Tokens, index: int) -> bool:
        after = tokens.word(index)
        if not after or (after in ",.;?!" and not tokens.glued(index + 1)):
            return True
        return after in self._language.function_words or after in self._language.dates.weekdays


@cache
def local_reader(code: str) -> LocalReader | None:
    """Return the reader of a language that ships; None where its file has no values to read."""
    if code == "en" or code not in shipped_names():
        return None
    language = load_language(code)
    return LocalReader(language) if language.numbers.ones else None


def writes_day_first(code: str) -> bool:
    """Whether a language writes the day of 03/04/2025 first."""
    code = code.partition("-")[0].lower()
    return code in shipped_names() and load_language(code).dates.day_first
