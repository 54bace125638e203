"""Whole addresses, and those of mail by who carries it."""

from collections.abc import Iterator

from server.extraction.data_questions.asked import Condition, DataRequest, Unclear
from server.extraction.data_questions.columns import columns_called
from server.extraction.data_questions.items import Item
from server.extraction.data_questions.meanings import Columns
from server.extraction.data_questions.words import Words, use


def read_addresses(words: Words, request: DataRequest) -> None:
    """The full address of somebody, customers with a gmail address."""
    first = words.items[0]
    named = any(other.has("addresses") for other in words.left())
    told = {c for item in words.items for c in item.meanings.columns if item.place > 0}
    asks_where = first.is_filler and first.first_word in words.language.wheres
    comes_from = any(item.has("acquired") and item.role for item in words.items)
    if asks_where and not (named or comes_from):
        parts = [*_parts_of_address(words)]
        if not parts:
            raise Unclear("where")
        if told.isdisjoint(column for part in parts for column in part):
            request.shown += parts  # where does she live
    for item in words.left():
        if item.has("addresses"):
            use(item)
            request.shown += _parts_of_address(words)
        elif item.spoken in words.language.mailers and item.kind == "unknown":
            _read_mailer(words, request, item)


def _read_mailer(words: Words, request: DataRequest, item: Item) -> None:
    """A gmail address: an email address that contains it."""
    columns = columns_called(words.model, words.language.mail_names)
    address = words.free(item, 1)
    if columns:
        use(item, role="value")
        if address is not None and address.meanings.columns:
            use(address)
        request.conditions.append(Condition(columns, "contains", f"@{item.spoken}."))


def _parts_of_address(words: Words) -> Iterator[Columns]:
    """Street, city, country: of each that the tables with an address have, or lead to."""
    model = words.model
    street, *others = words.language.address_parts
    held = columns_called(model, (street,)) or columns_called(model, others)
    near = {column.table for column in held}
    for table in [*near]:
        near |= {link.table for link in model.tables[table].links}
        near |= {two.table for link in model.tables[table].links
                 for two in model.tables[link.table].links}  # fmt: skip
    for part in (street, *others):
        found = tuple(c for c in columns_called(model, (part,)) if c.table in near)
        if found:
            yield found
