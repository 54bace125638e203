"""The figures of a query: what is counted, added up or averaged, and where that is sound."""

from typing import Final

from server.extraction.data_questions.asked import Asked, DataRequest, Unclear
from server.extraction.data_questions.columns import unit_of
from server.extraction.data_questions.composing.choice import Choice
from server.extraction.data_questions.composing.day_columns import day_path
from server.extraction.data_questions.composing.meant import FigureOf
from server.extraction.data_questions.joins import Joined, Need
from server.extraction.data_questions.meanings import Column
from server.library.data_query import Figure, Span

_SCALES: Final = {
    ("milliseconds", "seconds"): 1_000.0, ("milliseconds", "minutes"): 60_000.0,
    ("milliseconds", "hours"): 3_600_000.0, ("seconds", "minutes"): 60.0,
    ("seconds", "hours"): 3_600.0, ("minutes", "hours"): 60.0,
}  # fmt: skip
"""What the numbers of a column are divided by, by its unit and the one that is asked for."""


def figure(choice: Choice, request: DataRequest, joined: Joined, what: FigureOf) -> Figure:
    """A figure, in the unit that is asked for; Unclear where rows would be counted twice."""
    asked, column = what
    per = _per(choice, request, joined, asked)
    if asked.measure:
        measure = choice.measures[asked.measure].name
        return Figure(operation=asked.operation, of=measure, per=per)
    if column is not None:
        reductions = {(measure.table, measure.less) for measure in choice.model.measures}
        if asked.operation == "sum" and column[:2] in reductions:
            raise Unclear("shares are not added up")
        path = choice.path(joined, column)
        named = {need.table for need in (*request.also, request.target, request.counted) if need}
        each = joined.root in named and not joined.multiplies  # what every copy costs
        once = _is_once(choice, joined, path) or (each and "<" not in path)
        if asked.operation in ("sum", "average") and not once:
            raise Unclear("rows would be counted twice")
        scale = _SCALES.get((unit_of(choice.model, column), request.unit), 1.0)
        since = choice.path(joined, asked.since) if asked.since is not None else ""
        return Figure(
            operation=asked.operation, of=path, since=since, distinct=asked.distinct, scale=scale,
            unit=request.unit if scale != 1 else "",
        )  # fmt: skip
    if asked.rows is None:
        raise Unclear("nothing says what is counted")
    if per is not None:
        return Figure(operation="count", of=_each_once(choice, joined, asked), per=per)
    return _number_of_rows(choice, joined, asked.rows)


def in_unit(choice: Choice, request: DataRequest, joined: Joined, path: str) -> str | Figure:
    """A column of each row, in the unit that is asked for."""
    column = Column(*choice.model.resolve(joined.root, path))
    scale = _SCALES.get((unit_of(choice.model, column), request.unit))
    if scale is None:
        return path
    return Figure(operation="value", of=path, scale=scale, unit=request.unit)


def _per(choice: Choice, request: DataRequest, joined: Joined, asked: Asked) -> str | Span | None:
    """What an average is for each of, where each of it has several of what is averaged."""
    if asked.per is None:
        return None
    if asked.per in ("weekday", "calendar_month"):
        raise Unclear("an average of days of many weeks")
    if not isinstance(asked.per, Need):
        return Span(column=day_path(choice, request, joined), each=asked.per)
    if asked.per.table == joined.root and asked.rows is None:
        return None
    return _key(choice, joined, asked.per)


def _each_once(choice: Choice, joined: Joined, asked: Asked) -> str:
    """The key of what belongs to one of the others each; nothing where pairs are counted."""
    if asked.rows is None or not isinstance(asked.per, Need):
        return ""
    own = joined.ways[choice.need_of(asked.rows.table)]
    other = joined.ways[choice.need_of(asked.per.table)]
    return _key(choice, joined, asked.rows) if own and other[: len(own)] == own else ""


def _key(choice: Choice, joined: Joined, need: Need) -> str:
    """The column that tells the rows of a table apart."""
    key = choice.model.tables[need.table].key
    if len(key) != 1:
        raise Unclear("count")
    return joined.path(choice.need_of(need.table), key[0])


def _number_of_rows(choice: Choice, joined: Joined, rows: Need) -> Figure:
    if rows.table == joined.root and not joined.ways.get(rows) and not joined.multiplies:
        return Figure(operation="count")
    path = _key(choice, joined, rows)
    # What was rented twice counts twice; who rented twice is one.
    table = choice.model.tables[rows.table]
    happens = rows.table != joined.root and joined.root in choice.happened and not joined.multiplies
    distinct = table.people or table.pays or not happens
    return Figure(operation="count", of=path, distinct=distinct)


def _is_once(choice: Choice, joined: Joined, path: str) -> bool:
    """Whether a column stands there once for each row of what is added up.

    Of what a table joins two by two, it is once for each pair: films, by category.
    """
    *steps, _ = path.split(".")
    against = {step for way in joined.ways.values() for step in way if step.startswith("<")}
    if not steps:
        return len(against) <= 1
    if joined.root in choice.model.bridges:
        return len(steps) == 1 and not against
    to_pair, *on = steps
    return len(on) == 1 and against == {to_pair}
