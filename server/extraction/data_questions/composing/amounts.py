"""Which amounts are added up, and of what, decided by all that was read."""

from typing import Final

from server.extraction.data_questions.asked import Asked, DataRequest, Having
from server.extraction.data_questions.columns import kind_of, unit_of
from server.extraction.data_questions.joins import Need
from server.extraction.data_questions.meanings import Column, Columns
from server.extraction.data_questions.words import Words
from server.library.data_model import DataModel

_FEW: Final = 5
"""So near to the beginning it stands that a cost is asked for."""


def sum_bounds(words: Words, request: DataRequest) -> None:
    """Orders over 500 dollars: what they came to, where their lines tell it and they do not."""
    model, language = words.model, words.language
    for bound in list(request.bounds):
        need = bound.of or request.subject
        if need is None or request.groups or request.figures:
            continue
        columns = model.tables[need.table].columns.values()
        called = {*language.prices, *language.amounts}
        own = any(told.kind == "money" and called & {*told.called} for told in columns)
        lines = [
            measure
            for measure in model.measures
            if measure.kind == "money"
            and measure.table != need.table
            and any(link.table == need.table for link in model.tables[measure.table].links)
        ]
        happened = bool(model.tables[need.table].date) and not model.tables[need.table].people
        if lines and happened and not own:
            request.bounds.remove(bound)
            request.having.append(Having(Asked("sum", "money"), bound.comparison, bound.value))


def average_rows(request: DataRequest) -> None:
    """The average freight per order by country: of the orders of each."""
    averaged = {
        column.table
        for asked in request.figures
        for column in asked.columns
        if asked.operation == "average"
    }
    own = [g for g in request.groups if isinstance(g, Need) and g.table in averaged]
    if own and len(request.groups) > len(own):
        request.groups = [group for group in request.groups if group not in own]


def cost_of_every(words: Words, request: DataRequest) -> None:
    """What it would cost to replace every disc: what they cost together, and not each."""
    every = any(item.spoken in words.language.every for item in words.items)
    costs = next((item for item in words.items if item.has("costs")), None)
    prices = [*request.figures, *request.shown]
    if not every or costs is None or len(prices) != 1 or costs.place > _FEW:
        return
    things = [group for group in request.groups if isinstance(group, Need)]
    if things and not request.order:
        request.groups.remove(things[0])
        request.also.append(things[0])
        request.figures = request.figures or [Asked("sum", columns=request.shown[0])]
        request.shown.clear()
        request.facts.clear()


def sum_lengths(model: DataModel, request: DataRequest, target: Need) -> None:
    """How long an album is: of all that belongs to it together."""
    for columns in list(request.shown):
        kinds = {kind_of(model, column) for column in columns if unit_of(model, column)}
        if kinds == {"number"} and all(column.table != target.table for column in columns):
            request.figures.append(Asked("sum", columns=columns))
            request.shown.remove(columns)


def sum_shown(words: Words, model: DataModel, request: DataRequest) -> None:
    """Amounts that are asked for by group are added up: freight by country."""
    sums = [_amounts(model, columns) for columns in request.shown]
    if words.says(words.language.altogether) and sums and all(sums):
        figures = request.figures or request.counted or request.order or request.having
        if request.target is not None and request.plural and not figures:
            request.also.append(request.target)
            request.target = None  # the freight of the orders, all together
            request.figures += [Asked("sum", columns=columns) for columns in sums]
            request.shown.clear()
            return
    others = request.figures or request.target or request.counted or request.order
    if request.groups and sums and all(sums) and not others:
        request.figures += [Asked("sum", columns=columns) for columns in sums]
        request.shown.clear()


def bound_figures(request: DataRequest) -> None:
    """A bound without a name is one of the figure that each group has: only those with 15."""
    counted = Asked("count", rows=request.counted, distinct=True)
    asked = counted if request.counted is not None else request.figures[0]
    request.having += [Having(asked, bound.comparison, bound.value) for bound in request.bounds]
    request.bounds.clear()


def leave_out_amounts(model: DataModel, request: DataRequest) -> None:
    """The value of an order without its freight is what it is anyway."""
    if not request.figures or any(asked.measure != "money" for asked in request.figures):
        return
    added = {(m.table, name) for m in model.measures for name in m.times}
    request.conditions = [
        one
        for one in request.conditions
        if one.comparison != "given" or one.value or any(
            kind_of(model, column) != "money" or column[:2] in added for column in one.columns
        )
    ]  # fmt: skip


def sum_pieces(model: DataModel, request: DataRequest) -> None:
    """How many pieces of what is listed: the products that somebody bought, and the quantities."""
    pieces = {(m.table, m.times[-1]) for m in model.measures if m.kind == "number"}
    target = request.target
    for columns in list(request.shown):
        if target is not None and any(
            column[:2] in pieces and column.table != target.table for column in columns
        ):
            request.shown.remove(columns)
            request.figures.append(Asked("sum", "units"))


def list_lines(model: DataModel, request: DataRequest) -> None:
    """What is on an order, line by line, where what its lines hold is asked for: quantities."""
    pieces = Asked("sum", "units")
    if request.numbered is None or any(asked != pieces for asked in request.figures):
        return
    owner = request.numbered.table
    lines = [m.table for m in model.measures if any(
        link.table == owner for link in model.tables[m.table].links
    )]  # fmt: skip
    shown = {column.table for columns in request.shown for column in columns}
    line = next((table for table in lines if table in shown and not model.tables[table].date), None)
    if line is None:
        return
    if request.figures:
        units = (m.times[0] for m in model.measures if m.table == line and m.kind == "number")
        request.shown[:0] = [(Column(line, name),) for name in units]
        request.figures.clear()
    request.shown = [_alike(model, columns, line) or columns for columns in request.shown]
    things = [link.table for link in model.tables[line].links if link.table != owner]
    request.shown_names += map(Need, things)
    request.also += map(Need, things)
    request.target, request.plural, request.counted = Need(line), True, None


def _alike(model: DataModel, columns: Columns, table: str) -> Columns:
    """The columns of a table that are called like those: the price of a line."""
    said = {model.tables[c.table].columns[c.column].called[0] for c in columns}
    own = model.tables[table].columns
    return tuple(Column(table, name) for name, told in own.items() if told.called[0] in said)


def count_pieces(model: DataModel, request: DataRequest) -> None:
    """What is on an order is told with how many of it, where its lines say so."""
    if request.numbered is not None and not request.figures:
        own = (m for m in model.measures if m.kind == "number")
        lines = {link.table for m in own for link in model.tables[m.table].links}
        if request.numbered.table in lines:
            request.figures.append(Asked("sum", "units"))


def _amounts(model: DataModel, columns: Columns) -> Columns:
    return tuple(column for column in columns if kind_of(model, column) == "money")
