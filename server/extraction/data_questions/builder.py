"""Temporary."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final
from server.extraction.data_questions.asked import *
from server.extraction.data_questions.columns import unit_of
from server.extraction.data_questions.joins import Joined, Need, join
from server.extraction.data_questions.meanings import Column, Value
from server.extraction.data_questions.words import Words
from server.library.data_model import DataMeasure, DataTable
from server.library.data_query import Comparison, DataQuery, Figure, Lacking, Order, Span, Test
from server.text.durations import Duration
from server.text.periods import SpokenPeriod

_SCALES: Final = {
    ("milliseconds", "seconds"): 1_000.0, ("milliseconds", "minutes"): 60_000.0,
    ("milliseconds", "hours"): 3_600_000.0, ("seconds", "minutes"): 60.0,
    ("seconds", "hours"): 3_600.0, ("minutes", "hours"): 60.0,
}  # fmt: skip
_FARTHEST_LACKING: Final = 3.5
"""So near is what is said not to be there, in the cost of joins."""
_BESIDE: Final = 2
"""So far a column stands from its number: 20 units in stock."""
_MOST_SHOWN: Final = 6
_LISTED: Final = 10
"""So many rows of the best ones, where a question says no number."""


def _settled(asked, tables, table):
    return replace(asked, rows=Need(table), done=()) if asked.done == tables else asked


class QueryBuilder:
    """Puts together what was read: which of several columns is meant, and where it all starts."""

    def __init__(self, request: DataRequest, words: Words) -> None:
        self._r, self._model, self._words = request, words.model, words
        self._needs: list[Need] = []
        self._told: dict[Value, Need] = {}
        self._span_tests: list[Test] = []
        self._roots: tuple[str, ...] = ()

    # Which of several is meant.

    def _add(self, need: Need) -> None:
        if need not in self._needs:
            self._needs.append(need)

    def _cost(self, extra: Sequence[Need]) -> float | None:
        needs = [*self._needs, *(n for n in extra if n not in self._needs)]
        preferred = self._r.target.table if self._r.target is not None else ""
        found = join(self._model, needs, self._roots, preferred)
        return found.cost if found is not None else None

    def _pick(self, columns: Sequence[Column]) -> Column:
        target = self._r.target.table if self._r.target is not None else ""
        ranked: list[tuple[float, int, Column]] = []
        for order, column in enumerate(columns):
            cost = self._cost([self._need_of(column.table)])
            if cost is None:
                continue
            own = -0.5 if column.table == target else 0.0
            ranked.append((cost + 0.3 * min(column.rank, 5) + own, order, column))
        if not ranked:
            raise Unclear("no way leads to " + ", ".join(c.column for c in columns[:1]))
        best = min(ranked)[2]
        self._add(self._need_of(best.table))
        return best

    def _need_of(self, table: str) -> Need:
        """A table as it is needed already, or as itself."""
        plain = Need(table)
        if plain in self._needs:
            return plain
        return next((n for n in self._needs if n.table == table and n.step), plain)

    def _pick_value(self, named: Named) -> Value:
        ranked: list[tuple[float, int, Value]] = []
        target = self._r.target
        for order, value in enumerate(named.values):
            need = named.need or self._value_need(value)
            cost = self._cost([need])
            if cost is None:
                continue
            own = -0.5 if target is not None and value.table == target.table else 0.0
            table = self._model.tables[value.table]
            full = value.columns == tuple(table.name)
            told = table.columns.get(value.columns[0])
            free = not full and told is not None and told.kind != "category"
            ranked.append((cost + own - 0.2 * full + 2.5 * free, order, value))
        if not ranked:
            raise Unclear("no way leads to " + named.values[0].values[0])
        best = min(ranked)
        parts = {v.values for _, _, v in ranked if v.part}
        if best[2].part and len(parts) > 1:
            raise Unclear("several are called " + best[2].values[-1])
        if named.need is not None:
            self._told[best[2]] = named.need
        self._add(self._value_need(best[2]))
        return best[2]

    def _value_need(self, value: Value) -> Need:
        if value in self._told:
            return self._told[value]
        target = self._r.target
        if target is not None and target.step and target.table == value.table:
            return Need(value.table) if target.owner == value.table else target
        return self._need_of(value.table)

    # The query.

    def query(self) -> DataQuery:
        r = self._r
        self._settle_target()
        for need in (r.target, r.counted, *(n for n in r.also)):
            if need is not None:
                self._add(need)
        self._settle_facts()
        measures = self._measures()
        for group in r.groups:
            if isinstance(group, Need):
                self._add(group)
        for asked in self._all_asked():
            if asked.rows is not None:
                self._add(asked.rows)
        nothing = r.target is None and r.counted is None and not r.figures and not measures
        if nothing and not r.groups and not (r.when and r.end_of_days):
            self._target_from_values()
        elif not self._needs and not measures and not any(a.columns for a in self._all_asked()):
            self._target_from_values()
        best: tuple[float, DataQuery] | None = None
        if measures:
            why = ""
            for pair in measures:
                trial = QueryBuilder(r, self._words)
                trial._needs, trial._roots = list(self._needs), (pair[0].table,)
                trial._chosen = dict(pair[1])
                try:
                    built, joined = trial._built()
                except Unclear as unclear:
                    why = str(unclear)
                    continue
                if best is None or joined.cost < best[0]:
                    best = joined.cost, built
            if best is None:
                raise Unclear(why or "no table has all of it")
            return best[1]
        return self._built()[0]

    _chosen: dict[str, DataMeasure] = {}

    def _all_asked(self) -> Iterator[Asked]:
        r = self._r
        yield from r.figures
        for asked, _, _ in r.having:
            yield asked
        for what, _ in r.order:
            if isinstance(what, Asked):
                yield what

    def _measures(self) -> list[tuple[DataMeasure, dict[str, DataMeasure]]]:
        """The measures that fit what is asked, by kind, at each table that has them all."""
        kinds = {a.measure for a in self._all_asked() if a.measure}
        if not kinds:
            return []
        found = []
        for table in self._model.tables:
            own = {m.kind == "money": m for m in reversed(self._model.measures) if m.table == table}
            chosen: dict[str, DataMeasure] = {}
            for kind in kinds:
                measure = own.get(kind == "money")
                if measure is None and kind == "units":
                    measure = (
                        own.get(True)
                        if kinds == {"units"}
                        and not any(m.kind != "money" for m in self._model.measures)
                        else None
                    )
                if measure is not None:
                    chosen[kind] = measure
            if len(chosen) == len(kinds):
                found.append((next(iter(chosen.values())), chosen))
        if not found:
            raise Unclear("nothing is added up here")
        return found

    def _settle_target(self) -> None:
        r = self._r
        if r.when and r.end_of_days and not (r.facts or r.also or r.target):
            raise Unclear("when")
        if r.when and r.end_of_days and r.target is not None:
            r.also.append(r.target)
            r.target = None
            return
        sums = r.shown and all(self._amounts(s) for s in r.shown)
        if r.groups and sums and not (r.figures or r.target or r.counted or r.order):
            r.figures += [Asked("sum", columns=self._amounts(s)) for s in r.shown]
            r.shown.clear()
        asks_rows = not (r.figures or r.order or r.having or r.shown)
        if r.target is not None and asks_rows and (r.groups or self._is_compared()):
            r.counted, r.target = r.target, None
            return
        bound = r.having or r.order
        if r.target is None and r.shown and (bound or r.counted is not None and r.having):
            first = r.shown.pop(0)
            r.groups.insert(0, first)
            if not r.figures:
                return
        if r.target is not None or r.counted is not None or r.figures:
            return
        if self._is_compared() and r.facts:
            r.figures.append(Asked("sum", "units"))
            return
        if r.facts and not r.who and not r.when and not r.shown and not r.numbered:
            r.target = self._object()
            r.plural = not r.order
            return
        if r.numbered is not None and not r.shown and r.named == [] and self._is_held():
            r.target = self._object()
            r.plural = True
            return
        if r.who:
            r.target = self._people()
            r.plural = not r.order

    def _amounts(self, columns: Sequence[Column]) -> tuple[Column, ...]:
        return tuple(c for c in columns if self._words.kind(c) == "money")

    def _is_compared(self) -> bool:
        return self._r.compares and len(self._r.named) > 1

    def _is_held(self) -> bool:
        """Whether what is on or in something is asked for: what's on order 10500."""
        said = [i.said.lower() for i in self._words.items]
        return any(w in ("on", "in", "items", "inside") for w in said)

    def _object(self, holders: Sequence[str] = ()) -> Need:
        """What was bought or rented: the nearest thing with a name that is no person."""
        r = self._r
        facts = [*(t for tables in r.facts for t in tables)]
        held = {r.numbered.table} if r.numbered is not None else {*holders}
        facts += [
            name for name, table in self._model.tables.items()
            if any(link.table in held for link in table.links)
        ]  # fmt: skip
        named = {v.table for n in r.named for v in n.values}
        ranked = []
        for order, fact in enumerate(facts):
            table = self._model.tables[fact]
            is_line = not table.date
            for name, ways in self._model.reachable[fact].items():
                other = self._model.tables[name]
                if (
                    name in (fact, *holders)
                    or not other.name
                    or other.people
                    or other.pays
                    or name in named
                ):
                    continue
                ranked.append((len(ways[0]) - 1.5 * is_line, order, name))
        if not ranked:
            raise Unclear("nothing says what is asked for")
        return Need(min(ranked)[2])

    def _people(self) -> Need | None:
        """Who it is: people that are near to what was done, or to what else is named."""
        r = self._r
        candidates = [n for n, t in self._model.tables.items() if t.people]
        dates = {c.table for d in r.days for c in d.columns} | {c.table for s in r.shown for c in s}
        for table in candidates:
            if table in dates:
                return Need(table)
        needs = [Need(f[0]) for f in r.facts] or [Need(v.values[0].table) for v in r.named]
        ranked = []
        for order, table in enumerate(candidates):
            found = join(self._model, [*needs, Need(table)])
            if found is not None:
                pays = self._model.tables[table].pays
                ranked.append((found.cost - 1.5 * (pays and bool(r.facts)), order, table))
        if not ranked:
            raise Unclear("who")
        return Need(min(ranked)[2])

    def _settle_facts(self) -> None:
        """The tables that verbs name, one of several each."""
        for tables in self._r.facts:
            ranked = []
            for order, table in enumerate(tables):
                cost = self._cost([Need(table)])
                if cost is not None:
                    ranked.append((cost, order, table))
            if not ranked:
                raise Unclear("no way leads to " + tables[0])
            table = min(ranked)[2]
            self._add(Need(table))
            r = self._r
            r.figures[:] = [_settled(a, tables, table) for a in r.figures]
            r.order[:] = [
                Ordered(_settled(w, tables, table) if isinstance(w, Asked) else w, d)
                for w, d in r.order
            ]

    def _target_from_values(self) -> None:
        """Of what a name or a column tells: the price of X, the shortest comedy."""
        r = self._r
        for what, _ in r.order:
            if isinstance(what, Ends) and what.columns:
                r.target = Need(what.columns[0].table)
                self._add(r.target)
                return
        if r.numbered is not None:
            r.target = r.numbered
            self._add(r.target)
            return
        if r.when and r.facts:
            return
        shown = {c.table for columns in r.shown for c in columns}
        if r.shown or r.order:
            self._named_target(shown)
            return
        if self._is_held():
            holders = [v.table for named in r.named for v in named.values]
            r.target = self._object(holders)
            r.plural = True
            self._add(r.target)
            return
        for named in r.named:
            for value in named.values:
                thing = self._thing_of(value)
                if thing is not None:
                    r.target, r.plural = thing, True
                    self._add(thing)
                    return
        said = [i for i in self._words.items if i.role == "value"]
        rest = [
            i
            for i in self._words.items
            if i.role != "value" and not i.is_filler and not i.meanings.nouns
        ]
        if len(said) != 1 or rest:
            raise Unclear("nothing says what is asked for")
        self._named_target(shown)

    def _thing_of(self, value: Value) -> Need | None:
        """What is of such a kind: the films, of a category."""
        model, table = self._model, self._model.tables[value.table]
        told = table.columns.get(value.columns[0])
        is_kind = (
            told is not None and told.kind == "category" and tuple(table.name) != value.columns
        )
        if is_kind:
            return Need(value.table)
        if table.links or table.people or not table.name:
            return None
        ranked = []
        for order, (name, other) in enumerate(model.tables.items()):
            ways = model.reachable[name].get(value.table, ())
            if name == value.table or not other.name or other.people or not ways:
                continue
            ranked.append((len(ways[0]), order, name))
        return Need(min(ranked)[2]) if ranked and min(ranked)[0] <= 2 else None  # noqa: PLR2004

    def _named_target(self, shown: set[str]) -> None:
        r = self._r
        for named in r.named:
            own = [v for v in named.values if v.columns == tuple(self._model.tables[v.table].name)]
            best = [v for v in own if v.table in shown] or own
            if best:
                r.target = Need(best[0].table)
                self._add(r.target)
                return
        raise Unclear("nothing says what is asked for")

    def _built(self) -> tuple[DataQuery, Joined]:
        r = self._r
        conditions: list[tuple[Column, Comparison, Any]] = []
        figures: list[tuple[Asked, Column | None]] = []
        groups: list[Need | Column | Each] = []
        for group in r.groups:
            groups.append(group if isinstance(group, Need | str) else self._pick(group))
        for asked in r.figures:
            figures.append((asked, self._pick(asked.columns) if asked.columns else None))
        shown = [self._pick(columns) for columns in r.shown if columns]
        named = self._values()
        for condition in r.conditions:
            column, comparison, value = self._condition(condition)
            conditions.append((column, comparison, value))
        for mine, _, _ in r.against:
            self._pick((mine,))
        for comparison, value in r.bounds:
            conditions += self._bare(comparison, value, is_money=True)
        order = [(self._order_of(what), down) for what, down in r.order]
        joined = self._join()
        order = [(self._summed(what, joined), down) for what, down in order]
        for text in r.contained:
            conditions.append((self._text_column(), "contains", text))
        joined = self._join()
        days = [(self._day_column(each, joined), each.period) for each in r.days]
        for column, _ in days:
            self._add(self._need_of(column.table))
        joined = self._join()
        tests: list[Test] = []
        for value, others, negated in named:
            tests += self._value_tests(joined, value, others, negated=negated)
        for column, comparison, what in conditions:
            path = joined.path(self._need_of(column.table), column.column)
            tests.append(Test(of=path, comparison=comparison, value=what))
        for mine, theirs, comparison in r.against:
            need = self._need_of(mine.table)
            path, than = joined.path(need, mine.column), joined.path(need, theirs.column)
            tests.append(Test(of=path, comparison=comparison, than=than))
        for column, period in days:
            tests += self._day_tests(
                joined.path(self._need_of(column.table), column.column), column, period
            )
        lacking = tuple(self._lacking(each, joined) for each in r.absent)
        query = self._composed(joined, groups, figures, shown, order, tests, lacking, named)
        return query, joined

    def _join(self) -> Joined:
        preferred = self._r.target or self._r.counted
        found = join(
            self._model, self._needs, self._roots, preferred.table if preferred is not None else ""
        )
        if found is None:
            raise Unclear("no table has all of it")
        return found

    def _values(self) -> list[tuple[Value, tuple[Value, ...], bool]]:
        """Each value that is named; values of one column that stand together are alternatives."""
        found: list[tuple[Value, list[Value], bool]] = []
        for named in self._r.named:
            value = self._pick_value(named)
            same = next(
                (f for f in found if (f[0].table, f[0].columns) == (value.table, value.columns)
                 and f[2] == named.negated),
                None,
            )  # fmt: skip
            if same is not None:
                same[1].append(value)
            else:
                found.append((value, [], named.negated))
        return [(value, tuple(others), negated) for value, others, negated in found]

    def _value_tests(
        self, joined: Joined, value: Value, others: Sequence[Value], *, negated: bool
    ) -> list[Test]:
        need = self._value_need(value)
        if len(value.columns) == 1 or not others:
            pairs = zip(value.columns, value.values, strict=True)
            if others and (value.table, value.columns[0]) in self._words.lists:
                path = joined.path(need, value.columns[0])
                texts = [v.values[0] for v in (value, *others)]
                return [Test(of=path, comparison="contains", value=text) for text in texts]
            if others:
                texts = [value.values[0], *(o.values[0] for o in others)]
                path = joined.path(need, value.columns[0])
                return [Test(of=path, comparison="in", value=texts)]
            comparison: Comparison = "not" if negated else "is"
            if (value.table, value.columns[0]) in self._words.lists and not negated:
                comparison = "contains"
            if value.part:
                pairs = [(value.columns[-1], value.values[-1])]  # type: ignore[assignment]
            return [
                Test(of=joined.path(need, column), comparison=comparison, value=text)
                for column, text in pairs
            ]
        raise Unclear("several names")

    def _condition(self, condition: Condition) -> tuple[Column, Comparison, Any]:
        column = self._pick(condition.columns)
        told = self._model.tables[column.table].columns[column.column]
        value = condition.value
        if told.kind == "date" and isinstance(value, int | float) and not isinstance(value, bool):
            raise Unclear("an age")
        if isinstance(value, Duration):
            counted = value.count_in(told.unit.rstrip("s")) if told.unit != "milliseconds" else None
            if told.unit == "milliseconds":
                seconds = value.count_in("second")
                counted = seconds * 1000 if seconds is not None else None
            if counted is None:
                raise Unclear("unit")
            value = int(counted) if counted == int(counted) else float(counted)
        elif told.kind == "flag" and condition.comparison == "is":
            value = told.yes if value else told.no
        elif value is not None and not isinstance(value, bool | int | float | str):
            value = float(value)
        return column, condition.comparison, value

    def _bare(
        self, comparison: Comparison, value: Any, *, is_money: bool
    ) -> list[tuple[Column, Comparison, Any]]:
        """A bound without a name: of the one amount that the rows have."""
        r = self._r
        target = r.target or r.counted
        if target is None:
            raise Unclear("nothing says what is compared")
        table = self._model.tables[target.table]
        amounts = [c for c, t in table.columns.items() if t.kind == "money"]
        told = {c: {*table.columns[c].called} for c in amounts}
        prices = [c for c in amounts if told[c] & {"price", "unit price"}] or [
            c for c in amounts if told[c] & {"total", "amount", "value"}
        ]
        amounts = prices or amounts
        if len(amounts) != 1:
            raise Unclear("nothing says what is compared")
        number = value if isinstance(value, int | float) else float(value)
        return [(Column(target.table, amounts[0]), comparison, number)]

    def _order_of(
        self, what: Asked | tuple[Column, ...]
    ) -> tuple[Asked | None, Column | None, bool]:
        """What rows are in order by, and whether the degree turns it round."""
        if isinstance(what, Asked):
            return what, (self._pick(what.columns) if what.columns else None), False
        if isinstance(what, Ends):
            column = self._pick(what.columns)
            degree = next(d for d in what.degrees if column in d.columns)
            is_date = self._model.tables[column.table].columns[column.column].kind == "date"
            del is_date
            return None, column, degree.end == "least"
        return None, self._pick(what), False

    def _summed(
        self, what: tuple[Asked | None, Column | None, bool], joined: Joined
    ) -> tuple[Asked | None, Column | None, bool]:
        """The sum of an amount of which what is in order has several."""
        asked, column, turned = what
        target = self._r.target
        if asked is not None or column is None or target is None:
            return what
        if self._depends(target, column, joined):
            return what
        if self._words.kind(column) not in ("money", "number"):
            raise Unclear(f"there may be several {column.column}")
        return Asked("sum", columns=(column,)), column, turned

    def _text_column(self) -> Column:
        target = self._r.target or self._r.counted
        if target is None:
            raise Unclear("text")
        name = self._model.tables[target.table].name
        if len(name) != 1:
            raise Unclear("text")
        return Column(target.table, name[0])

    def _day_column(self, days: Days, joined: Joined) -> Column:
        if days.columns:
            return self._pick(days.columns)
        model = self._model
        own = model.tables[joined.root]
        if own.date and not (own.people and not self._r.when):
            return Column(joined.root, own.date)
        ways = sorted(
            (len(way), table)
            for table, found in model.reachable[joined.root].items()
            for way in found[:1]
            if model.tables[table].date and not model.tables[table].people and way
        )
        if not ways:
            raise Unclear("nothing has such a day")
        return Column(ways[0][1], model.tables[ways[0][1]].date)

    def _day_tests(self, path: str, column: Column, period: SpokenPeriod) -> Iterator[Test]:
        told = self._model.tables[column.table].columns[column.column]
        if told.kind == "number":  # a year
            if period.start is not None:
                yield Test(of=path, comparison="least", value=period.start.year)
            if period.end is not None:
                yield Test(of=path, comparison="most", value=period.end.year)
            return
        if period.start is not None:
            yield Test(of=path, comparison="from", value=period.start.isoformat())
        if period.end is not None:
            until = period.end + timedelta(days=1)
            yield Test(of=path, comparison="until", value=until.isoformat())

    def _lacking(self, absent: Absent, joined: Joined) -> Lacking:
        """Rows of another table that belong to what is asked for, and are not there."""
        r = self._r
        target = r.target or r.counted
        if target is None:
            raise Unclear("nothing says what has none")
        ranked = []
        tables = absent.tables or tuple(
            name for name, t in self._model.tables.items()
            if t.date and name != target.table and target.table in self._model.reachable[name]
        )  # fmt: skip
        tables = tables or tuple(
            name for name, t in self._model.tables.items()
            if any(link.table == target.table for link in t.links) and name != target.table
        )  # fmt: skip
        if not tables:
            raise Unclear("nothing says what was not done")
        for order, table in enumerate(tables):
            inside = join(
                self._model,
                [Need(target.table), Need(table), *(Need(n.values[0].table) for n in absent.named)],
                [name for name in self._model.tables if name != target.table],
            )
            far = inside is None or (inside.cost > _FARTHEST_LACKING and not absent.named)
            if inside is not None and not far and Need(target.table) in inside.ways:
                ranked.append((inside.cost, order, table, inside))
        if not ranked:
            raise Unclear("no way leads to " + tables[0])
        inside = min(ranked, key=lambda one: one[:2])[3]
        if inside.root == target.table:
            raise Unclear("each has one")
        tests: list[Test] = []
        for named in absent.named:
            value = named.values[0]
            for column, text in zip(value.columns, value.values, strict=True):
                path = inside.path(Need(value.table), column)
                tests.append(Test(of=path, comparison="is", value=text))
        for days in absent.days:
            date = self._day_column(days, inside)
            way = next((w for w in self._model.reachable[inside.root][date.table]), None)
            if way is None:
                raise Unclear("day")
            tests += self._day_tests(".".join((*way, date.column)), date, days.period)
        return Lacking(
            table=inside.root,
            up=inside.ways[Need(target.table)],
            own=joined.ways[self._need_of(target.table)],
            tests=tuple(tests),
        )

    def _figure(self, asked: Asked, column: Column | None, joined: Joined) -> Figure:
        if asked.measure:
            return Figure(operation=asked.operation, of=self._chosen[asked.measure].name)
        if column is not None:
            path = joined.path(self._need_of(column.table), column.column)
            if asked.operation in ("sum", "average") and not self._is_once(path, joined):
                raise Unclear("rows would be counted twice")
            scale = _SCALES.get((unit_of(self._model, column), self._r.unit), 1.0)
            return Figure(operation=asked.operation, of=path, distinct=asked.distinct, scale=scale)
        assert asked.rows is not None  # noqa: S101  it is one of the three
        table = self._model.tables[asked.rows.table]
        if (
            asked.rows.table == joined.root
            and not joined.ways.get(asked.rows)
            and not joined.multiplies
        ):
            return Figure(operation="count")
        if len(table.key) != 1:
            raise Unclear("count")
        path = joined.path(self._need_of(asked.rows.table), table.key[0])
        return Figure(operation="count", of=path, distinct=True)

    def _is_once(self, path: str, joined: Joined) -> bool:
        """Whether a column stands there once for each row of what is added up.

        Of what a table joins two by two, it is once for each pair: films, by category.
        """
        *steps, _ = path.split(".")
        against = {step for way in joined.ways.values() for step in way if step.startswith("<")}
        if not steps:
            return len(against) <= 1
        if joined.root in self._model.bridges:
            return len(steps) == 1 and not against
        return len(steps) == 2 and against == {steps[0]}  # noqa: PLR2004  to the pair, and on

    def _composed(
        self,
        joined: Joined,
        groups: Sequence[Need | Column | Each],
        figures: Sequence[tuple[Asked, Column | None]],
        shown: Sequence[Column],
        order: Sequence[tuple[tuple[Asked | None, Column | None, bool], bool]],
        tests: list[Test],
        lacking: tuple[Lacking, ...],
        named: Sequence[tuple[Value, tuple[Value, ...], bool]],
    ) -> DataQuery:
        r = self._r
        select: list[str | Figure | Span] = []
        by: list[str | Span] = []
        having: list[Test] = []
        for asked, comparison, value in r.having:
            column = self._pick(asked.columns) if asked.columns else None
            figure = self._figure(asked, column, joined)
            number = value if isinstance(value, int | float) else float(value)
            having.append(Test(of=figure, comparison=comparison, value=number))
        if r.compares or self._compared_values(named):
            for value, others, _ in named:
                if others:
                    need = self._value_need(value)
                    for column in value.columns:
                        by.append(joined.path(need, column))
                        select.append(joined.path(need, column))
        for group in groups:
            paths = self._group_paths(group, joined)
            by += paths
            select += [
                p for p in paths if not (isinstance(p, str) and self._is_key(joined.root, p))
            ]
        wanted: list[Figure] = []
        if r.counted is not None:
            wanted.append(self._figure(Asked("count", rows=r.counted, distinct=True), None, joined))
        wanted += [self._figure(asked, column, joined) for asked, column in figures]
        if r.when and r.end_of_days:
            column = self._day_column(Days(None), joined)  # type: ignore[arg-type]
            self._add(self._need_of(column.table))
            path = self._join().path(self._need_of(column.table), column.column)
            wanted.append(Figure(operation=r.end_of_days, of=path))  # type: ignore[arg-type]
        orders: list[Order] = []
        limit = r.limit
        for (asked, column, turned), down in order:
            if asked is not None:
                figure = self._figure(asked, column, joined)
                orders.append(Order(by=figure, descending=down))
                if figure not in wanted:
                    wanted.append(figure)
            elif column is not None:
                path = joined.path(self._need_of(column.table), column.column)
                orders.append(Order(by=path, descending=down is not turned))
                tests.append(Test(of=path, comparison="given", value=True))
        target = r.target
        is_list = target is not None and r.counted is None
        if is_list and target is not None:
            own = self._target_paths(target, shown, order, joined)
            columns = [p for p in own if p not in select]
            select += columns
            direct = (
                not joined.multiplies
                and not joined.ways[target]
                and not wanted
                and not having
                and not by
            )
            if not direct:
                keys = [joined.path(target, key) for key in self._model.tables[target.table].key]
                by = [*by, *keys, *(c for c in columns if isinstance(c, str))]
        elif shown:
            raise Unclear("a column beside a figure")
        select += [figure for figure in wanted if figure not in select]
        for test in having:
            if isinstance(test.of, Figure) and test.of not in select:
                select.append(test.of)
        if by and having and not is_list and not wanted and isinstance(having[0].of, Figure):
            wanted.append(having[0].of)
            select.append(having[0].of)
        if (by or having) and not is_list and not wanted:
            raise Unclear("a group without a figure")
        for one in orders:
            if by and isinstance(one.by, str) and one.by not in by:
                by.append(one.by)
        if having and not by:
            raise Unclear("a bound without a group")
        if r.top and not orders:
            if not wanted and self._chosen and is_list:
                wanted.append(Figure(operation="sum", of=next(iter(self._chosen.values())).name))
            if not wanted:
                raise Unclear("nothing says what is best")
            orders.append(Order(by=wanted[0], descending=r.top_down))
        if orders and limit is None and r.order and is_list and not r.direction:
            limit = _LISTED if r.plural else 1
            if by and not self._is_superlative():
                limit = None
        if (
            orders
            and limit is None
            and r.order
            and groups
            and not is_list
            and self._is_superlative()
        ):
            limit = 1
        if not orders:
            orders = self._usual_order(wanted, by, target, joined, is_list=is_list)
        if r.when and not wanted and not shown and is_list:
            raise Unclear("when")
        if not select:
            raise Unclear("nothing says what is asked for")
        return DataQuery(
            table=joined.root,
            select=tuple(dict.fromkeys(select)),
            tests=(*tests, *self._span_tests, *having),
            lacking=lacking,
            group=tuple(dict.fromkeys(by)),
            order=tuple(orders),
            limit=limit,
        )

    def _compared_values(self, named: Sequence[tuple[Value, tuple[Value, ...], bool]]) -> bool:
        return False

    def _all_measured(self) -> bool:
        return any(a.measure or a.rows for a in self._all_asked())

    def _is_superlative(self) -> bool:
        """Whether an end was said, and not only an order: most, best selling."""
        return any(
            i.has("most", "least", "selling", "tops") or i.meanings.degrees
            for i in self._words.items
            if i.role == "operator"
        )

    def _is_key(self, root: str, path: str) -> bool:
        table, column = self._model.resolve(root, path)
        own = self._model.tables[table]
        return column in own.key and column not in own.name and bool(own.name)

    def _group_paths(self, group: Need | Column | Each, joined: Joined) -> list[str | Span]:
        if isinstance(group, str):
            column = self._day_column(Days(None), joined)  # type: ignore[arg-type]
            self._add(self._need_of(column.table))
            found = self._join()
            if found.root != joined.root:
                raise Unclear("day")
            path = found.path(self._need_of(column.table), column.column)
            span = Span(column=path, each=group)
            if self._r.spans:
                self._span_tests.append(Test(of=span, comparison="in", value=list(self._r.spans)))
            return [span]
        if isinstance(group, Need):
            table = self._model.tables[group.table]
            return [joined.path(group, c) for c in (*table.key, *table.name)]
        return [joined.path(self._need_of(group.table), group.column)]

    def _target_paths(
        self,
        target: Need,
        shown: Sequence[Column],
        order: Sequence[tuple[tuple[Asked | None, Column | None, bool], bool]],
        joined: Joined,
    ) -> list[str | Figure | Span]:
        table = self._model.tables[target.table]
        names = [joined.path(target, c) for c in table.name]
        asked = []
        for c in shown:
            if self._depends(target, c, joined):
                asked.append(joined.path(self._need_of(c.table), c.column))
            elif not self._all_measured():
                raise Unclear(f"there may be several {c.column}")
        ends = [
            joined.path(self._need_of(c.table), c.column)
            for (asked_for, c, _), _ in order
            if c is not None and asked_for is None
        ]
        for need in self._r.shown_names:
            way = joined.ways[target]
            told = self._model.tables[need.table]
            if joined.ways[need][: len(way)] != way:
                raise Unclear(f"there may be several {need.table}")
            asked += [joined.path(need, column) for column in told.name or told.key]
        if names:
            return list(dict.fromkeys([*names, *asked, *ends]))
        own = [joined.path(target, c) for c in table.key]
        if asked:
            return list(dict.fromkeys([*own, *asked, *ends]))
        return list(dict.fromkeys([*own, *self._details(target, table, joined), *ends]))

    def _depends(self, target: Need, column: Column, joined: Joined) -> bool:
        """Whether there is one such value for each of what is asked for."""
        way = joined.ways[target]
        return joined.ways[self._need_of(column.table)][: len(way)] == way

    def _details(self, target: Need, table: DataTable, joined: Joined) -> list[str]:
        """What tells rows without names apart: days, amounts, and the names of what they are of."""
        way = joined.ways[target]
        found = [
            ".".join((*way, name))
            for name, told in table.columns.items()
            if told.kind in ("date", "money", "number", "category", "flag")
        ]
        for link in table.links:
            other = self._model.tables.get(link.table)
            if other is not None and other.name and len(link.columns) == 1:
                found += [".".join((*way, link.columns[0], name)) for name in other.name]
        return found[: _MOST_SHOWN + 2]

    def _usual_order(
        self,
        wanted: Sequence[Figure],
        by: Sequence[str | Span],
        target: Need | None,
        joined: Joined,
        *,
        is_list: bool,
    ) -> list[Order]:
        r = self._r
        spans = [one for one in by if isinstance(one, Span)]
        if spans and r.direction != "desc":
            return [Order(by=spans[0])]
        if wanted and by:
            return [Order(by=wanted[0], descending=r.direction != "asc")]
        if is_list and target is not None:
            table = self._model.tables[target.table]
            if r.direction and table.date:
                path = joined.path(target, table.date)
                return (
                    []
                    if by and path not in by
                    else [Order(by=path, descending=r.direction == "desc")]
                )
            if table.name and (r.alphabetical or not r.direction):
                return [Order(by=joined.path(target, c)) for c in table.name]
            if table.key:
                return [Order(by=joined.path(target, c)) for c in table.key]
        return []
