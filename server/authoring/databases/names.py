"""What tables and columns are called: without shared prefixes, short forms spelt out."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from server.authoring.databases.words import words_of_columns
from server.authoring.naming import words
from server.authoring.phrases import phrases, singular
from server.text.language import load_language
from server.tools.sql.schema import Table

_FEWEST: Final = 3
"""Fewest names of which a first word may be a prefix."""
_TABLES_SHARE, _COLUMNS_SHARE = 0.9, 0.8
_LONGEST_SHORT: Final = 5
_ENDINGS: Final = ("s", "es", "d", "ed", "r", "er", "ing", "ly", "y", "'s")
_VOWELS: Final = frozenset("aeiou")


@dataclass(frozen=True, slots=True)
class Called:
    """A name in words; `short` is what it was before a word of it was spelt out."""

    plain: str
    short: str = ""


@dataclass(frozen=True, slots=True)
class Names:
    """What tables are called by their written names, and columns by table and name."""

    tables: Mapping[str, Called]
    columns: Mapping[tuple[str, str], Called]


def names_of(tables: Collection[Table]) -> Names:
    """Return what the tables of a schema and their columns are called."""
    own = {t.written: t.name for t in tables}
    spoken = _without_prefix({w: words(n).split(" ") for w, n in own.items()}, _TABLES_SHARE)
    fields = {
        t.written: _without_prefix({c: words(c).split(" ") for c in t.columns}, _COLUMNS_SHARE)
        for t in tables
    }
    full = _full_words(
        tables, [*spoken.values(), *(s for f in fields.values() for s in f.values())]
    )
    called: dict[str, Called] = {}
    columns: dict[tuple[str, str], Called] = {}
    for table in tables:
        name = table.written
        called[name] = _called(spoken[name], table.comment, full)
        for column in table.columns.values():
            said = _called(fields[name][column.name], column.comment, full)
            columns[name, column.name] = said
    return Names(_apart(called), columns)


def _apart(called: dict[str, Called]) -> dict[str, Called]:
    """Those names only spelt out that no other table has then."""
    often = Counter(each.plain for each in called.values())
    return {
        name: Called(each.short) if each.short and often[each.plain] > 1 else each
        for name, each in called.items()
    }


def _without_prefix(
    spoken: Mapping[str, Sequence[str]], share: float
) -> Mapping[str, Sequence[str]]:
    """The names without the first word that nearly all share, unless two became one then."""
    firsts = Counter(each[0] for each in spoken.values() if len(each) > 1)
    prefix, often = firsts.most_common(1)[0] if firsts else ("", 0)
    if often < max(_FEWEST, share * len(spoken)) or [prefix] in spoken.values():
        return spoken
    bare = {n: each[1:] if each[0] == prefix else each for n, each in spoken.items()}
    return bare if len({*map(tuple, bare.values())}) == len(spoken) else spoken


def _called(spoken: Sequence[str], comment: str, full: Collection[str]) -> Called:
    known = words_of_columns()
    said = _words_of(comment)
    whole = [
        _of_comment(word, said) or known.abbreviations.get(word) or _of_schema(word, full) or word
        for word in spoken
    ]
    plain = " ".join(known.abbreviations.get(word, word) for word in spoken)
    found = " ".join(whole)
    return Called(found, plain) if found != plain else Called(plain)


def _of_comment(word: str, said: Sequence[str]) -> str:
    """The word or phrase of its comment that a name is short for."""
    if word in said or len(word) < 2 or word in load_language("en").function_words:
        return ""
    for other in said:
        if _is_short_for(word, other):
            return other
    starts = range(len(said) - len(word) + 1)
    runs = (said[at : at + len(word)] for at in starts)
    return next((" ".join(r) for r in runs if "".join(w[0] for w in r) == word), "")


def _of_schema(word: str, full: Collection[str]) -> str:
    """The one word of other names and comments that a name is short for."""
    if word in full or word in _known_words():
        return ""
    found = {singular(other) for other in full if _is_short_for(word, other)}
    return found.pop() if len(found) == 1 else ""


def _is_short_for(word: str, other: str) -> bool:
    """Whether a word is another with letters left out: its beginning, or no vowel behind it."""
    rest = other.removeprefix(word)
    if not 2 < len(word) <= _LONGEST_SHORT or len(word) >= len(other) or word[0] != other[0]:
        return False
    if rest != other:
        return rest not in _ENDINGS and len(other) > 4
    letters = iter(other)
    left_out = len(other) - len(word) > 1
    return left_out and not _VOWELS & {*word[1:]} and all(one in letters for one in word)


def _full_words(tables: Iterable[Table], spoken: Iterable[Sequence[str]]) -> frozenset[str]:
    comments = (c for t in tables for c in (t.comment, *(o.comment for o in t.columns.values())))
    return frozenset(
        word
        for said in (*spoken, *map(_words_of, comments))
        for word in said
        if len(word) > 4 and _VOWELS & {*word[1:]}
    )


def _words_of(comment: str) -> list[str]:
    return re.findall(r"[a-z]+", comment.lower())


@cache
def _known_words() -> frozenset[str]:
    """Words that are none of them short for another one."""
    lists = (words_of_columns().model_dump(exclude={"abbreviations"}), phrases().model_dump())
    return frozenset(
        word for text in _texts(lists) for word in re.findall(r"[a-z]+", text.lower())
    ) | frozenset(load_language("en").function_words)


def _texts(data: Any) -> Iterable[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        for name, value in data.items():
            yield from (*_texts(name), *_texts(value))
    elif isinstance(data, Iterable):
        for each in data:
            yield from _texts(each)
