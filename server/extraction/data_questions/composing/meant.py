"""What is meant by all that is asked for: one column each, and the table to start from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from server.extraction.data_questions.asked import (
    Asked,
    Bound,
    Condition,
    DataRequest,
    Each,
    Ends,
    Ordered,
    OverAverage,
    Unclear,
)
from server.extraction.data_questions.columns import kind_of
from server.extraction.data_questions.composing.choice import Choice
from server.extraction.data_questions.composing.day_columns import day_column
from server.extraction.data_questions.joins import Joined, Need
from server.extraction.data_questions.meanings import Column, Columns, Value
from server.extraction.data_questions.words import Words
from server.library.data_model import DataModel
from server.library.data_query import Comparison, Operation
from server.text.calendar import add_months
from server.text.durations import Duration
from server.text.periods import SpokenPeriod

_TURNED: Final[Mapping[Comparison, Comparison]] = {
    "more": "less", "least": "most", "less": "more", "most": "least",
}  # fmt: skip
"""Who is older was born before."""


class FigureOf(NamedTuple):
    """A figure, and the column that it is of, where it is of one."""

    asked: Asked
    column: Column | None


class OrderBy(NamedTuple):
    """What rows are in order by."""

    by: FigureOf | Column
    descending: bool


class Compared(NamedTuple):
    """What a column is compared with."""

    column: Column
    comparison: Comparison
    value: Any


class Alternatives(NamedTuple):
    """Values of the same columns that are named together, of which each will do."""

    value: Value
    others: tuple[Value, ...]
    negated: bool

    @property
    def all(self) -> tuple[Value, ...]:
        return (self.value, *self.others)


class OverOwn(NamedTuple):
    """A column that is compared with its average over rows with a value, or over all."""

    column: Column
    comparison: Comparison
    kind: Value | None


@dataclass(frozen=True, slots=True)
class Meant:
    """What is meant by all that is asked for."""

    groups: Sequence[Need | Column | Each]
    figures: Sequence[FigureOf]
    shown: Sequence[Column]
    named: Sequence[Alternatives]
    conditions: Sequence[Compared]
    order: Sequence[OrderBy]
    days: Sequence[tuple[Column, SpokenPeriod]]
    sorts: Sequence[Column]
    over_average: Sequence[OverOwn]
    bounded: Sequence[FigureOf]
    """The figures that have bounds."""
    calendar: Column | None
    """The column of days of the week or of months that are named."""
    joined: Joined


def meant_by(words: Words, request: DataRequest, choice: Choice) -> Meant:
    """Decide which columns and values are meant; Unclear where no table reaches them all."""
    groups: list[Need | Column | Each] = [
        group if isinstance(group, Need | str) else choice.column(group) for group in request.groups
    ]
    figures = [_figure_of(choice, asked) for asked in request.figures]
    bounded = [_figure_of(choice, bound.asked) for bound in request.having]
    shown = [choice.column(columns) for columns in request.shown if columns]
    told = [one.column[:2] for one in bounded if one.column is not None]
    shown = [column for column in shown if column[:2] not in told]
    sorts = [choice.column(columns) for columns in request.sorts]
    named = _alternatives(choice, request)
    conditions = [_compared(choice, condition) for condition in request.conditions]
    for one in request.against:
        choice.column((one.mine,))
    conditions += [_of_amount(words, request, choice, bound) for bound in request.bounds]
    over = [_over_own(choice, one) for one in request.over_average]
    compared = [one.column[:2] for one in conditions] + [one.column[:2] for one in over]
    ordered = [_ordered(choice, one.by, compared) for one in request.order]
    joined = choice.joined()
    order = [
        _order_by(choice, request, joined, one, by)
        for one, by in zip(request.order, ordered, strict=True)
    ]
    for comparison, text in request.contained:
        conditions.append(Compared(_name_column(choice.model, request), comparison, text))
    in_calendar = request.calendar
    beside = in_calendar.columns if in_calendar is not None else ()  # shipped on a Monday in May
    days = [
        (day_column(choice, request, joined, d.columns or beside), d.period) for d in request.days
    ]
    calendar = day_column(choice, request, joined, beside) if in_calendar is not None else None
    if calendar is not None and kind_of(choice.model, calendar) != "date":
        raise Unclear("days of years")
    for column in (*shown, *([calendar] if calendar is not None else [])):
        _check_whose(request, choice, column, [one.value.table for one in named])
    for column in (*(column for column, _ in days), *([calendar] if calendar else [])):
        choice.add(choice.need_of(column.table))
    return Meant(
        groups, figures, shown, named, conditions, order, days, sorts, over, bounded, calendar,
        choice.joined(),
    )  # fmt: skip


def _check_whose(
    request: DataRequest, choice: Choice, column: Column, valued: Sequence[str]
) -> None:
    """That what is told of people is told of those who are asked about: no customer's birthday."""
    tables, subject = choice.model.tables, request.subject
    if subject is None or subject.table == column.table or not tables[column.table].people:
        return
    about = tables[subject.table].people or tables[subject.table].pays
    groups = [group for group in request.groups if isinstance(group, Need)]
    said = {need.table for need in (*request.also, *request.shown_names, *groups)}
    if about and column.table not in said | {*valued}:
        raise Unclear(f"whose {column.column}")


def _over_own(choice: Choice, one: OverAverage) -> OverOwn:
    column = choice.column(one.columns)
    kind = choice.value(one.kind) if one.kind is not None else None
    return OverOwn(column, one.comparison, kind)


def _figure_of(choice: Choice, asked: Asked) -> FigureOf:
    return FigureOf(asked, choice.column(asked.columns) if asked.columns else None)


def _alternatives(choice: Choice, request: DataRequest) -> list[Alternatives]:
    """The values that are named; those of one column that stand together are alternatives."""
    found: dict[tuple[str, tuple[str, ...], bool, Need | None], Alternatives] = {}
    for named in request.named:
        negated, need = named.negated, named.need
        alike = [v for v in named.values if (v.table, v.columns, negated, need) in found]
        value = choice.value(replace(named, values=tuple(alike)) if alike else named)
        key = value.table, value.columns, negated, need
        same = found.get(key)
        others = (*same.others, value) if same is not None else ()
        found[key] = Alternatives(same.value if same is not None else value, others, negated)
    return list(found.values())


def _compared(choice: Choice, condition: Condition) -> Compared:
    column = choice.column(condition.columns)
    told = choice.model.tables[column.table].columns[column.column]
    value = condition.value
    amounts = told.kind in ("money", "number")
    if amounts and condition.comparison == "given" and choice.request.figures:
        raise Unclear("without an amount")  # sold without freight
    if amounts and not told.unit and condition.comparison == "given" and value is False:
        return Compared(column, "is", 0)  # nothing on order
    if told.kind == "date" and condition.comparison != "given":
        value = _born(choice, column, value)
    if isinstance(value, Duration):
        value = _length(value, told.unit)
    elif told.kind == "flag" and condition.comparison == "is":
        value = told.yes if value else told.no
    elif value is not None and not isinstance(value, bool | int | float | str):
        value = float(value)
    reductions = {(measure.table, measure.less) for measure in choice.model.measures}
    if column[:2] in reductions and isinstance(value, int | float) and value > 1:
        value = value / 100  # a discount of 20 % is 0.2 of a price
    return Compared(column, condition.comparison, value)


def _born(choice: Choice, column: Column, value: Any) -> Any:
    """The day before which those were born who are older than so many years."""
    years = value.count_in("year") if isinstance(value, Duration) else value
    if isinstance(years, str):
        return value
    if column._replace(rank=0) not in choice.births or years is None or years != int(years):
        raise Unclear("an age")
    return add_months(choice.request.today, -12 * int(years)).isoformat()


def _length(value: Duration, unit: str) -> int | float:
    """A length of time in the unit of a column."""
    in_milliseconds = unit == "milliseconds"
    counted = value.count_in("second" if in_milliseconds else unit.rstrip("s"))
    if counted is None:
        raise Unclear("unit")
    if in_milliseconds:
        counted *= 1000
    return int(counted) if counted == int(counted) else float(counted)


def _of_amount(words: Words, request: DataRequest, choice: Choice, bound: Bound) -> Compared:
    """A bound without a name: of the one amount that the rows have."""
    subject = request.subject
    if bound.of is not None and bound.of in choice.needs:
        subject = bound.of
    if subject is None:
        raise Unclear("nothing says what is compared")
    births = [c for c in choice.births if c.table == subject.table]
    if births and bound.comparison in _TURNED:
        return Compared(births[0], _TURNED[bound.comparison], _born(choice, births[0], bound.value))
    table, language = words.model.tables[subject.table], words.language
    amounts = [name for name, told in table.columns.items() if told.kind == "money"]
    for called in (language.prices, language.amounts):
        best = [name for name in amounts if not {*called}.isdisjoint(table.columns[name].called)]
        if best:
            amounts = best
            break
    if len(amounts) != 1:
        raise Unclear("nothing says what is compared")
    return Compared(Column(subject.table, amounts[0]), bound.comparison, number_of(bound.value))


def number_of(value: Any) -> int | float:
    """A value as a number of a query."""
    return value if isinstance(value, int | float) else float(value)


def _ordered(
    choice: Choice, by: Asked | Ends | Columns, compared: Sequence[tuple[str, str]]
) -> FigureOf | Column:
    """What rows are in order by: of several columns the one that is compared, if one is."""
    if isinstance(by, Asked):
        return _figure_of(choice, by)
    columns = by.columns if isinstance(by, Ends) else by
    return choice.column([c for c in columns if c[:2] in compared] or columns)


def _order_by(
    choice: Choice, request: DataRequest, joined: Joined, one: Ordered, by: FigureOf | Column
) -> OrderBy:
    """What rows are in order by: the sum of an amount of which each of them has several."""
    if isinstance(by, FigureOf):
        return OrderBy(by, one.descending)
    degrees = one.by.degrees if isinstance(one.by, Ends) else ()
    degree = next((degree for degree in degrees if by in degree.columns), None)
    descending = one.descending is not (degree is not None and degree.end == "least")
    target = request.target
    if target is not None and not choice.is_one_each(joined, target, by):
        happened = any(by.table in tables for tables in request.facts)
        if kind_of(choice.model, by) == "date" and happened:
            end: Operation = "highest" if descending else "lowest"
            return OrderBy(FigureOf(Asked(end, columns=(by,)), by), descending)
        if kind_of(choice.model, by) not in ("money", "number"):
            raise Unclear(f"there may be several {by.column}")
        return OrderBy(FigureOf(Asked("sum", columns=(by,)), by), descending)
    return OrderBy(by, descending)


def _name_column(model: DataModel, request: DataRequest) -> Column:
    """The column with the name of what is asked for."""
    subject = request.subject
    name = model.tables[subject.table].name if subject is not None else ()
    if subject is None or len(name) != 1:
        raise Unclear("text")
    return Column(subject.table, name[0])
