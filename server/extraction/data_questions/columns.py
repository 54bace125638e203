"""The columns of a data model, by what they are for and what they are called."""

from collections.abc import Collection, Iterator

from server.extraction.data_questions.meanings import Column, Columns
from server.library.data_model import DataColumn, DataModel


def all_columns(model: DataModel) -> Iterator[tuple[Column, DataColumn]]:
    """Every column that questions may see, and what is told of it."""
    for name, table in model.tables.items():
        for column, told in table.columns.items():
            yield Column(name, column), told


def spoken_words(told: DataColumn) -> set[str]:
    """The single words of all that a column is called."""
    return {word for called in told.called for word in called.split(" ")}


def columns_called(model: DataModel, names: Collection[str]) -> Columns:
    """The columns with one of these names."""
    return tuple(c for c, told in all_columns(model) if not {*told.called}.isdisjoint(names))


def columns_of_words(model: DataModel, words: Collection[str]) -> Columns:
    """The columns with one of these words in a name."""
    return tuple(c for c, told in all_columns(model) if not spoken_words(told).isdisjoint(words))


def columns_with_unit(model: DataModel) -> Columns:
    """The columns that tell how much of something there is: a length in minutes."""
    return tuple(column for column, told in all_columns(model) if told.unit)


def columns_of_years(model: DataModel, words: Collection[str]) -> Columns:
    """The columns that are years, by one of the words that they are called."""
    return tuple(
        column
        for column, told in all_columns(model)
        if told.kind in ("number", "category") and not spoken_words(told).isdisjoint(words)
    )


def kind_of(model: DataModel, column: Column) -> str:
    """What a column is for; nothing where questions do not see it."""
    told = model.tables[column.table].columns.get(column.column)
    return told.kind if told is not None else ""


def unit_of(model: DataModel, column: Column) -> str:
    """What the numbers of a column count."""
    told = model.tables[column.table].columns.get(column.column)
    return told.unit if told is not None else ""
