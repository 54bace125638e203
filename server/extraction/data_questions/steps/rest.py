"""What is left of a question: names, columns that are shown, conditions without a comparison."""

from collections.abc import Sequence
from typing import Final

from server.extraction.data_questions.asked import (
    Asked,
    Bound,
    Condition,
    DataRequest,
    Ordered,
    Unclear,
)
from server.extraction.data_questions.columns import columns_called, columns_of_words
from server.extraction.data_questions.items import Item
from server.extraction.data_questions.joins import Need
from server.extraction.data_questions.meanings import Column, Columns, Meanings
from server.extraction.data_questions.steps.names import (
    read_contained,
    read_in_text,
    read_number,
    read_value,
)
from server.extraction.data_questions.steps.people import read_who
from server.extraction.data_questions.words import Words, need_of, use
from server.text.stems import singular

_FEW_WORDS: Final = 3
"""So far before a column stands that there is one: have an email."""
_HELD: Final = frozenset({"text", "contact", "category"})
"""What columns are for that may have no value."""


def read_rest(words: Words, request: DataRequest) -> None:
    """Read every part that no other step has used, as what it names."""
    for item in words.left():
        if item.last_word in words.language.texts:
            if item.kind == "unknown":  # the plot, where there is a description
                columns = columns_of_words(words.model, words.language.texts)
                item.meanings, item.kind = Meanings(columns=[*columns]), "phrase"
            read_in_text(words, request, item)
    for item in words.left():
        if item.has("contains", "about", "begins", "ends"):
            read_contained(words, request, item)
    for item in words.items:
        if not item.role:
            _read_names(words, request, item)


def _read_names(words: Words, request: DataRequest, item: Item) -> None:
    known = item.meanings
    cost = _cost_before(words, item) if item.is_amount and item.kind != "percent" else None
    if item.has("who"):
        read_who(words, request, item)
    elif cost is not None or _is_price(words, item):
        if cost is not None:
            use(cost)
        use(item, role="value")
        what = words.free(item, 1) if cost is not None else None
        if what is not None and words.numbers(what):
            use(what)  # that cost 29.99 to replace
            request.conditions.append(Condition(words.numbers(what), "is", item.value))
            return
        request.bounds.append(Bound("is", item.value))
    elif item.kind == "number" and item.value == 0 and request.subject is not None:
        use(item, role="value")
        request.bounds.append(Bound("is", 0))  # payments of zero
    elif item.kind == "number":
        read_number(words, request, item)
    elif flags := words.flags(item):
        _read_flag(words, request, item, flags)
    elif known.values and not ((known.nouns or _is_best_name(item)) and not item.capital):
        read_value(words, request, item)
    elif item.names_table:
        _read_noun(words, request, item)
    else:
        _read_told(words, request, item)


def _is_best_name(item: Item) -> bool:
    """Whether it is just what a column is called: the city, where a song is called so too."""
    return any(column.rank == 0 for column in item.meanings.columns)


def _read_told(words: Words, request: DataRequest, item: Item) -> None:
    """What is told of rows, and names none."""
    known = item.meanings
    if item.has("zero"):
        _read_zero(words, request, item)
    elif known.columns:
        _read_column(words, request, item)
    elif item.has("adjective") and not request.figures:
        use(item)
        columns = (column for degree in known.degrees for column in degree.columns)
        request.shown.append(tuple(columns))
    elif known.done:
        use(item)
        before = words.previous(item)
        may = {*words.language.allowing, "to"}
        close = [i.last_word for i in words.items[max(0, item.place - 2) : item.place]]
        after = words.beside(item, 1)
        costs = after is not None and after.is_amount and after.kind != "duration"
        allowed = not may.isdisjoint(close) or costs
        asks_thing = request.target is not None or bool(request.days or request.counted)
        if before is None or not asks_thing or not allowed:
            request.facts.append(tuple(known.done))  # that one can rent was not rented
    elif known.dates and any(
        one.comparison == "given" and not set(known.dates).isdisjoint(one.columns)
        for one in request.conditions
    ):
        use(item)  # still waiting for a shipment
    elif known.dates:
        use(item)
        lead = words.items[max(0, item.place - _FEW_WORDS - 1) : item.place]
        is_asked = any(other.has("day") for other in lead)  # the date the customer wants it by
        if request.when or request.shows_days or is_asked:
            request.shown.append(tuple(known.dates))
        else:
            request.conditions.append(Condition(tuple(known.dates), "given", value=True))


def _cost_before(words: Words, item: Item) -> Item | None:
    """What says that a number is what something costs: films that cost 0.99."""
    before = words.free(item, -1)
    return before if before is not None and before.has("costs") else None


def _is_price(words: Words, item: Item) -> bool:
    """Whether an amount is what something costs, by its currency or its cents: films for 0.99."""
    if item.kind == "number" and isinstance(item.value, int):
        return False
    before = words.beside(item, -1)
    return item.is_amount and item.kind not in ("duration", "percent") and not words.numbers(before)


def _read_flag(words: Words, request: DataRequest, item: Item, flags: Columns) -> None:
    use(item)
    after = next((i for i in words.after(item) if i.spoken in words.language.included), None)
    if after is not None and after.clause == item.clause and after.place - item.place <= _FEW_WORDS:
        use(after)
        return  # discontinued ones included
    if request.target is None and _is_verdict(words):
        request.shown.append(flags)
    else:
        request.conditions.append(Condition(flags, "is", not item.has("flag_not")))


def _is_verdict(words: Words) -> bool:
    """Whether a yes or a no is asked for, about something that has a name."""
    return words.items[0].first_word in words.language.verdicts


def _read_zero(words: Words, request: DataRequest, item: Item) -> None:
    """Of what there is none in stock."""
    stocks = columns_called(words.model, words.language.stocks)
    if stocks:
        use(item)
        request.conditions.append(Condition(stocks, "is", 0))


def _read_noun(words: Words, request: DataRequest, item: Item) -> None:
    """A table that is named besides; or a column or a name that is shown of the target."""
    need = need_of(item)
    if need is None:
        return
    target = request.target
    before = words.previous(item)
    word_before = before.last_word if before is not None else ""
    asks = bool(request.figures) or request.when
    if target is None and asks and word_before in words.language.which:
        _read_best_row(request, item, need)
        return
    use(item)
    if target is not None:
        own = tuple(column for column in item.meanings.columns if column.table == target.table)
        if own:
            request.shown.append(own)
            return
        request.shown_names.append(need)
        if request.one is not None:
            request.must_show.append(need)
        lead = {other.spoken for other in words.items[max(0, item.place - 2) : item.place]}
        named = before is not None and bool(before.meanings.values)  # Nirvana and U2 tracks
        asked = word_before in words.language.which and item.place > 1
        if asked or (not named and not words.language.together.isdisjoint(lead)):
            request.must_show.append(need)
    elif request.who and word_before in words.language.which:
        request.shown_names.append(need)  # who signed up, and what city they are from
        request.must_show.append(need)
    request.also.append(need)


def _read_best_row(request: DataRequest, item: Item, need: Need) -> None:
    """The highest freight, and for which order: the order with the highest."""
    figure = request.figures[0] if len(request.figures) == 1 else None
    own = tuple(c for c in figure.columns if c.table == need.table) if figure is not None else ()
    ends = {"highest": True, "lowest": False}
    if figure is None or not own or figure.operation not in ends or request.groups:
        raise Unclear("which")
    use(item)
    request.figures.clear()
    request.target = need
    request.order.append(Ordered(own, ends[figure.operation]))
    request.shown.append(own)


def _read_column(words: Words, request: DataRequest, item: Item) -> None:
    """A column that is asked for, or that has to be there: customers with a company."""
    if words.is_how_much(item) and request.counted is not None and not request.figures:
        use(item, role="operator")
        request.figures.append(Asked("sum", "money"))  # how many sales, and for how much
        return
    columns: Columns = tuple(item.meanings.columns)
    if _is_said_already(words, request, columns):
        use(item)  # how many are left in the warehouse
        return
    subject = request.subject
    done = any(other.meanings.done for other in words.items)
    if item.has("day") and done and (subject is not None or request.who):
        table = words.model.tables[subject.table] if subject is not None else None
        if table is None or table.people or table.pays:
            use(item)
            request.shows_days = True  # who rented it, and on which dates
            return
    if subject is not None:
        names = _names_among(words, columns)
        own = _columns_of(words, item, columns, subject.table)
        columns = own or tuple(column for column in columns if column not in names)
        if not columns or (own and all(column in names for column in own)):
            use(item)
            return
    listed = subject is not None or request.everything or bool(request.groups)
    if listed and item.place > 0 and _is_in_stock(words, item):
        stocks = set(columns_called(words.model, words.language.stocks))
        near = [c for c in item.meanings.columns if Column(c.table, c.column) in stocks]
        stocked = tuple(c for c in near if subject is None or c.table == subject.table)
        if stocked:
            use(item)
            request.conditions.append(Condition(stocked, "more", 0))
            return
    if _is_had(words, item) and all(words.kind(column) in _HELD for column in columns):
        if not any(condition.columns == columns for condition in request.conditions):
            request.conditions.append(Condition(columns, "given", value=True))
    elif request.counted is not None:
        return
    use(item)
    if request.counted is None:
        request.shown.append(columns)


def _is_said_already(words: Words, request: DataRequest, columns: Columns) -> bool:
    """Whether it is a stock that is asked for anyway."""
    told = [*request.shown, *(asked.columns for asked in request.figures)]
    stocks = set(columns_called(words.model, words.language.stocks))
    plain = {Column(c.table, c.column) for c in columns}
    asked = {Column(c.table, c.column) for some in told for c in some}
    if any(one.measure == "stock" for one in request.all_asked()) and plain <= stocks:
        return True
    return bool(plain & asked & stocks) and plain <= stocks


def _is_in_stock(words: Words, item: Item) -> bool:
    """Whether there is some of it: in stock, that we still have stock of."""
    before = words.previous(item)
    lead = before.last_word if before is not None else ""
    stocks = words.language.stocks
    if item.spoken in stocks or f"{lead} {item.spoken}" in stocks:
        return True
    near = {other.last_word for other in words.items[max(0, item.place - 2) : item.place]}
    short = any(said.endswith(f" {item.spoken}") for said in stocks)
    return short and not words.language.having.isdisjoint(near)


def _names_among(words: Words, columns: Sequence[Column]) -> Columns:
    """The columns that are the name of a row, and are called by their best name."""
    tables = words.model.tables
    return tuple(c for c in columns if c.rank == 0 and c.column in tables[c.table].name)


def _columns_of(words: Words, item: Item, columns: Sequence[Column], table: str) -> Columns:
    date = words.model.tables[table].date
    if item.has("day") and date:
        return (Column(table, date),)
    return tuple(column for column in columns if column.table == table)


def _is_had(words: Words, item: Item) -> bool:
    """Whether it is said that there is such a thing: customers who have an email."""
    near = words.items[max(0, item.place - _FEW_WORDS) : item.place]
    lead = [w for i in near if i.is_filler or i.has("who") for w in (i.spoken, i.last_word)]
    if not lead:
        return False
    language = words.language
    is_one = lead[-1] in language.plural_verbs and singular(item.last_word) != item.last_word
    if is_one and words.kind(item.meanings.columns[0]) == "text":
        return True  # which clients are companies
    has_one = lead[-1] in language.articles and not language.having.isdisjoint(lead)
    return has_one or lead[-1] in language.having_one
