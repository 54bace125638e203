"""How an answer is to be told: in which order and unit, side by side, month by month."""

from server.extraction.data_questions.asked import EACH, DataRequest, Ends
from server.extraction.data_questions.items import Item
from server.extraction.data_questions.words import Words, use


def read_manner(words: Words, request: DataRequest) -> None:
    """Alphabetically, biggest first, in minutes, different ones, compared."""
    for item in words.items:
        if item.role:
            continue
        if (on_top := _order_after_end(words, item)) is not None:
            use(item, on_top, role="operator")
            _read_order_of_end(words, request, item)
        elif item.has("alphabetical"):
            use(item, role="operator")
            request.alphabetical = True
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
            if item.has(f"{each}s"):
                request.groups.append(each)
                use(item, role="operator")
        if item.has("when") and item is first:
            request.when = True
            use(item)
        elif item.has("when") and first is not None and not request.when:
            request.shows_days = True
            use(item)


def _order_after_end(words: Words, item: Item) -> Item | None:
    """What tells that an end is an order of all: longest on top, newest first."""
    after = words.next(item)
    if not (item.is_end or item.has("most", "least", "last", "first")) or after is None:
        return None
    return after if after.has("on_top") else None


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
    said = item.spoken
    if several and (item.has("more") or said not in words.language.alternatives):
        request.compares = True
    if said not in words.language.only_more or request.compares:
        use(item, role="operator")
