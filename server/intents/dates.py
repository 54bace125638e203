"""Dates and ranges of dates, by the formats, words and connectors of a language file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Final, NamedTuple, get_args

from server.errors import Problem
from server.intents.numbers import parse_int
from server.intents.patterns import PackPattern, PatternInvalid, PatternSet, Spans
from server.intents.question_state import QuestionState
from server.text.calendar import (
    CENTURY_PIVOT,
    Period,
    add_months,
    full_year,
    hebrew_year,
    period_around,
    shift,
)
from server.text.language import (
    CountedSpec,
    DatesSpec,
    LanguageFile,
    PartSpec,
    RangeMeaning,
    RelativeSpec,
    Weekday,
)
from server.text.normalizer import DATE_MARK, NUMBER_MARK, Normalizer

_MARK: Final = DATE_MARK.encode()
_IN_WORDS: Final = NUMBER_MARK.encode()
_HEBREW_THOUSANDS: Final = 5000
_MOST_DATES: Final = 8
"""As many as a question is searched for."""


@dataclass(frozen=True, slots=True)
class DateFormat:
    """A way to write one date or period.

    The pattern's groups say which part is what: `year`, `month`, `day`, `month_name`,
    `word` (a key of `words`; beside a month, which year it is in), `last_day` where several
    days of a month are meant, `hebrew_year` a year in Hebrew letters, and `date` all of it when
    more had to stand around. With `counted`, its first group is how many units; with `part`, only
    that part of the year or month is meant.
    """

    pattern: PackPattern
    counted: CountedSpec | None = None
    part: PartSpec | None = None

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
    edge: str | None = None


@dataclass(frozen=True, slots=True)
class DateRules:
    """`joins` are the patterns of `ranges`."""

    formats: tuple[DateFormat, ...] = ()
    ranges: tuple[DateRange, ...] = ()
    joins: PatternSet | None = None
    words: Mapping[str, RelativeSpec] = field(default_factory=dict)
    months: Mapping[str, int] = field(default_factory=dict)
    letters: Mapping[str, int] = field(default_factory=dict)
    first_weekday: int = 0
    century_pivot: int = CENTURY_PIVOT


def date_rules(
    files: Sequence[LanguageFile], reader: Normalizer, patterns: PatternSet
) -> tuple[DateRules, list[Problem]]:
    """Return the dates of all languages; patterns that cannot be used are problems."""
    problems: list[Problem] = []
    formats: list[DateFormat] = []
    ranges: list[DateRange] = []
    joins = patterns.another()
    mark = f"\\x{{{ord(DATE_MARK):X}}}"

    def add(file: LanguageFile, key: str, at: int, source: str, to: PatternSet) -> Any:
        try:
            return to.add(source.replace("{date}", mark) if to is joins else source)
        except PatternInvalid as invalid:
            where = file.document.where(("dates", key, at))
            problems.append(Problem(f"pattern {source!r}: {invalid}", where, "bad-pattern"))
            return None

    for file in files:
        for at, form in enumerate(file.spec.dates.formats):
            source = form if isinstance(form, str) else form.pattern
            counted = form if isinstance(form, CountedSpec) else None
            part = form if isinstance(form, PartSpec) else None
            if pattern := add(file, "formats", at, source, patterns):
                formats.append(DateFormat(pattern, counted, part))
        for at, joined in enumerate(file.spec.dates.ranges):
            if pattern := add(file, "ranges", at, joined.pattern, joins):
                ranges.append(DateRange(pattern, joined.means, joined.edge))
    joins.freeze()
    dates = [file.spec.dates for file in files]
    first = next((spec for spec in dates if spec.formats), DatesSpec())
    words: dict[str, RelativeSpec] = {}
    months: dict[str, int] = {}
    letters: dict[str, int] = {}
    for spec in reversed(dates):
        letters |= {reader.fold(letter): value for letter, value in spec.letters.items()}
        words |= {reader.fold(reader.clean(word)): means for word, means in spec.words.items()}
        months |= {reader.fold(reader.clean(word)): month for word, month in spec.months.items()}
    weekday, pivot = get_args(Weekday).index(first.week_starts), first.century_pivot
    rules = DateRules(tuple(formats), tuple(ranges), joins, words, months, letters, weekday, pivot)
    return rules, problems


def relative(
    what: RelativeSpec | CountedSpec, number: int, today: date, first_weekday: int
) -> Period | None:
    """Return the days that `what` covers, or None when they leave the calendar.

    `whole` with -1 is the calendar unit before this one, `last` with 2 the two units
    that end today, and `ago` with 3 the whole unit that lay three back.
    """
    try:
        if what.counting == "last":
            return Period(shift(today, what.unit, -number), today)
        offset = -number if what.counting == "ago" else number
        return period_around(shift(today, what.unit, offset), what.unit, first_weekday)
    except OverflowError:
        return None


def _period(year: int, month: int | None, day: int | None) -> Period | None:
    try:
        start = date(year, month or 1, day or 1)
        return period_around(start, "day" if day else "month" if month else "year")
    except (ValueError, OverflowError):
        return None


class DateToken(NamedTuple):
    """A date as it stands in the text, from byte `start` to `end`.

    `month` and `day` are given where the text names no year, so that another date may. `edge`
    says that it is called by where a year or a month starts or ends.
    """

    start: int
    end: int
    period: Period
    month: int | None = None
    day: int | None = None
    edge: str | None = None


class Dates(NamedTuple):
    """The dates of a text, and the first place that is written as one and cannot be."""

    atoms: list[DateToken]
    impossible: tuple[int, int] | None = None


def read_dates(rules: DateRules, question: QuestionState) -> Dates:
    """Return the dates of a question from left to right, only where no entity has claimed it.

    Where two begin at once, the format that is declared first reads them.
    """
    data = question.data
    atoms: list[DateToken] = []
    impossible: tuple[int, int] | None = None
    ahead = [
        (form, spans)
        for form in rules.formats
        if form.pattern.number in question.matching
        and (spans := form.pattern.search(data)) is not None
    ]
    for _ in range(_MOST_DATES):
        if not ahead:
            break
        form, spans = min(ahead, key=lambda found: found[1][0][0])
        start, at = spans[form.whole]
        if question.bytes_are_free(start, at):
            atom = _atom(rules, form, data, spans, question.today())
            if atom is not None:
                # The mark of a year that was said in words belongs to it.
                in_words = data.endswith(_IN_WORDS, 0, atom.start)
                begin = atom.start - len(_IN_WORDS) if in_words else atom.start
                atoms.append(atom._replace(start=begin))
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


def join(
    rules: DateRules, question: QuestionState, atoms: list[DateToken], earliest: date
) -> DateToken | None:
    """Return the first range that `atoms` make with the words around them, else the first atom."""
    if not atoms:
        return None
    if rules.joins is None:
        return atoms[0]
    marked, starts = _mark(question.data, atoms)
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
        if form.edge not in (None, used[0].edge):
            continue
        start = used[0].start - (starts[which] - begin)
        period = _range(form.means, used, question.today(), earliest)
        return DateToken(start, used[-1].end, period)
    return atoms[0]


def _mark(data: bytes, atoms: list[DateToken]) -> tuple[bytes, list[int]]:
    marked, starts, done = b"", list[int](), 0
    for atom in atoms:
        marked += data[done : atom.start]
        starts.append(len(marked))
        marked += _MARK
        done = atom.end
    return marked + data[done:], starts


def _range(means: RangeMeaning, used: list[DateToken], today: date, earliest: date) -> Period:
    first, last = used[0].period, used[-1].period
    if means == "between":
        first, last = _same_year(used[0], used[-1])
        # Either order; and of "this year until today" the end is today.
        first, last = sorted((first, last), key=lambda period: period.start)
        return Period(first.start, last.end)
    if means == "on":
        return first
    if means in {"until", "before"}:
        # “Until early 2021” ends where the year begins.
        until = means == "until" and used[0].edge != "start"
        end = first.end if until else _days_from(first.start, -1)
        return Period(min(earliest, end), end)
    start = first.start if means == "since" else _days_from(first.end, 1)
    return Period(start, max(start, today))


def _part_of(period: Period, part: PartSpec) -> Period:
    """The part of a year, or of a month where it has days."""
    if part.months is not None:
        start = add_months(period.start, part.first - 1)
        return Period(start, _days_from(add_months(start, part.months), -1))
    start = _days_from(period.start, part.first - 1)
    end = period.end if part.days is None else _days_from(start, part.days - 1)
    return Period(min(start, period.end), min(end, period.end))


def _same_year(first: DateToken, last: DateToken) -> tuple[Period, Period]:
    """The periods, one without a year in that of the other: "April to June 2021"."""
    begins, ends = first.period, last.period
    if first.month is not None:
        year = ends.start.year
        same = (_period(each, first.month, first.day) for each in (year, year - 1))
        begins = next((found for found in same if found and found.start <= ends.start), begins)
    elif last.month is not None:
        year = begins.start.year
        same = (_period(each, last.month, last.day) for each in (year, year + 1))
        ends = next((found for found in same if found and found.start >= begins.start), ends)
    return begins, ends


def _days_from(day: date, count: int) -> date:
    try:
        return day + timedelta(days=count)
    except OverflowError:
        return day


def _atom(
    rules: DateRules, form: DateFormat, data: bytes, spans: Spans, today: date
) -> DateToken | None:
    at = spans[form.whole]
    if form.counted is not None:
        start, end = spans[1]
        number = parse_int(data[start:end].decode())
        if number is None:
            return None
        period = relative(form.counted, number, today, rules.first_weekday)
        return None if period is None else DateToken(*at, period)
    named_spans = ((name, spans[group]) for name, group in form.pattern.names.items())
    parts = {name: data[start:end].decode() for name, (start, end) in named_spans if start >= 0}
    month = rules.months[parts["month_name"]] if "month_name" in parts else None
    if "month" in parts:
        month = int(parts["month"])
    day = int(parts["day"]) if "day" in parts else None
    year: int | None = None
    if "hebrew_year" in parts:
        number = sum(rules.letters.get(letter, 0) for letter in parts["hebrew_year"])
        return DateToken(*at, hebrew_year(_HEBREW_THOUSANDS + number))
    if "year" in parts:
        year = int(parts["year"])
        if len(parts["year"]) == 2:
            year = full_year(year, rules.century_pivot)
    elif "word" in parts:
        word = rules.words[parts["word"]]
        named = relative(word, word.number, today, rules.first_weekday)
        if named is not None and form.part is not None and month is None:
            return DateToken(*at, _part_of(named, form.part), edge=form.part.edge)
        if named is None or month is None:
            return None if named is None else DateToken(*at, named)
        year = named.start.year
    if 0 in (year, month, day) or (year is None and month is None):
        return None
    if year is not None:
        period = _period(year, month, day)
    else:
        # What has no year is the last one that has begun.
        period = _period(today.year, month, day)
        if period is None or period.start > today:
            period = _period(today.year - 1, month, day)
    if period is None:
        return None
    if form.part is not None:
        return DateToken(*at, _part_of(period, form.part), edge=form.part.edge)
    if "last_day" in parts:
        last = _period(period.start.year, period.start.month, int(parts["last_day"]) or 99)
        if last is None or last < period:
            return None
        return DateToken(*at, Period(period.start, last.end))
    return DateToken(*at, period) if year is not None else DateToken(*at, period, month, day)
