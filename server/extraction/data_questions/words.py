"""The parts of a question in order, and how one goes from one to the next."""

from collections.abc import Sequence
from typing import Final

from server.extraction.data_questions.asked import MeasureKind
from server.extraction.data_questions.columns import kind_of
from server.extraction.data_questions.items import Item, ItemRole
from server.extraction.data_questions.joins import Need
from server.extraction.data_questions.lexicon import DataLexicon
from server.extraction.data_questions.meanings import Column, Columns, Meanings, Value
from server.extraction.data_questions.phrases import phrase_of
from server.text.stems import singular

_APOSTROPHES: Final = ("'", "’")
_AMOUNTS: Final = frozenset({"number", "money"})


def use(*items: Item, role: ItemRole = "frame") -> None:
    """Mark parts as what the query has already."""
    for item in items:
        item.role = role


def need_of(item: Item) -> Need | None:
    """The table that a part names."""
    return next(iter(item.meanings.nouns or item.meanings.roles), None)


def measure_of(item: Item) -> MeasureKind:
    """Whether a part names money or units; it names one of them."""
    return "money" if item.has("money") else "units"


def values_of(item: Item) -> list[Value]:
    """What a part may name: whole names before parts of them, and what is written so."""
    values = item.meanings.values
    values = [value for value in values if not value.part] or values
    said = phrase_of(item.said)
    exact = [value for value in values if phrase_of(" ".join(value.values)) == said]
    written = {value.table for value in exact}
    return [value for value in values if value in exact or value.table not in written]


class Words:
    """The parts of a question, beside the data model and the language by which they are read."""

    def __init__(self, text: str, items: Sequence[Item], lexicon: DataLexicon) -> None:
        self._text = text
        self.items = items
        self.model, self.language = lexicon.model, lexicon.words
        self.lists = lexicon.lists
        """Columns whose texts hold several values, with commas between."""
        self.years = lexicon.years
        """The columns that are years, as numbers or as texts."""
        self.births = lexicon.births
        """The columns that are days of birth."""
        self._lexicon = lexicon

    def left(self) -> list[Item]:
        """The parts that are not used yet."""
        return [item for item in self.items if not item.role]

    def said(self, items: Sequence[Item]) -> str:
        """The words of parts that stand together, as they were written."""
        return self._text[items[0].start : items[-1].end]

    def before(self, item: Item) -> Sequence[Item]:
        """All parts before one."""
        return self.items[: item.place]

    def after(self, item: Item) -> Sequence[Item]:
        """All parts after one."""
        return self.items[item.place + 1 :]

    def says(self, phrases: Sequence[str]) -> bool:
        """Whether one of these phrases is a part of the question."""
        return any(item.spoken in phrases for item in self.items)

    def rest_of_clause(self, item: Item) -> Sequence[Item]:
        """The parts after one, up to the next full stop or colon."""
        return [other for other in self.after(item) if other.clause == item.clause]

    def at(self, place: int) -> Item | None:
        """The part at a place, where there is one."""
        return self.items[place] if 0 <= place < len(self.items) else None

    def previous(self, item: Item) -> Item | None:
        """The part just before, whatever it says."""
        return self.at(item.place - 1)

    def next(self, item: Item) -> Item | None:
        """The part just after, whatever it says."""
        return self.at(item.place + 1)

    def beside(self, item: Item, step: int) -> Item | None:
        """The next part in a direction that says something."""
        side = self.after(item) if step > 0 else reversed(self.before(item))
        return next((other for other in side if not other.is_filler), None)

    def free(self, item: Item, step: int) -> Item | None:
        """The next part in a direction that says something, where it is not used yet."""
        found = self.beside(item, step)
        return found if found is not None and not found.role else None

    def first(self) -> Item | None:
        """The first part that says something."""
        return next((item for item in self.items if not item.is_filler), None)

    def thing_called(self, item: Item) -> Need | None:
        """The table that a part names, by itself or as what its rows are called: titles."""
        named = [
            column.table
            for column in item.meanings.columns
            if column.rank == 0 and (column.column,) == tuple(self.model.tables[column.table].name)
        ]
        many = singular(item.last_word) != item.last_word
        alone = Need(named[0]) if len(named) == 1 and many else None
        return need_of(item) or alone

    def numbers(self, item: Item | None) -> Columns:
        """The columns with numbers that a part names."""
        columns = item.meanings.columns if item is not None else ()
        return tuple(column for column in columns if self.kind(column) in _AMOUNTS)

    def names_amount(self, item: Item) -> bool:
        """Whether a part names money, units or a column with numbers."""
        return item.has("money", "units") or bool(self.numbers(item))

    def flags(self, item: Item) -> Columns:
        """The columns that a part names and that are so or not."""
        return tuple(column for column in item.meanings.columns if self.kind(column) == "flag")

    def kind(self, column: Column) -> str:
        """What a column is for."""
        return kind_of(self.model, column)

    def meanings(self, text: str) -> Meanings | None:
        """What some words mean by themselves."""
        return self._lexicon.of(phrase_of(text))

    def is_possessive(self, item: Item) -> bool:
        """Whether something is of what it names: last year's orders."""
        after = self.next(item)
        return after is not None and self._text[item.end : after.start].strip() in _APOSTROPHES

    def is_how_much(self, item: Item) -> bool:
        """Whether a part asks for a number or for money."""
        return item.spoken in self.language.how_much
