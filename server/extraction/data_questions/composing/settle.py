"""What is listed, counted and added up, decided by all that was read."""

from dataclasses import replace
from typing import Final

from server.extraction.data_questions.asked import (
    EACH,
    Absent,
    Asked,
    DataRequest,
    Ends,
    Having,
    NotHeld,
    Ordered,
    Unclear,
)
from server.extraction.data_questions.columns import kind_of, unit_of
from server.extraction.data_questions.composing.choice import Choice
from server.extraction.data_questions.composing.lacking import own_names
from server.extraction.data_questions.composing.subjects import (
    named_row,
    people,
    thing_done,
    things_of,
)
from server.extraction.data_questions.joins import Need
from server.extraction.data_questions.meanings import Column, Columns
from server.extraction.data_questions.words import Words, use
from server.library.data_model import DataModel
from server.text.stems import singular

_LEAD: Final = 3
"""So many parts a question about how something is done begins with."""
_FEW: Final = 5
"""So near to the beginning it stands that a cost is asked for."""
_HAS: Final = frozenset({"has", "have"})
"""Last words of who has something, which may be in many ways."""


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
        holders = [need for need in request.also if _holds(words.model, need, request.listed)]
        if request.each_of_them and len(holders) > 1:
            request.also = [need for need in request.also if need not in holders[1:]]
            request.absent += [Absent((need.table,), is_there=True) for need in holders[1:]]
        return
    _keep_own_names(words.model, request)
    _name_things(words, request)
    _sum_bounds(words, request)
    _name_best_sellers(words.model, request)
    _rank_payers(words.model, request)
    _rank_by_number(words, request)
    _cost_of_every(words, request)
    _average_rows(request)
    _tell_of_row(words.model, request)
    if request.having and request.target in request.groups:
        request.groups.remove(request.target)  # who has more than three, and how many each
    _list_lines(words.model, request)
    _sum_pieces(words.model, request)
    _leave_out_amounts(words.model, request)
    _sum_shown(words, words.model, request)
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
    if request.target is not None and asks_rows and (grouped or _is_compared(request)):
        request.counted, request.target = request.target, None
        return
    if request.groups and (request.counted is not None or request.figures):
        _bound_figures(request)
    by_shown = request.target is None and not request.who and bool(request.shown)
    best_figure = request.top and bool(request.figures)
    if by_shown and (request.having or request.order or best_figure):
        request.groups.insert(0, request.shown.pop(0))
        if not request.figures:
            return
    if request.target is None and request.counted is None and not request.figures:
        _find_target(words, request)


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
        _sum_lengths(model, request, request.target)
    elif _is_held(words):
        holders = [value.table for named in request.named for value in named.values]
        request.target, request.plural = thing_done(model, request, holders), True
        _count_pieces(model, request)
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


def _name_things(words: Words, request: DataRequest) -> None:
    """Genres that have stuff for 1.99: the things that are sold."""
    said = next((i for i in words.items if i.has("everything") and not i.role), None)
    sold = [measure.table for measure in words.model.measures if measure.kind == "number"]
    if said is None or not sold or request.target is None or not request.bounds:
        return
    thing = thing_done(words.model, request, facts=sold)
    if thing != request.target:
        use(said)
        request.also.append(thing)
        request.bounds = [bound._replace(of=bound.of or thing) for bound in request.bounds]


def _keep_own_names(model: DataModel, request: DataRequest) -> None:
    """What is said of what is asked for is not denied with what was never done to it."""
    subject = request.subject
    for absent in request.absent if subject is not None else ():
        assert subject is not None  # noqa: S101  seen above
        for named in own_names(model, subject, absent):
            absent.named.remove(named)
            request.named.append(named)


def _sum_bounds(words: Words, request: DataRequest) -> None:
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


def _name_best_sellers(model: DataModel, request: DataRequest) -> None:
    """The three best sellers, in units: of what is sold, where nothing else is named."""
    by_units = any(isinstance(one.by, Asked) and one.by.measure == "units" for one in request.order)
    sold = [measure.table for measure in model.measures if measure.kind == "number"]
    others = request.subject or request.groups or request.facts or request.who or request.shown
    figures = [asked for asked in request.figures if asked != Asked("sum", "units")]
    if by_units and sold and request.limit is not None and not (others or figures):
        request.figures.clear()
        request.target, request.plural = thing_done(model, request, facts=sold), True


def _average_rows(request: DataRequest) -> None:
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


def _rank_by_number(words: Words, request: DataRequest) -> None:
    """The top 5 countries that our customers live in: by how many of them do."""
    kinds = [
        columns
        for columns in request.shown
        if columns and all(words.kind(column) == "category" for column in columns)
    ]
    if request.top and request.target is not None and len(kinds) == len(request.shown) == 1:
        top = next((item for item in words.items if item.has("tops")), None)
        named = (
            [i for i in words.after(top) if i.kind == "phrase" and not i.is_filler] if top else []
        )
        told = request.figures or request.order or request.having or request.facts or request.groups
        if named and kinds[0][0] in named[0].meanings.columns and not told:
            request.groups.append(request.shown.pop())
            request.order.append(Ordered(Asked("count", rows=request.target), request.top_down))
            request.target, request.top = None, False
            return
    others = [need for need in request.also if need != request.target]
    told = request.figures or request.order or request.having or request.facts or request.groups
    if request.top and request.target is not None and len(others) == 1 and not told:
        counted = Asked("count", rows=others[0], distinct=True)
        request.order.append(Ordered(counted, request.top_down))
        request.top = False


def _cost_of_every(words: Words, request: DataRequest) -> None:
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


def _rank_payers(model: DataModel, request: DataRequest) -> None:
    """The best customers are those who pay the most."""
    target, figures = request.target, request.figures or request.order or request.having
    earns = any(measure.kind == "money" for measure in model.measures)
    pays = target is not None and model.tables[target.table].pays
    if request.top and pays and earns and not (figures or request.shown):
        request.order.append(Ordered(Asked("sum", "money"), request.top_down))
        request.top = False


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


def _sum_lengths(model: DataModel, request: DataRequest, target: Need) -> None:
    """How long an album is: of all that belongs to it together."""
    for columns in list(request.shown):
        kinds = {kind_of(model, column) for column in columns if unit_of(model, column)}
        if kinds == {"number"} and all(column.table != target.table for column in columns):
            request.figures.append(Asked("sum", columns=columns))
            request.shown.remove(columns)


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


def _sum_shown(words: Words, model: DataModel, request: DataRequest) -> None:
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


def _bound_figures(request: DataRequest) -> None:
    """A bound without a name is one of the figure that each group has: only those with 15."""
    counted = Asked("count", rows=request.counted, distinct=True)
    asked = counted if request.counted is not None else request.figures[0]
    request.having += [Having(asked, bound.comparison, bound.value) for bound in request.bounds]
    request.bounds.clear()


def order_rows(model: DataModel, request: DataRequest) -> None:
    """Rows that are listed, cheapest first: of the column that this is said of."""
    target, ends = request.target, request.by_ends
    _order_by_bound(model, request)
    figures = request.figures or request.order or request.groups or request.having
    if target is None or ends is None or figures:
        return
    days = any(kind_of(model, column) == "date" for columns in request.shown for column in columns)
    if request.by_days and (model.tables[target.table].date or request.shows_days or days):
        return  # newest first is of the day on which it happened
    own = [
        degree._replace(columns=tuple(c for c in degree.columns if c.table == target.table))
        for degree in ends.degrees
    ]
    degrees = tuple(degree for degree in own if degree.columns)
    if degrees:
        request.order.append(Ordered(Ends(degrees), descending=True))


def _order_by_bound(model: DataModel, request: DataRequest) -> None:
    """Freights above 500, highest first: by the amount that has the bound."""
    others = request.order or request.groups or request.figures or request.by_ends or request.sorts
    bounded = [
        tuple(c for c in one.columns if kind_of(model, c) in ("money", "number"))
        for one in request.conditions
        if one.comparison in ("more", "least", "less", "most")
    ]
    if request.direction and not (request.by_days or others) and len(bounded) == 1 and bounded[0]:
        request.order.append(Ordered(bounded[0], request.direction == "desc"))


def _leave_out_amounts(model: DataModel, request: DataRequest) -> None:
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


def _sum_pieces(model: DataModel, request: DataRequest) -> None:
    """How many pieces of what is listed: the products that somebody bought, and the quantities."""
    pieces = {(m.table, m.times[-1]) for m in model.measures if m.kind == "number"}
    target = request.target
    for columns in list(request.shown):
        if target is not None and any(
            column[:2] in pieces and column.table != target.table for column in columns
        ):
            request.shown.remove(columns)
            request.figures.append(Asked("sum", "units"))


def _list_lines(model: DataModel, request: DataRequest) -> None:
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


def _amounts(model: DataModel, columns: Columns) -> Columns:
    return tuple(column for column in columns if kind_of(model, column) == "money")


def _find_target(words: Words, request: DataRequest) -> None:
    model = words.model
    if _is_compared(request) and request.facts:
        request.figures.append(Asked("sum", "units"))
        return
    if request.everything and request.against:
        return
    if request.everything:
        request.target, request.plural = _all_things(model, request), True
        return
    asks_thing = not (request.who or request.when or request.shown or request.numbered)
    dated = next((days.columns[0] for days in request.days if days.columns), None)
    if request.contained and (called := _called_so(words)) is not None:
        request.target, request.plural = called, True  # anything with Dracula in the title
        return
    if (of_column := _of_bounds(model, request)) is not None and asks_thing:
        request.target, request.plural = of_column, True
        return
    if dated is not None and asks_thing and not (request.facts or request.order):
        happened = not model.tables[dated.table].name  # what came back yesterday
        thing = thing_done(model, request, facts=[dated.table]) if happened else Need(dated.table)
        request.target, request.plural = thing, True
        return
    first = words.first()
    if first is not None and first.has(*EACH) and request.groups and request.order:
        return  # in which month did we sell the most
    if _thing_with_shown(model, request) or (request.facts and asks_thing):
        request.target, request.plural = thing_done(model, request), not request.order
    elif request.numbered and not request.shown and not request.named and _is_held(words):
        request.target, request.plural = thing_done(model, request), True
        _count_pieces(model, request)
    elif request.absent and asks_thing and not request.order:
        done = [table for absent in request.absent for table in absent.tables]
        if any(item.spoken in words.language.persons for item in words.items):
            request.target = people(model, request)  # anyone who has never ordered
        else:
            request.target = thing_done(model, request, facts=done)  # anything that nobody bought
        request.plural = True
    elif request.who and _tells_of_named(model, request):
        pass  # who wrote it is told by a column of it
    elif request.who:
        told = request.facts or request.conditions or request.figures or request.absent
        has = any(item.has("who") and item.last_word in _HAS for item in words.items)
        if has and not (told or request.order or request.having or request.shown):
            raise Unclear("who has it, and how")
        request.target, request.plural = people(model, request), not request.order


def _called_so(words: Words) -> Need | None:
    """What has a name that is called as is said: a title."""
    said = next((i for i in words.items if i.has("contains", "begins", "ends") and i.role), None)
    known = words.meanings(singular(said.last_word)) if said is not None else None
    tables = words.model.tables
    named = [
        column.table
        for column in (known.columns if known is not None else ())
        if column.rank == 0 and (column.column,) == tuple(tables[column.table].name)
    ]
    return Need(named[0]) if len(named) == 1 else None


def _of_bounds(model: DataModel, request: DataRequest) -> Need | None:
    """Anything that is longer than an hour, or costs more than 50: what has such a column."""
    ended = [
        one.columns[0]
        for one in request.conditions
        if one.comparison == "given" and one.value is False and one.columns
    ]
    days = bool(ended) and all(kind_of(model, column) == "date" for column in ended)
    if days and request.named and len(ended) == len(request.conditions) and not request.facts:
        return thing_done(model, request, facts=[ended[0].table])  # what somebody has still got
    others = request.facts or request.order or request.named or request.absent or request.also
    if others:
        return None
    sold = [measure.table for measure in model.measures if measure.kind == "number"]
    if request.bounds and sold and not request.conditions:
        return thing_done(model, request, facts=sold)
    tables = {c.table for one in request.conditions for c in one.columns if c.rank == 0}
    named = [
        table for table in tables if model.tables[table].name and not model.tables[table].people
    ]
    bounded = all(one.comparison in ("more", "least", "less", "most") for one in request.conditions)
    return Need(named[0]) if bounded and len(tables) == len(named) == 1 else None


def _thing_with_shown(model: DataModel, request: DataRequest) -> bool:
    """Whether what was done is told by what is shown: what she rented, with the titles."""
    others = request.who or request.when or request.numbered or request.order or request.groups
    if not (request.facts and request.shown and request.named) or others:
        return False
    thing = thing_done(model, request)
    return any(column.table == thing.table for columns in request.shown for column in columns)


def _tells_of_named(model: DataModel, request: DataRequest) -> bool:
    """Whether what is shown is of what has a whole name that was said."""
    shown = {column.table for columns in request.shown for column in columns}
    named = (value for one in request.named for value in one.values)
    things = (v.table for v in named if v.columns == tuple(model.tables[v.table].name))
    return any(table in shown and not model.tables[table].people for table in things)


def _count_pieces(model: DataModel, request: DataRequest) -> None:
    """What is on an order is told with how many of it, where its lines say so."""
    if request.numbered is not None and not request.figures:
        own = (m for m in model.measures if m.kind == "number")
        lines = {link.table for m in own for link in model.tables[m.table].links}
        if request.numbered.table in lines:
            request.figures.append(Asked("sum", "units"))


def _all_things(model: DataModel, request: DataRequest) -> Need:
    """What everything is: what a day or a condition is of, or what somebody named has."""
    told = [days.columns for days in request.days] + [one.columns for one in request.conditions]
    for columns in told:
        if columns:
            return Need(columns[0].table)
    for named in request.named:
        for value in named.values:
            if value.columns != tuple(model.tables[value.table].name):
                return Need(value.table)
    return thing_done(model, request, [v.table for n in request.named for v in n.values])


def _is_compared(request: DataRequest) -> bool:
    return request.compares and len(request.named) > 1


def _is_held(words: Words) -> bool:
    """Whether what is on or in something is asked for: what's on order 10500."""
    return any(item.spoken in words.language.held for item in words.items)


def _of_table(asked: Asked, tables: tuple[str, ...], table: str) -> Asked:
    """How often something was done, by the table that it is of."""
    return replace(asked, rows=Need(table), done=()) if asked.done == tables else asked
