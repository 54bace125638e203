"""What tables hold in words: the part `data` of a domain, from which questions are composed.

A query starts at one table and follows links from there, each from many rows to one, so that no
row is counted twice. A column is written as the way to it: `InvoiceId.CustomerId.Country` are the
columns of two links and a column of the table that they lead to.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Literal

from pydantic import Field

from server.settings.fields import LibraryModel, OneOrMore

ColumnUse = Literal["category", "text", "number", "money", "date", "flag", "contact", "key"]
"""What a column is for. `category` has values that many rows share, `contact` is shown where it
is asked for by name, and a `key` tells rows apart."""


class DataColumn(LibraryModel):
    """A column."""

    called: OneOrMore = ()
    """What people call it, the best first."""
    kind: ColumnUse = "text"
    """What it is for."""
    unit: str = ""
    """What its numbers count: `milliseconds`, `minutes`, `kg`."""
    yes: str | int | bool | None = None
    """What a flag has where it is so."""
    no: str | int | bool | None = None
    """What a flag has where it is not."""
    values: dict[str, OneOrMore] = Field(default_factory=dict)
    """Other words for its values, by value."""


class DataLink(LibraryModel):
    """Each row of a table belongs to one row of another."""

    columns: OneOrMore
    """The columns that refer to it."""
    table: str
    """The other table."""
    key: OneOrMore = ()
    """The columns there that are referred to; its key when left out."""
    called: OneOrMore = ()
    """What the other one is to this one: the manager, of an employee."""


class DataTable(LibraryModel):
    """A table, and what one row of it is called."""

    called: OneOrMore = ()
    """What people call one row: `track`, `song`."""
    key: OneOrMore = ()
    """The columns that tell its rows apart."""
    name: OneOrMore = ()
    """The columns that make up the name of a row: a title, or a first and a last name."""
    columns: dict[str, DataColumn] = Field(default_factory=dict)
    """Those that questions may see, by name."""
    links: tuple[DataLink, ...] = ()
    """What each row belongs to."""
    done: OneOrMore = ()
    """What people do when such a row comes to be: `bought`, `rented`."""
    date: str = ""
    """The column of the day that such things are of."""
    people: bool = False
    """Whether rows are people or companies, who do something."""
    pays: bool = False
    """Whether they are those who pay: customers, guests."""


class DataMeasure(LibraryModel):
    """What may be added up over the rows of a table: revenue, units sold."""

    called: OneOrMore
    """What people call the sum."""
    table: str
    """The table that it is of."""
    times: OneOrMore
    """The columns that are multiplied in each row."""
    less: str = ""
    """The column that says which part of it is taken off, from 0 to 1."""
    kind: Literal["money", "number", "stock", "discount"] = "number"
    """What it is: what comes in, how many, what the stock is worth, or what discounts took off."""
    done: OneOrMore = ()
    """What is done with it: `spent`, `earned`."""

    @property
    def name(self) -> str:
        return self.called[0]


class DataModel(LibraryModel):
    """What the tables of a database hold, for questions that no template foresees."""

    tables: dict[str, DataTable] = Field(default_factory=dict)
    """Tables by name."""
    measures: tuple[DataMeasure, ...] = ()
    """What is added up."""
    templates: Literal["all", "examples"] = "all"
    """Which questions templates answer that are no query: `all` of which they are sure enough, or
    only those that are written among their `examples`, but for values."""

    def link(self, table: str, step: str) -> DataLink | None:
        """The link of a table that refers by this column.

        `<film_category:film_id` leads the other way, to the rows of a table that joins two.
        """
        if step.startswith("<"):
            other, _, column = step[1:].rpartition(":")
            back = self.link(other, column)
            if back is None or back.table != table:
                return None
            keys = back.key or self.tables[table].key
            return DataLink(columns=keys, table=other, key=back.columns)
        return next((one for one in self.tables[table].links if one.columns[0] == step), None)

    def resolve(self, table: str, path: str) -> tuple[str, str]:
        """The table and the column that a path leads to; KeyError where it leads nowhere."""
        *steps, column = path.split(".")
        for step in steps:
            link = self.link(table, step)
            if link is None:
                raise KeyError(path)
            table = link.table
        own = self.tables[table]
        if column not in own.columns and column not in (*own.key, *own.name):
            raise KeyError(path)
        return table, column

    def measure(self, name: str, table: str) -> DataMeasure | None:
        """What is added up over the rows of a table under a name."""
        own = (one for one in self.measures if one.table == table)
        return next((one for one in own if one.name == name), None)

    def problems(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """What does not fit together, and where it is written."""
        for name, table in self.tables.items():
            for number, link in enumerate(table.links):
                if link.table not in self.tables:
                    yield (
                        ("tables", name, "links", number, "table"),
                        f"there is no table {link.table!r} here",
                    )
        for number, measure in enumerate(self.measures):
            if measure.table not in self.tables:
                yield (
                    ("measures", number, "table"),
                    f"there is no table {measure.table!r} here",
                )

    @cached_property
    def reachable(self) -> Mapping[str, Mapping[str, tuple[tuple[str, ...], ...]]]:
        """For each table those that links lead to from there, with every way, shortest first."""
        return {name: self._ways(name) for name in self.tables}

    @cached_property
    def _joining(self) -> Mapping[str, tuple[tuple[str, str], ...]]:
        """The ways against a link to tables that only join two others, by where they lead from."""
        found: dict[str, list[tuple[str, str]]] = {}
        for name, table in self.tables.items():
            referring = {column for link in table.links for column in link.columns}
            only = len(table.links) == 2 and {*table.key} == referring
            if only and not table.name and not table.date and "." not in name:
                for link in table.links:
                    found.setdefault(link.table, []).append((name, link.columns[0]))
        return {table: tuple(ways) for table, ways in found.items()}

    @cached_property
    def bridges(self) -> frozenset[str]:
        """The tables that only join two others."""
        return frozenset(name for ways in self._joining.values() for name, _ in ways)

    def _ways(self, start: str) -> Mapping[str, tuple[tuple[str, ...], ...]]:
        found: dict[str, list[tuple[str, ...]]] = {start: [()]}
        edge: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = [(start, (), (start,))]
        for _ in range(_FARTHEST):
            longer: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = []
            for table, path, seen in edge:
                joining = [
                    (DataLink(columns=(), table=name), f"<{name}:{back}")
                    for name, back in self._joining.get(table, ())
                    if not path or not path[-1].startswith("<")
                ]
                own = [(link, link.columns[0]) for link in self.tables[table].links]
                for link, step in (*own, *joining):
                    if link.table not in self.tables or (
                        link.table in seen and link.table != table
                    ):
                        continue
                    if link.table == table and seen.count(table) > 1:
                        continue
                    if path and path[-1].startswith("<") and link.table == seen[-2]:
                        continue
                    way = (*path, step)
                    found.setdefault(link.table, []).append(way)
                    longer.append((link.table, way, (*seen, link.table)))
            edge = longer[:_MOST_WAYS]
        return {table: tuple(ways) for table, ways in found.items()}


_FARTHEST = 6
"""Links in a row that are followed."""
_MOST_WAYS = 200
