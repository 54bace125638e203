"""SQL for a query over a data model: names from the model, every value bound."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from pydantic import ValidationError

from server.core.suggestions import shortened
from server.library.data_model import DataModel
from server.library.data_query import Average, Comparison, DataQuery, Figure, Lacking, Span, Test
from server.library.model import Parameter, Template
from server.library.sql_model import SqlExecution
from server.library.sql_text import (
    Binding,
    BindingUse,
    ConditionFailed,
    DayNumber,
    DayOfWeek,
    FilledSql,
    SqlText,
)
from server.text.stems import inflections

DATA_TEMPLATE: Final = "data_question"
"""The id of the template that answers from a data model."""
QUERY: Final = "query"
"""The parameter that holds the query."""

_FUNCTIONS: Final = {"sum": "SUM", "average": "AVG", "lowest": "MIN", "highest": "MAX"}
_SIGNS: Final = {
    "is": "=", "not": "<>", "more": ">", "least": ">=", "less": "<", "most": "<=", "from": ">=",
    "until": "<",
}  # fmt: skip
_SEARCHES: Final[Mapping[Comparison, BindingUse]] = {
    "contains": "search", "begins": "beginning", "ends": "ending",
}  # fmt: skip
_DIGITS: Final = {"day": 10, "month": 7, "year": 4}
"""So many characters of a day tell which one, which month, which year."""
WEEKDAY_NAMES: Final = (
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
)  # fmt: skip
MONTH_NAMES: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_QUARTERS: Final = (("01", "02", "03"), ("04", "05", "06"), ("07", "08", "09"), ("10", "11", "12"))

_PLACE: Final = '"its_place"'
"""The column of the place of a row, which is not shown."""
_UNITS: Final = frozenset({"milliseconds", "seconds", "minutes", "hours"})
_LENGTH: Final = "length"

Parts = list[str | Binding | DayNumber | DayOfWeek]


@dataclass(frozen=True)
class ComposedSql(SqlText):
    """SQL that is put together from a query, which is the only argument."""

    model: DataModel = field(default_factory=DataModel, compare=False)
    is_composed: ClassVar[bool] = True

    @property
    def names(self) -> frozenset[str]:
        return frozenset({QUERY})

    def fill(self, arguments: Mapping[str, Any]) -> FilledSql:
        """Return the statement for a query.

        Raises:
            ConditionFailed: the query is none, or names what the model does not have.
        """
        return FilledSql(tuple(_composed(arguments, self.model)[0]))

    def heeds(
        self,
        name: str,
        arguments: Mapping[str, Any],  # noqa: ARG002
        others: Iterable[Any] = (),  # noqa: ARG002
    ) -> bool:
        return name == QUERY

    def values(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        return _composed(arguments, self.model)[1]


def data_template(model: DataModel) -> Template:
    """The template that runs queries over a model; questions are read into them, not matched."""
    about = ", ".join(table.called[0] for table in model.tables.values() if table.called)
    what = Parameter(
        QUERY,
        "object",
        f"A query over {shortened(about, 120)}: table, select, tests, lacking, group, order, limit",
    )
    return Template(
        id=DATA_TEMPLATE,
        description=f"Answer a question about {shortened(about, 120)}",
        kind="sql",
        nl_examples=(),
        parameters=(what,),
        execution=SqlExecution(ComposedSql("", (), model=model), "single"),
    )


def _composed(arguments: Mapping[str, Any], model: DataModel) -> tuple[Parts, Mapping[str, Any]]:
    try:
        query = DataQuery.model_validate(arguments.get(QUERY))
    except ValidationError as invalid:
        first = invalid.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ConditionFailed(f"query{'.' + where if where else ''}: {first['msg']}") from None
    try:
        composer = _Composer(model, query)
        return composer.statement(), composer.values
    except KeyError as unknown:
        raise ConditionFailed(f"query: the data have no {unknown.args[0]!r}") from None


class _Composer:
    def __init__(self, model: DataModel, query: DataQuery) -> None:
        self._model, self._query = model, query
        self.values: dict[str, Any] = {}

    def statement(self) -> Parts:
        query, source = self._query, _Source(self._model, self._query.table, "t")
        titles = _Titles(self._model, query)
        groups = [self._column(source, one, inner=True) for one in query.group]
        where = self._tests(source, [t for t in query.tests if not isinstance(t.of, Figure)])
        for lacking in query.lacking:
            where.append(self._lacking(source, lacking))
        having = self._tests(source, [t for t in query.tests if isinstance(t.of, Figure)])
        shown = [
            [*self._shown(source, one), f" AS {_quoted(titles.of(one))}"] for one in query.select
        ]
        order = [
            [*self._placed(source, one.by), " DESC" if one.descending else " ASC"]
            for one in query.order
        ]
        # Names come from the model, in quotation marks, and every value is bound.
        parts: Parts = [f"SELECT {'DISTINCT ' if query.distinct else ''}"]
        _add(parts, "", shown, ", ")
        ties = query.ties and query.limit is not None and bool(order)
        if ties:
            parts.append(", RANK() OVER (")
            each: list[Parts] = [self._column(source, one, inner=True) for one in query.each]
            _add(parts, "PARTITION BY ", each, ", ")
            _add(parts, " ORDER BY ", order, ", ")
            parts.append(f") AS {_PLACE}")
        parts += [" FROM ", source.joined()]
        _add(parts, " WHERE ", where)
        if groups:
            _add(parts, " GROUP BY ", list({str(one): one for one in groups}.values()), ", ")
        _add(parts, " HAVING ", having)
        if ties:
            names = ", ".join(_quoted(titles.of(one)) for one in query.select)
            first = f"{_PLACE} <= {query.limit:d} ORDER BY "
            place = "" if query.each else f"{_PLACE}, "
            return ["SELECT ", names, " FROM (", *parts, ") AS ranked WHERE ", first, place, names]
        _add(parts, " ORDER BY ", order, ", ")
        if query.limit is not None:
            parts.append(f" LIMIT {query.limit:d}")
        if query.counted:
            title = _quoted(titles.number_of(query.counted))
            return ["SELECT COUNT(*) AS ", title, " FROM (", *parts, ") AS counted"]
        return parts

    def _tests(self, source: "_Source", tests: Sequence[Test]) -> list[Parts]:
        return [self._test(source, test) for test in tests]

    def _test(self, source: "_Source", test: Test, *, optional: bool = False) -> Parts:
        of = self._shown(source, test.of, inner=test.comparison != "given" and not optional)
        match test.comparison:
            case "given":
                # What is empty is not given either.
                text: Parts = ["CAST(", *of, " AS VARCHAR(200))"]
                if test.value:
                    return ["(", *of, " IS NOT NULL AND ", *text, " <> '')"]
                return ["(", *of, " IS NULL OR ", *text, " = '')"]
            case "contains" | "begins" | "ends":
                found = self._bound(test.value, _SEARCHES[test.comparison])
                return ["LOWER(", *of, ") LIKE LOWER(", found, ") ESCAPE '\\'"]
            case "lacks":
                found = self._bound(test.value, "search")
                like = ["LOWER(", *of, ") NOT LIKE LOWER(", found, ") ESCAPE '\\'"]
                return ["(", *of, " IS NULL OR ", *like, ")"]
            case "in":
                return [*of, " IN (", self._bound(test.value, "list"), ")"]
        if test.average is not None:
            inner = self._average(test.average)
            return [*of, f" {_SIGNS[test.comparison]} (", *inner, ")"]
        if test.than:
            return [*of, f" {_SIGNS[test.comparison]} {source.column(test.than)}"]
        return [*of, f" {_SIGNS[test.comparison]} ", self._bound(test.value)]

    def _average(self, average: Average) -> Parts:
        inner = _Source(self._model, average.table, f"a{len(self.values)}_")
        tests = self._tests(inner, average.tests)
        column = inner.column(average.of)
        parts: Parts = ["SELECT AVG(", column, ") FROM ", inner.joined()]
        _add(parts, " WHERE ", tests)
        return parts

    def _lacking(self, source: "_Source", lacking: Lacking) -> Parts:
        inner = _Source(self._model, lacking.table, f"x{len(self.values)}_")
        model, owner = self._model, lacking.table
        for step in lacking.up:
            link = model.link(owner, step)
            if link is None:
                raise KeyError(step)
            owner = link.table
        pairs = [
            (".".join((*lacking.up, key)), ".".join((*lacking.own, key)))
            for key in model.tables[owner].key
        ]
        if lacking.same is not None:
            pairs = [lacking.same]
        if not pairs:
            raise KeyError(owner)
        same: list[Parts] = [
            [f"{inner.column(theirs, inner=True)} = {source.column(own)}"] for theirs, own in pairs
        ]
        tests = [*same, *self._tests(inner, lacking.tests)]
        exists = "EXISTS" if lacking.is_there else "NOT EXISTS"
        parts: Parts = [exists, " (SELECT 1 FROM ", inner.joined()]
        _add(parts, " WHERE ", tests)
        return [*parts, ")"]

    def _shown(self, source: "_Source", of: str | Figure | Span, *, inner: bool = False) -> Parts:
        if not isinstance(of, Figure):
            return self._column(source, of, inner=inner)
        if of.running is not None:
            plain = self._shown(source, of.model_copy(update={"running": None}))
            order = self._column(source, of.running, inner=True)
            return ["SUM(", *plain, ") OVER (ORDER BY ", *order, ")"]
        if of.share:
            return self._share(source, of)
        what = self._what(source, of)
        if of.per is not None:
            per = self._column(source, of.per, inner=True)
            counts = "COUNT(DISTINCT " if of.of else "COUNT("
            lead = counts if of.operation == "count" else "SUM("
            return [lead, *what, ") * 1.0 / COUNT(DISTINCT ", *per, ")"]
        if of.operation == "count":
            return ["COUNT(", *(["DISTINCT "] if of.distinct else []), *what, ")"]
        scale = f" / {of.scale!r}" if of.scale != 1 else ""
        if of.operation == "value":
            return [*what, scale]
        return [f"{_FUNCTIONS[of.operation]}(", *what, f"){scale}"]

    def _share(self, source: "_Source", of: Figure) -> Parts:
        """In percent of all, or of all groups."""
        what = ["1"] if of.operation == "count" else self._what(source, of)
        if not of.where:
            return ["SUM(", *what, ") * 100.0 / SUM(SUM(", *what, ")) OVER ()"]
        part: Parts = []
        tests = [self._test(source, test, optional=True) for test in of.where]
        _add(part, "SUM(CASE WHEN ", tests)
        return [*part, " THEN ", *what, " ELSE 0 END) * 100.0 / SUM(", *what, ")"]

    def _what(self, source: "_Source", of: Figure) -> Parts:
        """What a figure is of."""
        measure = self._model.measure(of.of, self._query.table) if of.of else None
        if measure is not None:
            columns = [source.column(name) for name in measure.times]
            if measure.less:
                columns.append(f"(1 - COALESCE({source.column(measure.less)}, 0))")
            return [" * ".join(columns)]
        if of.since:
            return [DayNumber(source.column(of.of)), " - ", DayNumber(source.column(of.since))]
        return [source.column(of.of) if of.of else "*"]

    def _column(self, source: "_Source", of: str | Span, *, inner: bool) -> Parts:
        if not isinstance(of, Span):
            return [source.column(of, inner=inner)]
        column = source.column(of.column, inner=inner)
        day = f"CAST({column} AS VARCHAR(40))"
        month = f"SUBSTR({day}, 6, 2)"
        match of.each:
            case "weekday":
                return _named(
                    [DayOfWeek(column)], map(str, range(len(WEEKDAY_NAMES))), WEEKDAY_NAMES
                )
            case "calendar_month":
                numbers = (f"'{number:02}'" for number in range(1, len(MONTH_NAMES) + 1))
                return _named([month], numbers, MONTH_NAMES)
            case "quarter":
                quarters = " ".join(
                    f"WHEN {month} IN ({', '.join(map(repr, months))}) THEN '-Q{number}'"
                    for number, months in enumerate(_QUARTERS, 1)
                )
                return [f"SUBSTR({day}, 1, 4) || CASE {quarters} END"]
            case each:
                return [f"SUBSTR({day}, 1, {_DIGITS[each]})"]

    def _placed(self, source: "_Source", by: str | Figure | Span) -> Parts:
        """What rows are in order by: the parts of a week and a year as they follow each other."""
        if not isinstance(by, Span) or by.each not in ("weekday", "calendar_month"):
            return self._shown(source, by)
        column = source.column(by.column)
        if by.each == "calendar_month":
            return [f"MIN(SUBSTR(CAST({column} AS VARCHAR(40)), 6, 2))"]
        return ["MIN((", DayOfWeek(column), " + 6) % 7)"]  # Monday first

    def _bound(self, value: Any, use: BindingUse = "value") -> Binding:
        name = f"v{len(self.values) + 1}"
        self.values[name] = value
        return Binding(name, use)


class _Source:
    """A table with what is joined to it, each way once."""

    def __init__(self, model: DataModel, table: str, alias: str) -> None:
        if table not in model.tables:
            raise KeyError(table)
        self._model, self._table, self._alias = model, table, alias
        self._joined: dict[tuple[str, ...], tuple[str, str]] = {(): (f"{alias}0", table)}
        self._inner: set[tuple[str, ...]] = set()

    def column(self, path: str, *, inner: bool = False) -> str:
        """The column that a path leads to; with `inner`, only rows that have what it leads to."""
        self._model.resolve(self._table, path)
        *steps, column = path.split(".")
        way = tuple(steps)
        for size in range(1, len(way) + 1):
            self._join(way[:size])
            if inner:
                self._inner.add(way[:size])
        return f"{self._joined[way][0]}.{_quoted(column)}"

    def _join(self, way: tuple[str, ...]) -> None:
        if way not in self._joined:
            link = self._model.link(self._joined[way[:-1]][1], way[-1])
            if link is None:
                raise KeyError(way[-1])
            self._joined[way] = f"{self._alias}{len(self._joined)}", link.table

    def joined(self) -> str:
        parts = [f"{_table(self._table)} AS {self._alias}0"]
        for way, (alias, table) in self._joined.items():
            if not way:
                continue
            before, owner = self._joined[way[:-1]]
            link = self._model.link(owner, way[-1])
            assert link is not None  # noqa: S101  it was joined by it
            keys = link.key or self._model.tables[table].key
            pairs = " AND ".join(
                f"{before}.{_quoted(mine)} = {alias}.{_quoted(theirs)}"
                for mine, theirs in zip(link.columns, keys, strict=True)
            )
            kind = "JOIN" if way in self._inner else "LEFT JOIN"
            parts.append(f"{kind} {_table(table)} AS {alias} ON {pairs}")
        return " ".join(parts)


class _Titles:
    """What columns of the answer are called: as people say, each once."""

    def __init__(self, model: DataModel, query: DataQuery) -> None:
        self._model, self._query = model, query
        self._given: dict[str, Any] = {}

    def of(self, one: str | Figure | Span) -> str:
        title = plain = self._title(one)
        number = 2
        while self._given.get(title, one) != one:
            title, number = f"{plain} {number}", number + 1
        self._given[title] = one
        return title.replace(" ", "_")

    def number_of(self, table: str) -> str:
        """What the number of rows of a table is called."""
        return f"number of {self._many(table)}".replace(" ", "_")

    def _title(self, one: str | Figure | Span) -> str:
        if isinstance(one, Span):
            return one.each.replace("calendar_", "")
        if isinstance(one, Figure):
            return self._title_of(one)
        table, column = self._model.resolve(self._query.table, one)
        own = self._model.tables[table]
        if column in own.name and "." in one:
            *_, step, _ = one.split(".")
            called = self._called_link(one) or step
            return called if len(own.name) == 1 else f"{called} {self._said(one)}"
        return self._said(one)

    def _title_of(self, one: Figure) -> str:
        """What a figure is called: number of tracks, average revenue per order."""
        plain = one.model_copy(update={"share": False, "where": (), "per": None, "since": ""})
        if one.running is not None:
            plain = one.model_copy(update={"running": None})
            return f"running {self._title_of(plain)}"
        if one.share:
            return f"percent of {self._title_of(plain).removeprefix('number of ')}"
        if one.per is not None:
            per = one.per.each if isinstance(one.per, Span) else self._singular(one.per)
            if one.operation == "count":
                return f"average {self._title_of(plain)} per {per}"
            return f"average {self._title_of(plain).removeprefix('average ')} per {per}"
        if one.since:
            return f"{one.operation} days from {self._said(one.since)} to {self._said(one.of)}"
        of = one.of
        if one.unit:
            plain = one.model_copy(update={"unit": ""})
            column = self._said(of)
            title = column if one.operation == "value" else self._title_of(plain)
            # What is called by its unit is called a length in another.
            return f"{title.replace(column, _LENGTH if column in _UNITS else column)} in {one.unit}"
        if one.operation == "count":
            return f"number of {self._plural(of) if of else self._many(self._query.table)}"
        if self._model.measure(of, self._query.table) is not None:
            return of if one.operation == "sum" else f"{one.operation} {of}"
        lead = {"sum": "total"}.get(one.operation, one.operation)
        if self._is_day(of):
            lead = {"highest": "last", "lowest": "first"}.get(one.operation, lead)
        return f"{lead} {self._said(of)}"

    def _is_day(self, path: str) -> bool:
        table, column = self._model.resolve(self._query.table, path)
        told = self._model.tables[table].columns.get(column)
        return told is not None and told.kind == "date"

    def _called_link(self, path: str) -> str:
        *steps, _ = path.split(".")
        table, called = self._query.table, ""
        for step in steps:
            link = self._model.link(table, step)
            if link is None:
                return ""
            table = link.table
            called = next(iter(link.called or self._model.tables[table].called), "")
        return called

    def _plural(self, path: str) -> str:
        table, column = self._model.resolve(self._query.table, path)
        own = self._model.tables[table]
        return self._many(table) if column in own.key else self._said(path)

    def _singular(self, path: str) -> str:
        """What one row is called that a key is of, or what else a column tells."""
        table, column = self._model.resolve(self._query.table, path)
        own = self._model.tables[table]
        return own.called[0] if column in own.key and own.called else self._said(path)

    def _many(self, table: str) -> str:
        """What the rows of a table are called."""
        if table not in self._model.tables:
            raise KeyError(table)
        called = next(iter(self._model.tables[table].called), table)
        *lead, noun = called.split(" ")
        many = max(inflections(noun), key=len)
        return " ".join((*lead, many))

    def _said(self, path: str) -> str:
        table, column = self._model.resolve(self._query.table, path)
        told = self._model.tables[table].columns.get(column)
        return told.called[0] if told is not None and told.called else column


def _add(parts: Parts, lead: str, tests: Sequence[Parts], joint: str = " AND ") -> None:
    for number, test in enumerate(tests):
        parts.append(joint if number else lead)
        parts += test


def _named(number: Parts, numbers: Iterable[str], names: Iterable[str]) -> Parts:
    """The name of a part of the calendar by its number."""
    cases = " ".join(f"WHEN {n} THEN '{name}'" for n, name in zip(numbers, names, strict=True))
    return ["CASE ", *number, f" {cases} END"]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _table(name: str) -> str:
    schema, _, table = name.rpartition(".")
    return f"{_quoted(schema)}.{_quoted(table)}" if schema else _quoted(table)
