"""The ends of an order, and how many of them: top 5, the cheapest, the last order, most sold."""

from datetime import timedelta
from typing import Final

from server.extraction.data_questions.asked import (
    EACH,
    Asked,
    DataRequest,
    Ends,
    Having,
    Ordered,
    Unclear,
)
from server.extraction.data_questions.columns import columns_called
from server.extraction.data_questions.items import Item
from server.extraction.data_questions.joins import Need
from server.extraction.data_questions.meanings import Column, Columns
from server.extraction.data_questions.words import Words, measure_of, need_of, use
from server.library.data_query import Operation

_LIMITED: Final = ("tops", "most", "least", "selling", "first", "last", "commonest")


def read_limits(words: Words, request: DataRequest) -> None:
    """How many rows are shown: the 5 longest, 3 customers with the most orders."""
    for item in words.left():
        if item.kind == "number" and isinstance(item.value, int) and _is_limit(words, item):
            request.limit = item.value
            use(item, role="value")
            first = words.beside(item, -1)
            if first is not None and first.has("first") and words.beside(item, 1) is None:
                use(first, role="operator")  # only the first six


def _is_limit(words: Words, item: Item) -> bool:
    left, right = words.beside(item, -1), words.beside(item, 1)
    for other in (left, right):
        if other is not None and not other.role and (other.has(*_LIMITED) or other.is_end):
            return True
    return (
        right is not None
        and right.meanings.names_data
        and (left is None or not left.meanings.nouns)
        and any(i.has("most", "least", "selling") or i.is_end for i in words.after(item))
    )


def read_ends(words: Words, request: DataRequest) -> None:
    """Which end of which order is asked for."""
    for item in words.items:
        if not item.role and (item.has(*_LIMITED) or item.is_end):
            _read_end(words, request, item)


def _read_end(words: Words, request: DataRequest, item: Item) -> None:
    after = words.free(item, 1)
    verb = words.free(item, -1)
    did = verb is not None and bool(verb.meanings.done or verb.has("money_done"))
    named = after is not None and bool(after.meanings.values) and not after.names_table
    if after is not None and (after.kind == "period" or (named and did)):
        after = None  # rented most often this year, earned the most in Canada
    descending = not item.has("least")
    if item.has("commonest") and after is not None:
        _read_commonest(words, request, item, after)
    elif item.has("selling"):
        use(item, role="operator")
        done = _what_happens(words) if item.last_word in words.language.popular else None
        asked = Asked("sum", "units") if done is None else request.times((done,))
        request.order.append(Ordered(asked, descending=True))
    elif item.is_end and not (
        _leads_to_number(words, item, after) or (request.when and item.has("last", "first"))
    ):
        use(item, role="operator")
        degrees = tuple(degree for degree in item.meanings.degrees if not degree.compares)
        request.order.append(Ordered(Ends(degrees), descending=True))
    elif item.has("last", "first") and not item.has("most", "least", "tops"):
        _read_last(words, request, item, after)
    elif item.has("tops"):
        use(item, role="operator")
        request.top = True
    elif after is None:
        before = words.free(item, -1)
        first = words.first()
        each = next((e for e in EACH if first is not None and first.has(e)), None)
        if each is not None and first is not None and not first.role and item.has("most", "least"):
            use(item, first, role="operator")
            request.groups.append(each)  # which month was our best one
            request.top, request.top_down = True, descending
            request.limit = request.limit or 1
        elif before is not None and before.meanings.done:
            use(item, before, role="operator")
            who = any(other.has("who") for other in words.before(before))
            sells = before.spoken in words.language.sellers
            if sells and first is not None and first.has(*EACH):
                request.order.append(Ordered(Asked("sum", "money"), descending))
                return  # in which month did we sell the most
            if who and sells:
                request.sellers = True
                request.facts.append(tuple(before.meanings.done))
                request.order.append(Ordered(Asked("sum", "money"), descending))
                return
            request.order.append(Ordered(request.times(before.meanings.done), descending))
        elif before is not None and before.has("costs"):
            prices = columns_called(words.model, words.language.prices)
            if prices:
                use(item, before, role="operator")  # which products cost the most
                request.order.append(Ordered(prices, descending))
        elif before is not None and before.has("money_done"):
            use(item, before, role="operator")
            request.order.append(Ordered(Asked("sum", "money"), descending))
        elif (done := _done_with_first(words)) is not None:
            use(item, role="operator")
            request.order.append(Ordered(request.times((done,)), descending))
    else:
        _read_end_of(words, request, item, after)


def _read_commonest(words: Words, request: DataRequest, item: Item, after: Item) -> None:
    """Of which there are the most: the most common genre, of the tracks."""
    need, model = need_of(after), words.model
    if need is not None:
        ways = [
            (len(found[0]), name)
            for name, table in model.tables.items()
            if name != need.table and table.name and not table.people
            for found in [model.reachable[name].get(need.table, ())]
            if found
        ]
        rows = Need(min(ways)[1]) if ways else None
    else:
        kinds = [c for c in after.meanings.columns if words.kind(c) == "category"]
        rows = Need(kinds[0].table) if kinds else None
    if rows is not None:
        use(item, role="operator")
        request.order.append(Ordered(Asked("count", rows=rows, distinct=True), descending=True))


def _leads_to_number(words: Words, item: Item, after: Item | None) -> bool:
    """Whether the end is one of a number that follows, and tells nothing else."""
    if after is None or not item.has("most", "least"):
        return False
    return bool(words.numbers(after)) or after.has("money")


def _read_last(words: Words, request: DataRequest, item: Item, after: Item | None) -> None:
    """The last one to sign up, the first order; when something was for the last time."""
    last = item.has("last")
    if request.alphabetical and request.limit is not None and not last:
        use(item)  # the first ten alphabetically
        return
    if _read_bounded_end(words, request, item, after):
        return
    if request.when:
        use(item, role="operator")
        request.end_of_days = "highest" if last else "lowest"
        return
    dated = _dated(words, item)
    if dated is not None:
        use(item, dated, role="operator")
        request.order.append(Ordered(tuple(dated.meanings.dates), last))
        if dated.meanings.done:
            request.facts.append(tuple(dated.meanings.done))
        return
    limit = words.beside(item, 1)
    if after is None and limit is not None and limit.role and limit.kind == "number":
        after = words.free(limit, 1)  # the last 10 rentals
    days = tuple(c for c in after.meanings.columns if words.kind(c) == "date") if after else ()
    if after is not None and days and request.subject is None and not words.before(item):
        use(item, after, role="operator")
        request.figures.append(Asked("highest" if last else "lowest", columns=days))
        return
    if after is not None and after.meanings.nouns:
        table = after.meanings.nouns[0].table
        date = words.model.tables[table].date
        before, lead = words.free(item, -1), words.previous(item)
        is_whose = lead is not None and lead.last_word in words.language.whose
        other = (v.table for i in words.items for v in i.meanings.values)
        of_people = words.model.tables[table].people and any(name != table for name in other)
        done = next((i for i in words.after(after) if i.meanings.done and not i.role), None)
        tables = done.meanings.done if done is not None else ()
        happens = [name for name in tables if words.model.tables[name].date]
        if (of_people or not date) and happens and done is not None:
            use(item, done, role="operator")  # the last customer who took it out
            request.facts.append((happens[0],))
            request.order.append(Ordered((_date_of(words, happens[0]),), last))
            return
        if of_people and not any(i.meanings.dates for i in words.after(item)):
            raise Unclear("the last of whom")  # the last customer who took it
        if _read_last_ones(words, request, item, after):
            return
        if is_whose or (before is not None and before.meanings.done):
            raise Unclear("what belongs to the last one")  # what did she buy on her last visit
        day = words.next(after)
        if date and day is not None and day.has("day"):
            use(item, after, day, role="operator")  # the last order date
            request.when, request.end_of_days = True, "highest" if last else "lowest"
            request.also.append(Need(table))
            return
        if date:
            use(item, role="operator")
            request.order.append(Ordered((Column(table, date),), last))


def _read_last_ones(words: Words, request: DataRequest, item: Item, after: Item) -> bool:
    """Who placed the last three orders: the orders, with those who did."""
    before, first = words.free(item, -1), words.first()
    table = after.meanings.nouns[0].table
    if before is None or first is None or not before.meanings.done:
        return False
    if request.limit is None or not words.model.tables[table].date:
        return False
    if not first.has("who") or words.beside(first, 1) is not before:
        return False
    use(item, before, after, role="operator")
    request.one = Need(table)
    request.order.append(Ordered((_date_of(words, table),), item.has("last")))
    return True


def _read_bounded_end(words: Words, request: DataRequest, item: Item, after: Item | None) -> bool:
    """Whose last order was before a day: those of whom the last one was then."""
    if after is None or after.role:
        return False
    known = after.meanings
    happened = [need.table for need in known.nouns] or known.done
    dated = [name for name in happened if words.model.tables[name].date]
    people = {name for name in dated if words.model.tables[name].people}
    period = words.beside(after, 1)
    if period is None or period.kind != "period" or not dated or people:
        return False
    before = words.before(item)
    others = [i for i in before if (need := need_of(i)) is not None and need.table not in dated]
    lead = words.previous(item)
    whose = lead is not None and lead.last_word in words.language.whose and not others
    if not whose and not any(i.has("who") for i in before) and not others:
        return False
    if any(i.has("counts", "when") for i in before[:1]):
        return False
    use(item, after, role="operator")
    use(period, role="value")
    use(*(i for i in before if not i.role and i.meanings.done and not i.meanings.nouns))
    if whose and lead is not None:
        use(lead)
        request.who = True
    table = dated[0]
    end = Asked("highest" if item.has("last") else "lowest", columns=(_date_of(words, table),))
    start, last = period.value.start, period.value.end
    if start is not None:
        request.having.append(Having(end, "from", start.isoformat()))
    if last is not None:
        request.having.append(Having(end, "until", (last + timedelta(days=1)).isoformat()))
    request.facts.append((table,))
    request.shows_days = False  # it is shown anyway
    return True


def _date_of(words: Words, table: str) -> Column:
    return Column(table, words.model.tables[table].date)


def _dated(words: Words, item: Item) -> Item | None:
    """What tells a day: just before, or anywhere after."""
    before = words.free(item, -1)
    earlier = [i for i in reversed(words.before(item)) if i.clause == item.clause]
    nearby = [*([before] if before is not None else []), *words.after(item)]
    nearby += earlier if words.next(item) is None else []  # who joined the team most recently
    return next(
        (i for i in nearby if not i.role and i.meanings.dates and not i.meanings.nouns), None
    )


def _read_end_of(words: Words, request: DataRequest, item: Item, after: Item) -> None:
    """The most of what follows: the most orders, the highest price, the best month."""
    descending = not item.has("least")
    each = next((each for each in EACH if after.has(each)), None)
    if each is not None:
        use(item, after, role="operator")
        request.groups.append(each)
        request.top, request.top_down = True, descending
        request.limit = request.limit or 1
        return
    head = words.next(after)
    if head is not None and after.meanings.nouns and not head.role and words.numbers(head):
        use(after)
        after = head
    known = after.meanings
    if after.has("most", "least") and not known.names_data:
        return
    if after.has("money_done") and not known.names_data and words.free(after, 1) is not None:
        use(item, after, role="operator")  # our best paying customers
        request.order.append(Ordered(Asked("sum", "money"), descending))
    elif after.has("money", "units"):
        use(item, after, role="operator")
        request.order.append(Ordered(Asked("sum", measure_of(after)), descending))
    elif numbers := words.numbers(after):
        use(item, after, role="operator")
        if head is not None and head.spoken in words.language.worth and _has_stock(words, after):
            use(head, role="operator")
            request.order.append(Ordered(Asked("sum", "stock"), descending))
            return
        _read_end_of_numbers(words, request, item, numbers)
    elif known.done and not known.nouns:
        use(item, after, role="operator")
        request.order.append(Ordered(request.times(known.done), descending))
    elif known.nouns and _is_of_number(words, item) and _is_object(words, after):
        use(item, after, role="operator")
        counted = Asked("count", rows=need_of(after), distinct=True)
        request.order.append(Ordered(counted, descending))
        verb = words.beside(item, -1)
        takes = verb is not None and verb.last_word in words.language.takers
        request.sellers |= takes and any(i.has("who") for i in words.before(item))
    elif known.nouns and _is_of_size(words, item) and _earns(words, known.nouns[0].table):
        use(item, role="operator")
        request.order.append(Ordered(Asked("sum", "money"), descending))
        if not after.meanings.plural and any(
            other.names_table or other.has("who") for other in words.before(item) if not other.role
        ):
            use(after)
            request.one = need_of(after)
    else:
        use(item, role="operator")
        request.top, request.top_down = True, descending


def _read_end_of_numbers(words: Words, request: DataRequest, item: Item, numbers: Columns) -> None:
    """Of rows that stand before it, their order; by itself, a figure."""
    if any(other.meanings.nouns and not other.role for other in words.before(item)):
        request.order.append(Ordered(numbers, not item.has("least")))
        return
    request.figures.append(Asked("lowest" if item.has("least") else "highest", columns=numbers))
    for other in words.before(item):  # the lowest and the highest price
        if not other.role and other.has("most", "least"):
            use(other, role="operator")
            operation: Operation = "lowest" if other.has("least") else "highest"
            request.figures.insert(0, Asked(operation, columns=numbers))


def _has_stock(words: Words, item: Item) -> bool:
    """Whether it is the stock of which a worth may be told."""
    stocks = {*columns_called(words.model, words.language.stocks)}
    is_stock = any(column._replace(rank=0) in stocks for column in item.meanings.columns)
    return is_stock and any(measure.kind == "stock" for measure in words.model.measures)


def _is_of_number(words: Words, item: Item) -> bool:
    """Whether an end is one of how many."""
    return item.last_word in words.language.ends_of_number


def _is_of_size(words: Words, item: Item) -> bool:
    """Whether an end is one of size, and not of how often or how well."""
    return item.last_word in words.language.ends_of_size


def _is_object(words: Words, item: Item) -> bool:
    """Whether what a noun names is counted, as in “has the most tracks”, and not asked for."""
    return any(
        other.names_table or other.has("who", *EACH) or other.meanings.columns
        for other in words.before(item)
        if not other.role
    )


def _earns(words: Words, table: str) -> bool:
    """Whether something is added up over the rows of a table, or over those that belong to it."""
    near = {table} | {
        name
        for name, told in words.model.tables.items()
        if not told.name and any(link.table == table for link in told.links)
    }
    return any(m.kind == "money" and m.table in near for m in words.model.measures)


def _what_happens(words: Words) -> str | None:
    """What is paid for, where no pieces are sold: rentals."""
    measures, tables = words.model.measures, words.model.tables
    if any(measure.kind == "number" for measure in measures):
        return None
    return next(
        (
            link.table
            for measure in measures
            if measure.kind == "money"
            for link in tables[measure.table].links
            if tables[link.table].date and not tables[link.table].people
        ),
        None,
    )


def _done_with_first(words: Words) -> str | None:
    """The one thing that happens with what is asked for first: the orders that a shipper has."""
    first = words.first()
    need = need_of(first) if first is not None and not first.role else None
    if need is None:
        return None
    tables = words.model.tables
    own = [
        name
        for name, table in tables.items()
        if table.date and any(link.table == need.table for link in table.links)
    ]
    return own[0] if len(own) == 1 and not tables[own[0]].people else None
