"""What is not there, or not so: customers without an order, not yet shipped, not in Germany."""

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
from server.extraction.data_questions.meanings import Columns
from server.extraction.data_questions.words import Words, use

_REACH: Final = 4
"""So many parts after a negation may be what it denies."""
_HELD: Final = frozenset({"text", "contact", "category", "date", "number", "money"})
"""What columns are for that may have no value."""


def read_negations(words: Words, request: DataRequest) -> None:
    """Read what each negation denies, up to the end of the question."""
    for item in words.items:
        if not item.role and item.has("nots", "without"):
            _read_negation(words, request, item)


def _read_negation(words: Words, request: DataRequest, item: Item) -> None:
    scope = [other for other in words.after(item) if not other.is_filler and not other.role]
    scope = scope[:_REACH]
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
    elif item.has("nots") and all(other.kind == "period" for other in scope):
        use(item, role="operator")
        verbs = [other for other in words.before(item) if other.meanings.done and not other.role]
        use(*verbs)
        done = tuple(table for verb in verbs for table in verb.meanings.done)
        request.absent.append(_absent(words, done, item))


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
        _deny_value(request, tuple(known.dates))
    elif known.nouns:
        use(other)
        request.absent.append(_absent(words, (known.nouns[0].table,), other))
    elif columns := tuple(c for c in known.columns if words.kind(c) in _HELD):
        use(other)
        _deny_value(request, columns)
    elif known.values:
        use(other, role="value")
        request.named.append(Named(tuple(known.values), negated=True))
    else:
        return False
    return True


def _deny_value(request: DataRequest, columns: Columns) -> None:
    request.conditions.append(Condition(columns, "given", value=False))


def _absent(words: Words, tables: tuple[str, ...], item: Item) -> Absent:
    """The rows that are missing, with what stands after a part up to the end."""
    absent = Absent(tables)
    for other in words.after(item):
        if other.role:
            continue
        if other.meanings.nouns or not set(tables).isdisjoint(other.meanings.done):
            use(other)
        elif other.kind == "period":
            use(other, role="value")
            absent.days.append(Days(other.value))
        elif other.meanings.values:
            use(other, role="value")
            absent.named.append(Named(tuple(other.meanings.values)))
    return absent
