"""What is listed, counted and added up, decided by all that was read."""

from dataclasses import replace
from typing import Final

from server.extraction.data_questions.asked import (
    EACH,
    Absent,
    Asked,
    Condition,
    DataRequest,
    Ends,
    NotHeld,
    Ordered,
    Unclear,
)
from server.extraction.data_questions.composing.amounts import (
    average_rows,
    bound_figures,
    cost_of_every,
    count_pieces,
    leave_out_amounts,
    list_lines,
    sum_bounds,
    sum_lengths,
    sum_pieces,
    sum_shown,
)
from server.extraction.data_questions.composing.choice import Choice
from server.extraction.data_questions.composing.lacking import own_names
from server.extraction.data_questions.composing.rankings import (
    name_best_sellers,
    order_rows,
    rank_by_number,
    rank_payers,
)
from server.extraction.data_questions.composing.subjects import named_row, thing_done, things_of
from server.extraction.data_questions.composing.unnamed import (
    find_target,
    is_compared,
    is_held,
    name_things,
)
from server.extraction.data_questions.joins import Need
from server.extraction.data_questions.meanings import Columns
from server.extraction.data_questions.words import Words
from server.library.data_model import DataModel

_LEAD: Final = 3
"""So many parts a question about how something is done begins with."""


def settle_target(words: Words, request: DataRequest) -> None:
    """Decide what is listed and what is counted, as far as the words tell."""
    figures = request.groups or request.counted or request.compares or any(request.all_asked())
    lead = " ".join(item.spoken for item in words.items[:_LEAD])
    if lead.startswith(words.language.how_tos):
        raise NotHeld(words.items[0].said)  # how do I give somebody their money back
    asks_how = words.items[0].spoken in words.language.manners
    if asks_how and not (figures or request.shown):
        raise Unclear("how")  # how did we sell
    if request.when and request.end_of_days:
        if not (request.facts or request.also or request.target) or request.must_show:
            raise Unclear("when")
        if request.target is not None:
            request.also.append(request.target)
            request.target = None
            return
    if request.listed and (request.target is not None or request.counted is not None):
        if request.target is not None:
            request.also.append(request.target)
            request.target = None
        request.groups.insert(0, request.listed)
        if all(words.kind(column) == "text" for column in request.listed):
            request.conditions.append(Condition(request.listed, "given", value=True))
        holders = [need for need in request.also if _holds(words.model, need, request.listed)]
        if request.each_of_them and len(holders) > 1:
            request.also = [need for need in request.also if need not in holders[1:]]
            request.absent += [Absent((need.table,), is_there=True) for need in holders[1:]]
        return
    _keep_own_names(words.model, request)
    name_things(words, request)
    sum_bounds(words, request)
    name_best_sellers(words.model, request)
    rank_payers(words.model, request)
    rank_by_number(words, request)
    cost_of_every(words, request)
    average_rows(request)
    _tell_of_row(words.model, request)
    if request.having and request.target in request.groups:
        request.groups.remove(request.target)  # who has more than three, and how many each
    list_lines(words.model, request)
    sum_pieces(words.model, request)
    leave_out_amounts(words.model, request)
    sum_shown(words, words.model, request)
    order_rows(words.model, request)
    best = request.figures or request.order or request.top
    if request.who and request.target is not None and request.groups and not best:
        raise Unclear("who, of each")
    if request.who and request.counted is not None and (request.having or request.order):
        request.figures.append(Asked("count", rows=request.counted, distinct=True))
        request.counted = None  # who spent more than 50, and in how many orders
    if request.counted is not None and _says_bound_again(request):
        request.target, request.counted = request.target or next(iter(request.also), None), None
    asks_rows = not (request.figures or request.order or request.having or request.shown)
    best_of_each = request.top and any(group not in EACH for group in request.groups)
    grouped = bool(request.groups) and not best_of_each
    if request.target is not None and asks_rows and (grouped or is_compared(request)):
        request.counted, request.target = request.target, None
        return
    if request.groups and (request.counted is not None or request.figures):
        bound_figures(request)
    by_shown = request.target is None and not request.who and bool(request.shown)
    best_figure = request.top and bool(request.figures)
    if by_shown and (request.having or request.order or best_figure):
        request.groups.insert(0, request.shown.pop(0))
        if not request.figures:
            return
    if request.target is None and request.counted is None and not request.figures:
        find_target(words, request)


def settle_facts(choice: Choice, request: DataRequest) -> None:
    """Decide which table each verb names."""
    for tables in request.facts:
        table = choice.table(tables)
        request.figures = [_of_table(asked, tables, table) for asked in request.figures]
        request.having = [
            bound._replace(asked=_of_table(bound.asked, tables, table)) for bound in request.having
        ]
        request.order = [
            Ordered(_of_table(by, tables, table), down)
            if isinstance(by, Asked)
            else Ordered(by, down)
            for by, down in request.order
        ]


def settle_by_values(words: Words, request: DataRequest) -> None:
    """Of what a name or a column tells: the price of X, the shortest comedy."""
    model = words.model
    ends = (one.by.columns for one in request.order if isinstance(one.by, Ends))
    columns = next(filter(None, ends), None)
    if columns is not None:
        request.target = Need(columns[0].table)
    elif request.against:
        request.target, request.plural = Need(request.against[0].mine.table), True
    elif request.numbered is not None:
        request.target = request.numbered
    elif request.when and request.facts:
        return
    elif (thing := _thing_shown(model, request)) is not None:
        request.target, request.plural = thing, True
    elif request.shown or request.order:
        request.target = named_row(model, request)
        sum_lengths(model, request, request.target)
    elif is_held(words):
        holders = [value.table for named in request.named for value in named.values]
        request.target, request.plural = thing_done(model, request, holders), True
        count_pieces(model, request)
    else:
        _settle_by_kind(words, request)


def _tell_of_row(model: DataModel, request: DataRequest) -> None:
    """What genre a film is and what it costs: of the film, both."""
    target = request.target
    values = request.named[0].values if len(request.named) == 1 else ()
    whole = [v for v in values if v.columns == tuple(model.tables[v.table].name) and not v.part]
    if target is None or request.plural or len(whole) != 1 or whole[0].table == target.table:
        return
    if request.order or request.figures or request.groups or not request.shown:
        return
    if all(any(c.table == whole[0].table for c in columns) for columns in request.shown):
        request.also.append(target)
        request.shown_names.append(target)
        request.must_show.append(target)
        request.target = Need(whole[0].table)


def _keep_own_names(model: DataModel, request: DataRequest) -> None:
    """What is said of what is asked for is not denied with what was never done to it."""
    subject = request.subject
    if subject is None:
        return
    for absent in request.absent:
        for named in own_names(model, subject, absent):
            absent.named.remove(named)
            request.named.append(named)


def _holds(model: DataModel, need: Need, columns: Columns) -> bool:
    """Whether a table has a column that is called as the best of some."""
    tables = model.tables
    called = {tables[c.table].columns[c.column].called[0] for c in columns}
    return any(
        not called.isdisjoint(told.called[:1]) for told in tables[need.table].columns.values()
    )


def _says_bound_again(request: DataRequest) -> bool:
    """Whether what is counted has a bound: who is in more than 20 films, and in how many films."""
    counted = request.counted
    rows = [bound.asked.rows for bound in request.having]
    ordered = [one.by for one in request.order if isinstance(one.by, Asked)]
    rows += [Need(table) for asked in ordered for table in asked.done]
    others = [need for need in request.also if need != counted]
    return counted in rows and bool(request.target or others) and not request.groups


def _thing_shown(model: DataModel, request: DataRequest) -> Need | None:
    """The things of a kind that is named, where it is they that have what is shown."""
    shown = {column.table for columns in request.shown for column in columns}
    things = (things_of(model, v) for named in request.named for v in named.values)
    return next((thing for thing in things if thing is not None and thing.table in shown), None)


def _settle_by_kind(words: Words, request: DataRequest) -> None:
    """Nothing but values is said: the things of such a kind, or what is called so."""
    things = (things_of(words.model, v) for named in request.named for v in named.values)
    thing = next(filter(None, things), None)
    if thing is not None:
        request.target, request.plural = thing, True
        return
    said = [item for item in words.items if item.role == "value"]
    others = [item for item in words.items if item.role != "value" and not item.is_filler]
    if len(said) != 1 or not all(item.meanings.nouns for item in others):
        raise Unclear("nothing says what is asked for")
    request.target = named_row(words.model, request)


def _of_table(asked: Asked, tables: tuple[str, ...], table: str) -> Asked:
    """How often something was done, by the table that it is of."""
    return replace(asked, rows=Need(table), done=()) if asked.done == tables else asked
