"""What verbs of buying, earning and costing come to, where nothing else says what is asked."""

from collections.abc import Sequence

from server.extraction.data_questions.asked import EACH, Asked, DataRequest, NotHeld
from server.extraction.data_questions.columns import all_columns
from server.extraction.data_questions.composing.subjects import thing_done
from server.extraction.data_questions.items import Item
from server.extraction.data_questions.meanings import Column, Columns
from server.extraction.data_questions.words import Words, use


def read_verbs(words: Words, request: DataRequest) -> None:
    """How much was spent, what something costs."""
    _read_sold_to_us(words)
    verbs = [item for item in words.left() if item.has("money_done", "costs", "wages")]
    measured = any(_is_money(words, asked) for asked in request.all_asked())
    nothing = not (
        request.target or request.counted or request.figures or request.order or request.everything
    )
    if not nothing and _asks_what_was_spent(words, request, verbs):
        request.also += [request.target] if request.target is not None else []
        request.target, nothing = None, True
    amounts = [c for c in request.shown if c and all(words.kind(one) == "money" for one in c)]
    if nothing and verbs and amounts and len(amounts) == len(request.shown):
        request.figures += [Asked("sum", columns=columns) for columns in amounts]
        request.shown.clear()  # what did we spend on freight
        use(*verbs)
    elif nothing and verbs and all(i.has("costs") for i in verbs) and _prices(words, request):
        pass  # what the track costs is its price, and no sum
    elif nothing and verbs and not request.facts:
        if any(
            one.comparison == "given" and all(words.kind(c) == "date" for c in one.columns)
            for one in request.conditions
        ):
            return  # what somebody has taken and not brought back
        if any(item.kind == "unknown" for item in words.items):
            return
        paid = next((m.table for m in words.model.measures if m.kind == "money"), None)
        if request.who and paid is not None and not request.groups:
            use(*verbs)
            request.facts.append((paid,))  # who bought anything today
            return
        request.figures.append(Asked("sum", "money"))
        measured = True
    is_best = request.top and any(group in EACH for group in request.groups)
    if nothing and is_best and not request.facts and not request.figures:
        request.figures.append(Asked("sum", "money"))  # our best month
    if any(asked.measure == "money" for asked in request.all_asked()):
        _refuse_own_costs(words)
    if measured:
        use(*verbs)
        _refuse_wages(words, request)
    _read_costs(words, request)


def _read_sold_to_us(words: Words) -> None:
    """What a supplier sells us: what it has."""
    for item in words.left():
        before, after = words.beside(item, -1), words.next(item)
        ours = after is not None and after.spoken in words.language.buyers
        if item.spoken not in words.language.sellers or before is None or not ours:
            continue
        tables = {value.table for value in before.meanings.values}
        tables |= {need.table for need in before.meanings.nouns}
        if tables and not any(words.model.tables[table].pays for table in tables):
            use(item)


def _asks_what_was_spent(words: Words, request: DataRequest, verbs: Sequence[Item]) -> bool:
    """What have customers in Austria spent: a sum, and no list of those who did."""
    others = request.counted or request.figures or request.order or request.shown or request.groups
    if others or request.having or request.target is None or not verbs:
        return False
    first, second = words.items[0], words.items[1] if len(words.items) > 1 else words.items[0]
    begins = first.first_word in words.language.which and second.is_filler
    auxiliary = not words.language.have_done.isdisjoint(
        {first.last_word, second.spoken, second.first_word}
    )
    spent = all(item.has("money_done") and not item.meanings.done for item in verbs)
    return begins and auxiliary and spent


def _is_money(words: Words, asked: Asked) -> bool:
    if asked.columns:
        return all(words.kind(column) == "money" for column in asked.columns)
    return asked.measure == "money"


def _refuse_own_costs(words: Words) -> None:
    """What we pay is no sum of what comes in."""
    language = words.language
    for item in words.items:
        before = words.previous(item)
        if (
            item.spoken in language.paying
            and before is not None
            and before.last_word in language.we
        ):
            raise NotHeld(item.said)


def _refuse_wages(words: Words, request: DataRequest) -> None:
    """What people are paid who do not pay is no sum of what comes in."""
    told = next((item for item in words.items if item.role and item.has("wages")), None)
    turnover = any(i.has("money") and not i.has("money_done") for i in words.items)
    if told is None or turnover:
        return
    for named in request.named:
        tables = [words.model.tables[value.table] for value in named.values]
        if all(table.people and not table.pays for table in tables):
            raise NotHeld(told.said)


def _read_costs(words: Words, request: DataRequest) -> None:
    ordered = bool(request.order) and (request.target is not None or bool(request.groups))
    for item in words.left():
        costs = item.has("costs")
        how_much = item.has("totals") and words.is_how_much(item)
        if not costs and not how_much:
            continue
        if how_much and request.facts and _is_of_each(words, item):
            use(item, *words.rest_of_clause(item))
            request.figures.append(Asked("sum", "units"))  # what they bought, and how much of each
            if request.target is None:
                request.target, request.plural = thing_done(words.model, request), True
        elif ordered or (costs and _follows_amount(words, item)) or (how_much and request.shown):
            use(item)
        elif how_much and (amounts := _own_amounts(words, request)):
            request.shown.append(amounts)  # who, when and how much
            use(item)
        elif prices := _prices(words, request):
            request.shown.append(prices)
            use(item)


def _is_of_each(words: Words, item: Item) -> bool:
    """Whether it is asked how much of each thing."""
    return any(other.has("each") for other in words.rest_of_clause(item))


def _own_amounts(words: Words, request: DataRequest) -> Columns:
    """What rows that are listed came to."""
    target = request.target
    if target is None:
        return ()
    return tuple(
        Column(target.table, name)
        for name, told in words.model.tables[target.table].columns.items()
        if told.kind == "money" and not {*told.called}.isdisjoint(words.language.amounts)
    )


def _follows_amount(words: Words, item: Item) -> bool:
    """Whether a number that is asked for stands before it: freight costs."""
    before = words.previous(item)
    return before is not None and bool(before.role) and bool(words.numbers(before))


def _prices(words: Words, request: DataRequest) -> Columns:
    """What something costs, that has a name: its price."""
    if request.figures or request.having or not request.named:
        return ()
    return tuple(
        column
        for column, told in all_columns(words.model)
        if told.kind == "money"
        and not {*told.called}.isdisjoint(words.language.prices)
        and words.model.tables[column.table].name
    )
