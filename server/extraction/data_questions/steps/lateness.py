"""What happened too late, has yet to happen, or took how long: one day against another."""

from collections.abc import Iterator, Sequence
from typing import Final

from server.extraction.data_questions.asked import Against, Asked, Condition, DataRequest
from server.extraction.data_questions.columns import all_columns, columns_of_words, spoken_words
from server.extraction.data_questions.items import Item
from server.extraction.data_questions.meanings import Column, Columns
from server.extraction.data_questions.words import Words, use
from server.library.data_query import Comparison

_FEW: Final = 3


def read_lateness(words: Words, request: DataRequest) -> None:
    """Overdue invoices, shipped late, shipped after the required date, still out."""
    for item in words.left():
        if item.has("overdue", "late", "on_time"):
            _read_late(words, request, item)
        elif item.spoken in words.language.past:
            _read_past(words, request, item)
        elif item.has("after", "before"):
            _read_days_compared(words, request, item)
    for item in words.left():
        if item.meanings.pending and not (item.role or item.meanings.values):
            use(item, role="operator")
            flags = tuple(c for c in item.meanings.pending if words.kind(c) == "flag")
            days = tuple(c for c in item.meanings.pending if c not in flags)
            if days:
                request.conditions.append(Condition(days, "given", value=False))
            else:
                request.conditions.append(Condition(flags, "is", value=False))


def _read_past(words: Words, request: DataRequest, item: Item) -> None:
    """Already past its due date: that day is over."""
    day = words.beside(item, 1)
    while day is not None and not day.meanings.dates and day.has("day"):
        use(day)  # past the date they want it by
        day = words.beside(day, 1)
    columns = tuple(day.meanings.dates) or tuple(day.meanings.columns) if day is not None else ()
    if day is not None and columns and all(words.kind(column) == "date" for column in columns):
        use(item, day, role="operator")
        today = request.today.isoformat()
        request.conditions.append(Condition(columns, "until", today))


def read_durations(words: Words, request: DataRequest) -> None:
    """How many days from order to shipping on average, how long people keep a film."""
    lead = [i for i in words.left() if i.has("lasting")]
    if lead and any(i.first_word in words.language.allowing for i in words.items):
        _read_allowed(words, request, lead)
        return
    if not lead:
        return
    takes = any(item.spoken in words.language.takes for item in words.items)
    found = next(iter(_stretches(words, takes=takes)), None)
    if found is None:
        return
    since, until, said = found
    use(*lead, *said, role="operator")
    days = {since[:2], until[:2]}
    for item in words.left():
        if not item.names_table and not days.isdisjoint(day[:2] for day in item.meanings.dates):
            use(item)
    use(*(item for item in words.left() if item.spoken in words.language.takes))
    for item in words.left():
        if item.has("averages", "counts", "between", "before", "after"):
            use(item, role="operator")
    request.figures.append(Asked("average", columns=(until,), since=since))


def _read_allowed(words: Words, request: DataRequest, lead: Sequence[Item]) -> None:
    """How long one may keep it is told by a column of its own: the rental period."""
    spans = columns_of_words(words.model, words.language.spans)
    spans = tuple(column for column in spans if words.kind(column) == "number")
    kept = [
        item
        for item in words.items
        if (item.meanings.kept or item.meanings.done) and item.role != "value"
    ]
    if spans and kept:
        people = [
            item
            for item in words.left()
            if any(words.model.tables[need.table].pays for need in item.meanings.nouns)
        ]
        use(*lead, *kept, *people)
        request.conditions = [c for c in request.conditions if c.comparison != "given"]
        request.shown.append(spans)


def _read_late(words: Words, request: DataRequest, item: Item) -> None:
    """After the day on which it was due; overdue is what has not happened by then."""
    pairs = list(_due_pairs(words))
    mentioned = {need.table for i in words.items for need in i.meanings.nouns}
    best = [pair for pair in pairs if pair[0].table in mentioned] or pairs
    if len({due.table for due, _ in best}) != 1:
        return
    due, done = best[0]
    use(item, role="operator")
    verb = words.free(item, -1)
    if verb is not None and done in verb.meanings.dates:
        use(verb)
    if item.has("overdue") and not (item.has("late") and verb is not None and verb.role):
        is_flag = words.kind(done) == "flag"
        open_: Comparison = "is" if is_flag else "given"
        request.conditions.append(Condition((done,), open_, value=False))
        request.conditions.append(Condition((due,), "until", request.today.isoformat()))
    elif words.kind(done) == "date":
        request.against.append(Against(done, due, "most" if item.has("on_time") else "more"))


def _due_pairs(words: Words) -> Iterator[tuple[Column, Column]]:
    """The days on which something is due, and what tells that it happened."""
    language = words.language
    told = [(column, spoken_words(data), data.kind) for column, data in all_columns(words.model)]
    for due, spoken, kind in told:
        if kind != "date" or spoken.isdisjoint(language.due):
            continue
        own = [
            (column, kind)
            for column, words_of_it, kind in told
            if column.table == due.table and not words_of_it.isdisjoint(language.done_days)
        ]
        days = [column for column, k in own if k == "date" and column != due]
        flags = [column for column, k in own if k == "flag"]
        for done in (days or flags)[:1]:
            yield due, done


def _read_days_compared(words: Words, request: DataRequest, item: Item) -> None:
    """Shipped after the required date: two days of the same row."""
    right = words.free(item, 1)
    passed: list[Item] = []
    while right is not None and (right.has("day") or right.names_table) and len(passed) < _FEW:
        passed.append(right)  # after the date the customer needed them
        right = words.free(right, 1)
    theirs = _days_of(words, right) if right is not None else ()
    if right is not None and passed:
        theirs = theirs or tuple(c for c in right.meanings.dates if words.kind(c) == "date")
    if right is None or not theirs:
        return
    for left in reversed(words.before(item)):
        mine = [*left.meanings.dates, *_days_of(words, left)]
        pairs = [(a, b) for a in mine for b in theirs if a.table == b.table and a[:2] != b[:2]]
        if pairs:
            use(item, right, role="operator")
            use(left, *passed)
            request.against.append(Against(*pairs[0], "more" if item.has("after") else "less"))
            return


def _days_of(words: Words, item: Item) -> Columns:
    return tuple(column for column in item.meanings.columns if words.kind(column) == "date")


def _stretches(words: Words, *, takes: bool) -> Iterator[tuple[Column, Column, Sequence[Item]]]:
    """Two days of the same row that are named, or one and the day that the row is of."""
    said: list[tuple[Column, Item]] = []
    for item in words.left():
        days = [*item.meanings.dates, *_days_of(words, item)]
        for noun in item.meanings.nouns:
            date = words.model.tables[noun.table].date
            if date:
                days.append(Column(noun.table, date))
        said += [(day, item) for day in days]
    for at, (since, first) in enumerate(said):
        for until, second in said[at + 1 :]:
            both = first is not second and since.table == until.table
            if both and since.column != until.column and not second.meanings.nouns:
                yield since, until, [i for i in (first, second) if not i.meanings.nouns]
    for until, item in said:
        date = words.model.tables[until.table].date
        if date and date != until.column and takes:
            yield Column(until.table, date), until, [item]
    for item in words.left():
        for until in item.meanings.kept:
            date = words.model.tables[until.table].date
            if date and date != until.column:
                yield Column(until.table, date), until, [item]
