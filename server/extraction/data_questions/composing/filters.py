"""What is true of the rows that are asked for, as tests."""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

from server.extraction.data_questions.asked import DataRequest, Unclear
from server.extraction.data_questions.columns import kind_of
from server.extraction.data_questions.composing.choice import Choice
from server.extraction.data_questions.composing.meant import Alternatives, Meant
from server.extraction.data_questions.joins import Joined, Need, join
from server.extraction.data_questions.meanings import Column, Value
from server.extraction.data_questions.words import Words
from server.library.data_model import DataModel
from server.library.data_query import Average, Comparison, Span, Test
from server.text.periods import SpokenPeriod

_FAR: Final = 3
"""So many tables away a name is of something else than of what is asked for."""


def row_tests(words: Words, request: DataRequest, choice: Choice, meant: Meant) -> Iterator[Test]:
    """The values that are named, and the conditions."""
    joined = meant.joined
    for alternatives in meant.named:
        verbs = (item for item in words.items if item.has("joins"))
        if all(item.spoken in words.language.being_from for item in verbs):
            _check_told(request, choice, joined, alternatives.value)
        yield from _value_tests(words, choice, joined, alternatives)
    for column, comparison, value in meant.conditions:
        if comparison == "given" and not value:
            _check_one_each(request, choice, joined, column)
        yield Test(of=choice.path(joined, column), comparison=comparison, value=value)
    for column, comparison, kind in meant.over_average:
        average = _average_of(choice.model, column, kind)
        path = choice.path(joined, column)
        yield Test(of=path, comparison=comparison, average=average)
    for mine, theirs, comparison in request.against:
        need = choice.need_of(mine.table)
        path, than = joined.path(need, mine.column), joined.path(need, theirs.column)
        yield Test(of=path, comparison=comparison, than=than)


def _average_of(model: DataModel, column: Column, kind: Value | None) -> Average:
    """The average of a column, of all rows or of those of a kind."""
    if kind is None:
        return Average(table=column.table, of=column.column)
    inside = join(model, [Need(column.table), Need(kind.table)], [column.table])
    if inside is None:
        raise Unclear(f"no way leads to {kind.values[0]}")
    pairs = zip(kind.columns, kind.values, strict=True)
    tests = tuple(
        Test(of=inside.path(Need(kind.table), name), comparison="is", value=text)
        for name, text in pairs
    )
    return Average(table=column.table, of=column.column, tests=tests)


def _check_told(request: DataRequest, choice: Choice, joined: Joined, value: Value) -> None:
    """That what leads to a name by what somebody did is told: no artist is from a country.

    Somebody there may have bought one, which nobody said.
    """
    subject, tables = request.subject, choice.model.tables
    if subject is None or subject not in joined.ways or any(request.all_asked()):
        return
    said = {need.table for need in choice.needs if need != choice.need_of_value(value)}
    said |= {table for done in request.facts for table in done}
    passed = choice.between(joined, subject, choice.need_of_value(value))
    for table in passed if len(passed) >= _FAR else ():
        happens = bool(tables[table].date) and not tables[table].people
        if happens and table not in said:
            raise Unclear(f"nothing says what {value.values[0]} has to do with it")


def _check_one_each(request: DataRequest, choice: Choice, joined: Joined, column: Column) -> None:
    """That what is not there is of the rows themselves, and not of one of many.

    What has yet to happen may be one of many: what is out is one rental that has not ended.
    """
    subject = request.subject
    if subject is None or subject not in joined.ways or kind_of(choice.model, column) == "date":
        return
    if not choice.is_one_each(joined, subject, column):
        raise Unclear(f"there may be several {column.column}")


def day_tests_of(choice: Choice, meant: Meant) -> Iterator[Test]:
    """The days that are asked about."""
    for column, period in meant.days:
        path = choice.path(meant.joined, column)
        yield from day_tests(choice.model, path, column, period)
    calendar = choice.request.calendar
    if meant.calendar is not None and calendar is not None:
        span = Span(column=choice.path(meant.joined, meant.calendar), each=calendar.each)
        yield Test(of=span, comparison="in", value=list(calendar.names))


def day_tests(model: DataModel, path: str, column: Column, period: SpokenPeriod) -> Iterator[Test]:
    """That a day, or a year, is in a stretch of days."""
    kind = model.tables[column.table].columns[column.column].kind
    is_year = kind in ("number", "category")
    if period.start is not None:
        if is_year:
            yield Test(of=path, comparison="least", value=_year(period.start, kind))
        else:
            yield Test(of=path, comparison="from", value=period.start.isoformat())
    if period.end is not None:
        if is_year:
            yield Test(of=path, comparison="most", value=_year(period.end, kind))
        else:
            until = period.end + timedelta(days=1)
            yield Test(of=path, comparison="until", value=until.isoformat())


def all_are_meant(choice: Choice, joined: Joined, named: Alternatives) -> bool:
    """Whether what is asked for has to do with every one of several names: films with both."""
    subject = choice.request.subject
    if not named.others or named.negated or subject is None or choice.request.either:
        return False
    if not (choice.request.each_of_them or len(named.value.columns) > 1):
        return False
    column = Column(named.value.table, named.value.columns[0])
    return not choice.is_one_each(joined, choice.need_of(subject.table), column)


def _year(day: date, kind: str) -> int | str:
    """The year as the column has it."""
    return day.year if kind == "number" else str(day.year)


def _value_tests(
    words: Words, choice: Choice, joined: Joined, named: Alternatives
) -> Iterator[Test]:
    """That a row has a value, or one of several; where it holds a list, that all are in it."""
    value = named.value
    if named.negated and len(value.columns) > 1:
        return  # whose whole name it is not: another row
    need = choice.need_of_value(value)
    in_list = (value.table, value.columns[0]) in words.lists
    if named.others and not all_are_meant(choice, joined, named):
        if len(value.columns) > 1:
            raise Unclear("several names")
        path = joined.path(need, value.columns[0])
        texts = [one.values[0] for one in named.all]
        if named.negated:
            other: Comparison = "lacks" if in_list else "not"
            yield from (Test(of=path, comparison=other, value=text) for text in texts)
        elif in_list:
            yield from (Test(of=path, comparison="contains", value=text) for text in texts)
        else:
            yield Test(of=path, comparison="in", value=texts)
        return
    comparison: Comparison = "contains" if in_list else "is"
    if named.negated:
        comparison = "lacks" if in_list else "not"
    pairs = list(zip(value.columns, value.values, strict=True))
    for column, text in pairs[-1:] if value.part else pairs:
        yield Test(of=joined.path(need, column), comparison=comparison, value=text)
