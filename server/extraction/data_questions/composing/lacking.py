"""What belongs to what is asked for, and is not there: customers without an order."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from server.extraction.data_questions.asked import Absent, DataRequest, Named, Unclear
from server.extraction.data_questions.composing.choice import Choice
from server.extraction.data_questions.composing.day_columns import day_column
from server.extraction.data_questions.composing.filters import day_tests
from server.extraction.data_questions.joins import Joined, Need, join
from server.extraction.data_questions.meanings import Column, Value
from server.library.data_model import DataModel
from server.library.data_query import Lacking, Test

_FARTHEST: Final = 3.5
"""So near is what is said not to be there, in the cost of joins."""


def lacking(choice: Choice, request: DataRequest, joined: Joined, absent: Absent) -> Lacking:
    """Rows of another table that belong to what is asked for, and are not there."""
    subject = request.subject
    if subject is None:
        raise Unclear("nothing says what has none")
    target = Need(subject.table)
    absent = _with_nearest_values(choice, absent, target)
    inside = _join_inside(choice.model, absent, target)
    if inside.root == target.table:
        raise Unclear("each has one")
    return Lacking(
        table=inside.root,
        up=inside.ways[target],
        own=joined.ways[choice.need_of(target.table)],
        tests=tuple(_tests(choice, request, inside, absent)),
    )


def own_names(model: DataModel, target: Need, absent: Absent) -> list[Named]:
    """Names of what is asked for itself: songs that nobody bought from an album."""
    return [
        one
        for one in absent.named
        if any(
            not any(step.startswith("<") for step in way)
            for value in one.values
            for way in model.reachable[target.table].get(value.table, ())
        )
    ]


def lacking_value(choice: Choice, joined: Joined, absent: Absent, column: Column) -> Lacking:
    """No row of another table with the same value: countries with customers and no supplier."""
    tables = choice.model.tables
    said = {*tables[column.table].columns[column.column].called[:1]}
    for table in absent.tables:
        for name, told in tables[table].columns.items():
            if table != column.table and not said.isdisjoint(told.called[:1]):
                if absent.named or absent.days:
                    raise Unclear("what is not there, and when")
                same = name, choice.path(joined, column)
                return Lacking(table=table, same=same, is_there=absent.is_there)
    raise Unclear("no way leads to " + absent.tables[0])


def there_is(choice: Choice, request: DataRequest, joined: Joined, value: Value) -> Lacking:
    """A row that joins what is asked for to one more name: the other actor of a film."""
    absent = Absent((value.table,), named=[Named((value,))], days=[*request.days])
    found = lacking(choice, request, joined, absent)
    return found.model_copy(update={"is_there": True})


def not_called(choice: Choice, joined: Joined, value: Value) -> Lacking:
    """It is not the row with this whole name."""
    tests = tuple(
        Test(of=column, comparison="is", value=text)
        for column, text in zip(value.columns, value.values, strict=True)
    )
    return Lacking(table=value.table, own=joined.ways[choice.need_of_value(value)], tests=tests)


def _with_nearest_values(choice: Choice, absent: Absent, target: Need) -> Absent:
    """Of what may be named, what is of a table that is named too, or else the nearest."""
    mentioned, model = {need.table for need in absent.also}, choice.model

    def rank(value: Value) -> tuple[bool, float]:
        needs = [target, *map(Need, absent.tables[:1]), *absent.also, Need(value.table)]
        found = join(model, needs, [name for name in model.tables if name != target.table])
        cost = found.cost + choice.fit(value) if found is not None else float("inf")
        return value.table not in mentioned, cost

    named = [Named((min(one.values, key=rank),), one.negated) for one in absent.named]
    return replace(absent, named=named)


def _join_inside(model: DataModel, absent: Absent, target: Need) -> Joined:
    """The table of the rows that are missing, and the ways from there."""
    tables = absent.tables or _done_with(model, target.table)
    roots = [name for name in model.tables if name != target.table]
    named = [Need(one.values[0].table) for one in absent.named]
    found: Joined | None = None
    for table in tables:
        inside = join(model, [target, Need(table), *absent.also, *named], roots)
        if inside is None or (inside.cost > _FARTHEST and not named):
            continue
        if found is None or inside.cost < found.cost:
            found = inside
    if found is None:
        raise Unclear("no way leads to " + tables[0])
    return found


def _done_with(model: DataModel, target: str) -> Sequence[str]:
    """What happens with the rows of a table on some day, or else all that belongs to them."""
    others = {name: table for name, table in model.tables.items() if name != target}
    tables = [name for name, t in others.items() if t.date and target in model.reachable[name]]
    tables = tables or [
        name for name, t in others.items() if any(link.table == target for link in t.links)
    ]
    if not tables:
        raise Unclear("nothing says what was not done")
    return tables


def _tests(choice: Choice, request: DataRequest, inside: Joined, absent: Absent) -> Sequence[Test]:
    tests: list[Test] = []
    for named in absent.named:
        value = named.values[0]
        for column, text in zip(value.columns, value.values, strict=True):
            path = inside.path(Need(value.table), column)
            tests.append(Test(of=path, comparison="is", value=text))
    for days in absent.days:
        date = day_column(choice, request, inside, days.columns)
        ways = choice.model.reachable[inside.root][date.table]
        path = ".".join((*ways[0], date.column))
        tests += day_tests(choice.model, path, date, days.period)
    return tests
