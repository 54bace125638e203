"""Conditions that name a column or a value: price over 20, status is paid, red, not paid."""

from collections.abc import Sequence
from typing import Any, Final

from server.text.columns import FoundColumn
from server.text.rows.cursor import BETWEEN, Cursor
from server.text.rows.joining import Unclear
from server.text.tokens import BLOCK, is_word

_COMPARED: Final = frozenset({"gt", "gte", "lt", "lte"})
_BLANK: Final = frozenset({"empty", "blank", "missing", "null"})


def is_year(value: Any) -> bool:
    """Whether a number may be a year."""
    return isinstance(value, int) and 1000 <= value <= 2999


def only(names: Sequence[str]) -> str:
    """Return the only one; raise `Unclear` where there are more, or none."""
    if len(names) != 1:
        raise Unclear
    return names[0]


def find_target(r: Cursor, index: int, column: str) -> tuple[int, Any] | None:
    """What a column is compared with."""
    while r.word(index) in ("a", "an", "the", "of") or r.word(index) in ":=":
        if not r.word(index):
            break
        index += 1
        found = find_target(r, index, column)
        return None if found is None else (found[0] + 1, found[1])
    if number := r.number(index):
        size, value, unit = number
        kind = r.profile.kinds.get(column)
        if unit == "date":
            return (size, value) if kind == "date" else None
        return (size, value) if kind in ("number", "mixed", "date") else None
    if value := r.value(index, column):
        r.valued.update(r.places[index : index + value[0]])
        return value[0], value[2]
    return None


def column_first(r: Cursor, at: int) -> int:
    """Price over 20 · status is paid · team B · age between 20 and 30 · email is empty"""
    if r.column(at) is None or (taken := r.take_column(at)) is None:
        return 0
    size, name = taken
    end = at + size
    while r.word(end) in ("is", "are", "was", "were", "of", "that", "has", "'"):
        end += 1
    if r.word(end) == "at" and r.number(end + 1):
        end += 1
    negated = False
    no = r.tag(end, "not")
    if no and no[0] >= (r.tag(end, "operator") or (0,))[0]:
        negated, end = True, end + no[0]
    if r.word(end) in _BLANK:
        r.form.add(name, "filled" if negated else "blank", None)
        return end + 1 - at
    if r.word(end) in BETWEEN and (ends := two_ends(r, end + 1, name)):
        r.form.add(name, "between", ends[1], negated=negated)
        r.last_tag = "condition"
        return end + 1 + ends[0] - at
    if r.word(end) in ("in", "from") and r.profile.kinds[name] == "date":
        number = r.number(end + 1)
        if number and is_year(number[1]):
            year = number[1]
            r.form.add(name, "between", [f"{year}-01-01", f"{year}-12-31"], negated=negated)
            return end + 1 + number[0] - at
    operator = find_operator(r, end)
    if operator:
        osize, op = operator
        target = find_target(r, end + osize, name) or find_letters(r, end + osize, op, name)
        if target and may_be_compared(r, name, op, target[1]):
            r.form.add(name, op, year_bound(r, name, op, target[1]), negated=negated)
            r.last_field = name
            r.last_tag = "condition"
            return end + osize + target[0] - at
    is_equal = end > at + size or r.word(end) in ("=", ":") or negated
    target = find_target(r, end, name)
    if target and (is_equal or not r.number(end)):
        value_end = end + target[0]
        values = [target[1]]
        value_end += more_values(r, value_end, name, values)
        r.form.add_values(name, values, negated=negated)
        r.last_tag = "value"
        return value_end - at
    if target and (bound := bound_after(r, end + target[0])):
        r.form.add(name, bound[1], target[1], negated=negated)
        return end + target[0] + bound[0] - at
    return 0


def find_letters(r: Cursor, index: int, operator: str, column: str) -> tuple[int, Any] | None:
    """What a text begins with, ends with, or holds: one word, or what stands in quotes."""
    if operator not in ("starts_with", "ends_with", "contains", "not_contains"):
        return None
    if r.profile.kinds.get(column) not in ("text", "mixed"):
        return None
    skip = 0
    while r.word(index + skip) in ("a", "an", "the", "letter", "word"):
        if not is_word(r.word(index + skip + 1)):
            break
        skip += 1
    word = r.word(index + skip)
    if not is_word(word) and not (word[:1] == BLOCK or word.isalnum()):
        return None
    place = r.places[index + skip]
    if word == BLOCK + "quoted":
        value = next(s.value for s in r.reading.of("quoted") if s.first == place)
        return skip + 1, value
    if operator == "not_contains" or r.lexicon.knows(word):
        return None
    return (skip + 1, word) if is_word(word) else None


def may_be_compared(r: Cursor, name: str, operator: str, target: Any) -> bool:
    kind = r.profile.kinds.get(name)
    if operator in _COMPARED:
        return kind in ("number", "date", "mixed") and not (
            isinstance(target, str) and kind == "number"
        )
    return True


def year_bound(r: Cursor, name: str, operator: str, target: Any) -> Any:
    """A year that dates are compared with becomes its first or last day."""
    if r.profile.kinds.get(name) != "date" or not isinstance(target, int):
        return target
    if not 1000 <= target <= 2999 or operator not in _COMPARED:
        raise Unclear
    return f"{target}-12-31" if operator in ("gt", "lte") else f"{target}-01-01"


def find_operator(r: Cursor, index: int) -> tuple[int, str] | None:
    found = r.tag(index, "operator")
    if found is None or found[1] in ("exists", "missing"):
        return None
    size, operator = found
    if r.word(index) in ("is", "exactly", "from", "has", "like") and size == 1:
        operator = {"exactly": "eq", "is": "eq", "like": "contains", "has": "contains"}.get(
            r.word(index), "gte"
        )
        if r.word(index) in ("from", "has"):
            return None
    return size, str(operator)


def two_ends(r: Cursor, index: int, name: str) -> tuple[int, list[Any]] | None:
    first = find_target(r, index, name)
    if first is None or r.word(index + first[0]) not in ("and", "to", "-", "–"):
        return None
    second = find_target(r, index + first[0] + 1, name)
    if second is None:
        return None
    ends = [first[1], second[1]]
    if r.profile.kinds.get(name) == "date" and any(isinstance(e, int) for e in ends):
        ends = [year_bound(r, name, "gte", ends[0]), year_bound(r, name, "lte", ends[1])]
    return first[0] + 1 + second[0], ends


def more_values(r: Cursor, index: int, name: str, values: list[Any]) -> int:
    """Further values of the same column, after commas, “and” and “or”."""
    start = index
    while True:
        at = index
        while r.word(at) in (",", "and", "or", "nor", "the", "&", "/"):
            at += 1
        if at == index or r.crosses_at(at):
            return index - start
        number = r.number(at)
        if number and not number[2] and not isinstance(values[-1], str):
            values.append(number[1])
            index = at + number[0]
            continue
        found = r.value(at, name)
        if found is None:
            return index - start
        r.valued.update(r.places[at : at + found[0]])
        values.append(found[2])
        index = at + found[0]


def plain_values(r: Cursor, at: int) -> int:
    """Red · sales and hr · the sales department"""
    found = r.value(at)
    if found is None:
        return 0
    size, name, text = found
    r.valued.update(r.places[at : at + size])
    values: list[Any] = [text]
    end = at + size
    end += more_values(r, end, name, values)
    beside = r.column(end)
    if beside is not None and beside[1].name == name:
        r.named.update(r.places[end : end + beside[0]])
        end += beside[0]
    r.form.add_values(name, values)
    r.last_tag = "value"
    return end - at


def _is_listed(r: Cursor, at: int, size: int) -> bool:
    """Whether a true-or-false column is named among others, or dropped: drop pool and stars."""
    after = r.word(at + size) in ("and", ",", "column", "columns")
    beside = r.column(at + size + 1) if after else None
    if beside is not None and r.profile.kinds[beside[1].name] != "boolean":
        return not is_compared(r, at + size + 1)
    if r.last_tag == "column" and r.word(at - 1) in ("and", ",", "&"):
        return True
    ends = not is_word(r.word(at + size)) or r.crosses_at(at + size)
    return r.form.removing and (ends or r.tag(at + size, "column") is not None)


def truths(r: Cursor, at: int) -> int:
    """Paid · unpaid · non-paid"""
    found = r.column(at)
    if found and r.profile.kinds[found[1].name] == "boolean":
        if r.form.wants_column() or is_slip(found[1]) or _is_listed(r, at, found[0]):
            return 0
        end = at + found[0]
        value = True
        while r.word(end) in ("is", "=", ":", "are"):
            end += 1
        if r.word(end) in ("true", "yes"):
            end += 1
        elif r.word(end) in ("false", "no"):
            end, value = end + 1, False
        r.named.update(r.places[at : at + found[0]])
        r.form.add(found[1].name, "eq", value)
        r.last_tag = "value"
        return end - at
    word = r.word(at)
    for prefix in r.lexicon.un:
        skip = 2 if word == prefix and r.word(at + 1) == "-" else 0
        rest = r.word(at + 2) if skip else word.removeprefix(prefix)
        if rest in ("", word):
            continue
        column = r.profile.names.find((rest,))
        is_named = column is not None and column.likeness == "named"
        if column and is_named and r.profile.kinds[column.name] == "boolean":
            r.form.add(column.name, "eq", value=False)
            r.named.add(r.places[at])
            r.last_tag = "value"
            return 1 + skip
    return 0


def is_slip(column: FoundColumn) -> bool:
    return column.likeness == "slip"


def filled_or_not(r: Cursor, at: int) -> int:
    """With an email · without email, where some rows have none"""
    skip = r.tag(at, "having")
    no = r.word(at) == "without"
    if skip is None and not no:
        return 0
    end = at + (1 if no or skip is None else skip[0])
    if r.word(end) == "the":
        return 0
    end += r.word(end) in ("a", "an", "any")
    column = r.column(end)
    if column is None or column[1].name not in r.profile.blanks:
        return 0
    after = end + column[0]
    if is_compared(r, end) or r.tag(after, "column"):
        return 0
    r.take_column(end)
    r.form.add(column[1].name, "blank" if no else "filled", None)
    return after - at


def is_compared(r: Cursor, at: int) -> bool:
    """Whether a column is compared with something."""
    found = r.column(at)
    if found is None:
        return False
    end = at + found[0]
    return bool(
        find_operator(r, end)
        or r.word(end) in (*BETWEEN, "of", "is", "are", "=", ":", "and", ",")
        or r.number(end)
        or r.value(end, found[1].name)
    )


# Order, number, sums.


def bound_after(r: Cursor, index: int) -> tuple[int, str] | None:
    """Or more · and under"""
    if r.word(index) not in ("or", "and"):
        return None
    word = r.word(index + 1)
    if word in ("more", "above", "over", "up", "higher", "older", "later", "newer", "larger"):
        return 2, "gte"
    if word in ("less", "below", "under", "lower", "younger", "earlier", "fewer", "cheaper"):
        return 2, "lte"
    return None
