"""Words by themselves: columns that are shown or left out, nouns, and words that only join."""

from typing import Final

from server.text.rows.cursor import Cursor
from server.text.rows.form import Key
from server.text.rows.joining import Unclear
from server.text.rows.words import Tag, is_plural
from server.text.stems import inflections
from server.text.tokens import is_word

_BEFORE_ONE: Final = frozenset({"degree", "value", "group", "top", "show", "where"})
"""After these a single thing may be named: the cheapest car, which car."""


def unknown_noun(r: Cursor, at: int) -> int:
    """What the rows may be called: red cars. There is one such noun, and it ends a phrase."""
    word = r.word(at)
    if not is_word(word) or word in r.lexicon.attributes or len(word) < 3:
        return 0
    if r.noun and word not in inflections(r.noun):
        return 0
    fits = is_plural(word) or r.last_tag in _BEFORE_ONE
    if r.last_tag in ("aggregate", "condition", "noun") or not fits:
        return 0
    if r.last_tag == "group" and not r.form.per_row():
        return 0
    after = r.word(at + 1)
    if r.tag(at + 1, "noun") and not r.crosses_at(at + 1):
        return 0  # it says of what kind they are
    ends = not is_word(after) or r.crosses_at(at + 1) or r.opens(at + 1)
    if not ends:
        return 0
    r.noun = word
    r.nouns.add(r.places[at])
    r.last_tag = "noun"
    return 1


def column_alone(r: Cursor, at: int) -> int:
    """A column that stands by itself: what is summed up, shown, dropped, or what rows are."""
    column = r.take_column(at)
    if column is None:
        return 0
    size, name = column
    word = r.word(at + size - 1)
    said = r.words[at : at + size]
    noun = any((w,) != tuple(said[:1]) and r.word_is(w, "column") for w in said)
    if (order := order_of_key(r, at + size)) and r.form.sorting:
        r.form.sort.append(Key(name, order[1]))
        return size + order[0]
    begins = r.tag(at - 1, "sort", "group") or r.last_tag == "by"
    begins = begins or (r.last_tag == "sort" and r.word(at - 1) == "of")  # in order of score
    if r.form.sorting and not r.form.sort and begins and r.last_tag in ("sort", "by", ""):
        r.form.sort.append(Key(name))
        return size
    if r.form.sorting and r.form.sort and follows_key(r, at):
        r.form.sort.append(Key(name))
        return size
    if r.form.aggregates and not r.form.pending and r.is_of(at):
        r.named_rows(at, size)  # the weight of all the parcels
        return size
    of_rows = r.word(at + size) in ("of", "for") and _is_of_rows(r, at + size, word)
    if r.of_phrase and r.joint_is_free() and not noun and r.profile.kinds[name] == "text":
        r.named_rows(at, size)  # owners of the open tasks
        return size
    is_attribute = (
        word in r.lexicon.attributes
        or noun
        or r.profile.kinds[name] in ("number", "date", "boolean")
    )
    if r.form.show_column(name, surely=is_attribute or of_rows):
        r.last_tag = "column"
        r.of_phrase = of_rows
        return size
    if r.column_noun:
        raise Unclear
    r.column_noun, r.noun_column = word, name
    r.named_rows(at, size)
    r.last_tag = "noun"
    return size


def _is_of_rows(r: Cursor, index: int, word: str) -> bool:
    """Whether “of” leads to the rows whose column is meant: owners of the open tasks.

    “students of class 3a” are rows themselves: nothing after it names any.
    """
    if not is_plural(word):
        return True
    index += 1
    while index < len(r.words) and not r.crosses_at(index):
        if r.tag(index, "noun", "all", "most", "least") or is_plural(r.word(index)):
            return True
        if r.word(index) in (",", ";", "."):
            return False
        index += 1
    return False


def order_of_key(r: Cursor, index: int) -> tuple[int, str] | None:
    skip = index + (r.word(index) == "in")
    found = r.tag(skip, "order")
    return None if found is None else (found[0] + skip - index, found[1])


def follows_key(r: Cursor, at: int) -> bool:
    return r.word(at - 1) in (",", "and", "by", "then", "&")


def plain_words(r: Cursor, at: int) -> int:
    """Words that say what is done with what follows, and those that say nothing here."""
    tags: tuple[Tag, ...] = (
        "filler", "not", "exclude", "remove", "keep", "only", "or", "and", "having", "where",
        "all", "show", "noun", "single", "from", "verb", "column",
    )  # fmt: skip
    best: tuple[int, Tag] | None = None
    for tag in tags:
        if tag == "single" and not r.profile.is_plain:
            continue
        found = r.tag(at, tag)
        if found and (best is None or found[0] > best[0]):
            best = found[0], tag
    if best is None:
        return 0
    size, tag = best
    if tag == "column" and r.last_tag != "column":
        return 0
    form = r.form
    match tag:
        case "not":
            if r.word(at) == "no" and r.column(at + 1):
                return _no_value(r, at)
            form.negate()
        case "exclude":
            form.exclude()
        case "remove":
            if form.started() and not r.crosses():
                form.exclude()
            form.removing = True
        case "keep":
            form.keeping = True
        case "only":
            form.only = True
        case "or":
            form.joint = "or"
        case "and":
            form.joined()
        case "having":
            r.having = True
        case "show":
            form.showing = True
            r.having = r.having or r.word(at) in ("who", "which", "whos", "who's")
        case _:
            pass
    if tag not in ("and", "filler", "from", "all", "verb", "column"):
        r.last_tag = tag
    return size


def _no_value(r: Cursor, at: int) -> int:
    """No email"""
    column = r.take_column(at + 1)
    if column is None:
        return 0
    r.form.add(column[1], "blank", None)
    return 1 + column[0]
