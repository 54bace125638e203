"""How a pack's languages date, put into one pattern and one table."""

from collections.abc import Sequence
from typing import get_args

from server.core.problems import Problem
from server.intents.calendar import Relative
from server.intents.dates import DateFormat, DateRange, DateRules
from server.intents.language import LanguageFile
from server.intents.language_spec import CountedSpec, DatesSpec, Weekday
from server.intents.patterns import (
    Pattern,
    PatternInvalid,
    PatternSet,
)
from server.intents.text import DATE_MARK, Reader


def date_rules(
    files: Sequence[LanguageFile], reader: Reader, patterns: PatternSet
) -> tuple[DateRules, list[Problem]]:
    """The dates of all languages; patterns that cannot be used are problems."""
    problems: list[Problem] = []
    formats: list[DateFormat] = []
    for file in files:
        for at, form in enumerate(file.spec.dates.formats):
            source = form if isinstance(form, str) else form.pattern
            try:
                formats.append(_format(form, patterns.add(source)))
            except PatternInvalid as invalid:
                where = file.document.where(("dates", "formats", at))
                problems.append(Problem(f"pattern {source!r}: {invalid}", where, "bad-pattern"))
    dates = [file.spec.dates for file in files]
    first = next((spec for spec in dates if spec.formats), DatesSpec())
    joins = patterns.another()
    rules = DateRules(
        formats=tuple(formats),
        ranges=_ranges(files, joins, problems),
        joins=joins,
        words={
            reader.fold(reader.clean(word)): Relative(means.unit, means.number, means.counting)
            for spec in reversed(dates)
            for word, means in spec.words.items()
        },
        months={
            reader.fold(reader.clean(word)): number
            for spec in reversed(dates)
            for word, number in spec.months.items()
        },
        first_weekday=get_args(Weekday).index(first.week_starts),
        century_pivot=first.century_pivot,
    )
    joins.freeze()
    return rules, problems


def _format(form: str | CountedSpec, pattern: Pattern) -> DateFormat:
    if isinstance(form, str):
        return DateFormat(pattern)
    return DateFormat(pattern, Relative(form.unit, 0, form.counting))


def _ranges(
    files: Sequence[LanguageFile], joins: PatternSet, problems: list[Problem]
) -> tuple[DateRange, ...]:
    ranges: list[DateRange] = []
    for file in files:
        for at, joined in enumerate(file.spec.dates.ranges):
            source = joined.pattern
            marked = source.replace("{date}", f"\\x{{{ord(DATE_MARK):X}}}")
            try:
                ranges.append(DateRange(joins.add(marked), joined.means))
            except PatternInvalid as invalid:
                where = file.document.where(("dates", "ranges", at))
                problems.append(Problem(f"pattern {source!r}: {invalid}", where, "bad-pattern"))
    return tuple(ranges)
