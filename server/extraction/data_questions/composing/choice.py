"""Which of several columns, values and tables is meant: what is near to all else."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from server.extraction.data_questions.asked import DataRequest, MeasureKind, Named, Unclear
from server.extraction.data_questions.joins import Joined, Need, join
from server.extraction.data_questions.meanings import Column, Columns, Value
from server.library.data_model import DataMeasure, DataModel

_OWN: Final = -0.5
"""What it is worth to be of the table that is asked for."""
_WORSE_NAME: Final = 0.3
_WORST_NAME: Final = 5
"""Names of a column count as worse up to here."""
_FULL_NAME: Final = -0.2
_PAYING: Final = -0.1
"""What it is worth to be of those who pay: the country, of customers and not of employees."""
_FREE_TEXT: Final = 2.5
"""What it costs to be in a text that is no name and no category."""


class Choice:
    """The tables that a query needs, and by them what else is meant."""

    def __init__(
        self,
        model: DataModel,
        request: DataRequest,
        needs: Sequence[Need] = (),
        measures: Mapping[MeasureKind, DataMeasure] | None = None,
        years: Columns = (),
        lists: Collection[tuple[str, str]] = (),
        births: Columns = (),
    ) -> None:
        self.model = model
        self.lists = lists
        """Columns whose texts hold several values, with commas between."""
        self.births = births
        """The columns that are days of birth."""
        self.years = years
        """The columns that are years, as numbers or as texts."""
        self.measures = measures or {}
        """What is added up, all of one table: there the query starts."""
        self.needs = list(needs)
        self.request = request
        self._roots = tuple({measure.table: None for measure in self.measures.values()})
        self._roles: dict[Value, Need] = {}

    @property
    def happened(self) -> frozenset[str]:
        """The tables of what was done, each time of which counts."""
        if self.request.distinct:
            return frozenset()
        return frozenset(table for tables in self.request.facts for table in tables)

    def add(self, need: Need) -> None:
        """Need a table from now on."""
        if need not in self.needs:
            self.needs.append(need)

    def joined(self) -> Joined:
        """The table to start from, and the ways to all that is needed."""
        subject = self.request.subject
        preferred = subject.table if subject is not None else ""
        found = join(self.model, self.needs, self._roots, preferred)
        if found is None:
            raise Unclear("no table has all of it")
        return found

    def cost(self, need: Need) -> float | None:
        """How far it is to all that is needed with a table besides; None where no way leads."""
        needs = self.needs if need in self.needs else [*self.needs, need]
        target = self.request.target
        found = join(self.model, needs, self._roots, target.table if target is not None else "")
        return found.cost if found is not None else None

    def table(self, tables: Sequence[str]) -> str:
        """Which of several tables is meant."""
        ranked: list[tuple[float, int, str]] = []
        for order, table in enumerate(tables):
            cost = self.cost(Need(table))
            if cost is not None:
                ranked.append((cost, order, table))
        if not ranked:
            raise Unclear("no way leads to " + tables[0])
        self.add(Need(min(ranked)[2]))
        return min(ranked)[2]

    def column(self, columns: Sequence[Column]) -> Column:
        """Which of several columns is meant."""
        ranked: list[tuple[float, int, Column]] = []
        for order, column in enumerate(columns):
            cost = self.cost(self.need_of(column.table))
            if cost is not None:
                cost += _WORSE_NAME * min(column.rank, _WORST_NAME)
                cost += _PAYING * self.model.tables[column.table].pays
                ranked.append((cost + self._own(column.table), order, column))
        if not ranked:
            raise Unclear("no way leads to " + ", ".join(c.column for c in columns[:1]))
        best = min(ranked)[2]
        self.add(self.need_of(best.table))
        return best

    def value(self, named: Named) -> Value:
        """Which of several values is meant."""
        ranked: list[tuple[float, int, Value]] = []
        for order, value in enumerate(named.values):
            cost = self.cost(named.need or self.need_of_value(value))
            if cost is not None:
                ranked.append((cost + self._own(value.table) + self.fit(value), order, value))
        if not ranked:
            raise Unclear("no way leads to " + named.values[0].values[0])
        best = min(ranked)[2]
        parts = {
            value.values
            for _, _, value in ranked
            if value.part and not (value.kind and value.table != best.table)
        }
        subject = self.request.subject
        all_of_them = subject is not None and subject.table == best.table and self.request.plural
        if best.part and len(parts) > 1 and not all_of_them:
            raise Unclear("several are called " + best.values[-1])
        if named.need is not None:
            self._roles[best] = named.need
        self.add(self.need_of_value(best))
        return best

    def need_of(self, table: str) -> Need:
        """A table as it is needed already, or as itself."""
        plain = Need(table)
        if plain in self.needs:
            return plain
        return next((n for n in self.needs if n.table == table and n.step), plain)

    def need_of_value(self, value: Value) -> Need:
        """The table of a value, as what it is of."""
        if value in self._roles:
            return self._roles[value]
        target = self.request.target
        if target is not None and target.step and target.table == value.table:
            return Need(value.table) if target.owner == value.table else target
        return self.need_of(value.table)

    def path(self, joined: Joined, column: Column) -> str:
        """The way to a column."""
        return joined.path(self.need_of(column.table), column.column)

    def is_one_each(self, joined: Joined, need: Need, column: Column) -> bool:
        """Whether there is one value of a column for each row of a table."""
        way, to_column = joined.ways[need], joined.ways[self.need_of(column.table)]
        on = to_column[len(way) :]
        return to_column[: len(way)] == way and not any(step.startswith("<") for step in on)

    def entered(self, joined: Joined) -> set[str]:
        """The tables of which several rows may belong to one of the table to start from."""
        return {
            self._table_at(joined.root, way[: at + 1])
            for way in joined.ways.values()
            for at, step in enumerate(way)
            if step.startswith("<")
        }

    def between(self, joined: Joined, one: Need, other: Need) -> Sequence[str]:
        """The tables that one passes from one to the other, the last one among them."""
        first, second = joined.ways[one], joined.ways[other]
        shared = 0
        while shared < min(len(first), len(second)) and first[shared] == second[shared]:
            shared += 1
        up = [self._table_at(joined.root, first[:size]) for size in range(shared, len(first))]
        down = [
            self._table_at(joined.root, second[: size + 1]) for size in range(shared, len(second))
        ]
        return [*up, *down]

    def _table_at(self, root: str, way: Sequence[str]) -> str:
        table = root
        for step in way:
            link = self.model.link(table, step)
            if link is None:
                raise KeyError(step)
            table = link.table
        return table

    def _own(self, table: str) -> float:
        target = self.request.target
        return _OWN if target is not None and table == target.table else 0.0

    def fit(self, value: Value) -> float:
        """A whole name is likelier than a text that anything may stand in."""
        table = self.model.tables[value.table]
        if value.columns == tuple(table.name):
            return _FULL_NAME
        told = table.columns.get(value.columns[0])
        if (value.table, value.columns[0]) in self.lists:
            return _FREE_TEXT
        return _FREE_TEXT if told is not None and told.kind != "category" else 0.0
