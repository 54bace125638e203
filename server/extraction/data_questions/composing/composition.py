"""The parts of a query, one after the other: groups, figures, what is listed, order and limit."""

from collections.abc import Sequence
from typing import Final

from server.extraction.data_questions.asked import Absent, Asked, DataRequest, Each, Unclear
from server.extraction.data_questions.columns import kind_of
from server.extraction.data_questions.composing.choice import Choice
from server.extraction.data_questions.composing.day_columns import day_path
from server.extraction.data_questions.composing.figures import figure, in_unit
from server.extraction.data_questions.composing.filters import (
    all_are_meant,
    day_tests_of,
    row_tests,
)
from server.extraction.data_questions.composing.lacking import (
    lacking,
    lacking_value,
    not_called,
    there_is,
)
from server.extraction.data_questions.composing.listing import listed_paths
from server.extraction.data_questions.composing.meant import FigureOf, Meant, OrderBy, number_of
from server.extraction.data_questions.joins import Need
from server.extraction.data_questions.meanings import Column, Columns
from server.extraction.data_questions.words import Words
from server.library.data_query import DataQuery, Figure, Lacking, Order, Span, Test

_WIDEST: Final = ("year", "quarter", "month", "day", "weekday", "calendar_month")
_LISTED: Final = 10
"""So many rows of the best ones, where a question says no number."""


def _is_part(request: DataRequest) -> bool:
    """Whether names and conditions tell the part of which the share of all is asked for."""
    return request.share and not request.groups


class Composition:
    """Composes one query of what is meant."""

    def __init__(self, words: Words, request: DataRequest, choice: Choice, meant: Meant) -> None:
        self._words, self._request, self._choice, self._meant = words, request, choice, meant
        self._joined = meant.joined
        self._listed = request.target if request.counted is None else None
        self._select: list[str | Figure | Span] = []
        self._by: list[str | Span] = []
        self._figures: list[Figure] = []
        self._orders: list[Order] = []
        self._has_both_ends = False
        tests = list(row_tests(words, request, choice, meant))
        part = _is_part(request)
        self._tests = [*day_tests_of(choice, meant), *([] if part else tests)]
        self._where = tuple(tests) if part else ()
        """What is true of the part of which the share is told."""
        self._lacking = [self._lacking_of(absent) for absent in request.absent]
        for named in meant.named:
            if named.negated and len(named.value.columns) > 1:
                self._lacking += [not_called(choice, meant.joined, value) for value in named.all]
            if all_are_meant(choice, meant.joined, named):
                self._lacking += [
                    there_is(choice, request, meant.joined, other) for other in named.others
                ]
        self._having: list[Test] = []
        self._span_tests: list[Test] = []

    def query(self) -> DataQuery:
        """The query; Unclear where the parts do not fit together."""
        self._add_having()
        if self._counts_groups():
            return self._number_of_groups()
        self._add_compared()
        for group in self._meant.groups:
            self._add_group(group)
        self._add_figures()
        for one in self._meant.order:
            self._add_order(one)
        if self._listed is not None:
            self._add_listed(self._listed)
        elif self._meant.shown:
            raise Unclear("a column beside a figure")
        if self._request.share:
            if not self._figures:
                raise Unclear("a share of what")
            self._figures = [self._in_percent(one) for one in self._figures]
        if self._request.running:
            self._figures = [self._running(one) for one in self._figures]
        self._select += [*self._figures, *self._bound_figures()]
        self._check_groups()
        self._check_averages()
        self._add_top()
        limit = self._limit()
        each = self._first_of_each()
        if each:
            limit = self._request.limit or 1
            self._by = self._by if self._figures else []
        if limit is not None and self._listed is None and not self._by:
            raise Unclear("the best of what")
        orders = self._orders or self._sorted() or self._usual_order()
        is_when = self._request.when and not self._figures and not self._meant.shown
        if is_when and self._listed is not None:
            raise Unclear("when")
        if self._request.when and self._listed is None and not self._request.end_of_days:
            raise Unclear("when")
        if not self._select:
            raise Unclear("nothing says what is asked for")
        return DataQuery(
            table=self._joined.root,
            select=tuple(dict.fromkeys(self._select)),
            tests=(*self._tests, *self._span_tests, *self._having),
            lacking=tuple(self._lacking),
            group=tuple(dict.fromkeys(self._by)),
            order=tuple(orders),
            limit=limit,
            ties=bool(each) or (limit in (1, _LISTED) and self._request.limit is None),
            each=each,
        )

    def _counts_groups(self) -> bool:
        """Whether it is asked how many there are of what a bound is said of."""
        request = self._request
        others = request.groups or request.figures or request.shown or request.order
        counts = request.counted is not None and bool(self._having)
        return counts and not (others or request.compares or request.share)

    def _number_of_groups(self) -> DataQuery:
        counted = self._request.counted
        assert counted is not None  # noqa: S101  _counts_groups
        keys = [
            self._joined.path(counted, key) for key in self._choice.model.tables[counted.table].key
        ]
        return DataQuery(
            table=self._joined.root,
            select=tuple(keys),
            tests=(*self._tests, *self._having),
            lacking=tuple(self._lacking),
            group=tuple(keys),
            counted=counted.table,
        )

    def _lacking_of(self, absent: Absent) -> Lacking:
        """What is not there, of the rows that are asked for or of the value that is listed."""
        choice, joined = self._choice, self._meant.joined
        if absent.same:
            return lacking_value(choice, joined, absent, self._own(absent.same))
        group = next(iter(self._meant.groups), None)
        if self._request.listed and isinstance(group, Column):
            return lacking_value(choice, joined, absent, group)
        return lacking(choice, self._request, joined, absent)

    def _own(self, columns: Columns) -> Column:
        """The column of what is asked for."""
        subject = self._request.subject
        own = [c for c in columns if subject is not None and c.table == subject.table]
        if not own:
            raise Unclear("which of them has the same")
        return own[0]

    def _figure(self, what: FigureOf) -> Figure:
        return figure(self._choice, self._request, self._joined, what)

    def _in_percent(self, one: Figure) -> Figure:
        """A figure in percent of that of all, or of all groups."""
        counted = one.operation == "count" and not (one.of or one.distinct)
        if one.per is not None or not (one.operation == "sum" or counted):
            raise Unclear("a share of what")
        if not self._where and not self._by:
            raise Unclear("a share without a part")
        return one.model_copy(update={"share": True, "where": self._where})

    def _running(self, one: Figure) -> Figure:
        """A figure with all that came before it."""
        spans = [span for span in self._by if isinstance(span, Span)]
        adds = one.operation in ("sum", "count") and not (one.distinct or one.per or one.share)
        if len(spans) != 1 or len(self._by) != 1 or not adds or self._orders:
            raise Unclear("a running total of what")
        return one.model_copy(update={"running": spans[0]})

    def _add_having(self) -> None:
        pairs = zip(self._meant.bounded, self._request.having, strict=True)
        for what, (_, comparison, bound) in pairs:
            value = bound if isinstance(bound, str) else number_of(bound)
            self._having.append(Test(of=self._figure(what), comparison=comparison, value=value))

    def _bound_figures(self) -> Sequence[Figure]:
        return [test.of for test in self._having if isinstance(test.of, Figure)]

    def _add_compared(self) -> None:
        """Values that are told side by side."""
        if not self._request.compares:
            return
        for named in self._meant.named:
            if named.others:
                need = self._choice.need_of_value(named.value)
                paths = [self._joined.path(need, column) for column in named.value.columns]
                self._by += paths
                self._select += paths

    def _add_group(self, group: Need | Column | Each) -> None:
        if isinstance(group, Need):
            table = self._choice.model.tables[group.table]
            paths = [self._joined.path(group, column) for column in (*table.key, *table.name)]
        elif isinstance(group, Column):
            paths = [self._choice.path(self._joined, group)]
        else:
            self._add_span(group)
            return
        self._by += paths
        self._select += [path for path in paths if not self._is_only_key(path)]

    def _add_span(self, each: Each) -> None:
        span = Span(column=day_path(self._choice, self._request, self._joined), each=each)
        self._by.append(span)
        self._select.append(span)
        if self._request.spans:
            texts = list(self._request.spans)
            self._span_tests.append(Test(of=span, comparison="in", value=texts))

    def _is_only_key(self, path: str) -> bool:
        """Whether a column only tells rows apart that have names."""
        model = self._choice.model
        table, column = model.resolve(self._joined.root, path)
        own = model.tables[table]
        return column in own.key and column not in own.name and bool(own.name)

    def _add_figures(self) -> None:
        request = self._request
        if request.counted is not None:
            counted = Asked("count", rows=request.counted, distinct=True)
            self._figures.append(self._figure(FigureOf(counted, None)))
        self._figures += [self._figure(what) for what in self._meant.figures]
        if request.when and request.end_of_days:
            path = day_path(self._choice, request, self._joined)
            self._figures.append(Figure(operation=request.end_of_days, of=path))

    def _add_order(self, one: OrderBy) -> None:
        if isinstance(one.by, Column):
            path = self._choice.path(self._joined, one.by)
            if any(order.by == path for order in self._orders):
                self._has_both_ends = True  # from the cheapest to the most expensive
                return
            self._orders.append(Order(by=path, descending=one.descending))
            self._tests.append(Test(of=path, comparison="given", value=True))
            return
        of = self._figure(one.by)
        self._orders.append(Order(by=of, descending=one.descending))
        if of not in self._figures:
            self._figures.append(of)

    def _add_listed(self, target: Need) -> None:
        """What is listed; of rows that are put together, one for each."""
        paths = listed_paths(self._choice, self._request, self._meant, target)
        if self._request.shows_days and not any(map(self._is_day, paths)):
            paths = [*paths, day_path(self._choice, self._request, self._joined)]
        paths = [path for path in paths if path not in self._select]
        self._select += [in_unit(self._choice, self._request, self._joined, path) for path in paths]
        is_root = not self._joined.multiplies and not self._joined.ways[target]
        if not is_root or self._figures or self._having or self._by:
            key = self._choice.model.tables[target.table].key
            self._by += [self._joined.path(target, column) for column in key]
            self._by += paths

    def _is_day(self, path: str) -> bool:
        model = self._choice.model
        return kind_of(model, Column(*model.resolve(self._joined.root, path))) == "date"

    def _check_groups(self) -> None:
        """That groups have figures and bounds have groups; what is in order is in the groups."""
        counted = self._request.counted
        groups = (group for group in self._meant.groups if isinstance(group, Need) and group.step)
        if counted is not None and any(group.table == counted.table for group in groups):
            raise Unclear("each is one")  # how many people report to each boss
        if self._listed is None:
            if self._by and self._having and not self._figures:
                self._figures += self._bound_figures()[:1]
            if (self._by or self._having) and not self._figures and not self._request.listed:
                raise Unclear("a group without a figure")
        if self._by:
            ordered = [one.by for one in self._orders if isinstance(one.by, str)]
            self._by += [path for path in ordered if path not in self._by]
        elif self._having:
            raise Unclear("a bound without a group")

    def _check_averages(self) -> None:
        """That what is averaged is more than one row, or the few lines of one."""
        averages = any(one.operation == "average" and one.per is None for one in self._figures)
        if not averages:
            return
        model, root = self._choice.model, self._joined.root
        keys = [model.resolve(root, path) for path in self._by if isinstance(path, str)]
        for name, table in model.tables.items():
            happens = bool(table.date) and not (table.name or table.people)
            if happens and any(owner == name and column in table.key for owner, column in keys):
                raise Unclear("an average of one")

    def _add_top(self) -> None:
        """The best of what is asked for, where nothing says by what."""
        if not self._request.top or self._orders:
            return
        measure = next(iter(self._choice.measures.values()), None)
        if not self._figures and measure is not None and self._listed is not None:
            self._figures.append(Figure(operation="sum", of=measure.name))
        if not self._figures:
            raise Unclear("nothing says what is best")
        self._orders.append(Order(by=self._figures[0], descending=self._request.top_down))

    def _best_groups_of_each(self) -> tuple[str | Span, ...]:
        """What those are told for of which a figure is the best: the best customer per country."""
        groups, tables = self._meant.groups, self._choice.model.tables
        by_figure = any(isinstance(one.by, FigureOf) for one in self._meant.order)
        if not (groups and self._figures and self._is_superlative()):
            return ()
        if not (by_figure or self._request.top):
            return ()
        spans = [one for one in self._by if isinstance(one, Span)]
        if self._listed is None:
            widest = sorted(spans, key=lambda span: _WIDEST.index(span.each))[:1]
            return tuple(widest) if len(spans) > 1 and len(groups) == len(spans) else ()
        for group in groups:
            happened = isinstance(group, Need) and bool(tables[group.table].date)
            if isinstance(group, Need) and happened and not tables[group.table].people:
                raise Unclear("the best of each of what happened")
        own = {self._joined.path(self._listed, key) for key in tables[self._listed.table].key}
        names = {*listed_paths(self._choice, self._request, self._meant, self._listed)}
        paths: list[str | Span] = [*spans]
        for group in groups:
            if isinstance(group, Need):
                keys = tables[group.table].key
                paths += [self._joined.path(group, key) for key in keys]
            elif not isinstance(group, str):
                paths.append(self._choice.path(self._joined, group))
        return tuple(path for path in paths if path not in own | names) if own else ()

    def _first_of_each(self) -> tuple[str | Span, ...]:
        """What the best of each is asked for: the most expensive product of every category."""
        if best := self._best_groups_of_each():
            return best
        of_columns = any(isinstance(one.by, Column) for one in self._meant.order)
        if not (of_columns and self._meant.groups and self._is_superlative()):
            return ()
        bridges, entered = self._choice.model.bridges, self._choice.entered(self._joined)
        is_pair = self._joined.root in bridges and not entered  # of a film and a genre
        is_pair |= len(entered) == 1 and entered <= bridges
        is_own = self._listed is not None and not self._joined.ways[self._listed]
        one_row_each = is_pair or (is_own and not entered)
        if self._figures or self._having or self._listed is None or not one_row_each:
            raise Unclear("the first of each")
        spans = [one for one in self._by if isinstance(one, Span)]
        if spans:
            raise Unclear("the first of each")
        groups = [group for group in self._meant.groups if isinstance(group, Need)]
        paths = [self._joined.path(group, key) for group in groups
                 for key in self._choice.model.tables[group.table].key]  # fmt: skip
        paths += [
            self._choice.path(self._joined, group)
            for group in self._meant.groups
            if isinstance(group, Column)
        ]
        return tuple(paths)

    def _limit(self) -> int | None:
        """How many rows are shown: of one end one, or a few where several are asked for."""
        request = self._request
        best = bool(request.order) or (
            request.top and (bool(request.groups) or self._listed is not None)
        )
        if request.limit is not None or not best or self._has_both_ends:
            return request.limit
        if self._listed is None:
            return 1 if self._meant.groups and self._is_superlative() else None
        if self._by and not (request.plural or request.direction) and self._is_end_of_days():
            return 1
        if request.direction or (self._by and not self._is_superlative()):
            return None
        return _LISTED if request.plural else 1

    def _is_end_of_days(self) -> bool:
        """Whether the first or the last one is asked for."""
        return any(
            item.has("last", "first") and item.role == "operator" for item in self._words.items
        )

    def _is_superlative(self) -> bool:
        """Whether an end was said, and not only an order: most, best selling."""
        return any(
            item.has("most", "least", "selling", "tops") or item.meanings.degrees
            for item in self._words.items
            if item.role == "operator"
        )

    def _usual_order(self) -> Sequence[Order]:
        """The order where none is said: by days, the biggest first, by name."""
        direction = self._request.direction
        spans = [one for one in self._by if isinstance(one, Span)]
        if spans and (direction != "desc" or self._request.by_days):
            return [Order(by=spans[0], descending=direction == "desc")]
        figures = self._figures or (self._bound_figures() if direction else ())
        if figures and self._by:
            return [Order(by=figures[0], descending=direction != "asc")]
        return self._order_of_rows(self._listed) if self._listed is not None else []

    def _sorted(self) -> Sequence[Order]:
        """The order by columns that is asked for, of rows that have one value there."""
        paths = [self._choice.path(self._joined, column) for column in self._meant.sorts]
        if self._by and not {*paths} <= {*self._by}:
            raise Unclear("an order by what groups have several of")
        descending = self._request.direction == "desc"
        return [Order(by=path, descending=descending) for path in paths]

    def _order_of_rows(self, target: Need) -> Sequence[Order]:
        request = self._request
        table = self._choice.model.tables[target.table]
        if request.direction and table.date:
            path = self._joined.path(target, table.date)
            if self._by and path not in self._by:
                return []
            return [Order(by=path, descending=request.direction == "desc")]
        day = next((c for c in self._meant.shown if kind_of(self._choice.model, c) == "date"), None)
        if request.direction and request.by_days and day is not None:
            path = self._choice.path(self._joined, day)
            return [Order(by=path, descending=request.direction == "desc")]
        if request.direction and request.by_days and request.shows_days:
            path = day_path(self._choice, request, self._joined)
            return [Order(by=path, descending=request.direction == "desc")]
        by_name = request.alphabetical or not request.direction
        columns = table.name if table.name and by_name else table.key
        return [Order(by=self._joined.path(target, column)) for column in columns]
