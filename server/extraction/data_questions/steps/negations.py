"""What is not there, or not so: customers without an order, not yet shipped, not in Germany."""

from collections.abc import Iterator
from typing import Final

from server.extraction.data_questions.asked import (
    Absent,
    Condition,
    DataRequest,
    Days,
    Named,
    Unclear,
)
from server.extraction.data_questions.items import Item
from server.extraction.data_questions.joins import Need
from server.extraction.data_questions.meanings import Column, Columns
from server.extraction.data_questions.words import Words, use, values_of

_REACH: Final = 4
"""So many parts after a negation may be what it denies."""
_HELD: Final = frozenset({"text", "contact", "category", "date", "number", "money"})
"""What columns are for that may have no value."""


def read_negations(words: Words, request: DataRequest) -> None:
    """Read what each negation denies, up to the end of its clause."""
    for item in words.left():
        if item.spoken in words.language.empties:
            _read_empty(words, request, item)
    for item in words.items:
        if item.role or not item.has("nots", "without"):
            continue
        if item.first_word in words.language.still and _is_denied(words, item):
            use(item)  # not shipped yet to Germany
        else:
            _read_negation(words, request, item)


def _read_empty(words: Words, request: DataRequest, item: Item) -> None:
    """Empty playlists: those to which nothing belongs."""
    nouns = [need for other in words.items for need in other.meanings.nouns]
    holders = [
        name
        for name, table in words.model.tables.items()
        if nouns and any(link.table == nouns[0].table for link in table.links)
    ]
    if holders:
        use(item, role="operator")
        request.absent.append(Absent((holders[0],)))


def _is_denied(words: Words, item: Item) -> bool:
    """Whether a clause has a negation before."""
    before = [other for other in words.before(item) if other.clause == item.clause]
    return any(other.role and other.has("nots", "without") for other in before)


def _read_negation(words: Words, request: DataRequest, item: Item) -> None:
    after = words.rest_of_clause(item)
    scope = [other for other in after if not other.is_filler and not other.role]
    scope = scope[:_REACH]
    if not (scope and scope[0].meanings.dates):
        scope.sort(key=lambda other: not other.meanings.done)  # nobody in Italy ordered
    for other in scope:
        if _read_denied(words, request, item, other):
            use(item, role="operator")
            return
        if other.kind == "unknown":
            raise Unclear(other.said)
    before = words.free(item, -1)
    if item.has("without") and not scope and before is not None and before.meanings.columns:
        use(item, role="operator")
        use(before)
        _deny_value(request, tuple(before.meanings.columns))
    elif not scope and _read_nobody(words, request, item):
        return
    elif item.has("nots") and all(other.kind == "period" for other in scope):
        if not scope and _is_unfinished(words, item):
            return
        use(item, role="operator")
        verbs = [other for other in words.before(item) if other.meanings.done and not other.role]
        use(*verbs)
        done = tuple(table for verb in verbs for table in verb.meanings.done)
        request.absent.append(_absent(words, done, item))
        if done and any(other.kind == "period" for other in words.before(item)):
            request.facts.append(done)  # in 2025 but not in 2026


def _role_of_listed(words: Words, item: Item, other: Item) -> Need | None:
    """What each of those that are listed may have as something: a sales rep, of customers."""
    before = {need.table for one in words.before(item) for need in one.meanings.nouns}
    return next((role for role in other.meanings.roles if role.owner in before), None)


def _is_unfinished(words: Words, item: Item) -> bool:
    """Whether a negation ends its clause, and nothing before says what is denied: but B doesn't."""
    verbs = any(other.meanings.done and not other.role for other in words.before(item))
    return not words.rest_of_clause(item) and not verbs


def _read_nobody(words: Words, request: DataRequest, item: Item) -> bool:
    """Customers that don't have anybody: those without the one that each may have."""
    nouns = [need for other in words.before(item) for need in other.meanings.nouns]
    links = words.model.tables[nouns[0].table].links if nouns else ()
    roles = [link for link in links if words.model.tables[link.table].people]
    verb = any(other.has("joins") for other in words.rest_of_clause(item))
    nobody = not words.language.nobody.isdisjoint(item.spoken.split(" "))
    if not ((item.has("without") or nobody) and verb and len(roles) == 1):
        return False
    use(item, role="operator")
    role = Need(roles[0].table, nouns[0].table, roles[0].columns[0])
    request.also.append(role)
    _deny_value(request, (Column(role.table, words.model.tables[role.table].key[0]),))
    return True


def _read_denied(words: Words, request: DataRequest, item: Item, other: Item) -> bool:
    """Read one part as what a negation denies, where it can be that."""
    known = other.meanings
    if flags := words.flags(other):
        use(other)
        request.conditions.append(Condition(flags, "is", other.has("flag_not")))
    elif known.done:
        use(item, other)
        request.absent.append(_absent(words, tuple(known.done), item))
    elif known.dates and not known.nouns:
        use(other)
        place = _name_after(words, other)
        if place is None:
            _deny_value(request, tuple(known.dates))
        else:
            use(place, role="value")  # not shipped to Germany
            request.named.append(Named(tuple(values_of(place)), negated=True))
    elif (role := _role_of_listed(words, item, other)) is not None:
        use(other)
        request.also.append(role)
        _deny_value(request, (Column(role.table, words.model.tables[role.table].key[0]),))
    elif known.nouns:
        use(other)
        request.absent.append(_absent(words, (known.nouns[0].table,), other))
    elif columns := tuple(c for c in known.columns if _may_lack(words, c)):
        use(other)
        _deny_value(request, columns)
    elif known.values and (verb := _done_before(words, item)) is not None:
        request.absent.append(_absent(words, tuple(verb.meanings.done), item))
        request.facts.append(tuple(verb.meanings.done))
    elif known.values:
        for one in (other, *_names_joined(words, other)):
            use(one, role="value")
            request.named.append(Named(tuple(values_of(one)), negated=True))
    else:
        return False
    return True


def _name_after(words: Words, item: Item) -> Item | None:
    """A name that a verb leads to, where it is not denied that it has happened at all."""
    rest = words.rest_of_clause(item)
    name = next((other for other in rest if not other.is_filler), None)
    happens_yet = not words.language.still.isdisjoint(other.spoken for other in words.items)
    return name if name is not None and name.meanings.values and not happens_yet else None


def _done_before(words: Words, item: Item) -> Item | None:
    """What was done with one, before a negation of another: bought A but never B."""
    clause = [other for other in words.before(item) if other.clause == item.clause]
    named = any(other.meanings.values or other.kind == "period" for other in clause)
    verb = next((other for other in clause if other.meanings.done), None)
    return verb if named and verb is not None and verb.place < item.place else None


def _names_joined(words: Words, item: Item) -> Iterator[Item]:
    """The names after one that are denied with it: outside the USA and Canada."""
    passed: list[Item] = []
    for other in words.rest_of_clause(item):
        joins = {word.spoken for word in passed} & words.language.joints
        if other.meanings.values and joins:
            yield other
            passed = []
        elif other.is_filler or other.spoken in words.language.joints:
            passed.append(other)
        else:
            return


def _doer(words: Words, item: Item) -> Item | None:
    """Who did not do it, just before: which of them has QUICK-Stop never ordered."""
    before = words.free(item, -1)
    if before is None or before.place + 1 != item.place or before.meanings.nouns:
        return None
    did = words.previous(before)
    leads = did is not None and not words.language.have_done.isdisjoint(did.spoken.split(" "))
    tables = [words.model.tables[value.table] for value in before.meanings.values]
    return before if leads and any(table.pays or table.people for table in tables) else None


def _may_lack(words: Words, column: Column) -> bool:
    """Whether rows may have nothing there: what a row is called is always there."""
    is_name = column.column in words.model.tables[column.table].name
    return words.kind(column) in _HELD and not is_name


def _deny_value(request: DataRequest, columns: Columns) -> None:
    request.conditions.append(Condition(columns, "given", value=False))


def _absent(words: Words, tables: tuple[str, ...], item: Item) -> Absent:
    """The rows that are missing, with what stands after a part up to the end of its clause."""
    absent = Absent(tables)
    doer = _doer(words, item)
    if doer is not None:
        use(doer, role="value")
        absent.named.append(Named(tuple(values_of(doer))))
    for other in words.rest_of_clause(item):
        if other.role:
            continue
        if other.meanings.nouns:
            absent.also.append(other.meanings.nouns[0])
        if other.meanings.nouns or not set(tables).isdisjoint(other.meanings.done):
            use(other)
        elif other.kind == "period":
            use(other, role="value")
            absent.days.append(Days(other.value))
        elif other.meanings.values:
            use(other, role="value")
            absent.named.append(Named(tuple(values_of(other))))
    if absent.named and not words.language.nobody.isdisjoint(item.spoken.split(" ")):
        payers = [Need(name) for name, table in words.model.tables.items() if table.pays]
        absent.also.extend(payers if len(payers) == 1 and tables else ())
    return absent
