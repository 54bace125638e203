"""What is counted or summed up, and for what each: total salary by dept, how many colours."""

from server.text.rows.cursor import Cursor
from server.text.rows.form import Key
from server.text.rows.joining import Unclear
from server.text.rows.words import PLAIN


def by_column(r: Cursor, at: int) -> int:
    """By dept · per country · for each team · by price, then name"""
    found = r.tag(at, "group")
    if found is None:
        return 0
    each = r.tag(at, "each") is not None
    end = at + found[0]
    while r.word(end) in ("the", "their", "its", "each", "order", "of"):
        end += 1
    column = r.take_column(end)
    if column is None:
        r.last_tag = "group"
        return found[0] if each and r.form.per_row() else by_order(r, end, at)
    if each or (r.form.sums() and not r.form.sorting):
        r.form.group.append(column[1])
        r.form.grouping = True
    elif r.form.has_top():
        r.form.rank_by(column[1])
    else:
        r.form.sort.append(Key(column[1]))
        r.form.sorting = True
    r.last_tag = "by"
    return end + column[0] - at


def by_order(r: Cursor, end: int, at: int) -> int:
    if r.profile.is_plain and r.tag(end, "single", "noun"):
        r.form.sorting = True
        return end + 1 - at
    return 0


def summed_up(r: Cursor, at: int) -> int:
    """Total · average number of · sum of all"""
    found = r.tag(at, "aggregate")
    if found is None or (r.tag(at, "highest", "lowest") and found[1] in ("min", "max")):
        return 0
    size, operation = found
    column = r.column(at)
    if column and column[1].likeness == "named" and not r.column_after(at + size):
        return 0
    if operation in ("count", "distinct", "count_distinct"):
        return 0
    r.form.pending.append(operation)
    r.last_tag = "aggregate"
    return size


def counted(r: Cursor, at: int) -> int:
    """How many different colours · how many players per team · count the paid ones"""
    found = r.tag(at, "count")
    if found is None:
        return 0
    end = at + found[0]
    if r.form.pending and r.word(at) == "number":
        return found[0]  # the average number of pages
    if other := r.tag(end, "distinct"):
        column = r.take_column(end + other[0])
        if column is None and r.profile.is_plain:
            r.form.aggregate(["count_distinct"], PLAIN)
            return end + other[0] - at
        if column is None:
            raise Unclear
        r.form.aggregate(["count_distinct"], column[1])
        return end + other[0] + column[0] - at
    column_found = r.column(end)
    if column_found and column_found[1].likeness != "slip":
        name = column_found[1].name
        kind = r.profile.kinds[name]
        word = r.word(end)
        if kind == "boolean":
            pass
        elif name == next(iter(r.profile.kinds)) and name not in r.profile.repeated:
            r.form.counting = (
                True  # the first column, all different, names the rows: how many orders
            )
            return found[0] + column_found[0]
        elif kind == "number" or word in r.lexicon.attributes:
            raise Unclear  # how many pages: in all, or in one book?
        elif name in r.profile.repeated:
            raise Unclear  # how many cities: rows, or different ones?
        else:
            r.form.counting = True
            return found[0] + column_found[0]
    r.form.counting = True
    r.last_tag = "count"
    return found[0]


def each_once(r: Cursor, at: int) -> int:
    """The different departments · without duplicates"""
    found = r.tag(at, "distinct")
    if found is None:
        return 0
    end = at + found[0]
    column = r.take_column(end)
    if column is not None:
        r.form.aggregate(["distinct"], column[1])
        return end + column[0] - at
    if r.profile.is_plain:
        r.form.aggregate(["distinct"], PLAIN)
    else:
        r.form.distinct = True
    return found[0]


# What is shown.
