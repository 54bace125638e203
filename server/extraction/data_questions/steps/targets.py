"""What is asked for, where a noun, a verb or a value tells it."""

from collections.abc import Sequence
from itertools import pairwise

from server.extraction.data_questions.asked import DataRequest, Unclear
from server.extraction.data_questions.composing.subjects import things_of
from server.extraction.data_questions.items import Item
from server.extraction.data_questions.joins import Need
from server.extraction.data_questions.words import Words, need_of, use
from server.text.stems import singular


def read_target(words: Words, request: DataRequest) -> None:
    """The first noun that does not only say what something beside it is."""
    if request.counted is not None or (request.figures and not (request.order or request.top)):
        return
    if request.one is not None:
        request.target = request.one
    if request.target is not None:
        return
    _read_listed(words, request)
    if (thing := _kind_acquired(words)) is not None:
        request.target, request.plural = thing, True
        return
    if (owner := _whose(words)) is not None:
        request.target, request.plural = owner, True
        return
    for item in words.left():
        if item.has("everything"):
            request.everything = True
            use(item, *(other for other in words.left() if other.meanings.agents))
            continue
        if item.has("who") and not item.meanings.nouns:
            request.who = True
            use(item)
            target, plural = _agent(words) or _workers(words, item) or _maker(words), True
            is_doer = item is words.first() and _does(words, item)
            if target is None and is_doer and not request.order:
                return  # who bought songs
        else:
            target, plural = _implied(words, item), True
            before = words.previous(item)
            is_asked = before is not None and before.last_word in words.language.which
            if request.end_of_days and is_asked and item.names_table:
                raise Unclear("when, and which")
            if request.who and is_asked and item.names_table and _is_joined(words, item):
                continue  # who signed up, and in what city they are
            if item.names_table and is_asked and _is_asked_besides(words, item):
                need = need_of(item)
                use(item)
                request.shown_names += [need] if need is not None else []
                request.must_show += [need] if need is not None else []
                request.also += [need] if need is not None else []
                continue
            if target is None and (named := _by_name(words, item)) is not None:
                target = named
                use(item)
            elif target is None and _is_target(words, item):
                head = _head_of(words, item)
                target, plural = need_of(head), head.meanings.plural
                use(item, head)
        if target is not None:
            best = request.who and bool(request.order)  # who on the team sold the most
            request.target = target
            request.plural = plural and not (best or _is_one_of(words, item))
            return
    acquired = [item for item in words.left() if item.has("acquired")]
    plain = not (request.listed or request.order or request.figures or request.groups or acquired)
    if plain and words.items[0].first_word in words.language.which and not request.who:
        request.target = _agent(words)  # which company makes it
        request.plural = request.target is not None
        if request.target is not None:
            return
    if acquired and words.items[0].first_word in words.language.wheres:
        _read_source(request, acquired)  # where do we get it from
        return
    if request.listed and acquired:
        use(*acquired)  # which countries do we buy from
        request.target = next((a for item in acquired for a in item.meanings.agents), None)
        return
    figured = request.order or request.figures or request.groups
    if acquired and not (request.who or figured):
        request.everything = True  # what do we buy from a supplier
        use(*acquired)


def _is_joined(words: Words, item: Item) -> bool:
    """Whether an “and” leads to it, with what asks for one of several."""
    lead = [other.spoken for other in words.items[max(0, item.place - 3) : item.place]]
    return not words.language.together.isdisjoint(lead)


def _read_source(request: DataRequest, acquired: Sequence[Item]) -> None:
    """Those whom something comes from, and not where they are."""
    use(*acquired)
    request.target = next((a for item in acquired for a in item.meanings.agents), None)
    request.plural = True


def _is_asked_besides(words: Words, item: Item) -> bool:
    """Whether it is asked of something that has a name: what X costs, and which album it is on."""
    joined = _is_joined(words, item)
    costs = any(other.has("costs") or words.numbers(other) for other in words.before(item))
    named = [other for other in words.before(item) if other.meanings.values]
    numbered = any(
        other.kind == "number" and lead.names_table for lead, other in pairwise(words.before(item))
    )
    return joined and ((costs and len(named) == 1) or numbered)


def _is_one_of(words: Words, item: Item) -> bool:
    """Whether one of several is asked for: which of our employees has sold the most."""
    before = [other.spoken for other in words.before(item)]
    after = words.next(item)
    one = {*words.language.which} & {*before} and {*words.language.owned_by} & {*before}
    several = words.language.plural_verbs
    return bool(one) and after is not None and after.first_word not in several


def _whose(words: Words) -> Need | None:
    """Those who have what a column holds: whose notes mention French."""
    if words.items[0].spoken not in words.language.whose:
        return None
    first = words.first()
    if first is not None and first.meanings.nouns:
        return _owner(words, first)
    tables = {column.table for column in first.meanings.columns} if first is not None else set()
    return Need(*tables) if len(tables) == 1 else None


def _owner(words: Words, item: Item) -> Need | None:
    """Whose album it is: those who do something, to whom it belongs."""
    tables, called = words.model.tables, words.language.agents.keys()
    owners = [
        link.table
        for link in tables[item.meanings.nouns[0].table].links
        if tables[link.table].people or not called.isdisjoint(tables[link.table].called)
    ]
    if len(owners) != 1 or not any(i.meanings.values for i in words.after(item)):
        return None
    use(item)
    return Need(owners[0])


def _read_listed(words: Words, request: DataRequest) -> None:
    """Which countries do our customers come from: the different values of a column."""
    item = next((i for i in words.left() if not (i.is_filler or i.meanings.values)), None)
    first = words.first()
    if item is None or item.meanings.nouns or first is None:
        return
    said = words.items[first.place : item.place]
    if any(not other.meanings.values for other in said):  # in what French cities
        return
    asks = any(other.last_word in words.language.which for other in words.before(item))
    named = words.thing_called(item) is not None
    kinds = ("category", "text") if asks and not named else ("category",)
    columns = tuple(c for c in item.meanings.columns if words.kind(c) in kinds)
    is_plural = singular(item.last_word) != item.last_word
    after = words.next(item)
    of_each = after is None or after.spoken in words.language.owned_by
    asks_figures = request.having or request.order or request.groups or request.figures
    goes_on = after is not None and after.kind == "phrase"
    if columns and is_plural and goes_on and not (of_each or asks_figures):
        use(item)
        request.listed = columns


def _does(words: Words, item: Item) -> bool:
    """Whether it is asked who did what follows: who bought, who has rented."""
    after = words.beside(item, 1)
    does = after is not None and bool(after.meanings.done or after.meanings.pending)
    return after is not None and does and not after.names_table


def _kind_acquired(words: Words) -> Need | None:
    """The things of a kind that we get from somebody: the seafood we buy from a supplier."""
    first = words.first()
    verb = words.beside(first, 1) if first is not None else None
    if first is None or verb is None or not verb.has("acquired"):
        return None
    if first.meanings.nouns or not first.meanings.values:
        return None
    thing = things_of(words.model, first.meanings.values[0])
    if thing is not None:
        use(verb)
    return thing


def _maker(words: Words) -> Need | None:
    """Those whom something is by that has a name: who is it by?"""
    last = words.items[-1]
    named = [value for item in words.items for value in item.meanings.values]
    if not last.has("by") or last.role or not named:
        return None
    called = words.language.agents.keys()
    found = [
        name
        for name, table in words.model.tables.items()
        if not called.isdisjoint(table.called)
        and any(
            not any(step.startswith("<") for step in way)
            for way in words.model.reachable[named[0].table].get(name, ())
        )
    ]
    if len(found) != 1:
        return None
    use(last)
    return Need(found[0])


def _workers(words: Words, item: Item) -> Need | None:
    """Those who work here, where it is asked who works somewhere."""
    verb = words.next(item)
    if verb is None or verb.first_word not in words.language.working:
        return None
    staff = {*words.language.staff}
    tables = words.model.tables.items()
    return next((Need(name) for name, table in tables if not staff.isdisjoint(table.called)), None)


def _agent(words: Words) -> Need | None:
    """Those who do what a verb says: who supplies us with it."""
    for item in words.left():
        if item.meanings.agents:
            use(item)
            return item.meanings.agents[0]
    return None


def _implied(words: Words, item: Item) -> Need | None:
    """What a value is said of, where its own words name it: dairy products."""
    *others, last = item.said.split(" ")
    if not others or not item.meanings.values or item.meanings.nouns:
        return None
    known = words.meanings(last)
    tables = {value.table for value in item.meanings.values}
    for noun in known.nouns if known is not None else ():
        reached = words.model.reachable[noun.table].keys()
        if noun.table not in tables and tables & reached:
            return Need(noun.table)
    return None


def _by_name(words: Words, item: Item) -> Need | None:
    """What is listed by the name of its column: titles released in 2025."""
    columns = [c for c in item.meanings.columns if c.rank == 0]
    tables = [c.table for c in columns if (c.column,) == tuple(words.model.tables[c.table].name)]
    many = singular(item.last_word) != item.last_word and item is words.first()
    after = words.next(item)
    of_each = after is None or after.spoken in words.language.owned_by
    alone = len(tables) == len(item.meanings.columns) == 1 and not item.names_table
    return Need(tables[0]) if alone and many and not of_each else None


def _head_of(words: Words, item: Item) -> Item:
    """The last of two nouns that stand together: product categories."""
    head = words.next(item)
    if head is None or head.role or not head.meanings.nouns or item.meanings.plural:
        return item
    if head.meanings.columns:
        return item  # store addresses: not all of them
    near = {need_of(item), need_of(head)}
    linked = any(link.table == need.table for need in near if need for other in near if other
                 for link in words.model.tables[other.table].links)  # fmt: skip
    alone = words.said((item, head)) == f"{item.said} {head.said}"
    return head if linked and alone and head.meanings.plural and len(near) > 1 else item


def _is_target(words: Words, item: Item) -> bool:
    only_role = bool(item.meanings.values) and not item.meanings.nouns
    return item.names_table and not only_role and not _is_qualifier(words, item)


def _is_qualifier(words: Words, item: Item) -> bool:
    """Whether a noun only says what a name or a number beside it is: invoice 231."""
    after = words.next(item)
    if after is not None and after.kind == "number" and not after.role:
        return True
    tables = {noun.table for noun in item.meanings.nouns}
    for beside in (words.previous(item), after):
        for value in beside.meanings.values if beside is not None and not beside.role else ():
            name = tuple(words.model.tables[value.table].name)
            if value.table in tables and value.columns == name:
                return True
    return False
