"""How an answer is to be told: in which order and unit, side by side, month by month."""

from typing import Final

from server.extraction.data_questions.asked import EACH, DataRequest, Ends, Unclear
from server.extraction.data_questions.items import Item
from server.extraction.data_questions.words import Words, use

_FEW: Final = 2
"""So many words stand between an end and what tells that it is an order."""


def read_manner(words: Words, request: DataRequest) -> None:
    """Alphabetically, biggest first, in minutes, different ones, compared."""
    for item in words.items:
        if item.role:
            continue
        if (on_top := _order_after_end(words, request, item)) is not None:
            use(item, on_top, role="operator")
            _read_order_of_end(words, request, item)
        elif item.has("alphabetical"):
            use(item, role="operator")
            request.alphabetical = True
        elif item.spoken in words.language.orderings and _is_of_order(words, item):
            raise Unclear("an order that no column tells")  # in album order
        elif item.has("sorts"):
            _read_sorts(words, request, item)
        elif item.has("descending", "ascending"):
            use(item, role="operator")
            request.direction = "desc" if item.has("descending") else "asc"
            said = item.spoken.split(" ")
            request.by_days |= not words.language.day_ends.isdisjoint(said)
            known = words.meanings(" ".join(said[:-1]))
            if known is not None and known.degrees:
                request.by_ends = Ends(tuple(d for d in known.degrees if not d.compares))
        elif _is_unit(words, item):
            use(item, role="operator")
            request.unit = item.spoken
        elif item.has("each_of_them"):
            request.each_of_them = True
            if sum(bool(other.meanings.values) for other in words.items) > 1:
                use(item)
        elif item.has("running"):
            use(item, role="operator")
            request.running = True
        elif item.has("different"):
            use(item, role="operator")
            request.distinct = True
        elif item.has("compare") or (item.has("or_more") and _leads_to_name(words, item)):
            _read_compare(words, request, item)


def read_times(words: Words, request: DataRequest) -> None:
    """Month by month; when something was."""
    first = words.first()
    for item in words.items:
        for each in EACH:
            one_number = first is not None and first.has("counts", "totals")
            if item.spoken in words.language.over_time and (one_number or request.running):
                use(item)  # how many did they buy over the years
                continue
            if item.has(f"{each}s"):
                request.groups.append(each)
                use(item, role="operator")
        if item.has("when") and item is first and _asks_best_day(words, item):
            use(item, role="operator")
            request.groups.append("day")
        elif item.has("when") and item is first:
            request.when = True
            use(item)
        elif item.has("when") and first is not None and not request.when:
            request.shows_days = True
            use(item)


def _asks_best_day(words: Words, item: Item) -> bool:
    """Whether the best one of all days is asked for: which day had the most orders."""
    day = item.last_word in words.language.date_words
    named = any(other.meanings.values for other in words.items)
    return day and not named and any(other.has("most", "least") for other in words.items)


def _order_after_end(words: Words, request: DataRequest, item: Item) -> Item | None:
    """What tells that an end is an order of all: longest on top, newest first."""
    if not (item.is_end or item.has("most", "least", "last", "first", "commonest")):
        return None
    rest = words.rest_of_clause(item)
    between = next((at for at, other in enumerate(rest) if other.has("on_top")), None)
    if between is None or between > _FEW or rest[between] is not rest[-1]:
        return None
    passed = rest[:between]
    if any(other.role or other.meanings.values or other.is_amount for other in passed):
        return None
    bare = item.has("most", "least") and item.last_word in words.language.ends_of_number
    counts = any(other.has("counts", "totals", "averages", "money") for other in words.items)
    if bare and not counts and any(other.kind == "unknown" for other in passed):
        return None  # most urgent first
    use(*passed)  # the biggest spender first
    amounts = [numbers for other in passed if (numbers := words.numbers(other))]
    request.sorts += amounts[:1]  # highest freight first
    return rest[between]


def _is_of_order(words: Words, item: Item) -> bool:
    """Whether it is how rows are put in order: in album order."""
    lead = [other.spoken for other in words.items[max(0, item.place - 3) : item.place]]
    before, after = words.previous(item), words.next(item)
    ends = after is None or after.clause != item.clause
    named = before is not None and (before.names_table or bool(before.meanings.columns))
    return ends and named and not words.language.unit_leads.isdisjoint(lead)


def _names_rows(item: Item) -> bool:
    return bool(item.meanings.values) or item.names_table


def _read_order_of_end(words: Words, request: DataRequest, item: Item) -> None:
    degrees = tuple(degree for degree in item.meanings.degrees if not degree.compares)
    lowest = item.has("least", "first") or (bool(degrees) and degrees[0].end == "least")
    request.direction = "asc" if lowest else "desc"
    request.by_days |= not words.language.day_ends.isdisjoint(item.spoken.split(" "))
    if degrees:
        request.by_ends = Ends(degrees)


def _read_sorts(words: Words, request: DataRequest, item: Item) -> None:
    """In order of month, sorted by last name; by an amount is read with the amounts."""
    after = words.free(item, 1)
    verb = words.meanings(item.first_word)
    is_done = verb is not None and bool(verb.done)
    if after is not None and verb is not None and is_done and _names_rows(after):
        item.meanings = verb  # ordered by a customer in Spain
        return
    if after is None or words.names_amount(after):
        return
    if after.has(*EACH):
        use(item, after, role="operator")
        request.by_days, request.direction = True, request.direction or "asc"
    elif after.meanings.columns:
        use(item, after, role="operator")
        request.sorts.append(tuple(after.meanings.columns))


def _is_unit(words: Words, item: Item) -> bool:
    if item.spoken not in words.language.asked_units or item.capital:
        return False
    lead = words.previous(item)
    return lead is not None and lead.spoken in words.language.unit_leads


def _leads_to_name(words: Words, item: Item) -> bool:
    beside = words.beside(item, 1)
    return beside is not None and bool(beside.meanings.values)


def _read_compare(words: Words, request: DataRequest, item: Item) -> None:
    """Whether two names are told side by side: A versus B, more A or B."""
    request.either |= item.spoken in words.language.alternatives
    several = sum(bool(other.meanings.values) for other in words.items) > 1
    several |= sum(other.kind == "period" for other in words.items) > 1
    said = item.spoken
    if several and (item.has("more") or said not in words.language.alternatives):
        request.compares = True
    if said not in words.language.only_more or request.compares:
        use(item, role="operator")
