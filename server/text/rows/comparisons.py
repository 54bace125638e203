"""Comparisons whose column is not named before them: over 20 pts, older than 30, from 2015."""

from typing import Any, Final

from server.text.rows.conditions import (
    bound_after,
    find_operator,
    is_year,
    may_be_compared,
    only,
    year_bound,
)
from server.text.rows.cursor import BETWEEN, Cursor
from server.text.rows.joining import Unclear
from server.text.tokens import is_word

_TIMED: Final = frozenset({"before", "after", "since", "until"})


def comparison(r: Cursor, at: int) -> int:
    """Over 20 pts · before 1950 · at least 50 · between 20 and 30 · older than 30"""
    start = at
    degree: list[Any] = []
    if r.word(at) in BETWEEN and r.number(at + 1):
        return implied_between(r, at)
    found = find_operator(r, at)
    more = r.tag(at, "more", "less")
    if more and r.word(at + more[0]) == "than" and (not found or found[0] <= more[0] + 1):
        degree = r.lexicon.directions(r.words[at : at + more[0]])
        at += more[0] + 1
        operator = ""
    elif found:
        at += found[0]
        operator = found[1]
    else:
        return number_first(r, at)
    number = r.number(at)
    if number is None:
        return 0
    nsize, value, unit = number
    end = at + nsize
    name = ""
    if degree:
        try:
            name, which = r.degree_column(degree)
            operator = "gt" if which == "most" else "lt"
        except Unclear:
            if not found:
                raise
            operator = found[1]
    if name:
        beside = r.column(end)
        if beside and beside[1].name == name:
            end += beside[0]
    else:
        end, name = implied_column(r, end, value, unit, r.word(start))
    if not may_be_compared(r, name, operator, value):
        raise Unclear
    r.form.add(name, operator, year_bound(r, name, operator, value))
    r.last_field = name
    r.last_tag = "condition"
    return end - start


def implied_between(r: Cursor, at: int) -> int:
    first = r.number(at + 1)
    if first is None or r.word(at + 1 + first[0]) not in ("and", "to", "-", "–"):
        return 0
    middle = at + 2 + first[0]
    second = r.number(middle)
    if second is None:
        return 0
    end, name = implied_column(r, middle + second[0], second[1], second[2], "between")
    ends = [year_bound(r, name, "gte", first[1]), year_bound(r, name, "lte", second[1])]
    r.form.add(name, "between", ends)
    r.last_tag = "condition"
    return end - at


def in_year(r: Cursor, at: int) -> int:
    """From 2015 · in 2018 · 2015 or later"""
    start = at
    if r.word(at) in ("from", "in", "of"):
        at += 1
    number = r.number(at)
    if number is None or not is_year(number[1]) or number[2]:
        return 0
    end = at + number[0]
    bound = bound_after(r, end)
    years = r.profile.years()
    if not years or (at == start and not bound) or r.column(end):
        return 0
    name, year = only(years), number[1]
    is_date = r.profile.kinds[name] == "date"
    if bound:
        end += bound[0]
        r.form.add(name, bound[1], year_bound(r, name, bound[1], year))
    elif is_date:
        r.form.add(name, "between", [f"{year}-01-01", f"{year}-12-31"])
    else:
        r.form.add(name, "eq", year)
    r.last_tag = "condition"
    return end - start


def number_first(r: Cursor, at: int) -> int:
    """10 or more pages"""
    number = r.number(at)
    if number is None:
        return 0
    bound = bound_after(r, at + number[0])
    if bound is None:
        return 0
    end, name = implied_column(r, at + number[0] + bound[0], number[1], number[2], "")
    r.form.add(name, bound[1], number[1])
    r.last_tag = "condition"
    return end - at


def implied_column(r: Cursor, end: int, value: Any, unit: str, word: str) -> tuple[int, str]:
    """The column that a number without one is compared with, and where the phrase ends."""
    skip = end
    while r.word(skip) in ("of", "in", "for"):
        skip += 1
    if column := r.take_column(skip):
        r.last_field = column[1]
        return skip + column[0], column[1]
    if unit not in ("", "date") and not unit.isupper():
        raise Unclear
    profile = r.profile
    if unit == "date":
        return end, only(profile.of_kind("date"))
    if word in _TIMED and is_year(value):
        return end, only(profile.years())
    if word in _TIMED:
        raise Unclear
    if word in ("between", "from", "in") and is_year(value) and profile.years():
        return end, only(profile.years())
    if is_word(r.word(end)) and not r.opens(end) and not r.crosses_at(end):
        raise Unclear  # over 20 kilos, where nothing is in kilos
    if r.last_field and profile.kinds.get(r.last_field) == "number":
        return end, r.last_field
    if unit.isupper():
        names = [name for name, _ in [r.degree_column(r.lexicon.directions(("most", "expensive")))]]
        return end, only(names)
    numbers = profile.of_kind("number")
    if not is_year(value):
        numbers = [one for one in numbers if one not in profile.years()]
    return end, only(numbers)
