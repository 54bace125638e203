"""Who it is besides what is listed: who has it, who took it, whom it is by."""

from collections.abc import Sequence
from typing import Final

from server.extraction.data_questions.asked import DataRequest
from server.extraction.data_questions.items import Item
from server.extraction.data_questions.joins import Need
from server.extraction.data_questions.words import Words, use

_HAS: Final = frozenset({"has", "have", "had"})
"""Last words of who has something now."""


def read_who(words: Words, request: DataRequest, item: Item) -> None:
    """Who it is besides what is listed: which discs are out, and who has them.

    It stays unread where several may be meant.
    """
    subject = request.subject
    table = words.model.tables[subject.table] if subject is not None else None
    before = words.previous(item)
    if before is not None and before.names_table and item.spoken in words.language.relatives:
        use(item)  # suppliers who provide more than three
        return
    is_relative = before is not None and before.names_table  # any trainer who has not
    is_own = table is None or table.people or table.pays
    is_first = item is words.first() and request.one is None
    if subject is None or is_own or is_relative or is_first:
        request.who = True
        use(item)
        return
    if request.target is None:
        return
    people = _makers(words, request, item) or _people_of(words, request, item)
    if len(people) == 1:
        use(item)
        request.must_show.append(people[0])
        request.shown_names.append(people[0])
        request.also.append(people[0])


def _makers(words: Words, request: DataRequest, item: Item) -> Sequence[Need]:
    """Those whom it is by."""
    by = next((other for other in words.after(item) if other.has("by")), None)
    if request.target is None or (by is None and _people_of(words, request, item)):
        return ()
    ways = words.model.reachable[request.target.table]
    called = words.language.agents.keys()
    found = [
        Need(name)
        for name in ways
        if not called.isdisjoint(words.model.tables[name].called)
        and not any(step.startswith("<") for step in ways[name][0])
    ]
    if len(found) == 1:
        use(*([by] if by is not None else []))
        return found
    return ()


def _people_of(words: Words, request: DataRequest, item: Item) -> Sequence[Need]:
    """Those who have to do with what is listed, or with what happened to it."""
    model = words.model
    told = [column.table for one in request.conditions for column in one.columns]
    told += [table for done in request.facts for table in done]
    near = [request.target.table] if request.target is not None else []
    for name in (*near, *told):
        found = {
            link.table: Need(link.table)
            for link in model.tables[name].links
            if model.tables[link.table].people or model.tables[link.table].pays
        }
        verb = words.free(item, 1) or words.next(item)
        pays = verb is not None and (bool(verb.meanings.done) or item.last_word in _HAS)
        payers = [need for table, need in found.items() if model.tables[table].pays]
        if found:
            return payers if pays and payers else [*found.values()]
    return ()
