"""What is asked for, where no noun says it: by what was done, by people, by names."""

from collections.abc import Sequence
from typing import Final

from server.extraction.data_questions.asked import Asked, DataRequest, Ends, Unclear
from server.extraction.data_questions.joins import Need, Way, join
from server.extraction.data_questions.meanings import Value
from server.library.data_model import DataModel

_LINE: Final = -1.5
"""What it is worth that something is on a line of what was done, and not done at a day."""
_PAYING: Final = -1.5
"""What it is worth that people pay, where something was done."""
_NEAR: Final = 2
"""So many links from a kind of things to the things."""


def thing_done(
    model: DataModel,
    request: DataRequest,
    holders: Sequence[str] = (),
    facts: Sequence[str] = (),
) -> Need:
    """What was bought or rented: the nearest thing with a name that is no person."""
    held = {request.numbered.table} if request.numbered is not None else {*holders}
    facts = [*facts, *(table for tables in request.facts for table in tables)]
    told = len(facts)
    facts += [
        name
        for name, table in model.tables.items()
        if any(link.table in held for link in table.links)
    ]
    named = {value.table for one in request.named for value in one.values}
    own = [
        fact for fact in facts[told:] if model.tables[fact].name and not model.tables[fact].people
    ]
    if own:
        return Need(own[0])  # what a supplier has are products, and not what they are of
    ranked: list[tuple[float, int, str]] = []
    for order, fact in enumerate(facts):
        is_line = not model.tables[fact].date
        for name, ways in model.reachable[fact].items():
            other = model.tables[name]
            is_thing = bool(other.name) and not other.people and not other.pays
            way = _way_of_things(model, fact, ways)
            if is_thing and way is not None and name not in {fact, *holders, *named}:
                ranked.append((len(way) + _LINE * is_line, order, name))
    if not ranked:
        raise Unclear("nothing says what is asked for")
    return Need(min(ranked)[2])


def _way_of_things(model: DataModel, table: str, ways: Sequence[Way]) -> Way | None:
    """The shortest way that passes no people: where a customer lives is not what is rented."""
    for way in ways:
        passed, at = [], table
        for step in way:
            link = model.link(at, step)
            if link is None:
                raise KeyError(step)
            at = link.table
            passed.append(model.tables[at])
        if not any(other.people or other.pays for other in passed):
            return way
    return None


def people(model: DataModel, request: DataRequest) -> Need:
    """Who it is: people that are near to what was done, or to what else is named."""
    candidates = [name for name, table in model.tables.items() if table.people]
    told = [*(days.columns for days in request.days), *request.shown]
    told += [condition.columns for condition in request.conditions]
    told += [one.by.columns for one in request.order if isinstance(one.by, Ends)]
    told += [
        one.by
        for one in request.order
        if not isinstance(one.by, Ends | Asked) and not request.facts
    ]
    dated = {column.table for columns in told for column in columns}
    own = next((table for table in candidates if table in dated), None)
    if own is not None:
        return Need(own)
    needs = [Need(tables[0]) for tables in request.facts]
    needs = needs or [
        Need(one.columns[0].table)
        for one in request.conditions
        if one.comparison == "given" and one.value is False and not request.shown
    ]
    needs = needs or [Need(named.values[0].table) for named in request.named]
    if not needs and request.numbered is not None:
        needs = [request.numbered]
    is_money = any(asked.measure == "money" for asked in request.all_asked())
    ends = any(one.comparison == "given" and one.value is False for one in request.conditions)
    does = bool(request.facts) or ends or bool(request.absent) or is_money
    ranked: list[tuple[float, int, str]] = []
    for order, table in enumerate(candidates):
        found = join(model, [*needs, Need(table)])
        if found is not None:
            pays = model.tables[table].pays and does
            if request.sellers and model.tables[table].pays:
                continue
            ranked.append((found.cost + _PAYING * pays, order, table))
    ranked.sort()
    by_number = request.numbered is not None and needs == [request.numbered]
    if not ranked or (by_number and len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
        raise Unclear("who")
    return Need(ranked[0][2])


def things_of(model: DataModel, value: Value) -> Need | None:
    """What is of such a kind: the films, of a category."""
    table = model.tables[value.table]
    told = table.columns.get(value.columns[0])
    if told is not None and told.kind == "category" and tuple(table.name) != value.columns:
        return Need(value.table)
    if table.links or table.people or not table.name:
        return None
    ranked: list[tuple[int, int, str]] = []
    for order, (name, other) in enumerate(model.tables.items()):
        ways = model.reachable[name].get(value.table, ())
        if name != value.table and other.name and not other.people and ways:
            ranked.append((len(ways[0]), order, name))
    if not ranked or min(ranked)[0] > _NEAR:
        return None
    return Need(min(ranked)[2])


def named_row(model: DataModel, request: DataRequest) -> Need:
    """What has a whole name that was said, in the table of what is shown if there is one."""
    shown = {column.table for columns in request.shown for column in columns}
    for named in request.named:
        own = [v for v in named.values if v.columns == tuple(model.tables[v.table].name)]
        best = [value for value in own if value.table in shown] or own
        if best:
            return Need(best[0].table)
    whole = [v for named in request.named for v in named.values if not v.part]
    whole = whole or [v for named in request.named for v in named.values]
    if len(whole) == 1 and len(request.named) == 1 and whole[0].table in shown:
        return Need(whole[0].table)  # the phone number of a contact person
    raise Unclear("nothing says what is asked for")
