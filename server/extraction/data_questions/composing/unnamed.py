"""What is asked for where no noun names it: by what was done, by bounds, by people."""

from typing import Final

from server.extraction.data_questions.asked import EACH, Asked, DataRequest, Unclear
from server.extraction.data_questions.columns import kind_of
from server.extraction.data_questions.composing.amounts import count_pieces
from server.extraction.data_questions.composing.subjects import people, thing_done
from server.extraction.data_questions.joins import Need
from server.extraction.data_questions.words import Words, use
from server.library.data_model import DataModel
from server.text.stems import singular

_HAS: Final = frozenset({"has", "have"})
"""Last words of who has something, which may be in many ways."""


def name_things(words: Words, request: DataRequest) -> None:
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


def find_target(words: Words, request: DataRequest) -> None:
    model = words.model
    if is_compared(request) and request.facts:
        request.figures.append(Asked("sum", "units"))
        return
    if request.everything and request.against:
        return
    if request.everything:
        request.target, request.plural = _all_things(model, request), True
        return
    asks_thing = not (request.who or request.when or request.shown or request.numbered)
    dated = next((days.columns[0] for days in request.days if days.columns), None)
    is_sum = words.says(words.language.altogether) and any(
        m.kind == "money" for m in model.measures
    )
    if is_sum and request.facts and request.named and asks_thing and not request.order:
        request.figures.append(Asked("sum", "money"))  # what she sold in total
        return
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
    if first is not None and first.has(*EACH, "when") and request.groups and request.order:
        return  # in which month did we sell the most
    if _thing_with_shown(model, request) or (request.facts and asks_thing):
        request.target, request.plural = thing_done(model, request), not request.order
    elif request.numbered and not request.shown and not request.named and is_held(words):
        request.target, request.plural = thing_done(model, request), True
        count_pieces(model, request)
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
    bounded = all(
        one.comparison in ("more", "least", "less", "most", "is") for one in request.conditions
    )
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


def is_held(words: Words) -> bool:
    """Whether what is on or in something is asked for: what's on order 10500."""
    return any(item.spoken in words.language.held for item in words.items)


def is_compared(request: DataRequest) -> bool:
    return request.compares and len(request.named) > 1
