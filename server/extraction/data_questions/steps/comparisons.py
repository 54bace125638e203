"""What is compared with a number: a column, a figure, rows, or another column."""

from datetime import timedelta
from typing import Final, NamedTuple

from server.extraction.data_questions.asked import (
    Against,
    Asked,
    Bound,
    Condition,
    DataRequest,
    Having,
    Named,
    OverAverage,
    Unclear,
)
from server.extraction.data_questions.columns import columns_called, columns_with_unit
from server.extraction.data_questions.items import Item
from server.extraction.data_questions.meanings import Column, Columns, Meanings
from server.extraction.data_questions.words import Words, need_of, use, values_of
from server.library.data_query import Comparison

_NEAR: Final = 2
"""So far a column stands from its number: 20 units in stock."""


_FEW: Final = 3


def read_comparisons(words: Words, request: DataRequest) -> None:
    """More than 5 orders, between 10 and 20 dollars, below the reorder level."""
    for item in words.items:
        if item.role:
            continue
        if item.spoken in words.language.reorders:
            _read_short_stock(words, request, item)
        elif item.has("between"):
            _read_between(words, request, item)
        elif item.has("more", "less", "at_least", "at_most", "exactly"):
            _read_compared(words, request, item)
        elif item.kind in ("number", "money"):
            _read_equal(words, request, item)
        elif item.has("or_more", "or_less"):
            amount = words.beside(item, -1)
            noun = None
            if amount is not None and amount.names_table and not amount.role:
                noun, amount = amount, words.beside(amount, -1)  # 18 films or more
            if amount is not None and amount.is_amount and not amount.role:
                use(item, role="operator")
                last = item if noun is None else amount
                what = _bounded(words, request, _Phrase(amount, amount, last))
                comparison: Comparison = "least" if item.has("or_more") else "most"
                _add(words, request, what, comparison, amount)


class _Phrase(NamedTuple):
    """A number that something is compared with, and the parts that belong to it."""

    amount: Item
    lead: Item
    """What says how it is compared, or the number itself."""
    last: Item


_Bounded = Columns | Asked | None
"""What has a bound: columns of which one is meant, a figure, or what is not said."""


def _add(
    words: Words, request: DataRequest, what: _Bounded, comparison: Comparison, amount: Item
) -> None:
    if what is None:
        before = next((i for i in reversed(words.before(amount)) if not i.is_filler), None)
        while before is not None and before.role == "operator":
            before = words.beside(before, -1)
        of = need_of(before) if before is not None and before.kind == "phrase" else None
        request.bounds.append(Bound(comparison, amount.value, of))
    elif isinstance(what, Asked):
        request.having.append(Having(what, comparison, amount.value))
    else:
        request.conditions.append(Condition(what, comparison, amount.value))


def _read_between(words: Words, request: DataRequest, item: Item) -> None:
    one = words.beside(item, 1)
    two = words.beside(one, 1) if one is not None else None
    if one is None or two is None or not one.is_amount or not two.is_amount:
        return
    use(item, role="operator")
    if one.kind == "number" and two.kind == "money":
        one.kind = "money"
    what = _bounded(words, request, _Phrase(one, item, two))
    use(two, role="value")
    _add(words, request, what, "least", one)
    _add(words, request, what, "most", two)


def _read_equal(words: Words, request: DataRequest, amount: Item) -> None:
    """A rental price of 0.99: a number just after a column."""
    before, after = words.free(amount, -1), words.beside(amount, 1)
    numbers = words.numbers(before)
    is_bound = after is not None and after.has("or_more", "or_less")
    if before is None or not numbers or is_bound or amount.place - before.place > _NEAR:
        return
    if before.is_end or before.meanings.nouns:
        return
    use(before)
    use(amount, role="value")
    request.conditions.append(Condition(numbers, "is", amount.value))


def _read_compared(words: Words, request: DataRequest, item: Item) -> None:
    after = _number_word(words, item) or words.beside(item, 1)
    if (
        after is not None
        and after.has("averages")
        and _read_over_average(words, request, item, after)
    ):
        return
    if after is None or (
        not item.has("exactly") and _read_columns_compared(words, request, item, after)
    ):
        return
    if item.has("exactly") and not _is_alone(words, after):
        _read_only_one(words, request, item, after)
        return
    is_origin = item.has("at_least") and item.has("frames")  # “from 5”
    if not after.is_amount or is_origin:
        return
    use(item, role="operator")
    if after.kind == "duration" and _read_out_for(words, request, item, after):
        return
    what = _bounded(words, request, _Phrase(after, item, after))
    _add(words, request, what, _comparison(item), after)


def _read_over_average(words: Words, request: DataRequest, item: Item, average: Item) -> bool:
    """Films longer than the average film; beverages that cost more than the average beverage."""
    degrees = [degree for degree in item.meanings.degrees if degree.compares]
    columns = tuple(column for degree in degrees for column in degree.columns)
    before = words.free(item, -1)
    if not columns and before is not None and before.has("costs"):
        columns = columns_called(words.model, words.language.prices)
        use(before)
    elif not columns:
        columns = words.numbers(before)
    if not columns or not item.has("more", "less"):
        return False
    kind: Named | None = None
    for other in words.rest_of_clause(average):
        if other.meanings.values and not other.role and kind is None:
            kind = Named(tuple(values_of(other)))
            use(other, role="value")
        elif other.names_table:
            use(other)
        elif words.numbers(other):
            use(other)  # than the average price
        elif not other.is_filler:
            break
    use(item, average, role="operator")
    request.over_average.append(OverAverage(columns, _comparison(item), kind))
    return True


def _number_word(words: Words, item: Item) -> Item | None:
    """A small word that is a number after a comparison: more than one, more than once."""
    after = words.next(item)
    value = words.language.number_words.get(after.spoken) if after is not None else None
    if after is None or value is None or after.role:
        return None
    times = words.meanings("times") if after.spoken not in words.language.ones else None
    after.kind, after.value = "number", value
    after.meanings = times or Meanings()
    return after


def _read_out_for(words: Words, request: DataRequest, item: Item, length: Item) -> bool:
    """Out for more than 30 days: what has not ended, and began so long ago."""
    pending = [column for i in words.items for column in i.meanings.pending if i.role]
    dates = tuple(
        Column(column.table, words.model.tables[column.table].date)
        for column in pending
        if words.model.tables[column.table].date and words.kind(column) == "date"
    )
    days = length.value.count_in("day") if dates else None
    if days is None:
        return False
    use(length, role="value")
    then = (request.today - timedelta(days=int(days))).isoformat()
    long_ago = item.has("more", "at_least")
    request.conditions.append(Condition(dates, "until" if long_ago else "from", then))
    return True


def _is_alone(words: Words, amount: Item) -> bool:
    """Whether an amount is neither an end of a stretch nor counted: 15, and not 15 or more."""
    after = words.beside(amount, 1)
    return amount.is_amount and not (after is not None and after.has("or_more", "or_less"))


def _read_only_one(words: Words, request: DataRequest, item: Item, noun: Item) -> None:
    """Countries with only one customer."""
    need = need_of(noun)
    if need is not None and not noun.role and not noun.meanings.plural and words.before(item):
        use(item, noun, role="operator")
        request.having.append(Having(Asked("count", rows=need, distinct=True), "is", 1))


def _comparison(item: Item) -> Comparison:
    if item.has("exactly"):
        return "is"
    if item.has("more"):
        return "more"
    if item.has("less"):
        return "less"
    return "least" if item.has("at_least") else "most"


def _read_short_stock(words: Words, request: DataRequest, item: Item) -> None:
    """What has to be ordered again: of what there is less than there should be."""
    levels = columns_called(words.model, words.language.reorder_levels)
    stocks = _stocks_beside(words, levels)
    pairs = [(one, other) for one in stocks for other in levels if one.table == other.table]
    if pairs:
        use(item, role="operator")
        use(*(other for other in words.before(item) if other.spoken in words.language.duties))
        mine, theirs = pairs[0]
        request.against.append(Against(mine, theirs._replace(rank=0), "less"))


def _read_columns_compared(words: Words, request: DataRequest, item: Item, right: Item) -> bool:
    """What is below the reorder level: a column against another one of the same table."""
    theirs = words.numbers(right)
    if right.role or not theirs or right.is_amount:
        return False
    left = words.free(item, -1)
    named = words.numbers(left)
    mine = named or _stocks_beside(words, theirs)
    pairs = [(one, other) for one in mine for other in theirs if one.table == other.table]
    if not pairs:
        return False
    use(item, right, role="operator")
    told = {(one.mine[:2], one.theirs[:2]) for one in request.against}
    if (pairs[0][0][:2], pairs[0][1][:2]) in told:
        return True  # what we need to reorder: below the reorder level
    if left is not None and named:
        use(left)
    request.against.append(Against(*pairs[0], "more" if item.has("more") else "less"))
    return True


def _stocks_beside(words: Words, theirs: Columns) -> Columns:
    """What is in stock, in the tables of columns."""
    stocks = columns_called(words.model, words.language.stocks)
    return tuple(stock for other in theirs for stock in stocks if stock.table == other.table)


def _bounded(words: Words, request: DataRequest, phrase: _Phrase) -> _Bounded:
    """What a number is a bound of: a column beside it, rows, or what comes in."""
    if phrase.amount.kind == "percent":
        raise Unclear("a part of what")
    use(phrase.amount, role="value")
    following = words.free(_before_noun(words, phrase.last), 1)
    if following is not None and _is_measure(following):
        use(following)
        if following.has("units") and phrase.amount.kind == "number":
            stocks = columns_called(words.model, words.language.stocks)
            if stocks and not any(other.meanings.done for other in words.items):
                return stocks  # of which we have more than 100 units
        following = words.free(following, 1)
    before = words.free(min(phrase.lead, phrase.amount, key=lambda item: item.place), -1)
    if phrase.amount.has("times"):
        following = phrase.amount
    if following is not None and following.has("times"):
        done = next(
            (i for i in reversed(words.items[: phrase.lead.place]) if i.meanings.done), None
        )
        if done is not None and not done.role:
            use(following, done)  # rented more than 30 times
            return request.times(done.meanings.done)
    if phrase.amount.kind == "duration":
        return _bounded_length(words, before, following)
    return _bounded_beside(words, phrase, before, following) or _bounded_figure(
        words, phrase, before, following
    )


def _before_noun(words: Words, item: Item) -> Item:
    """A part, or what only tells that different ones are meant after it."""
    after = words.beside(item, 1)
    return after if after is not None and after.role and after.has("different") else item


def _is_measure(item: Item) -> bool:
    """Whether it only says what a number counts: kg."""
    return item.has("measured") and not item.meanings.names_data


def _bounded_length(words: Words, before: Item | None, following: Item | None) -> Columns:
    if before is not None and before.has("last"):
        use(before)
    if following is not None and following.has("adjective"):
        use(following)
    return columns_with_unit(words.model)


def _bounded_beside(
    words: Words, phrase: _Phrase, before: Item | None, following: Item | None
) -> Columns:
    """The columns that are named after a number, or else before it."""
    if following is not None and following.place - phrase.last.place <= _NEAR:
        numbers = words.numbers(following)
        if numbers:
            use(following)
            if before is not None and before.has("costs"):
                use(before)  # that cost more than 28 dollars to replace
            return numbers
    numbers = words.numbers(before)
    if before is not None and numbers:
        use(before)
    if before is not None and before.has("costs") and not numbers:
        near = words.items[max(0, before.place - _FEW) : before.place]
        told = next((i for i in reversed(near) if words.numbers(i) and not i.role), None)
        if told is not None and not told.is_amount:
            use(before, told)  # replacing the disc costs more than 27
            return words.numbers(told)
    return numbers


def _is_amount_of(item: Item, phrase: _Phrase) -> bool:
    """Whether it is an amount that has a bound: spent more than 60; not under 10 that we sell."""
    near = item.place <= phrase.last.place + 1
    return item.has("money", "units") or (item.has("money_done") and near)


def _bounded_figure(
    words: Words, phrase: _Phrase, before: Item | None, following: Item | None
) -> _Bounded:
    """How many there are, what a thing costs or what comes in; None where it is not said."""
    named = following
    if following is not None and following.meanings.values and not following.names_table:
        following = words.free(following, 1)  # at least one U2 track
    need = words.thing_called(following) if following is not None else None
    if following is not None and need is not None and phrase.amount.kind == "number":
        use(following)
        return Asked("count", rows=need, distinct=True)
    beside = [item for item in (before, named) if item is not None]
    cost = next((item for item in beside if item.has("costs")), None)
    if cost is not None:
        use(cost)
        return None
    degrees = [degree for degree in phrase.lead.meanings.degrees if degree.compares]
    if degrees:
        return tuple(column for degree in degrees for column in degree.columns)
    if named is not None and named.has("units"):
        beside.reverse()
    if named is not None and named.meanings.values and phrase.amount.kind == "number":
        return None  # bought at least one of somebody: not for at least one
    measured = next((item for item in beside if _is_amount_of(item, phrase)), None)
    if measured is None:
        return None
    use(measured)
    return Asked("sum", "units" if measured.has("units") else "money")
