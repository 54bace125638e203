"""What rows are sorted by, and which of them are wanted: newest first, the 2 cheapest, top 3."""

from server.text.rows.conditions import find_operator
from server.text.rows.cursor import Cursor
from server.text.rows.form import Key
from server.text.rows.joining import Unclear
from server.text.rows.words import PLAIN


def span_of_degrees(r: Cursor, at: int) -> int:
    """From cheapest to most expensive"""
    start = at + (r.word(at) == "from")
    first = r.tag(start, "most", "least")
    if first is None or r.word(start + first[0]) != "to":
        return 0
    second = r.tag(start + first[0] + 1, "most", "least")
    if second is None:
        return 0
    name, which = r.degree_column(r.lexicon.directions(r.words[start : start + first[0]]))
    r.form.direct("desc" if which == "most" else "asc", name)
    return start + first[0] + 1 + second[0] - at


def first_rows(r: Cursor, at: int) -> int:
    """The first 2 rows"""
    if r.word(at) != "first":
        return 0
    number = r.number(at + 1)
    if number is None or number[2] or not isinstance(number[1], int):
        return 0
    r.form.first_rows(number[1])
    r.last_tag = "top"
    return 1 + number[0]


def superlative(r: Cursor, at: int) -> int:
    """Cheapest · the 2 dearest items · newest first · newest car first"""
    start = at
    count = 0
    number = r.number(at)
    whole = number is not None and isinstance(number[1], int) and not number[2]
    if number and whole and r.tag(at + number[0], "most", "least"):
        count, at = number[1], at + number[0]
    found = r.tag(at, "most", "least")
    if found is None:
        return 0
    meanings = r.lexicon.directions(r.words[at : at + found[0]])
    ranked = r.tag(at, "highest", "lowest")
    end = at + found[0]
    if (
        ranked
        and ranked[0] >= found[0]
        and (_amount_after(r, end) or r.number(end) or r.word(end) == "first")
    ):
        return 0
    if not count and (number := r.number(end)) and isinstance(number[1], int):
        count, end = number[1], end + number[0]
    first = r.first_at(end)
    key = r.form.last_key()
    try:
        name, which = r.degree_column(meanings)
    except Unclear:
        if not ranked:
            raise
        return 0
    order = "desc" if which == "most" else "asc"
    if first:
        if key is not None and key.field != name:
            options = [m for m in meanings if (key.field.lower(),) in m[1]]
            if not options:
                raise Unclear
            order = "desc" if options[0][0] == "most" else "asc"
        if key is not None:
            key.order = order
        else:
            r.form.sort.append(Key(name, order))
        r.last_tag = ""
        return first - start
    beside = r.column(end)
    if beside and beside[1].name == name:
        end += beside[0]
        r.named.update(r.places[end - beside[0] : end])
    r.form.rank(name, order, count)
    r.last_tag = "degree"
    return end - start


def _amount_after(r: Cursor, index: int) -> bool:
    """Whether a column of numbers or dates is named there, beside “the”."""
    column = r.column_after(index)
    return column is not None and r.profile.kinds[column[1]] in ("number", "date", "mixed")


def extreme(r: Cursor, at: int) -> int:
    """The highest pts · highest price first · who has the most pts · top 3 by pts"""
    top = r.tag(at, "top", "bottom")
    ranked = r.tag(at, "highest", "lowest")
    found = top or ranked
    if found is None:
        return 0
    size = max(one[0] for one in (top, ranked) if one)
    high = bool(r.tag(at, "highest") or r.tag(at, "top"))
    order = "desc" if high else "asc"
    end = at + size
    if r.word(end) == "first":
        r.form.direct(order)
        return end + 1 - at
    if (number := r.number(end)) and isinstance(number[1], int) and not number[2]:
        end += number[0]
        r.form.top(order, number[1])
        column = r.column_after(end)
        if column and r.profile.kinds[column[1]] in ("number", "date"):
            r.form.rank_by(column[1])
            r.named.update(r.places[end : column[0]])
            end = column[0]
        r.last_tag = "top"
        return end - at
    if r.word(at) in ("top", "bottom"):
        raise Unclear
    summed = r.tag(end, "aggregate")
    if summed and summed[1] in ("sum", "average") and r.column_after(end + summed[0]):
        return _largest_sum(r, at, end, order)
    if r.word(end) == "and" and r.tag(end + 1, "highest", "lowest"):
        r.form.pending.append("max" if high else "min")  # highest and lowest rent
        return end + 1 - at
    column = r.column_after(end)
    if column is None:
        if r.form.pending_degree:
            r.form.rank(r.form.pending_degree, order, 0)
            r.form.pending_degree = ""
            return size
        if r.profile.is_plain:
            noun = r.tag(end, "single", "noun")
            r.form.aggregate(["max" if high else "min"], PLAIN)
            return end - at + (noun[0] if noun else 0)
        raise Unclear
    end, name = column
    r.named.update(r.places[at + size : end])
    if r.profile.kinds[name] not in ("number", "date", "mixed"):
        raise Unclear
    if noun := r.tag(end, "column"):
        end += noun[0]
    if r.word(end) == "first":
        r.form.direct(order, name)
        return end + 1 - at
    if r.having:
        if r.noun_column in r.profile.repeated:
            raise Unclear  # the most points of one row, or of a team in all?
        r.form.rank(name, order, 0)
        r.last_tag = "degree"
    else:
        r.form.aggregate([*r.form.pending, "max" if high else "min"], name)
        r.form.pending = []
    return end - at


def _largest_sum(r: Cursor, at: int, end: int, order: str) -> int:
    """Which team has the highest total points"""
    summed = r.tag(end, "aggregate")
    column = r.column_after(end + summed[0]) if summed else None
    if summed is None or column is None:
        raise Unclear
    r.form.aggregate([summed[1]], column[1])
    r.form.rank_sums(order, r.noun_column)
    r.named.update(r.places[end + summed[0] : column[0]])
    return column[0] - at


def verb_of_degree(r: Cursor, at: int) -> int:
    """Who earns the most"""
    found = r.tag(at, "degree_verb")
    if found is None:
        return 0
    end = at + found[0]
    after = end + (r.word(end) == "the")
    if r.tag(after, "highest", "lowest") is None and find_operator(r, after) is None:
        if r.column(at) or not ("much" in r.words or "what" in r.words):
            return 0
        name, _ = r.degree_column(r.lexicon.directions(r.words[at:end]))
        r.form.columns.append(name)
        return found[0]
    name, _ = r.degree_column(r.lexicon.directions(r.words[at:end]))
    if r.tag(after, "highest", "lowest") and not r.column_after(after + 1):
        r.form.pending_degree = name
    r.last_field = name
    return found[0]


def direction(r: Cursor, at: int) -> int:
    """Descending · in alphabetical order · high to low"""
    skip = at + (r.word(at) == "in")
    found = r.tag(skip, "order")
    if found is None or r.column(at):
        return 0
    end = skip + found[0]
    if r.word(skip) in r.lexicon.turns and not (r.form.sorting or r.form.sort):
        raise Unclear  # the rows as they stand, from the last to the first
    if r.word(end) == "order":
        end += 1
    r.form.direct(found[1])
    return end - at


def sort_verb(r: Cursor, at: int) -> int:
    found = r.tag(at, "sort")
    if found is None:
        return 0
    is_thing = found[0] == 1 and (
        r.tag(at - 1, "show", "only", "all") or r.is_small(r.word(at - 1))
    )
    if is_thing and not r.crosses_at(at) and r.column(at + 1):
        return 1  # the order ids
    r.form.sorting = True
    r.last_tag = "sort"
    return found[0]
