"""Reads what is asked about rows beside it, into the form that `json_transform query` takes.

“red cars, newest first, just the names” is a condition, an order and a column. What the words mean
is told by the rows: by the names of their columns, and by the values in them. Every word has to
be accounted for; where one is not, or could be meant in two ways, nothing is read.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from server.text.parsed_text import ParsedText
from server.text.rows.comparisons import comparison, in_year
from server.text.rows.conditions import column_first, filled_or_not, plain_values, truths
from server.text.rows.cursor import Cursor
from server.text.rows.form import RowForm
from server.text.rows.joining import Unclear
from server.text.rows.order import (
    direction,
    extreme,
    first_rows,
    sort_verb,
    span_of_degrees,
    superlative,
    verb_of_degree,
)
from server.text.rows.shown import column_alone, plain_words, unknown_noun
from server.text.rows.sums import by_column, counted, each_once, summed_up
from server.text.rows.words import profile_of
from server.text.tokens import Span, is_word

_MOST_WORDS: Final = 80
"""A longer text is no question about rows."""
_SIGNS: Final = frozenset(".?!:;,-–—'’\"`_()*")
_STOPS: Final = frozenset(".?!;\n")


class RowReading(NamedTuple):
    """A question about rows: `query` is None where it is none, or not all of it was read.

    `read` are the places of the words that were understood, `unread` of those that were not.
    """

    query: Mapping[str, Any] | None
    read: frozenset[int] = frozenset()
    unread: frozenset[int] = frozenset()
    nouns: frozenset[int] = frozenset()
    """Those that say what the rows are called."""
    named: frozenset[int] = frozenset()
    """Those that name columns, and those that are values: what differs from data to data."""
    valued: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()
    """Columns that were called by another name than theirs."""


def read_row_question(
    reading: ParsedText, block: Span, synonyms: Mapping[str, Sequence[str]] | None = None
) -> RowReading:
    """Read the words on both sides of some rows as a question about them."""
    found: RowReading | None = reading.memo.get(("rows", str(block.start)))
    if found is None:
        found = _read(reading, block, synonyms or {})
        reading.memo["rows", str(block.start)] = found
    return found


def _read(reading: ParsedText, block: Span, synonyms: Mapping[str, Sequence[str]]) -> RowReading:
    profile = profile_of(block.value, synonyms)
    places = [at for at in range(len(reading.tokens)) if not block.first <= at < block.last]
    if profile is None or not 0 < len(places) <= _MOST_WORDS:
        return RowReading(None)
    reader = Cursor(reading, profile, places)
    query = _query(reader)
    read = frozenset(reader.read)
    unread = frozenset(at for at in places if at not in read and is_word(reading.tokens.words[at]))
    nouns, named, valued = map(frozenset, (reader.nouns, reader.named, reader.valued))
    notes = tuple(dict.fromkeys(reader.notes))
    return RowReading(query, read, unread, nouns, named, valued, notes)


def _query(r: Cursor) -> Mapping[str, Any] | None:
    tokens = r.reading.tokens
    r.words = [tokens.words[at] for at in r.places]
    r.form = RowForm(r.profile)
    while r.at < len(r.words):
        if r.crosses():
            r.having = False
            r.form.boundary()
        start = r.at
        try:
            size = _step(r)
        except Unclear:
            size = 0
        if not size:
            r.failed = True
            size = 1
        else:
            r.read.update(r.places[start : start + size])
        r.at = start + size
    if r.failed:
        return None
    try:
        return r.form.query()
    except Unclear:
        return None


def _step(r: Cursor) -> int:
    at, word = r.at, r.word(r.at)
    if not r.read and word in r.lexicon.verdicts:
        return 0  # a yes or a no is no rows
    for rule in _RULES:
        if size := rule(r, at):
            return size
    if word in _SIGNS:
        if word in _STOPS:
            r.form.boundary()
        elif word == ",":
            r.form.comma()
        return 1
    if r.is_small(word) or r.is_courtesy(at):
        if (word,) in r.profile.values and r.tag(at - 1, "from"):
            return 0  # “people in it”: IT, or these?
        return 1
    return unknown_noun(r, at)


_RULES: Final = (
    column_first,
    plain_values,
    in_year,
    comparison,
    filled_or_not,
    span_of_degrees,
    first_rows,
    truths,
    superlative,
    verb_of_degree,
    each_once,
    counted,
    extreme,
    by_column,
    direction,
    summed_up,
    sort_verb,
    column_alone,
    plain_words,
)
