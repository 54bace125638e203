"""The rows that are named: by a value, by a number, or by a text that their name contains."""

from collections.abc import Iterator
from typing import Final

from server.extraction.data_questions.asked import Condition, DataRequest, Named, Unclear
from server.extraction.data_questions.columns import columns_of_words, spoken_words
from server.extraction.data_questions.items import Item
from server.extraction.data_questions.joins import Need
from server.extraction.data_questions.meanings import Column, Columns, Value
from server.extraction.data_questions.words import Words, use, values_of
from server.library.data_query import Comparison

_TEXTS: Final = frozenset({"text", "category"})
"""What columns are for in which a part of a text is looked for."""
_QUOTES: Final = "\"'“”‘’„«»"


def read_number(words: Words, request: DataRequest, item: Item) -> None:
    """The number of a row: order 10500."""
    before = words.beside(item, -1)
    if before is None or not before.meanings.nouns:
        raise Unclear(item.said)
    table = before.meanings.nouns[0].table
    keys = words.model.tables[table].key
    is_list = before.meanings.plural and before.role
    if len(keys) != 1 or is_list:
        raise Unclear(item.said)
    use(item, role="value")
    use(before)
    request.numbered = Need(table)
    request.conditions.append(Condition((Column(table, keys[0]),), "is", item.value))


def read_value(words: Words, request: DataRequest, item: Item) -> None:
    """A value, with the noun beside it that says what it is of: the artist Queen."""
    near = _read_nouns_beside(words, item)
    if _read_role(words, request, item) or _read_original(words, request, item):
        return
    values = values_of(item)
    exact = [
        v
        for v in values
        if (v.table in near and not _is_in_text(words, v)) or f"{v.table}.{v.columns[0]}" in near
    ]
    use(item, role="value")
    via = None if exact else _place_of_noun(words, request, item)
    request.named.append(via or Named(tuple(exact or values)))


def _place_of_noun(words: Words, request: DataRequest, item: Item) -> Named | None:
    """A name just before the noun that it is of, by what that leads to: the Stockport store."""
    noun = words.next(item)
    subject = request.subject
    if noun is None or not noun.meanings.nouns or noun.meanings.plural:
        return None
    owner = noun.meanings.nouns[0].table
    if subject is not None and subject.table == owner:
        return None
    found = [
        value
        for value in values_of(item)
        if value.table != owner
        and any(
            not any(step.startswith("<") for step in way)
            for way in words.model.reachable[owner].get(value.table, ())
        )
    ]
    if len({value.table for value in found}) != 1:
        return None
    request.also.append(Need(owner))
    use(noun)
    return Named(tuple(found), need=Need(found[0].table, via=owner))


def read_contained(words: Words, request: DataRequest, item: Item) -> None:
    """Tracks with "blues" in the title, notes that mention French, films about a robot."""
    if item.has("about") and words.beside(item, 1) is None:
        texts = columns_of_words(words.model, words.language.texts)
        if texts and any(other.meanings.values for other in words.before(item)):
            use(item)  # what is it about
            request.shown.append(texts)
        return
    for step in (1, -1) if not item.has("about") else (1,):
        other = words.free(item, step)
        if item.has("begins", "ends"):
            other = words.next(item) if step > 0 else None
        elif other is not None and other.kind != "unknown" and not other.meanings.values:
            continue
        if other is None or other.role:
            continue
        in_name = item.first_word in words.language.unit_leads  # with World in the title
        in_name |= item.has("begins", "ends")
        if not in_name and _names_another(words, request, other):
            use(item)  # playlists containing a track
            return
        said = [other, *_unknown_after(words, other)] if step > 0 else [other]
        text = words.said(said).strip(_QUOTES)
        columns = _texts(words, request, item)
        if text and (columns or not item.has("about")):
            use(*said, role="value")
            use(item, role="operator")
            again = words.next(said[-1])
            if again is not None and again.has("contains") and step > 0:
                use(again)  # with the word live in the title
            columns = columns or _name_before(words, request, item)
            comparison: Comparison = "contains"
            if item.has("begins", "ends"):
                comparison = "begins" if item.has("begins") else "ends"
            if columns:
                request.conditions.append(Condition(columns, comparison, text))
            else:
                request.contained.append((comparison, text))
            return


def _name_before(words: Words, request: DataRequest, item: Item) -> Columns:
    """The name of what is told besides, just before: artists that have albums with the word."""
    before = words.beside(item, -1)
    need = words.thing_called(before) if before is not None else None
    if need is None or request.subject is None or need.table == request.subject.table:
        return ()
    name = words.model.tables[need.table].name
    return (Column(need.table, name[0]),) if len(name) == 1 else ()


def read_in_text(words: Words, request: DataRequest, item: Item) -> None:
    """Films with a robot in the description: words that are not known, before a column of texts."""
    columns = tuple(c for c in item.meanings.columns if words.kind(c) in _TEXTS)
    said: list[Item] = []
    passed: set[str] = set()
    for other in reversed(words.before(item)):
        is_value = bool(other.meanings.values) and not said and not other.names_table
        if (other.kind == "unknown" or is_value) and not other.role:
            said.insert(0, other)
        elif said or not (other.is_filler or other.has("contains")):
            break
        else:
            passed.add(other.first_word)
            if other.has("contains"):
                use(other)
    if columns and said and not words.language.unit_leads.isdisjoint(passed):
        use(*said, role="value")
        use(item, role="operator")
        text = words.said(said).strip(_QUOTES)
        request.conditions.append(Condition(columns, "contains", text))


def _unknown_after(words: Words, item: Item) -> Iterator[Item]:
    """The words after one that are not known either: a shark tank."""
    for other in words.after(item):
        if other.kind != "unknown" or other.role:
            return
        yield other


def _texts(words: Words, request: DataRequest, item: Item) -> Columns:
    """The column of texts beside, or where only a subject is told, those that things have."""
    before = words.free(item, -1)
    if before is not None and not item.has("about"):
        columns = tuple(c for c in before.meanings.columns if words.kind(c) in _TEXTS)
        named = _is_name_of(words, request, before)
        if columns or named:
            use(before)
            return () if named else columns
    subject = request.subject
    if not item.has("about") or subject is None:
        return ()
    return tuple(
        Column(subject.table, name)
        for name, told in words.model.tables[subject.table].columns.items()
        if told.kind in _TEXTS and not spoken_words(told).isdisjoint(words.language.texts)
    )


def _is_name_of(words: Words, request: DataRequest, item: Item) -> bool:
    """Whether it is what the rows that are asked for are called: their names."""
    names = words.model.tables[request.subject.table].name if request.subject is not None else ()
    own = request.subject.table if request.subject is not None else ""
    return len(names) == 1 and any(c[:2] == (own, names[0]) for c in item.meanings.columns)


def _names_another(words: Words, request: DataRequest, item: Item) -> bool:
    """Whether it is the whole name of a row of another table than the one that is asked for."""
    own = request.subject.table if request.subject is not None else ""
    tables = words.model.tables
    names = [v for v in item.meanings.values if v.columns == tuple(tables[v.table].name)]
    return any(v.table != own and not v.part for v in names) and item.capital


def _read_nouns_beside(words: Words, item: Item) -> set[str]:
    """The tables and columns of a value that are named beside it."""
    own = {value.table for value in item.meanings.values if not _is_in_text(words, value)}
    own |= {f"{v.table}.{column}" for v in item.meanings.values for column in v.columns}
    near: set[str] = set()
    for step in (-1, 1):
        other = words.beside(item, step)
        if other is None:
            continue
        said = {noun.table for noun in other.meanings.nouns}
        said |= {f"{column.table}.{column.column}" for column in other.meanings.columns}
        if said & own:
            near |= said & own
            if not other.role and (step == 1 or not other.meanings.plural):
                use(other)
    return near


def _read_original(words: Words, request: DataRequest, item: Item) -> bool:
    """What it was originally: by a link that is called so."""
    said = next((i for i in words.items if i.spoken in words.language.originally), None)
    if said is None or said.place > item.place:
        return False
    tables = words.model.tables
    for value in values_of(item):
        for name, table in tables.items():
            for link in table.links:
                called = {word for one in link.called for word in one.split(" ")}
                own = link.table == value.table
                if own and not called.isdisjoint(words.language.originally[said.spoken].split(" ")):
                    verb = words.next(said)
                    use(said, *([verb] if verb is not None and verb.kind == "unknown" else []))
                    use(item, role="value")
                    request.named.append(
                        Named((value,), need=Need(link.table, name, link.columns[0]))
                    )
                    return True
    return False


def _is_in_text(words: Words, value: Value) -> bool:
    """Whether a value is a text that anything may stand in: who composed a track."""
    name = tuple(words.model.tables[value.table].name)
    return value.columns != name and words.kind(Column(value.table, value.columns[0])) == "text"


def _read_role(words: Words, request: DataRequest, item: Item) -> bool:
    """Those of whom somebody is something: reporting to Ana."""
    before = words.previous(item)
    if words.items[0].spoken in words.language.whose:
        before = words.beside(item, -1)  # whose support rep is Ana
        if before is not None and before.meanings.roles and before is words.first():
            return _read_role_of(words, request, before, item)
    if before is None or before.meanings.nouns or not before.meanings.roles:
        return False
    if before.last_word not in words.language.role_leads:
        return False
    return _read_role_of(words, request, before, item)


def _read_role_of(words: Words, request: DataRequest, before: Item, item: Item) -> bool:
    role = before.meanings.roles[0]
    held: tuple[Value, ...] = tuple(v for v in item.meanings.values if v.table == role.table)
    if not held:
        return False
    use(words.items[0], before, item, role="value")
    if request.target is None or request.target == role:
        request.target, request.plural = Need(role.owner), True
    request.named.append(Named(held, need=role))
    return True
