"""What has the same in a column as something else: customers in a city where we have a supplier."""

from typing import Final

from server.extraction.data_questions.asked import Absent, DataRequest
from server.extraction.data_questions.items import Item
from server.extraction.data_questions.meanings import Columns
from server.extraction.data_questions.words import Words, need_of, use

_SHARED: Final = frozenset({"category", "text"})
"""What columns are for that rows of two tables may have alike."""


def read_shared_values(words: Words, request: DataRequest) -> None:
    """In the same city as one of our employees, in a country where we have no customers."""
    for item in words.left():
        columns = tuple(c for c in item.meanings.columns if words.kind(c) in _SHARED)
        rest = words.rest_of_clause(item)
        subject = any(other.names_table for other in words.before(item))
        asks_who = any(other.has("who") for other in rest)  # and who is it
        if not columns or item.names_table or not subject or asks_who:
            continue
        before, after = words.previous(item), words.next(item)
        same = before is not None and before.spoken in words.language.same
        leads = words.language.same_leads if same else words.language.places
        if after is None or after.spoken not in leads:
            continue
        said = [other for other in rest if not other.is_filler]
        denied = next((other for other in said[:1] if other.has("nots", "without")), None)
        if denied is not None:
            said.remove(denied)
        if said and _may_share(said, columns):
            use(item, said[0], *([denied] if denied is not None else []), role="operator")
            if same and before is not None:
                use(before)
            need = need_of(said[0])
            tables = (need.table,) if need is not None else ()
            request.absent.append(Absent(tables, is_there=denied is None, same=columns))


def _may_share(said: list[Item], columns: Columns) -> bool:
    """Whether a noun follows that has such a column too, and nothing else is told of it."""
    noun, *others = said
    need = need_of(noun)
    alone = not any(other.meanings.values or other.kind != "phrase" for other in others)
    return need is not None and alone and any(column.table == need.table for column in columns)
