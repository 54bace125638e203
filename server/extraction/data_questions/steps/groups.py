"""What rows are put together by, and the order that is said with “by”."""

from typing import Final

from server.extraction.data_questions.asked import EACH, Asked, DataRequest, Ordered
from server.extraction.data_questions.items import Item
from server.extraction.data_questions.joins import Need
from server.extraction.data_questions.meanings import Columns
from server.extraction.data_questions.words import Words, measure_of, need_of, use

_REACH: Final = 6
"""So many parts after “by” that it leads to."""
_GROUPED: Final = frozenset({"category", "text", "number", "flag", "date"})
"""What columns are for by which rows are put together."""


def read_groups(words: Words, request: DataRequest) -> None:
    """Per country, by city; by revenue, by number of orders."""
    for item in words.items:
        if item.role or not item.has("each", "by", "sorts"):
            continue
        after = words.free(item, 1)
        if after is not None and after.kind == "period" and words.is_possessive(after):
            after = words.free(after, 1)  # by last year's sales
        if after is not None and after.clause != item.clause and item.has("by"):
            continue  # the largest order by value? I need the customer
        if item.spoken in words.language.every and _is_all(words, item):
            use(item)  # show me every comedy
            continue
        if after is not None and _lists_each(words, item, after):
            use(item, after)  # the number and the date of every order
            request.target, request.plural = need_of(after), True
            continue
        if item.has("by") and after is not None and _is_agent(words, item, after):
            use(item)  # bought by customers from the UK
            continue
        if _is_spent(words, request, item, after) or _repeats_order(words, request, item, after):
            continue
        if after is None or _is_done(after) or _is_of_each_left(words, item, after):
            _read_of_each(words, request, item)
            continue
        if item.has("by", "sorts") and words.names_amount(after) and not after.meanings.nouns:
            use(item, role="operator")
            if item.has("sorts"):
                request.direction = request.direction or "asc"  # all of them, and no best ones
            _read_order(words, request, after)
        elif item.has("by", "sorts") and after.has("counts"):
            _read_order_by_number(words, request, item, after)
        elif item.has("sorts"):
            continue
        elif not (item.has("by") and after.meanings.values and not after.meanings.nouns):
            _read_group(words, request, item, after)


def _is_all(words: Words, item: Item) -> bool:
    """Whether it only says that all are meant, of which no figure is told."""
    begins = all(other.is_filler for other in words.before(item))
    figures = ("counts", "totals", "averages", "money", "units")
    amounts = words.language.amounts
    return begins and not any(o.has(*figures) and o.spoken not in amounts for o in words.items)


def _lists_each(words: Words, item: Item, after: Item) -> bool:
    """Whether it leads to what is listed, with what is told of each before it."""
    need = need_of(after)
    before = [other for other in words.before(item) if not other.is_filler]
    if need is None or not item.has("each") or item.has("by") or not after.meanings.nouns:
        return False
    told = {column.table for other in before for column in other.meanings.columns}
    plain = all(other.names_table or other.meanings.columns for other in before)
    figures = ("counts", "totals", "averages", "money", "units", "most", "least", "tops")
    figured = any(other.role or other.is_end or other.has(*figures) for other in before)
    return len(before) > 1 and plain and not figured and need.table in told


def _is_agent(words: Words, item: Item, after: Item) -> bool:
    """Whether it leads to who did what a verb says, which several did."""
    before = words.previous(item)
    done = before is not None and bool(before.meanings.done) and not before.names_table
    value = words.beside(after, 1)
    return done and after.names_table and after.meanings.plural and value is not None


def _is_of_each_left(words: Words, item: Item, after: Item) -> bool:
    """Whether a number of each is told, and nothing is put together by it: of each are left."""
    beside = words.next(item)
    return item.has("each") and beside is not after and bool(words.numbers(after))


def _is_spent(words: Words, request: DataRequest, item: Item, after: Item | None) -> bool:
    """Customers by what they have spent, reps by how much their customers did: by the sum of it."""
    if after is None or not item.has("by", "sorts"):
        return False
    rest = words.rest_of_clause(item)[:_REACH]
    verb = next((other for other in rest if other.has("money_done")), None)
    between = rest[: rest.index(verb)] if verb is not None else []
    asks = {*words.language.which, *words.language.how_much}
    plain = all(i.is_filler or i.spoken in asks or i.names_table for i in between)
    if verb is None or not plain or asks.isdisjoint(i.spoken for i in between):
        return False
    use(item, verb, *between, role="operator")
    request.order.append(Ordered(Asked("sum", "money"), request.direction != "asc"))
    request.direction = request.direction or "desc"
    return True


def _repeats_order(words: Words, request: DataRequest, item: Item, after: Item | None) -> bool:
    """The most popular genres, by tracks sold: what says again what popular is."""
    verb = words.next(after) if after is not None else None
    popular = any(isinstance(one.by, Asked) and one.by.measure == "units" for one in request.order)
    if not (item.has("by") and popular and verb is not None and verb.meanings.done):
        return False
    if after is None or not (after.names_table or after.has("units")):
        return False
    use(item, after, verb)
    return True


def _is_done(item: Item) -> bool:
    """Whether it is a verb: the orders that each of them has placed."""
    known = item.meanings
    return bool(known.done or item.has("money_done")) and not (known.names_data or known.roles)


def _read_of_each(words: Words, request: DataRequest, item: Item) -> None:
    """Playlists and the number of songs on each: of what stands first; A and B each."""
    before = words.before(item)
    names = [other for other in before if other.meanings.values and not other.role]
    if item.has("each") and len(names) > 1 and words.beside(item, -1) is names[-1]:
        use(item, role="operator")
        request.compares = True
        return
    if item.spoken in words.language.each_one and any(i.meanings.columns for i in before):
        use(item)  # and which city each of them is in
        return
    noun = next((other for other in before if other.names_table and not other.role), None)
    count = next((other for other in before if other.has("counts")), None)
    if request.groups and noun is not None and count is not None and words.next(item) is None:
        use(item, noun, role="operator")
        request.counted = need_of(noun)  # tracks by genre, with the number of each
        return
    if item.has("each") and noun is not None and count is not None and noun.place < count.place:
        numbered = words.next(noun)
        if numbered is None or numbered.kind != "number":
            use(item, noun, role="operator")
            request.groups.append(_group_of(words, noun) or Need(noun.meanings.nouns[0].table))


def _read_order(words: Words, request: DataRequest, amount: Item) -> None:
    use(amount, role="operator")
    beside = words.free(amount, 1)
    while (
        beside is not None
        and (words.numbers(beside) or beside.has("money_done"))
        and not beside.meanings.nouns
    ):
        use(beside)  # by total amount spent
        beside = words.free(beside, 1)
    if amount.has("money", "units"):
        asked = Asked("sum", measure_of(amount))
        request.order.append(Ordered(asked, request.direction != "asc"))
    else:
        descending = request.top or request.direction == "desc"
        request.order.append(Ordered(words.numbers(amount), descending))


def _read_order_by_number(words: Words, request: DataRequest, item: Item, count: Item) -> None:
    noun = words.free(count, 1)
    if noun is not None and noun.meanings.nouns:
        use(item, count, noun, role="operator")
        asked = Asked("count", rows=need_of(noun), distinct=True)
        request.order.append(Ordered(asked, request.direction != "asc"))


def _read_group(words: Words, request: DataRequest, lead: Item, after: Item) -> None:
    group = _group_of(words, after)
    if group is None and lead.has("each") and not lead.has("by"):
        group = tuple(c for c in after.meanings.columns if words.kind(c) == "money") or None
    if group is None:
        following = words.free(after, 1)  # each of our support reps
        if after.kind == "unknown" or following is None or following.clause != lead.clause:
            return
        group = _group_of(words, following)
        if group is None:
            return
        use(following, role="operator")
    head = words.next(after)  # by product category
    if isinstance(group, Need) and head is not None and not head.role:
        need = need_of(head)
        told = tuple(
            c for c in head.meanings.columns if c.table == group.table and words.kind(c) in _GROUPED
        )
        if need is not None and not head.meanings.plural:
            use(head, role="operator")
            group = need
        elif told and words.next(after) is head:
            use(head, role="operator")  # by customer country
            group = told
    use(lead, role="operator")
    if not after.meanings.values or after.names_table:
        use(after, role="operator")  # of each album by a name, that is one of those alone
    request.groups.append(group)
    _read_second(words, request, after)


def _read_second(words: Words, request: DataRequest, first: Item) -> None:
    """Both: by country and city."""
    second = words.free(first, 1)
    if second is None:
        return
    between = " ".join(item.spoken for item in words.items[first.place + 1 : second.place])
    group = _group_of(words, second) if between in words.language.together else None
    each = next((each for each in EACH if second.has(each)), None)
    if each is not None and between in words.language.together:
        use(second, role="operator")  # by agent and year
        request.groups.append(each)
        return
    if group is not None:
        use(second, role="operator")
        request.groups.append(group)


def _group_of(words: Words, item: Item) -> Need | Columns | None:
    if item.names_table:
        return need_of(item)
    return tuple(c for c in item.meanings.columns if words.kind(c) in _GROUPED) or None
