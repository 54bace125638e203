"""What many rows come to: totals, averages, revenue."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from server.extraction.data_questions.asked import EACH, Asked, DataRequest, Each
from server.extraction.data_questions.columns import columns_called
from server.extraction.data_questions.items import Item
from server.extraction.data_questions.joins import Need
from server.extraction.data_questions.words import Words, measure_of, need_of, use
from server.library.data_query import Operation

_NEAR: Final = 5
"""So many parts from its worth stands what is in stock."""


def read_figures(words: Words, request: DataRequest) -> None:
    """The average price, total revenue, how much was sold."""
    for item in words.items:
        if not item.role and item.has("totals", "averages"):
            _read_figure(words, request, item)
    for item in words.left():
        if item.has("comes_to"):
            use(item, role="operator")
            if not (request.figures or request.counted):
                request.figures.append(Asked("sum", "money"))
        elif _is_own_cost(words, item):
            continue  # what do we spend on freight
        elif item.has("units") and _are_things(words, request, item):
            use(item)
            request.everything = True  # classical pieces that are longer than 7 minutes
        elif item.has("money", "units") and not item.meanings.nouns:
            use(item)
            asked = Asked("sum", measure_of(item))
            if asked not in request.figures:
                request.figures.append(asked)


def _are_things(words: Words, request: DataRequest, item: Item) -> bool:
    """Whether pieces are the things themselves: of a kind that is named, with a bound."""
    before = words.beside(item, -1)
    kind = before is not None and before is words.first() and bool(before.meanings.values)
    bounded = bool(request.conditions or request.bounds)
    return kind and bounded and not any(other.meanings.done for other in words.items)


def _is_own_cost(words: Words, item: Item) -> bool:
    """Whether it is what we spend on something of which the amounts are told."""
    before = words.previous(item)
    ours = before is not None and before.last_word in words.language.we
    after = words.free(item, 1)
    numbers = words.numbers(after)
    return (
        ours
        and item.has("money_done")
        and bool(numbers)
        and all(words.kind(column) == "money" for column in numbers)
    )


def _read_figure(words: Words, request: DataRequest, item: Item) -> None:
    operation: Operation = "average" if item.has("averages") else "sum"
    amount, passed, verbs = _following(words, item)
    stock = _stock(words, item) if operation == "sum" else None
    if stock is not None:
        if any(measure.kind == "stock" for measure in words.model.measures):
            use(item, stock, role="operator")
            use(*(i for i in words.left() if i.spoken in words.language.worth))
            request.figures.append(Asked("sum", "stock"))
        return  # the value of the stock is no number of pieces
    if amount is not None:
        use(item, amount, role="operator")
        asked = _figure_of(words, operation, amount, passed)
        if asked.measure and operation == "average":
            asked = replace(asked, per=_per(words, request, passed))
        request.figures.append(asked)
        use(*passed)
        request.also += [need for noun in passed if (need := need_of(noun)) is not None]
    elif words.is_how_much(item):
        _read_how_much(words, request, item, passed, verbs)
    elif not (operation == "average" and _read_average_degree(words, request, item)):
        _read_total(words, request, item, passed)


def _stock(words: Words, item: Item) -> Item | None:
    """The stock of which the worth is asked for, near to that."""
    after = words.next(item)
    told = [item, *([after] if after is not None else [])]
    told = [item, *words.after(item)] if words.is_how_much(item) else told
    worth = next((one for one in told if one.spoken in words.language.worth), None)
    if worth is None:
        return None
    stocks = {*columns_called(words.model, words.language.stocks)}
    near = [*words.items[max(0, item.place - _NEAR) : item.place], *words.after(item)[:_NEAR]]
    return next(
        (
            other
            for other in near
            if not other.role and any(c._replace(rank=0) in stocks for c in other.meanings.columns)
        ),
        None,
    )


def _read_average_degree(words: Words, request: DataRequest, item: Item) -> bool:
    """How long something is on average."""
    for other in words.left():
        if other.has("adjective"):
            use(item, other, role="operator")
            columns = tuple(c for degree in other.meanings.degrees for c in degree.columns)
            request.figures.append(Asked("average", columns=columns))
            return True
    return False


def _following(words: Words, item: Item) -> tuple[Item | None, list[Item], list[Item]]:
    """The amount after a part, the nouns and verbs up to there."""
    nouns: list[Item] = []
    verbs: list[Item] = []
    for other in words.after(item):
        if other.is_filler or other.role:
            continue
        if words.names_amount(other):
            return other, nouns, verbs
        if other.has("money_done") and not _is_named_noun(words, item, other):
            verbs.append(other)
        elif other.meanings.nouns:
            nouns.append(other)
        elif other.kind == "unknown":
            break
    return None, nouns, verbs


def _per(words: Words, request: DataRequest, passed: Sequence[Item]) -> Need | Each | None:
    """What an average amount is for each of: of an order, per customer, monthly."""
    own = next((need_of(item) for item in passed if not item.meanings.plural), None)
    if own is not None or not request.groups:
        return own
    group, *others = request.groups
    if others and isinstance(group, Need) and len(others) == 1 and not isinstance(others[0], Need):
        request.groups.remove(group)
        return group  # per customer, by country
    if others:
        return None
    pays = isinstance(group, Need) and words.model.tables[group.table].pays
    if group in EACH or pays:
        request.groups.clear()
        return group if isinstance(group, Need | str) else None
    return None


def _is_named_noun(words: Words, lead: Item, item: Item) -> bool:
    """Whether a noun that may be a verb is none: the total of order 10300, an average order."""
    after = words.next(item)
    numbered = after is not None and after.kind == "number"
    return bool(item.meanings.nouns) and (numbered or not words.is_how_much(lead))


def _figure_of(words: Words, operation: Operation, amount: Item, nouns: Sequence[Item]) -> Asked:
    """What an amount comes to, of the tables that are named before it."""
    numbers = words.numbers(amount)
    if not numbers:
        return Asked(operation, measure_of(amount))
    near = {noun.table for item in nouns for noun in item.meanings.nouns}
    return Asked(operation, columns=tuple(c for c in numbers if c.table in near) or numbers)


def _read_how_much(
    words: Words, request: DataRequest, item: Item, nouns: Sequence[Item], verbs: Sequence[Item]
) -> None:
    """How much was spent, how much is the order 10300."""
    if verbs:
        use(item, verbs[0], role="operator")
        request.figures.append(Asked("sum", "money"))
    else:
        _read_amount_of(words, request, item, nouns)


def _read_total(words: Words, request: DataRequest, item: Item, nouns: Sequence[Item]) -> None:
    """A total or an average of what stands before it, of itself, or of what it is said of."""
    operation: Operation = "average" if item.has("averages") else "sum"
    before = next(
        (
            other
            for other in reversed(words.before(item))
            if not other.role and (words.numbers(other) or other.has("money"))
        ),
        None,
    )
    own = words.numbers(item)
    if before is not None:
        use(item, before, role="operator")
        numbers = words.numbers(before)
        asked = Asked(operation, columns=numbers) if numbers else Asked(operation, "money")
        request.figures.append(asked)
        return
    if own and not nouns and not any(i.meanings.nouns for i in words.before(item)):
        use(item, role="operator")
        request.figures.append(Asked("sum", columns=own))
        return
    if _read_amount_of(words, request, item, nouns):
        return
    if operation == "sum" and len(nouns) == 1 and nouns[0].meanings.plural:
        use(item, nouns[0], role="operator")
        request.counted = need_of(nouns[0])


def _read_amount_of(words: Words, request: DataRequest, item: Item, nouns: Sequence[Item]) -> bool:
    """Total of order 10300, the average payment: what comes in by it."""
    operation: Operation = "average" if item.has("averages") else "sum"
    for noun in nouns:
        tables = {called.table for called in noun.meanings.nouns}
        per = need_of(noun)
        own = [m for m in words.model.measures if m.kind == "money" and m.table in tables]
        after = words.next(noun)
        numbered = after is not None and after.kind == "number"
        if own and (operation == "average" or numbered):
            use(item, role="operator")
            if not numbered:
                use(noun)
            request.figures.append(Asked(operation, "money"))
            request.also.append(Need(own[0].table))
            return True
        if numbered and operation == "sum":
            use(item, role="operator")
            request.figures.append(Asked("sum", "money"))
            return True
        if operation == "average" and per is not None and has_lines(words, per.table):
            use(item, noun, role="operator")
            request.figures.append(Asked("average", "money", per=per))
            return True
    return False


def has_lines(words: Words, table: str) -> bool:
    """Whether what a row comes to is told by the lines that belong to it."""
    return any(
        measure.kind == "money"
        and any(link.table == table for link in words.model.tables[measure.table].links)
        and not words.model.tables[measure.table].date
        for measure in words.model.measures
    )
