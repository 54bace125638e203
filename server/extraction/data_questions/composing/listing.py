"""What is shown of the rows that are asked for: names, what is asked of them, details."""

from collections.abc import Iterator, Sequence
from typing import Final

from server.extraction.data_questions.asked import DataRequest, Unclear
from server.extraction.data_questions.columns import kind_of
from server.extraction.data_questions.composing.choice import Choice
from server.extraction.data_questions.composing.meant import FigureOf, Meant
from server.extraction.data_questions.joins import Joined, Need
from server.extraction.data_questions.meanings import Column
from server.library.data_model import DataModel

_MOST_DETAILS: Final = 8
_TELLING: Final = frozenset({"date", "money", "number", "category", "flag"})
"""What columns are for that tell rows without names apart."""


def listed_paths(choice: Choice, request: DataRequest, meant: Meant, target: Need) -> Sequence[str]:
    """The columns that are shown of what is listed."""
    joined = meant.joined
    table = choice.model.tables[target.table]
    shown = _shown_paths(choice, request, meant, target)
    asked = [*shown, *_names_beside(choice, request, meant, target)]
    tables = choice.model.tables
    valued = {
        one.value.table
        for one in meant.named
        if not (one.negated or one.others)
        and one.value.columns == tuple(tables[one.value.table].name)
    }
    if not shown and valued.issuperset(need.table for need in request.shown_names):
        asked = []  # all orders of a customer who is named
    differing = [
        choice.path(joined, column)
        for column in _differing(choice, meant)
        if choice.is_one_each(joined, target, column)
    ]
    ends = [choice.path(joined, one.by) for one in meant.order if isinstance(one.by, Column)]
    ends += [choice.path(joined, column) for column in meant.sorts]
    keys = table.key if len(table.key) == 1 or not asked else ()
    own = [joined.path(target, column) for column in table.name or keys]
    if not table.name and not asked:
        asked = _details(choice, joined, target)
    elif not (table.name or table.date):
        asked = [*_names_of_things(choice, joined, target), *asked]
    return list(dict.fromkeys([*own, *asked, *differing, *ends]))


def _differing(choice: Choice, meant: Meant) -> Iterator[Column]:
    """The columns that conditions are about, and in which rows differ: prices above 10."""
    for one in meant.conditions:
        is_amount = kind_of(choice.model, one.column) in ("money", "number")
        if is_amount and one.comparison not in ("is", "given"):
            yield one.column
    for over in meant.over_average:
        yield over.column
    for against in choice.request.against:
        yield from (against.mine, against.theirs)
    for column, period in meant.days:
        if period.start != period.end:
            yield column
    for named in meant.named:
        if named.others and not named.negated and len(named.value.columns) == 1:
            yield Column(named.value.table, named.value.columns[0])


def _shown_paths(choice: Choice, request: DataRequest, meant: Meant, target: Need) -> Sequence[str]:
    """The columns that are asked for, of which each row has one value."""
    measured = any(asked.measure or asked.rows for asked in request.all_asked())
    figures = [one.by.column for one in meant.order if isinstance(one.by, FigureOf)]
    summed = [column[:2] for column in figures if column is not None]
    paths: list[str] = []
    for column in meant.shown:
        happened = not measured and is_day_of_event(choice.model, column)
        if happened or choice.is_one_each(meant.joined, target, column):
            paths.append(choice.path(meant.joined, column))
        elif not measured and column[:2] not in summed:
            raise Unclear(f"there may be several {column.column}")
    return paths


def is_day_of_event(model: DataModel, column: Column) -> bool:
    """Whether it is the day on which something happened to what is listed, each time anew."""
    table = model.tables[column.table]
    return table.date == column.column and not table.people


def _names_beside(
    choice: Choice, request: DataRequest, meant: Meant, target: Need
) -> Sequence[str]:
    """The names of what else was named, where each row has one of it."""
    joined = meant.joined
    way = joined.ways[target]
    shows_event = any(
        is_day_of_event(choice.model, column) and not choice.is_one_each(joined, target, column)
        for column in meant.shown
    )
    paths: list[str] = []
    for need in request.shown_names:
        is_one_each = joined.ways[need][: len(way)] == way and joined.ways[need] != way
        of_event = shows_event and not any(step.startswith("<") for step in joined.ways[need])
        if not (is_one_each or of_event or need in request.must_show):
            continue
        table = choice.model.tables[need.table]
        paths += [joined.path(need, column) for column in table.name or table.key]
    return paths


def _names_of_things(choice: Choice, joined: Joined, target: Need) -> list[str]:
    """What rows that have no name of their own are of: the film of a disc."""
    tables, way = choice.model.tables, joined.ways[target]
    return [
        ".".join((*way, link.columns[0], name))
        for link in tables[target.table].links
        if len(link.columns) == 1 and not (tables[link.table].people or tables[link.table].pays)
        for name in tables[link.table].name
    ]


def _details(choice: Choice, joined: Joined, target: Need) -> list[str]:
    """What tells rows without names apart: days, amounts, and the names of what they are of."""
    tables = choice.model.tables
    table, way = tables[target.table], joined.ways[target]
    found = [
        ".".join((*way, name)) for name, told in table.columns.items() if told.kind in _TELLING
    ]
    for link in table.links:
        other = tables.get(link.table)
        if other is not None and len(link.columns) == 1:
            found += [".".join((*way, link.columns[0], name)) for name in other.name]
    return found[:_MOST_DETAILS]
