"""A walk through the words around some rows, and what stands at each of their places."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from server.text.columns import FoundColumn
from server.text.parsed_text import ParsedText
from server.text.rows.form import RowForm
from server.text.rows.joining import Unclear
from server.text.rows.words import RowLexicon, RowProfile, Tag, row_lexicon
from server.text.senses import sense_reader
from server.text.tokens import BLOCK, is_word

_JOINTS: Final = frozenset("-_'’")
_MONEY: Final = frozenset("$€£")
BETWEEN: Final = frozenset({"between", "from"})


@dataclass(slots=True)
class Cursor:
    """Walks through the words once; the longest of what is known at a place is taken."""

    reading: ParsedText
    profile: RowProfile
    places: Sequence[int]
    words: list[str] = field(default_factory=list)
    at: int = 0
    read: set[int] = field(default_factory=set)
    nouns: set[int] = field(default_factory=set)
    named: set[int] = field(default_factory=set)
    valued: set[int] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    failed: bool = False
    form: RowForm = field(init=False)
    last_field: str = ""
    having: bool = False
    noun: str = ""
    column_noun: str = ""
    noun_column: str = ""
    """The column whose name the rows are called by."""
    last_tag: str = ""
    of_phrase: bool = False
    """Whether a column is asked for “of” rows, which are named next."""

    @property
    def lexicon(self) -> RowLexicon:
        return row_lexicon("en")

    def crosses(self) -> bool:
        """Whether the data stands right before this word."""
        return self.at > 0 and self.places[self.at] != self.places[self.at - 1] + 1

    # What stands at a place: how many words it takes, 0 for nothing.

    def tag(self, index: int, *tags: Tag) -> tuple[int, Any] | None:
        found: tuple[int, Any] | None = self.lexicon.at(self.words, index, *tags)
        return found if found is None or self.is_together(index, found[0]) else None

    def is_together(self, index: int, size: int) -> bool:
        end = index + size
        return end <= len(self.places) and (self.places[end - 1] - self.places[index] == size - 1)

    def word(self, index: int) -> str:
        return self.words[index] if 0 <= index < len(self.words) else ""

    def column(self, index: int) -> tuple[int, FoundColumn] | None:
        """The column that words name; one of the lists' own words only by its very name."""
        for size in range(min(4, len(self.words) - index), 0, -1):
            end = index + size
            while end < len(self.words) and self.word(end - 1) in _JOINTS:
                end += 1
            phrase = [w for w in self.words[index:end] if w not in _JOINTS]
            if not self.is_together(index, end - index) or self.word(index) in _JOINTS:
                continue
            if not phrase or self.word(end - 1) in _JOINTS:
                continue
            found = self.profile.names.find(phrase)
            if found is None:
                continue
            one = len(phrase) == 1
            known = one and (self.lexicon.knows(phrase[0]) or self.is_small(phrase[0]))
            if known and found.likeness != "named":
                continue
            if one and found.likeness == "slip" and tuple(phrase) in self.profile.values:
                continue
            return end - index, found
        return None

    def take_column(self, index: int) -> tuple[int, str] | None:
        found = self.column(index)
        if found is None:
            return None
        size, column = found
        self.named.update(self.places[index : index + size])
        said = " ".join(w for w in self.words[index : index + size] if w not in _JOINTS)
        if column.likeness != "named":
            self.notes.append(f"{said} as {column.name}")
        noun = self.tag(index + size, "column")
        if noun and not self.column(index + size):
            size += noun[0]
        return size, column.name

    def is_small(self, word: str) -> bool:
        return word in sense_reader("en").small_words

    def value(self, index: int, column: str = "") -> tuple[int, str, str] | None:
        """A text that occurs in one column, or in the column that is asked about."""
        if self.word(index) == BLOCK + "quoted":
            span = next(s for s in self.reading.of("quoted") if s.first == self.places[index])
            known = self.profile.values.get(tuple(str(span.value).lower().split()), {})
            named = column or (next(iter(known)) if len(known) == 1 else "")
            return (1, named, span.value) if named else None
        for size in range(min(self.profile.longest * 2, len(self.words) - index), 0, -1):
            phrase = tuple(w for w in self.words[index : index + size] if w not in _JOINTS)
            if self.word(index + size - 1) in _JOINTS or not self.is_together(index, size):
                continue
            known = self.profile.values.get(phrase, {})
            if column and column in known:
                return size, column, known[column]
            if column or len(known) != 1:
                continue
            name, text = next(iter(known.items()))
            if len(phrase) == 1 and (self.is_small(phrase[0]) or self.lexicon.knows(phrase[0])):
                place = self.places[index]
                typed = self.reading.tokens.slice(place, place + 1)
                capital = typed == text and text != text.lower()
                if not capital and not self.is_thing_beside(index, size, name):
                    continue
            return size, name, text
        return None

    def joint_is_free(self) -> bool:
        """Whether no “and” joins what comes next with a column before it."""
        return self.form.joint == ""

    def is_of(self, index: int) -> bool:
        """Whether it stands after “of”: the parcels in “the weight of all the parcels”."""
        index -= 1
        while self.word(index) in ("all", "the", "these", "those", "my", "our"):
            index -= 1
        return self.word(index) in ("of", "for", "in")

    def named_rows(self, index: int, size: int) -> None:
        """Take words that name a column as what the rows are called."""
        places = self.places[index : index + size]
        self.named.difference_update(places)
        self.nouns.update(places)

    def is_thing_beside(self, index: int, size: int, name: str) -> bool:
        """Whether words around a small word say that it is a value: the done ones, it staff."""
        if self.beside(index + size) == name:
            return True
        if self.word(index + size) in ("ones", "rows") or self.tag(index - 1, "exclude"):
            return True
        no = self.tag(index - 1, "not")
        return no is not None and self.word(index - 1) != "no"

    def beside(self, index: int) -> str:
        found = self.column(index)
        return found[1].name if found else ""

    def number(self, index: int) -> tuple[int, Any, str] | None:
        """A number or a date: its words, its value, and "date" or its unit."""
        if index >= len(self.places):
            return None
        sign = 1 if self.word(index) in _MONEY else 0
        if index + sign >= len(self.places):
            return None
        place = self.places[index + sign]
        for span in self.reading.of("date"):
            if span.first == place and not span.weak:
                return span.last - span.first, span.value.isoformat(), "date"
        for span in self.reading.of("number"):
            if span.first == place:
                size = span.last - span.first + sign
                after = self.places[index] + size
                for money in self.reading.of("currency") if span.unit.isupper() else ():
                    size += money.last - money.first if money.first == after else 0
                return size, span.value, "" if span.unit in ("", "-") else span.unit
        return None

    # One step.

    def is_courtesy(self, at: int) -> bool:
        senses = sense_reader("en").senses(self.words)
        return any(s.first <= at < s.last and s.sense == "filler" for s in senses)

    def crosses_at(self, index: int) -> bool:
        return index >= len(self.places) or self.places[index] != self.places[index - 1] + 1

    def opens(self, index: int) -> bool:
        """Whether what stands there may follow a noun."""
        tags: tuple[Tag, ...] = (
            "from", "where", "having", "verb", "group", "order", "operator", "and", "or", "not",
            "exclude", "sort", "first", "less", "more", "only", "filler", "column", "degree_verb",
            "most", "least",
        )  # fmt: skip
        if self.word(index) in BETWEEN or self.column(index):
            return True
        return (
            self.tag(index, *tags) is not None
            or self.is_small(self.word(index))
            or (self.is_courtesy(index))
        )

    # Conditions.

    def degree_column(self, meanings: Sequence[Any]) -> tuple[str, str]:
        """The column that an adjective is about, and which end of it is meant."""
        for exact in (True, False):
            for end, fields in meanings:
                for phrase in fields:
                    found = self.profile.names.find(phrase)
                    likeness = found.likeness if found else "slip"
                    fits = found and self.profile.kinds[found.name] in ("number", "date", "mixed")
                    if found and fits and (likeness == "named" if exact else likeness != "slip"):
                        return found.name, end
        dates = self.profile.of_kind("date")
        for end, fields in meanings:
            if ("date",) in fields and len(dates) == 1:
                return dates[0], end
        raise Unclear

    def first_at(self, index: int) -> int:
        """Where “first” ends, with a noun before it or without; 0 where it does not stand."""
        if self.word(index) == "first":
            return index + 1
        noun = self.word(index)
        known = self.tag(index, "noun") or self.column(index) or is_word(noun)
        if known and self.word(index + 1) == "first" and not self.crosses_at(index + 1):
            return index + 2
        return 0

    def column_after(self, index: int) -> tuple[int, str] | None:
        while self.word(index) in ("the", "of", "a", "value", "in"):
            index += 1
        found = self.column(index)
        return (index + found[0], found[1].name) if found else None

    def word_is(self, word: str, tag: Tag) -> bool:
        return self.lexicon.at([word], 0, tag) is not None
