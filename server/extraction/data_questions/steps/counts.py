"""How many there are of what."""

from server.extraction.data_questions.asked import Asked, Condition, DataRequest, Unclear
from server.extraction.data_questions.columns import columns_called, columns_with_unit
from server.extraction.data_questions.composing.subjects import things_of
from server.extraction.data_questions.items import Item
from server.extraction.data_questions.joins import Need
from server.extraction.data_questions.meanings import Column, Columns, Value
from server.extraction.data_questions.words import Words, need_of, use
from server.text.stems import singular


def read_counts(words: Words, request: DataRequest) -> None:
    """How many customers, how many units, how many different countries."""
    for item in words.items:
        if item.role or not item.has("counts"):
            continue
        if _read_units(words, request, item):
            continue
        if _read_people(words, request, item):
            continue
        counted = _noun_glued(words, item) or _counted(words, request, item)
        if counted is not None:
            use(item, role="operator")
            _read_counted(words, request, counted)
        elif request.having or request.counted is not None or _is_ordered_by_figure(request):
            use(item)  # how many it is that have at least 5, or the most
        elif (
            (after := words.free(item, 1)) is not None
            and after.has("each")
            and (stock := _stock_of_each(words, request, item))
        ):
            use(item, after)  # what is in stock, and how many of each
            request.shown.append(stock)
        elif _is_each_of_order(words, request, item):
            use(item, role="operator")
            if request.groups:
                request.figures.append(Asked("sum", "units"))
        elif (noun := _counted_before(words, item)) is not None:
            use(item, noun, role="operator")
            request.counted = need_of(noun)
        else:
            raise Unclear("count")


def _read_people(words: Words, request: DataRequest, item: Item) -> bool:
    """How many people there are in each job: those who have what is told of them."""
    who = words.free(item, 1)
    if who is None or not who.has("who") or who.names_table:
        return False
    told = {c.table for i in words.items for c in i.meanings.columns}
    told |= {v.table for i in words.items for v in i.meanings.values}
    people = [name for name in told if words.model.tables[name].people]
    if len(people) != 1 or any(i.meanings.done and not i.role for i in words.after(who)):
        return False
    use(item, who, role="operator")
    request.counted = Need(people[0])
    return True


def _read_units(words: Words, request: DataRequest, item: Item) -> bool:
    """How many minutes: how long it is, of one thing, or all together of what it holds."""
    unit = words.free(item, 1)
    if unit is None or unit.spoken not in words.language.asked_units:
        return False
    columns = columns_with_unit(words.model)
    columns = tuple(c for c in columns if words.model.tables[c.table].columns[c.column].unit)
    if not columns:
        return False
    use(item, unit, role="operator")
    request.unit = unit.spoken
    content = words.free(unit, 1)
    if content is not None and content.spoken in words.language.contents:
        use(content)  # minutes of music
    for other in words.after(unit):
        ends = words.beside(other, 1) is None or other.has("adjective")
        if ends and other.has("adjective", "lasting", "last"):
            use(other)  # how many minutes long is it, how many minutes does it last
    things = [other for other in words.before(item) if other.names_table]
    averages = [other for other in words.items if other.has("averages")]
    if averages:
        use(*averages, role="operator")
        request.figures.append(Asked("average", columns=columns))
    elif things or request.order:
        request.shown.append(columns)
    else:
        request.figures.append(Asked("sum", columns=columns))
    return True


def _stock_of_each(words: Words, request: DataRequest, item: Item) -> Columns:
    """How many units of each, of things in stock that are listed: what there is of each."""
    stocks = columns_called(words.model, words.language.stocks)
    told = [i for i in words.items if any(_plain(c) in stocks for c in i.meanings.columns)]
    each = next((i for i in words.after(item) if i.has("each")), None)
    before = any(other.place < item.place for other in told)
    listed = any(i.meanings.nouns and i.meanings.plural for i in words.before(item))
    ends = words.beside(item, 1) is None  # products in stock, and how many units
    if not before or not (request.groups or each or (listed and ends)):
        return ()
    said_again = [other for other in told if not other.role and other.place > item.place]
    use(*said_again, *([each] if each is not None else []))
    named = tuple(c for i in told for c in map(_plain, i.meanings.columns) if c in stocks)
    return named or stocks


def _plain(column: Column) -> Column:
    return column._replace(rank=0)


def _is_each_of_order(words: Words, request: DataRequest, item: Item) -> bool:
    """How many of each, of what is on an order: how many pieces."""
    numbered = any(other.kind == "number" and not other.role for other in words.before(item))
    held = any(other.last_word in words.language.held for other in words.items)
    after = words.free(item, 1)
    each = bool(request.groups) and after is None
    if after is not None and after.has("each") and words.beside(after, 1) is None:
        use(after)
        each = True
    return each and numbered and held


def _is_ordered_by_figure(request: DataRequest) -> bool:
    return any(isinstance(one.by, Asked) for one in request.order)


def _counted(words: Words, request: DataRequest, item: Item) -> Item | None:
    """What is counted, after what is only told of it: how many of our Canadian customers."""
    other = words.beside(item, 1)
    while other is not None:
        known = other.meanings
        if other.names_table or known.done or other.has("units"):
            return other
        if known.dates and singular(other.last_word) != other.last_word:
            return other  # how many shipments
        if words.thing_called(other) is not None:
            return other
        if _is_stock(words, other):
            return other
        kind = bool(known.values) and (_is_kind(words, other) or _things(words, other) is not None)
        if kind and not _noun_follows(words, other):
            return other
        is_whole = other.kind == "period" and words.is_possessive(other)  # last year's orders
        if other.kind in ("unknown", "period") and not (known.names_data or is_whole):
            return None
        if (request.distinct or _are_many(words, other)) and known.columns:
            return other
        other = words.beside(other, 1)
    return None


def _is_stock(words: Words, item: Item) -> bool:
    """Whether it is what is in stock: how many are left, how many are on order."""
    numbers = words.numbers(item)
    stocks = columns_called(words.model, words.language.stocks)
    return bool(numbers) and not item.names_table and {*map(_plain, numbers)} <= {*stocks}


def _noun_glued(words: Words, item: Item) -> Item | None:
    """Customer count by country."""
    before, after = words.previous(item), words.next(item)
    is_head = before is not None and before.names_table and not before.role
    ends = after is None or after.has("by", "each") or after.is_filler
    first = all(i.has("months", "years", "days", "quarters") for i in words.items[: item.place - 1])
    return before if is_head and ends and first else None


def _counted_before(words: Words, item: Item) -> Item | None:
    """The noun that begins a question which ends in how many there are."""
    if words.beside(item, 1) is not None:
        return None
    return next((i for i in words.before(item) if i.names_table and not i.role), None)


def _things(words: Words, item: Item) -> Need | None:
    """What is of a kind that is named: the products, of beverages."""
    value = item.meanings.values[0]
    whole = (not value.part or value.kind) and singular(item.last_word) != item.last_word
    return things_of(words.model, value) if whole else None


def _are_many(words: Words, item: Item) -> bool:
    """Whether different values of a column are counted: how many countries."""
    kinds = [words.kind(column) for column in item.meanings.columns]
    return kinds.count("category") == len(kinds) > 0 and singular(item.last_word) != item.last_word


def _is_kind(words: Words, item: Item) -> bool:
    values = item.meanings.values
    return any(words.kind(Column(v.table, v.columns[0])) == "category" for v in values)


def _noun_follows(words: Words, item: Item) -> bool:
    following = words.beside(item, 1)
    return following is not None and bool(following.meanings.nouns)


def _read_counted(words: Words, request: DataRequest, item: Item) -> None:
    known = item.meanings
    if _is_stock(words, item):
        use(item)
        request.figures.append(Asked("sum", columns=words.numbers(item)))
    elif item.has("units") and not known.nouns and (stock := _stock_of_each(words, request, item)):
        use(item)
        if request.groups:
            request.figures.append(Asked("sum", columns=stock))
        else:
            request.shown.append(stock)
    elif item.has("units") and not known.nouns:
        use(item)
        request.figures.append(Asked("sum", "units"))
    elif words.thing_called(item) is not None:
        request.counted = words.thing_called(item)
        following = words.beside(item, 1)
        if following is not None and request.counted is not None:
            name = tuple(words.model.tables[request.counted.table].name)
            table = request.counted.table
            whole = (v for v in following.meanings.values if not v.part)
            if any((v.table, v.columns) == (table, name) for v in whole):
                raise Unclear("there is one")  # how many stars does the album X have
        use(item)
    elif known.done:
        use(item)
        request.figures.append(request.times(known.done))
    elif known.dates and not known.columns:
        use(item)
        request.counted = Need(known.dates[0].table)
        request.conditions.append(Condition(tuple(known.dates), "given", value=True))
    elif (request.distinct or _are_many(words, item)) and known.columns:
        use(item)
        columns = tuple(known.columns)
        request.figures.append(Asked("count", columns=columns, distinct=True))
    elif _is_kind(words, item):
        request.counted = _flagged(words, known.values[0])
    else:
        request.counted = _things(words, item)


def _flagged(words: Words, value: Value) -> Need:
    """What has a flag that is named and is of a value; else what has the value."""
    tables = (flag.table for item in words.items for flag in words.flags(item))
    flagged = (table for table in tables if value.table in words.model.reachable[table])
    return Need(next(flagged, value.table))
