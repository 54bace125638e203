"""How many there are of one thing for each of another, and which share of all something is."""

from server.extraction.data_questions.asked import EACH, Asked, DataRequest, Each
from server.extraction.data_questions.items import Item
from server.extraction.data_questions.joins import Need
from server.extraction.data_questions.words import Words, need_of, use


def read_ratios(words: Words, request: DataRequest) -> None:
    """The average number of tracks per album; what percentage of the customers."""
    for item in words.left():
        if item.has("shares"):
            _read_share(words, request, item)
    average = next((item for item in words.left() if item.has("averages")), None)
    count = next((item for item in words.left() if item.has("counts")), None)
    if average is not None and count is not None:
        _read_average_number(words, request, average, count)


def _read_share(words: Words, request: DataRequest, item: Item) -> None:
    use(item, role="operator")
    request.share = True
    noun = next((i for i in words.after(item) if i.meanings.nouns and not i.role), None)
    between = words.items[item.place + 1 : noun.place] if noun is not None else ()
    if noun is not None and not any(map(words.names_amount, (*between, noun))):
        use(noun, role="operator")
        request.counted = need_of(noun)


def _read_average_number(words: Words, request: DataRequest, average: Item, count: Item) -> None:
    noun = words.free(count, 1)
    rows = need_of(noun) if noun is not None else None
    if noun is None or rows is None:
        return
    per = _group_of_all(request) or _other(words, noun)
    if per is None:
        return
    use(average, count, noun, role="operator")
    request.figures.append(Asked("average", rows=rows, per=per))


def _group_of_all(request: DataRequest) -> Need | Each | None:
    """What rows would be put together by, where that is one thing: per album, per month."""
    if len(request.groups) != 1:
        return None
    group = request.groups[0]
    if isinstance(group, Need) or group in EACH:
        request.groups.clear()
        return group
    return None


def _other(words: Words, counted: Item) -> Need | None:
    """Another noun, of which each has some: does an album have."""
    for item in words.left():
        if item is not counted and item.names_table and not item.meanings.values:
            use(item, role="operator")
            return need_of(item)
    return None
