"""The words by which people ask about rows, and what the rows themselves say of words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, Literal

from server.text.columns import ColumnNames
from server.text.language import RowDegree, load_language
from server.text.stems import inflections, singular
from server.text.tokens import split_words

Tag = Literal[
    "noun", "single", "column", "verb", "having", "show", "keep", "remove", "exclude", "not",
    "count", "distinct", "sort", "group", "each", "highest", "lowest", "top", "bottom", "only",
    "and", "or", "from", "all", "where", "filler", "operator", "aggregate", "order", "most",
    "least", "more", "less", "degree_verb", "first",
]  # fmt: skip
ColumnKind = Literal["number", "boolean", "date", "text", "mixed"]

PLAIN: Final = "value"
"""The only column of a plain list."""

_MOST_ROWS: Final = 2_000
_MOST_VALUES: Final = 20_000
_LONGEST_VALUE: Final = 5
_YEARS: Final = (1000, 2999)


class RowLexicon:
    """What the phrases of a language do in a question about rows, the longest found first."""

    def __init__(self, code: str) -> None:
        language = load_language(code)
        words = language.rows
        self.attributes, self.verdicts, self.un = words.attributes, words.verdicts, words.un
        self.turns = words.turns
        self.degrees: Sequence[RowDegree] = words.degrees
        self._tags: dict[tuple[str, ...], dict[Tag, Any]] = {}
        self.longest = 1
        plain: Mapping[Tag, Iterable[str]] = {
            "noun": words.nouns, "single": words.singles, "column": words.columns,
            "verb": words.verbs, "having": words.having, "show": words.shows,
            "keep": words.keeps, "remove": words.removes, "exclude": words.excludes,
            "not": words.nots, "count": words.counts, "distinct": words.distincts,
            "sort": words.sorts, "group": words.groups, "each": words.eaches,
            "highest": words.highest, "lowest": words.lowest, "top": words.tops,
            "bottom": words.bottoms, "only": words.onlys, "and": words.ands, "or": words.ors,
            "from": words.froms, "all": words.alls, "where": words.wheres,
            "filler": words.fillers, "first": ("first",),
        }  # fmt: skip
        for tag, phrases in plain.items():
            for phrase in phrases:
                self._add(phrase, tag, "")
        common = load_language("common")
        for one in (common, language):
            for operator, phrases in one.operators.items():
                for phrase in (operator.replace("_", " "), *phrases):
                    self._add(phrase, "operator", operator)
        for operation, phrases in language.aggregates.items():
            for phrase in (operation, *phrases):
                self._add(phrase, "aggregate", operation)
        for order, phrases in language.orders.items():
            for phrase in (order, *phrases):
                self._add(phrase, "order", order)
        for degree in words.degrees:
            parts: Mapping[Tag, Iterable[str]] = {
                "most": degree.most, "least": degree.least, "more": degree.more,
                "less": degree.less, "degree_verb": degree.verbs,
            }  # fmt: skip
            for tag, phrases in parts.items():
                for phrase in phrases:
                    self._add(phrase, tag, "")
        self._degree_words = [
            {
                "most": self._phrases((*degree.most, *degree.more, *degree.verbs)),
                "least": self._phrases((*degree.least, *degree.less)),
                "fields": [split_words(name) for name in degree.fields],
            }
            for degree in words.degrees
        ]

    @staticmethod
    def _phrases(phrases: Iterable[str]) -> frozenset[tuple[str, ...]]:
        return frozenset(split_words(phrase) for phrase in phrases)

    def _add(self, phrase: str, tag: Tag, value: Any) -> None:
        words = split_words(phrase)
        self._tags.setdefault(words, {}).setdefault(tag, value)
        self.longest = max(self.longest, len(words))

    def at(self, words: Sequence[str], index: int, *tags: Tag) -> tuple[int, Any] | None:
        """The longest phrase there with one of the tags: its length, and what the tag says."""
        for size in range(min(self.longest, len(words) - index), 0, -1):
            known = self._tags.get(tuple(words[index : index + size]), {})
            for tag in tags:
                if tag in known:
                    return size, known[tag]
        return None

    def knows(self, word: str) -> bool:
        """Whether a word by itself is one of the lists."""
        return (word,) in self._tags

    def directions(self, phrase: Sequence[str]) -> list[tuple[str, Sequence[tuple[str, ...]]]]:
        """For each meaning of a degree: which end is meant, and the fields it may be about."""
        said = tuple(phrase)
        return [
            (end, one["fields"])  # type: ignore[misc]
            for one in self._degree_words
            for end in ("most", "least")
            if said in one[end]
        ]


@cache
def row_lexicon(code: str = "en") -> RowLexicon:
    """Return the words of a language that ships."""
    return RowLexicon(code)


@dataclass(slots=True)
class RowProfile:
    """The columns of some rows, of what kind each is, and where each value stands."""

    names: ColumnNames
    kinds: dict[str, ColumnKind] = field(default_factory=dict)
    values: dict[tuple[str, ...], dict[str, Any]] = field(default_factory=dict)
    """Each text that a column holds, by its words: the columns, and how it is written there."""
    repeated: set[str] = field(default_factory=set)
    """Columns that hold a value more than once."""
    in_years: set[str] = field(default_factory=set)
    """Columns of whole numbers that are years."""
    blanks: set[str] = field(default_factory=set)
    """Columns that some row has nothing in."""
    is_plain: bool = False
    longest: int = 1

    def of_kind(self, *kinds: ColumnKind) -> list[str]:
        """Columns of these kinds, without those that only number the rows."""
        return [n for n, kind in self.kinds.items() if kind in kinds and not _is_number_of_row(n)]

    def years(self) -> list[str]:
        """Columns that dates or years are in."""
        return [n for n, kind in self.kinds.items() if kind == "date" or n in self.in_years]


_ROW_NUMBERS: Final = frozenset({"id", "nr", "no", "num", "index", "row", "#", "number"})


def _is_number_of_row(name: str) -> bool:
    return name.lower() in _ROW_NUMBERS or name.lower().endswith("_id")


def profile_of(data: Any, synonyms: Mapping[str, Sequence[str]]) -> RowProfile | None:
    """Return what the rows hold; None for what is no rows, nor a plain list."""
    if not isinstance(data, list) or not data:
        return None
    is_plain = not any(isinstance(one, dict | list) for one in data)
    rows = [{PLAIN: one} for one in data] if is_plain else data
    if not all(isinstance(row, dict) for row in rows):
        return None
    rows = rows[:_MOST_ROWS]
    names = list(dict.fromkeys(str(key) for row in rows for key in row))
    found = RowProfile(ColumnNames(names, synonyms), is_plain=is_plain)
    for name in found.names.names:
        column = [row[name] for row in rows if row.get(name) is not None]
        if len(column) < len(rows) or any(isinstance(v, str) and not v.strip() for v in column):
            found.blanks.add(name)
            column = [one for one in column if one != ""]
        found.kinds[name] = kind = _kind(column)
        if kind == "number" and all(_YEARS[0] <= one <= _YEARS[1] for one in column):
            whole = all(isinstance(one, int) for one in column)
            if whole and any(part in name.lower() for part in ("year", "yr")):
                found.in_years.add(name)
        texts = [one for one in column if isinstance(one, str)]
        if len({one.casefold() for one in texts}) < len(texts):
            found.repeated.add(name)
        for text in dict.fromkeys(texts):
            _add_value(found, name, text)
    return found


def _add_value(found: RowProfile, name: str, text: str) -> None:
    words = tuple(w for w in split_words(text[:100]) if w not in ("-", "_", "'", "’"))
    if not 1 <= len(words) <= _LONGEST_VALUE or len(found.values) >= _MOST_VALUES:
        return
    forms = [words]
    if words[-1].isalpha() and len(words[-1]) > 2:
        forms += [(*words[:-1], form) for form in sorted(inflections(words[-1]) - {words[-1]})]
    for at, form in enumerate(forms):
        if at == 0:
            known = found.values.setdefault(form, {})
            known[name] = text
        elif form not in found.values:
            found.values[form] = {name: text}
    found.longest = max(found.longest, len(words))


def _kind(column: Sequence[Any]) -> ColumnKind:
    if column and all(isinstance(one, bool) for one in column):
        return "boolean"
    if column and all(isinstance(one, bool) is False and _is_number(one) for one in column):
        return "number"
    if column and all(isinstance(one, str) for one in column):
        return "date" if all(map(_is_dated, column)) else "text"
    return "mixed"


def _is_number(value: Any) -> bool:
    return not isinstance(value, str | dict | list) and value is not None


def _is_dated(text: str) -> bool:
    start = text.strip()[:10].replace("/", "-").replace(".", "-").split("-")
    return len(start) == 3 and all(part.isdigit() for part in start)


def is_plural(word: str) -> bool:
    """Whether a word reads as a plural noun."""
    return len(word) > 3 and word.isalpha() and singular(word) != word
