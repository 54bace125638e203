"""A question as one query: what is asked for, of which rows, put together by what, in which order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, Literal, NamedTuple

from server.extraction.data_questions.items import Item, items_of
from server.extraction.data_questions.joins import Joined, Need, join
from server.extraction.data_questions.lexicon import DataLexicon
from server.extraction.data_questions.meanings import Column, Degree, Value
from server.extraction.data_questions.phrases import phrase_of
from server.library.data_model import DataMeasure, DataTable
from server.library.data_query import (
    Comparison,
    DataQuery,
    Figure,
    Lacking,
    Operation,
    Order,
    Span,
    Test,
)
from server.text.durations import Duration
from server.text.parsed_text import ParsedText
from server.text.periods import SpokenPeriod

Each = Literal["day", "month", "year"]

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


class Unclear(Exception):
    """The question cannot be read as one query."""


class Asked(NamedTuple):
    """A figure that is asked for, compared or put in order: of a measure, a column or rows."""

    operation: Operation
    measure: Literal["", "money", "units"] = ""
    columns: tuple[Column, ...] = ()
    rows: Need | None = None
    distinct: bool = False


@dataclass(slots=True)
class Condition:
    """What a column is compared with; one of several columns is meant."""

    columns: tuple[Column, ...]
    comparison: Comparison
    value: Any
    near: frozenset[str] = frozenset()


@dataclass(slots=True)
class Named:
    """Rows that a value names; one of several is meant."""

    values: tuple[Value, ...]
    near: frozenset[str] = frozenset()
    negated: bool = False
    at: int = 0
    need: Need | None = None
    """The table as what the value is of, where that is told."""


@dataclass(slots=True)
class Days:
    period: SpokenPeriod
    columns: tuple[Column, ...] = ()


@dataclass(slots=True)
class Absent:
    """Rows that are not there."""

    tables: tuple[str, ...]
    named: list[Named] = field(default_factory=list)
    days: list[Days] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class DataReading:
    """What a question comes to: the query where it could be read, and its parts."""

    query: DataQuery | None
    items: Sequence[Item]
    why: str = ""

    def unread(self) -> list[Item]:
        return [i for i in self.items if not i.role and not i.is_filler and not i.may_be_filler]


def read_data_question(reading: ParsedText, lexicon: DataLexicon) -> DataReading:
    """Read a question as a query; without one, `unread` or `why` says what was in the way."""
    items = items_of(reading, lexicon)
    reader = _Reader(lexicon, items)
    try:
        query = reader.query()
    except Unclear as unclear:
        return DataReading(None, items, str(unclear))
    found = DataReading(query, items)
    return DataReading(None, items, "unread") if found.unread() else found


class _Reader:
    def __init__(self, lexicon: DataLexicon, items: Sequence[Item]) -> None:
        self._lexicon = lexicon
        self._model, self._items, self.lists = lexicon.model, items, lexicon.lists
        self._target: Need | None = None
        self._plural = False
        self._counted: Need | None = None
        self._figures: list[Asked] = []
        self._groups: list[tuple[Column, ...] | Need | Each] = []
        self._having: list[tuple[Asked, Comparison, Any]] = []
        self._order: list[tuple[Asked | tuple[Column, ...], bool]] = []
        self._limit: int | None = None
        self._named: list[Named] = []
        self._conditions: list[Condition] = []
        self._days: list[Days] = []
        self._absent: list[Absent] = []
        self._shown: list[tuple[Column, ...]] = []
        self._facts: list[tuple[str, ...]] = []
        self._also: list[Need] = []
        self._who = False
        self._when = False
        self._compares = False

    # Going through the words.

    def _use(self, *items: Item, role: Literal["value", "frame", "operator"] = "frame") -> None:
        for item in items:
            item.role = role

    def _free(self, index: int, step: int) -> int | None:
        """The next item in a direction that says something and is not used yet."""
        index += step
        while 0 <= index < len(self._items):
            item = self._items[index]
            if not item.is_filler:
                return None if item.role else index
            index += step
        return None

    def _beside(self, index: int, step: int) -> int | None:
        """The next item in a direction that says something."""
        index += step
        while 0 <= index < len(self._items):
            if not self._items[index].is_filler:
                return index
            index += step
        return None

    def _need(self, item: Item) -> Need | None:
        """The table that an item names."""
        known = item.meanings
        if known.roles and not known.nouns:
            return Need(*known.roles[0])
        return Need(known.nouns[0].table) if known.nouns else None

    def query(self) -> DataQuery:
        steps = (
            self._read_order_words, self._read_times, self._read_comparisons, self._read_limits,
            self._read_negations, self._read_ends, self._read_groups, self._read_counts,
            self._read_figures, self._read_target, self._read_rest,
        )  # fmt: skip
        for step in steps:
            step()
        return _Builder(self).query()

    _said_unit = ""

    def _read_order_words(self) -> None:
        for index, item in enumerate(self._items):
            if item.has("alphabetical"):
                self._use(item, role="operator")
                self._alphabetical = True
            elif item.has("descending", "ascending"):
                self._use(item, role="operator")
                self._direction = "desc" if item.has("descending") else "asc"
            elif item.said.lower() in ("minutes", "hours", "seconds") and item.kind == "unknown":
                lead = self._items[index - 1].said.lower() if index else ""
                if lead == "in":
                    self._said_unit = item.said.lower()
                    self._use(item, role="operator")
            elif item.has("different"):
                self._use(item, role="operator")
                self._distinct = True
            elif item.has("compare") or (item.has("or_more") and self._leads_to_name(item)):
                both = [i for i in self._items if i.meanings.values]
                if item.has("more") or (item.said.lower() != "or" and len(both) > 1):
                    self._compares = self._compares or len(both) > 1
                if item.said.lower() == "more" and not self._compares:
                    continue
                self._use(item, role="operator")

    def _leads_to_name(self, item: Item) -> bool:
        at = self._beside(self._items.index(item), 1)
        return at is not None and bool(self._items[at].meanings.values)

    _alphabetical = False
    _distinct = False
    _direction = ""

    def _read_times(self) -> None:
        """Month by month; when something was."""
        for index, item in enumerate(self._items):
            for each in ("month", "year", "day"):
                if item.has(f"{each}s"):
                    self._groups.append(each)  # type: ignore[arg-type]
                    self._use(item, role="operator")
            if item.has("when") and index == self._first():
                self._when = True
                self._use(item)

    def _first(self) -> int:
        return next((at for at, item in enumerate(self._items) if not item.is_filler), 0)

    # Comparisons with numbers.

    def _read_comparisons(self) -> None:
        for index, item in enumerate(self._items):
            if item.role:
                continue
            if item.has("between"):
                self._read_between(index)
            elif item.has("more", "less", "at_least", "at_most"):
                self._read_compared(index)
            elif item.has("or_more", "or_less"):
                before = self._beside(index, -1)
                if before is not None and self._items[before].is_amount:
                    comparison: Comparison = "least" if item.has("or_more") else "most"
                    self._use(item, role="operator")
                    self._compared(
                        before, comparison, self._items[before].value, before, after=index
                    )

    def _read_between(self, index: int) -> None:
        first = self._beside(index, 1)
        second = self._beside(first, 1) if first is not None else None
        if first is None or second is None:
            return
        one, two = self._items[first], self._items[second]
        if one.is_amount and two.is_amount:
            self._use(self._items[index], role="operator")
            if one.kind == "number" and two.kind == "money":
                one.kind = "money"
            bare = len(self._bare)
            start = len(self._conditions), len(self._having)
            self._compared(first, "least", one.value, index, after=second)
            self._use(two, role="value")
            if len(self._conditions) > start[0]:
                last = self._conditions[-1]
                self._conditions.append(Condition(last.columns, "most", two.value, last.near))
            elif len(self._having) > start[1]:
                asked = self._having[-1][0]
                self._having.append((asked, "most", two.value))
            elif len(self._bare) > bare:
                self._bare.append(("most", two.value, two.kind == "money"))

    def _read_compared(self, index: int) -> None:
        item = self._items[index]
        after = self._beside(index, 1)
        if after is not None and self._read_columns_compared(index, after):
            return
        if after is None or not self._items[after].is_amount:
            return
        amount = self._items[after]
        comparison: Comparison = (
            "more" if item.has("more") else "less" if item.has("less")
            else "least" if item.has("at_least") else "most"
        )  # fmt: skip
        if item.has("at_least") and item.has("frames"):  # “from 5”
            return
        self._use(item, role="operator")
        self._compared(after, comparison, amount.value, index)

    def _read_columns_compared(self, index: int, after: int) -> bool:
        """What is below the reorder level: a column against another one of the same table."""
        item, right = self._items[index], self._items[after]
        theirs = self._numbers(right)
        if right.role or not theirs or right.is_amount:
            return False
        before_at = self._free(index, -1)
        before = self._items[before_at] if before_at is not None else None
        mine = self._numbers(before) if before is not None else ()
        if not mine:
            mine = tuple(
                Column(c.table, name)
                for c in theirs
                for name, told in self._model.tables[c.table].columns.items()
                if "in stock" in told.called
            )
        pairs = [(m, t) for m in mine for t in theirs if m.table == t.table]
        if not pairs:
            return False
        self._use(item, right, role="operator")
        if before is not None and self._numbers(before):
            self._use(before)
        self._against.append((*pairs[0], "more" if item.has("more") else "less"))
        return True

    @property
    def _against(self) -> list[tuple[Column, Column, Comparison]]:
        return self.__dict__.setdefault("_against_list", [])

    def _compared(
        self, at: int, comparison: Comparison, value: Any, lead: int, after: int | None = None
    ) -> None:
        """What a number is compared with: a column beside it, rows, or what comes in."""
        amount, word = self._items[at], self._items[lead]
        self._use(amount, role="value")
        degrees = [d for d in word.meanings.degrees if d.compares]
        next_at = self._free(at if after is None else after, 1)
        if (
            next_at is not None
            and self._items[next_at].has("measured")
            and not (self._items[next_at].meanings.names_data)
        ):
            self._use(self._items[next_at])
            next_at = self._free(next_at, 1)
        following = self._items[next_at] if next_at is not None else None
        before_at = self._free(min(lead, at), -1)
        before = self._items[before_at] if before_at is not None else None
        if amount.kind == "duration":
            if before is not None and before.has("last"):
                self._use(before)
            self._conditions.append(Condition(self._lengths(), comparison, value))
            if following is not None and following.has("adjective"):
                self._use(following)
            return
        adjacent = next_at is not None and next_at - (at if after is None else after) <= _BESIDE
        if adjacent and following is not None and self._is_number(following):
            self._use(following)
            self._conditions.append(Condition(self._numbers(following), comparison, value))
            return
        if before is not None and before.meanings.columns and self._is_number(before):
            self._use(before)
            self._conditions.append(Condition(self._numbers(before), comparison, value))
            return
        money = next(
            (
                i for i in (
                    following if following is not None and following.has("units") else before,
                    before, following,
                )
                if i is not None and i.has("money", "money_done", "units")
            ),
            None,
        )  # fmt: skip
        nouns = following is not None and (following.meanings.nouns or following.meanings.roles)
        if following is not None and nouns and amount.kind == "number":
            need = self._need(following)
            if need is not None:
                self._use(following)
                self._having.append((Asked("count", rows=need, distinct=True), comparison, value))
                return
        cost = next((i for i in (before, following) if i is not None and i.has("costs")), None)
        if cost is not None:
            self._use(cost)
            self._bare.append((comparison, value, True))
            return
        if degrees:
            columns = tuple(c for d in degrees for c in d.columns)
            self._conditions.append(Condition(columns, comparison, value))
            return
        if money is not None:
            self._use(money)
            kind: Literal["money", "units"] = "units" if money.has("units") else "money"
            self._having.append((Asked("sum", kind), comparison, value))
            return
        # Of the rows that are asked for: decided when they are known.
        self._bare.append((comparison, value, amount.kind == "money"))

    @property
    def _bare(self) -> list[tuple[Comparison, Any, bool]]:
        return self.__dict__.setdefault("_bare_list", [])

    def _is_number(self, item: Item) -> bool:
        return bool(self._numbers(item))

    def _numbers(self, item: Item) -> tuple[Column, ...]:
        return tuple(c for c in item.meanings.columns if self._kind(c) in ("number", "money"))

    def _kind(self, column: Column) -> str:
        told = self._model.tables[column.table].columns.get(column.column)
        return told.kind if told is not None else ""

    def _unit(self, column: Column) -> str:
        told = self._model.tables[column.table].columns.get(column.column)
        return told.unit if told is not None else ""

    def _lengths(self) -> tuple[Column, ...]:
        return tuple(
            Column(name, column)
            for name, table in self._model.tables.items()
            for column, told in table.columns.items()
            if told.unit
        )

    # How many rows are shown.

    def _read_limits(self) -> None:
        for index, item in enumerate(self._items):
            if item.role or item.kind != "number" or not isinstance(item.value, int):
                continue
            before, after = self._beside(index, -1), self._beside(index, 1)
            ends = ("tops", "most", "least", "selling", "first", "last")
            left = self._items[before] if before is not None else None
            right = self._items[after] if after is not None else None
            if left is not None and not left.role and (left.has(*ends) or self._is_end(left)):
                self._limit = item.value
            elif right is not None and not right.role and (right.has(*ends) or self._is_end(right)):
                self._limit = item.value
            elif (
                right is not None
                and right.meanings.names_data
                and after is not None
                and any(self._has_end(i) for i in self._items[after:])
                and (left is None or not left.meanings.nouns)
            ):
                self._limit = item.value
            else:
                continue
            self._use(item, role="value")

    def _is_end(self, item: Item) -> bool:
        return any(not d.compares for d in item.meanings.degrees) and not item.has("adjective")

    def _has_end(self, item: Item) -> bool:
        return item.has("most", "least", "selling") or self._is_end(item)

    # What is not there.

    def _read_negations(self) -> None:
        for index, item in enumerate(self._items):
            if item.role or not item.has("nots", "without"):
                continue
            self._read_negation(index)

    def _read_negation(self, index: int) -> None:
        item = self._items[index]
        scope = [
            at for at in range(index + 1, len(self._items))
            if not self._items[at].is_filler and not self._items[at].role
        ][:4]  # fmt: skip
        scope.sort(key=lambda at: not self._items[at].meanings.done)  # nobody in Italy ordered
        for at in scope:
            other = self._items[at]
            known = other.meanings
            columns = tuple(
                c for c in known.columns
                if self._kind(c) in ("text", "contact", "category", "date", "number", "money")
            )  # fmt: skip
            flags = tuple(c for c in known.columns if self._kind(c) == "flag")
            if flags:
                self._use(item, role="operator")
                self._use(other)
                self._conditions.append(Condition(flags, "is", other.has("flag_not")))
                return
            if known.done and not (
                known.dates and item.has("nots") and not self._has_fact(known.done)
            ):
                self._use(item, role="operator")
                self._use(other)
                self._absent.append(self._inside(tuple(known.done), index))
                return
            if known.dates:
                self._use(item, role="operator")
                self._use(other)
                self._conditions.append(Condition(tuple(known.dates), "given", value=False))
                return
            if columns and not known.nouns:
                self._use(item, role="operator")
                self._use(other)
                self._conditions.append(Condition(columns, "given", value=False))
                return
            if known.nouns:
                self._use(item, role="operator")
                self._use(other)
                self._absent.append(self._inside((known.nouns[0].table,), at))
                return
            if known.values:
                self._use(item, role="operator")
                self._use(other, role="value")
                self._named.append(Named(tuple(known.values), negated=True, at=at))
                return
            if other.kind == "unknown":
                raise Unclear(other.said)
        before_at = self._free(index, -1)
        before = self._items[before_at] if before_at is not None else None
        if item.has("without") and not scope and before is not None and before.meanings.columns:
            self._use(item, role="operator")
            self._use(before)
            self._conditions.append(Condition(tuple(before.meanings.columns), "given", value=False))
            return
        if item.has("nots") and all(self._items[at].kind == "period" for at in scope):
            self._use(item, role="operator")
            before_it = [i for i in self._items[:index] if i.meanings.done and not i.role]
            done = tuple(t for i in before_it for t in i.meanings.done)
            self._use(*before_it)
            self._absent.append(self._inside(done, index))

    def _has_fact(self, tables: Sequence[str]) -> bool:
        return bool(tables)

    def _inside(self, tables: tuple[str, ...], at: int) -> Absent:
        """The rows that are missing, with what stands after them up to the end."""
        absent = Absent(tables)
        for item in self._items[at + 1 :]:
            if item.role:
                continue
            if item.meanings.nouns or {*item.meanings.done} & {*tables}:
                self._use(item)
            elif item.kind == "period":
                self._use(item, role="value")
                absent.days.append(Days(item.value))
            elif item.meanings.values and not item.meanings.nouns:
                self._use(item, role="value")
                absent.named.append(Named(tuple(item.meanings.values)))
        return absent

    # The ends of an order.

    def _read_ends(self) -> None:
        for index, item in enumerate(self._items):
            if item.role or not (
                item.has("most", "least", "tops", "selling", "last", "first") or self._is_end(item)
            ):
                continue
            self._read_end(index)

    def _read_end(self, index: int) -> None:
        item = self._items[index]
        descending = not item.has("least")
        if item.has("selling"):
            self._use(item, role="operator")
            self._order.append((Asked("sum", "units"), True))
            return
        degrees = [d for d in item.meanings.degrees if not d.compares]
        after_at = self._free(index, 1)
        after = self._items[after_at] if after_at is not None else None
        if degrees and not item.has("adjective") and not (
            after is not None and item.has("most", "least") and (self._numbers(after) or after.has("money"))
        ):  # fmt: skip
            self._use(item, role="operator")
            self._order.append((_End(tuple(degrees)), True))  # type: ignore[arg-type]
            return
        if item.has("last", "first") and not item.has("most", "least", "tops"):
            beside = [self._free(index, -1), after_at]
            nearby = [self._items[at] for at in beside if at is not None] + [
                *self._items[index + 1 :]
            ]
            dated = next(
                (i for i in nearby if not i.role and i.meanings.dates and not i.meanings.nouns),
                None,
            )
            if not self._when and dated is not None:
                self._use(item, dated, role="operator")
                self._order.append((tuple(dated.meanings.dates), item.has("last")))
            elif not self._when and after is not None and after.meanings.nouns:
                table = self._model.tables[after.meanings.nouns[0].table]
                if table.date:
                    self._use(item, role="operator")
                    column = Column(after.meanings.nouns[0].table, table.date)
                    self._order.append(((column,), item.has("last")))
            if self._when:
                self._use(item, role="operator")
                self._end_of_days = "highest" if item.has("last") else "lowest"
            return
        if item.has("tops"):
            self._use(item, role="operator")
            self._top = True
            return
        each = next((e for e in ("month", "year", "day") if after is not None and after.has(e)), "")
        if each and after is not None:
            self._use(item, after, role="operator")
            self._groups.append(each)  # type: ignore[arg-type]
            self._top, self._top_down, self._limit = True, descending, self._limit or 1
            return
        if after is None:
            before_at = self._free(index, -1)
            before = self._items[before_at] if before_at is not None else None
            if before is not None and before.meanings.done:
                self._use(item, before, role="operator")
                self._order.append((self._times(before), descending))
            return
        known = after.meanings
        assert after_at is not None  # noqa: S101  it has been found
        head = self._items[after_at + 1] if after_at + 1 < len(self._items) else None
        if head is not None and known.nouns and not head.role and self._numbers(head):
            self._use(after)
            after, known = head, head.meanings
        if after.has("most", "least") and not known.names_data:
            return
        if after.has("money", "units"):
            self._use(item, after, role="operator")
            asked = Asked("sum", "money" if after.has("money") else "units")
            self._order.append((asked, descending))
        elif numbers := self._numbers(after):
            # Of rows that stand before it, their order; by itself, a figure.
            self._use(item, after, role="operator")
            if any(i.meanings.nouns and not i.role for i in self._items[:index]):
                self._order.append((numbers, descending))
            else:
                self._figures.append(Asked("highest" if descending else "lowest", columns=numbers))
                self._pending_ends(index, numbers)
        elif known.done and not known.nouns:
            self._use(item, after, role="operator")
            self._order.append((self._times(after), descending))
        elif (
            known.nouns
            and _is_number(item.said)
            and any(
                (i.meanings.nouns or i.meanings.roles or i.meanings.columns or i.has("who"))
                and not i.role
                and i is not after
                for i in self._items
            )
            and self._is_object(after_at)
        ):
            self._use(item, after, role="operator")
            self._order.append((Asked("count", rows=self._need(after), distinct=True), descending))
        elif known.nouns and self._earns(known.nouns[0].table) and _is_size(item.said):
            self._use(item, role="operator")
            self._order.append((Asked("sum", "money"), descending))
        else:
            self._use(item, role="operator")
            self._top = True
            self._top_down = descending

    def _earns(self, table: str) -> bool:
        """Whether something is added up over the rows of a table, or over those that belong to it."""
        near = {table} | {
            name for name, told in self._model.tables.items()
            if any(link.table == table for link in told.links) and not told.name
        }  # fmt: skip
        return any(m.kind == "money" and m.table in near for m in self._model.measures)

    def _pending_ends(self, index: int, numbers: tuple[Column, ...]) -> None:
        """The lowest and the highest price: both are asked for."""
        for item in self._items[:index]:
            if not item.role and item.has("most", "least"):
                self._use(item, role="operator")
                operation: Operation = "lowest" if item.has("least") else "highest"
                self._figures.insert(0, Asked(operation, columns=numbers))

    def _is_object(self, at: int | None) -> bool:
        """Whether what a noun names is counted, as in “has the most tracks”, and not asked for."""
        assert at is not None  # noqa: S101  it was found
        return any(i.meanings.nouns or i.meanings.roles or i.has("who") or i.meanings.columns
                   for i in self._items[:at] if not i.role)  # fmt: skip

    _top = False
    _top_down = True
    _end_of_days = ""

    def _times(self, item: Item) -> Asked:
        """How often something was done."""
        self._facts.append(tuple(item.meanings.done))
        return Asked("count", rows=Need("*".join(item.meanings.done)))

    # Groups.

    def _read_groups(self) -> None:
        for index, item in enumerate(self._items):
            if item.role or not item.has("each", "by"):
                continue
            after_at = self._free(index, 1)
            if after_at is None:
                continue
            after = self._items[after_at]
            if (
                item.has("by")
                and (after.has("money", "units") or self._numbers(after))
                and not (after.meanings.nouns)
            ):
                self._use(item, after, role="operator")
                beside = self._free(after_at, 1)
                while (
                    beside is not None
                    and (
                        self._numbers(self._items[beside]) or self._items[beside].has("money_done")
                    )
                    and not self._items[beside].meanings.nouns
                ):
                    self._use(self._items[beside])  # by total amount spent
                    beside = self._free(beside, 1)
                if after.has("money", "units"):
                    asked = Asked("sum", "money" if after.has("money") else "units")
                    self._order.append((asked, self._direction != "asc"))
                else:
                    self._order.append(
                        (self._numbers(after), self._top or self._direction == "desc")
                    )
                continue
            if item.has("by") and after.has("counts"):
                noun_at = self._free(after_at, 1)
                if noun_at is not None and self._items[noun_at].meanings.nouns:
                    noun = self._items[noun_at]
                    self._use(item, after, noun, role="operator")
                    asked = Asked("count", rows=self._need(noun), distinct=True)
                    self._order.append((asked, self._direction != "asc"))
                continue
            if item.has("by") and after.meanings.values and not after.meanings.nouns:
                continue
            self._read_group(item, after_at)

    def _read_group(self, lead: Item, at: int) -> None:
        after = self._items[at]
        found = self._group_of(after)
        if found is None and after.kind == "unknown":
            return
        if found is None:
            following = self._free(at, 1)  # each of our support reps
            found = self._group_of(self._items[following]) if following is not None else None
            if found is None or following is None:
                return
            self._use(self._items[following], role="operator")
        if isinstance(found, Need) and at + 1 < len(self._items):
            head = self._items[at + 1]  # by product category
            if not head.role and self._need(head) is not None and not head.meanings.plural:
                self._use(head, role="operator")
                found = self._need(head) or found
        self._use(lead, after, role="operator")
        self._groups.append(found)
        # Both: by country and city.
        second = self._free(at, 1)
        if second is not None and self._text_between(at, second) == "and":
            other = self._group_of(self._items[second])
            if other is not None:
                self._use(self._items[second], role="operator")
                self._groups.append(other)

    def _text_between(self, one: int, two: int) -> str:
        return " ".join(i.said.lower() for i in self._items[one + 1 : two])

    def _group_of(self, item: Item) -> tuple[Column, ...] | Need | None:
        known = item.meanings
        if known.nouns or known.roles:
            return self._need(item)
        columns = tuple(
            c
            for c in known.columns
            if self._kind(c) in ("category", "text", "number", "flag", "date")
        )
        return columns or None

    # Figures.

    def _read_counts(self) -> None:
        for index, item in enumerate(self._items):
            if item.role or not item.has("counts"):
                continue
            at = self._beside(index, 1)
            # “how many of our Canadian customers”
            while at is not None and not (
                self._items[at].meanings.nouns
                or self._items[at].meanings.roles
                or self._items[at].meanings.done
                or self._items[at].has("units")
            ):
                other = self._items[at]
                if other.meanings.values and self._kind_values(other) and not self._noun_after(at):
                    break
                if other.kind in ("unknown", "period") and not other.meanings.names_data:
                    at = None
                    break
                if self._distinct and other.meanings.columns:
                    break
                at = self._beside(at, 1)
            if at is None and (self._having or self._counted is not None):
                self._use(item)
                continue
            if at is None:
                raise Unclear("count")
            other = self._items[at]
            self._use(item, role="operator")
            if other.has("units") and not other.meanings.nouns:
                self._use(other)
                self._figures.append(Asked("sum", "units"))
            elif other.meanings.nouns or other.meanings.roles:
                self._use(other)
                self._counted = self._need(other)
            elif other.meanings.done:
                self._use(other)
                self._facts.append(tuple(other.meanings.done))
                self._figures.append(Asked("count", rows=Need("*".join(other.meanings.done))))
            elif self._distinct and other.meanings.columns:
                self._use(other)
                columns = tuple(other.meanings.columns)
                self._figures.append(Asked("count", columns=columns, distinct=True))
            else:
                value = other.meanings.values[0]
                flags = [
                    c.table
                    for i in self._items
                    for c in i.meanings.columns
                    if self._kind(c) == "flag" and value.table in self._model.reachable[c.table]
                ]
                self._counted = Need(flags[0] if flags else value.table)

    def _noun_after(self, at: int) -> bool:
        following = self._beside(at, 1)
        return following is not None and bool(self._items[following].meanings.nouns)

    def _kind_values(self, item: Item) -> bool:
        return any(
            self._kind(Column(v.table, v.columns[0])) == "category" for v in item.meanings.values
        )

    def _read_figures(self) -> None:
        for index, item in enumerate(self._items):
            if item.role or not item.has("totals", "averages"):
                continue
            operation: Operation = "average" if item.has("averages") else "sum"
            if self._read_figure(index, operation):
                continue
        for index, item in enumerate(self._items):
            if item.role:
                continue
            if item.has("money", "units") and not item.meanings.nouns:
                self._use(item)
                asked = Asked("sum", "money" if item.has("money") else "units")
                if asked not in self._figures:
                    self._figures.append(asked)

    def _read_figure(self, index: int, operation: Operation) -> bool:
        item = self._items[index]
        how_much = item.said.lower() == "how much"
        at = self._beside(index, 1)
        passed: list[Item] = []
        verbs: list[Item] = []
        while at is not None:
            other = self._items[at]
            if not other.role:
                if other.has("money", "units") and not self._numbers(other):
                    self._use(item, other, role="operator")
                    asked = Asked(operation, "money" if other.has("money") else "units")
                    self._figures.append(asked)
                    self._also += [n for p in passed if (n := self._need(p)) is not None]
                    self._use(*(p for p in passed if p.meanings.nouns))
                    return True
                if numbers := self._numbers(other):
                    self._use(item, other, role="operator")
                    near = frozenset(n.table for p in passed for n in p.meanings.nouns)
                    columns = tuple(c for c in numbers if c.table in near) or numbers
                    self._figures.append(Asked(operation, columns=columns))
                    self._use(*(p for p in passed if p.meanings.nouns))
                    self._also += [n for p in passed if (n := self._need(p)) is not None]
                    return True
                if other.has("money_done"):
                    verbs.append(other)
                elif other.meanings.nouns:
                    passed.append(other)
                elif other.kind == "unknown":
                    break
            at = self._beside(at, 1)
        before = next(
            (i for i in reversed(self._items[:index]) if not i.role
             and (self._numbers(i) or i.has("money"))), None,
        )  # fmt: skip
        if before is not None and not how_much and (self._numbers(before) or before.has("money")):
            self._use(item, before, role="operator")
            if self._numbers(before):
                self._figures.append(Asked(operation, columns=self._numbers(before)))
            else:
                self._figures.append(Asked(operation, "money"))
            return True
        own = self._numbers(item)
        if (
            own
            and not how_much
            and not passed
            and self._target is None
            and not self._has_noun(index)
        ):
            self._use(item, role="operator")
            self._figures.append(Asked("sum", columns=own))
            return True
        if how_much and verbs:
            self._use(item, verbs[0], role="operator")
            self._figures.append(Asked("sum", "money"))
            return True
        if (passed or how_much is False) and self._read_amount_of(item, passed, operation):
            return True
        if operation == "sum" and len(passed) == 1 and passed[0].meanings.plural and not how_much:
            self._use(item, passed[0], role="operator")
            self._counted = self._need(passed[0])
            return True
        return False

    def _has_noun(self, index: int) -> bool:
        return any(i.meanings.nouns for i in self._items[:index])

    def _read_amount_of(self, item: Item, passed: Sequence[Item], operation: Operation) -> bool:
        """Total of order 10300, the average payment: what comes in by it."""
        for noun in passed:
            tables = {n.table for n in noun.meanings.nouns}
            own = [m for m in self._model.measures if m.kind == "money" and m.table in tables]
            at = self._items.index(noun)
            after = self._items[at + 1] if at + 1 < len(self._items) else None
            numbered = after is not None and after.kind == "number"
            if own and (operation == "average" or numbered):
                self._use(item, role="operator")
                if not numbered:
                    self._use(noun)
                self._figures.append(Asked(operation, "money"))
                self._also += [Need(own[0].table)]
                return True
            if numbered and operation == "sum":
                self._use(item, role="operator")
                self._figures.append(Asked("sum", "money"))
                return True
        return False

    # What is asked for.

    def _read_target(self) -> None:
        if self._counted is not None or (self._figures and not self._order):
            return
        for index, item in enumerate(self._items):
            if item.role:
                continue
            if item.has("who"):
                self._who = True
                self._use(item)
                agent = self._agent()
                if agent is not None:
                    self._target, self._plural = agent, True
                    return
                continue
            implied = self._implied(item)
            if implied is not None:
                self._target, self._plural = implied, True
                return
            need = self._need(item)
            if need is None or self._is_qualifier(index):
                continue
            if item.meanings.values and not item.meanings.nouns:
                continue
            self._target, self._plural = need, item.meanings.plural
            self._use(item)
            return

    def _agent(self) -> Need | None:
        """Those who do what a verb says: who supplies us with it."""
        for item in self._items:
            if not item.role and item.meanings.agents:
                self._use(item)
                return Need(item.meanings.agents[0].table)
        return None

    def _implied(self, item: Item) -> Need | None:
        """What a value is said of, where its own words name it: dairy products."""
        words = item.said.split(" ")
        if len(words) < 2 or not item.meanings.values or item.meanings.nouns:  # noqa: PLR2004
            return None
        known = self._lexicon.of(phrase_of(words[-1]))
        tables = {v.table for v in item.meanings.values}
        for noun in known.nouns if known is not None else ():
            if noun.table not in tables and tables & self._model.reachable[noun.table].keys():
                return Need(noun.table)
        return None

    def _is_qualifier(self, index: int) -> bool:
        """Whether a noun only says what a name or a number beside it is: invoice 231."""
        after = self._items[index + 1] if index + 1 < len(self._items) else None
        if after is not None and after.kind == "number" and not after.role:
            return True
        tables = {n.table for n in self._items[index].meanings.nouns}
        for at in (index - 1, index + 1):
            if 0 <= at < len(self._items) and not self._items[at].role:
                values = self._items[at].meanings.values
                if any(v.table in tables and v.columns == tuple(self._model.tables[v.table].name)
                       for v in values):  # fmt: skip
                    return True
        return False

    def _read_rest(self) -> None:
        for index, item in enumerate(self._items):
            if not item.role and item.kind == "period":
                self._read_days(index)
        for index, item in enumerate(self._items):
            if item.role:
                continue
            known = item.meanings
            if item.has("who"):
                self._who = True
                self._use(item)
            elif item.is_amount and self._costs(index):
                self._use(item, role="value")
                self._bare.append(("is", item.value, True))
            elif item.kind == "number":
                self._read_number(index)
            elif known.columns and self._has_flag(item):
                flags = tuple(c for c in known.columns if self._kind(c) == "flag")
                self._use(item)
                if self._is_verdict() and not self._target:
                    self._shown.append(flags)
                    continue
                value = not item.has("flag_not")
                self._conditions.append(Condition(flags, "is", value))
            elif known.values and not (known.nouns and not item.capital):
                self._read_value(index)
            elif known.roles or known.nouns:
                self._read_noun(index)
            elif item.has("zero"):
                stocks = tuple(
                    Column(name, column)
                    for name, table in self._model.tables.items()
                    for column, told in table.columns.items()
                    if "in stock" in told.called
                )
                if stocks:
                    self._use(item)
                    self._conditions.append(Condition(stocks, "is", 0))
            elif item.has("contains"):
                self._read_contained(index)
            elif known.columns:
                self._read_column(index)
            elif item.has("adjective") and not self._figures:
                degrees = known.degrees
                self._use(item)
                self._shown.append(tuple(c for d in degrees for c in d.columns))
            elif known.done:
                self._use(item)
                self._facts.append(tuple(known.done))
            elif known.dates:
                self._use(item)
                if self._when:
                    self._shown.append(tuple(known.dates))
                else:
                    self._conditions.append(Condition(tuple(known.dates), "given", value=True))
        self._read_verbs()
        if self._days or any(a.days for a in self._absent):
            self._use(*(i for i in self._items if not i.role and i.has("recent")))
        for item in self._items:
            each = next((e for e in ("month", "year", "day") if item.has(e)), "")
            if not item.role and each and (self._top or self._order):
                self._use(item, role="operator")
                self._groups.append(each)  # type: ignore[arg-type]
                self._limit = self._limit or 1
                self._top = not self._order
            elif not item.role and item.has("each") and self._having:
                self._use(item)

    def _read_column(self, index: int) -> None:
        """A column that is asked for, or that has to be there: customers with a company."""
        item = self._items[index]
        columns = tuple(item.meanings.columns)
        asked = self._target or self._counted
        names = tuple(
            c for c in columns if c.column in self._model.tables[c.table].name and c.rank == 0
        )
        others = tuple(c for c in columns if c not in names)
        if asked is not None:
            own = tuple(c for c in columns if c.table == asked.table)
            date = self._model.tables[asked.table].date
            if item.has("day") and date:
                own = (Column(asked.table, date),)
            columns = own or others
            if not columns or all(c in names for c in own) and own:
                self._use(item)
                return
        lead = [i.said.lower() for i in self._items[max(0, index - 3) : index] if i.is_filler]
        having = {"have", "has", "with", "gave", "left", "provided", "given", "got"}
        has = bool(lead) and lead[-1] in ("a", "an") and bool(having & {*lead})
        has = has or (bool(lead) and lead[-1] in ("have a", "has a", "with a"))
        self._use(item)
        if has and all(self._kind(c) in ("text", "contact", "category") for c in columns):
            if not any(c.columns == columns for c in self._conditions):
                self._conditions.append(Condition(columns, "given", value=True))
        elif self._counted is not None and columns:
            self._use_not(item)
            return
        self._shown.append(columns)

    def _use_not(self, item: Item) -> None:
        item.role = ""

    def _read_verbs(self) -> None:
        """What verbs of buying and earning come to, where nothing else says what is asked."""
        verbs = [i for i in self._items if not i.role and i.has("money_done", "costs", "wages")]
        measured = (
            any(a.measure == "money" for a in self._figures)
            or any(isinstance(w, Asked) and w.measure == "money" for w, _ in self._order)
            or any(a.measure == "money" for a, _, _ in self._having)
        )
        nothing = not (self._target or self._counted or self._figures or self._order)
        if nothing and verbs and not self._facts:
            if any(v.kind == "unknown" for v in self._items):
                return
            self._figures.append(Asked("sum", "money"))
            measured = True
        if measured:
            self._use(*verbs)
        told = [i for i in self._items if i.role and i.has("wages")] if measured else []
        if told:
            for named in self._named:
                tables = [self._model.tables[v.table] for v in named.values]
                if all(t.people and not t.pays for t in tables):
                    raise Unclear(told[0].said)
        ordered = bool(self._order) and (self._target is not None or bool(self._groups))
        for item in self._items:
            if item.role:
                continue
            how = item.has("totals") and item.said.lower() == "how much"
            at = self._items.index(item)
            beside = self._items[at - 1] if at else None
            amount = beside is not None and beside.role and self._numbers(beside)
            if item.has("costs") and amount:
                self._use(item)  # freight costs
            elif (how and (self._shown or ordered or self._asks_price())) or (
                item.has("costs") and (ordered or self._asks_price())
            ):
                self._use(item)

    def _is_verdict(self) -> bool:
        """Whether a yes or a no is asked for, about something that has a name."""
        first = self._items[0].said.lower().split(" ")[0] if self._items else ""
        return first in ("is", "are", "was", "were", "has", "have")

    def _asks_price(self) -> bool:
        """What something costs, that has a name: its price."""
        if self._figures or self._having or not self._named:
            return False
        prices = tuple(
            Column(name, column)
            for name, table in self._model.tables.items()
            for column, told in table.columns.items()
            if told.kind == "money" and {"price", "unit price"} & {*told.called} and table.name
        )
        if prices:
            self._shown.append(prices)
        return bool(prices)

    def _has_flag(self, item: Item) -> bool:
        return any(self._kind(c) == "flag" for c in item.meanings.columns)

    def _read_days(self, index: int) -> None:
        item = self._items[index]
        self._use(item, role="value")
        columns: tuple[Column, ...] = ()
        for step in (-1, 1):
            at = self._beside(index, step)
            if at is None:
                continue
            other = self._items[at]
            if other.meanings.dates and (not other.role) and not columns:
                self._use(other)
                columns = tuple(other.meanings.dates)
                if other.meanings.done:
                    self._facts.append(tuple(other.meanings.done))
                    columns = ()
        if self._days:
            self._read_two_periods(item.value)
            return
        self._days.append(Days(item.value, columns))

    def _read_two_periods(self, second: SpokenPeriod) -> None:
        """2024 and 2025, October and November: each by itself."""
        first = self._days.pop().period
        kinds = {_whole(first), _whole(second)}
        if len(kinds) != 1 or kinds == {""} or self._each_of or self._groups:
            raise Unclear("two stretches of days")
        each: Each = "year" if kinds == {"year"} else "month"
        size = 4 if each == "year" else 7
        texts = [p.start.isoformat()[:size] for p in (first, second) if p.start is not None]
        self._each_of = (each, tuple(sorted(texts)))
        self._groups.append(each)

    _each_of: tuple[Each, tuple[str, ...]] | None = None

    def _named_table(self, columns: Sequence[Column]) -> bool:
        wanted = {n.table for n in (self._target, self._counted) if n is not None}
        return not wanted or any(c.table in wanted for c in columns)

    def _costs(self, index: int) -> bool:
        """Whether a number is what something costs: films that cost 0.99."""
        at = self._beside(index, -1)
        before = self._items[at] if at is not None else None
        if before is None or before.role or not before.has("costs"):
            return False
        self._use(before)
        return True

    def _read_number(self, index: int) -> None:
        """The number of a row: order 10500."""
        item = self._items[index]
        before_at = self._beside(index, -1)
        before = self._items[before_at] if before_at is not None else None
        if before is None or not before.meanings.nouns:
            raise Unclear(item.said)
        table = before.meanings.nouns[0].table
        keys = self._model.tables[table].key
        if len(keys) != 1 or before.meanings.plural and before.role:
            raise Unclear(item.said)
        self._use(item, role="value")
        self._use(before)
        self._numbered = Need(table)
        condition = Condition((Column(table, keys[0]),), "is", item.value)
        self._conditions.append(condition)

    _numbered: Need | None = None

    def _read_value(self, index: int) -> None:
        item = self._items[index]
        near: set[str] = set()
        for step in (-1, 1):
            at = self._beside(index, step)
            if at is None:
                continue
            other = self._items[at]
            own = {n.table for n in other.meanings.nouns}
            own |= {c.table + "." + c.column for c in other.meanings.columns}
            named = own & (
                {v.table for v in item.meanings.values}
                | {f"{v.table}.{c}" for v in item.meanings.values for c in v.columns}
            )
            if named:
                near |= named
                if not other.role and (step == 1 or not other.meanings.plural):
                    self._use(other)
        before = self._items[index - 1] if index else None
        if before is not None and not before.meanings.nouns and before.meanings.roles:
            ends = before.said.lower().rpartition(" ")[2]
            role = Need(*before.meanings.roles[0])
            held = tuple(v for v in item.meanings.values if v.table == role.table)
            if ends in ("to", "by") and held:  # reporting to Ana
                self._use(before, item, role="value")
                if self._target == role or self._target is None:
                    self._target, self._plural = Need(role.owner), True
                self._named.append(Named(held, at=index, need=role))
                return
        values = tuple(item.meanings.values)
        if any(not v.part for v in values):
            values = tuple(v for v in values if not v.part)
        if near:
            exact = tuple(
                v for v in values if v.table in near or f"{v.table}.{v.columns[0]}" in near
            )
            values = exact or values
        self._use(item, role="value")
        self._named.append(Named(values, frozenset(near), at=index))

    def _read_noun(self, index: int) -> None:
        item = self._items[index]
        need = self._need(item)
        if need is None:
            return
        columns = tuple(item.meanings.columns)
        self._use(item)
        if columns and self._target is not None:
            own = tuple(c for c in columns if c.table == self._target.table)
            if own:
                self._shown.append(own)
                return
        self._also.append(need)
        if self._target is not None and (self._shown or self._is_listed(index)):
            self._shown_names.append(need)

    @property
    def _shown_names(self) -> list[Need]:
        return self.__dict__.setdefault("_shown_names_list", [])

    def _is_listed(self, index: int) -> bool:
        """Whether a column follows after a comma or an and: name, breed and date of birth."""
        after = self._items[index + 1 : index + 3]
        return any(i.meanings.columns and not i.meanings.values for i in after)

    def _read_contained(self, index: int) -> None:
        """Tracks with "blues" in the title."""
        item = self._items[index]
        for step in (1, -1):
            at = index + step
            while 0 <= at < len(self._items) and self._items[at].is_filler:
                at += step
            if not 0 <= at < len(self._items):
                continue
            other = self._items[at]
            if other.role or (other.kind != "unknown" and not other.meanings.values):
                continue
            text = other.said.strip("\"'“”‘’„«»")
            if not text:
                continue
            self._use(other, role="value")
            self._use(item, role="operator")
            self._contained.append(text)
            return

    @property
    def _contained(self) -> list[str]:
        return self.__dict__.setdefault("_contained_list", [])


def _is_number(said: str) -> bool:
    """Whether an end is one of how many."""
    return said.lower().rpartition(" ")[2] in {"most", "fewest", "least", "often"}


def _is_size(said: str) -> bool:
    """Whether an end is one of size, and not of how often or how well."""
    ends = {"highest", "largest", "biggest", "greatest", "lowest", "smallest"}
    return said.lower().rpartition(" ")[2] in ends


def _whole(period: SpokenPeriod) -> str:
    """Whether it is one year or one month of the calendar."""
    start, end = period.start, period.end
    if start is None or end is None or start.day != 1 or (end + timedelta(days=1)).day != 1:
        return ""
    if (start.month, end.month, start.year) == (1, 12, end.year):
        return "year"
    return "month" if (start.year, start.month) == (end.year, end.month) else ""


class _End(tuple):  # type: ignore[type-arg]
    """The degrees of one superlative, of which one fits what is asked for."""

    degrees: tuple[Degree, ...]

    def __new__(cls, degrees: tuple[Degree, ...]) -> "_End":
        made = super().__new__(cls, tuple(c for d in degrees for c in d.columns))
        made.degrees = degrees
        return made


class _Builder:
    """Puts together what was read: which of several columns is meant, and where it all starts."""

    def __init__(self, reader: _Reader) -> None:
        self._r, self._model = reader, reader._model
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
        preferred = self._r._target.table if self._r._target is not None else ""
        found = join(self._model, needs, self._roots, preferred)
        return found.cost if found is not None else None

    def _pick(self, columns: Sequence[Column]) -> Column:
        target = self._r._target.table if self._r._target is not None else ""
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
        target = self._r._target
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
        target = self._r._target
        if target is not None and target.step and target.table == value.table:
            return Need(value.table) if target.owner == value.table else target
        return self._need_of(value.table)

    # The query.

    def query(self) -> DataQuery:
        r = self._r
        self._settle_target()
        for need in (r._target, r._counted, *(n for n in r._also)):
            if need is not None:
                self._add(need)
        self._settle_facts()
        measures = self._measures()
        for group in r._groups:
            if isinstance(group, Need):
                self._add(group)
        for asked in self._all_asked():
            if asked.rows is not None:
                self._add(asked.rows)
        nothing = r._target is None and r._counted is None and not r._figures and not measures
        if nothing and not r._groups and not (r._when and r._end_of_days):
            self._target_from_values()
        elif not self._needs and not measures and not any(a.columns for a in self._all_asked()):
            self._target_from_values()
        best: tuple[float, DataQuery] | None = None
        if measures:
            why = ""
            for pair in measures:
                trial = _Builder(r)
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
        yield from r._figures
        for asked, _, _ in r._having:
            yield asked
        for what, _ in r._order:
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
        if r._when and r._end_of_days and not (r._facts or r._also or r._target):
            raise Unclear("when")
        if r._when and r._end_of_days and r._target is not None:
            r._also.append(r._target)
            r._target = None
            return
        sums = r._shown and all(self._amounts(s) for s in r._shown)
        if r._groups and sums and not (r._figures or r._target or r._counted or r._order):
            r._figures += [Asked("sum", columns=self._amounts(s)) for s in r._shown]
            r._shown.clear()
        asks_rows = not (r._figures or r._order or r._having or r._shown)
        if r._target is not None and asks_rows and (r._groups or self._is_compared()):
            r._counted, r._target = r._target, None
            return
        bound = r._having or r._order
        if r._target is None and r._shown and (bound or r._counted is not None and r._having):
            first = r._shown.pop(0)
            r._groups.insert(0, first)
            if not r._figures:
                return
        if r._target is not None or r._counted is not None or r._figures:
            return
        if self._is_compared() and r._facts:
            r._figures.append(Asked("sum", "units"))
            return
        if r._facts and not r._who and not r._when and not r._shown and not r._numbered:
            r._target = self._object()
            r._plural = not r._order
            return
        if r._numbered is not None and not r._shown and r._named == [] and self._is_held():
            r._target = self._object()
            r._plural = True
            return
        if r._who:
            r._target = self._people()
            r._plural = not r._order

    def _amounts(self, columns: Sequence[Column]) -> tuple[Column, ...]:
        return tuple(c for c in columns if self._r._kind(c) == "money")

    def _is_compared(self) -> bool:
        return self._r._compares and len(self._r._named) > 1

    def _is_held(self) -> bool:
        """Whether what is on or in something is asked for: what's on order 10500."""
        said = [i.said.lower() for i in self._r._items]
        return any(w in ("on", "in", "items", "inside") for w in said)

    def _object(self, holders: Sequence[str] = ()) -> Need:
        """What was bought or rented: the nearest thing with a name that is no person."""
        r = self._r
        facts = [*(t for tables in r._facts for t in tables)]
        held = {r._numbered.table} if r._numbered is not None else {*holders}
        facts += [
            name for name, table in self._model.tables.items()
            if any(link.table in held for link in table.links)
        ]  # fmt: skip
        named = {v.table for n in r._named for v in n.values}
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
        dates = {c.table for d in r._days for c in d.columns} | {
            c.table for s in r._shown for c in s
        }
        for table in candidates:
            if table in dates:
                return Need(table)
        needs = [Need(f[0]) for f in r._facts] or [Need(v.values[0].table) for v in r._named]
        ranked = []
        for order, table in enumerate(candidates):
            found = join(self._model, [*needs, Need(table)])
            if found is not None:
                pays = self._model.tables[table].pays
                ranked.append((found.cost - 1.5 * (pays and bool(r._facts)), order, table))
        if not ranked:
            raise Unclear("who")
        return Need(min(ranked)[2])

    def _settle_facts(self) -> None:
        """The tables that verbs name, one of several each."""
        for tables in self._r._facts:
            ranked = []
            for order, table in enumerate(tables):
                cost = self._cost([Need(table)])
                if cost is not None:
                    ranked.append((cost, order, table))
            if not ranked:
                raise Unclear("no way leads to " + tables[0])
            table = min(ranked)[2]
            self._add(Need(table))
            joint = "*".join(tables)
            swap = lambda a: a._replace(rows=Need(table)) if a.rows == Need(joint) else a  # noqa: E731
            r = self._r
            r._figures[:] = [swap(a) for a in r._figures]
            r._order[:] = [(swap(w) if isinstance(w, Asked) else w, d) for w, d in r._order]

    def _target_from_values(self) -> None:
        """Of what a name or a column tells: the price of X, the shortest comedy."""
        r = self._r
        for what, _ in r._order:
            if isinstance(what, _End) and what:
                r._target = Need(what[0].table)
                self._add(r._target)
                return
        if r._numbered is not None:
            r._target = r._numbered
            self._add(r._target)
            return
        if r._when and r._facts:
            return
        shown = {c.table for columns in r._shown for c in columns}
        if r._shown or r._order:
            self._named_target(shown)
            return
        if self._is_held():
            holders = [v.table for named in r._named for v in named.values]
            r._target = self._object(holders)
            r._plural = True
            self._add(r._target)
            return
        for named in r._named:
            for value in named.values:
                thing = self._thing_of(value)
                if thing is not None:
                    r._target, r._plural = thing, True
                    self._add(thing)
                    return
        said = [i for i in r._items if i.role == "value"]
        rest = [
            i for i in r._items if i.role != "value" and not i.is_filler and not i.meanings.nouns
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
        for named in r._named:
            own = [v for v in named.values if v.columns == tuple(self._model.tables[v.table].name)]
            best = [v for v in own if v.table in shown] or own
            if best:
                r._target = Need(best[0].table)
                self._add(r._target)
                return
        raise Unclear("nothing says what is asked for")

    def _built(self) -> tuple[DataQuery, Joined]:
        r = self._r
        conditions: list[tuple[Column, Comparison, Any]] = []
        figures: list[tuple[Asked, Column | None]] = []
        groups: list[Need | Column | Each] = []
        for group in r._groups:
            groups.append(group if isinstance(group, Need | str) else self._pick(group))
        for asked in r._figures:
            figures.append((asked, self._pick(asked.columns) if asked.columns else None))
        shown = [self._pick(columns) for columns in r._shown if columns]
        named = self._values()
        for condition in r._conditions:
            column, comparison, value = self._condition(condition)
            conditions.append((column, comparison, value))
        for mine, _, _ in r._against:
            self._pick((mine,))
        for comparison, value, is_money in r._bare:
            conditions += self._bare(comparison, value, is_money=is_money)
        order = [(self._order_of(what), down) for what, down in r._order]
        joined = self._join()
        order = [(self._summed(what, joined), down) for what, down in order]
        for text in r._contained:
            conditions.append((self._text_column(), "contains", text))
        joined = self._join()
        days = [(self._day_column(each, joined), each.period) for each in r._days]
        for column, _ in days:
            self._add(self._need_of(column.table))
        joined = self._join()
        tests: list[Test] = []
        for value, others, negated in named:
            tests += self._value_tests(joined, value, others, negated=negated)
        for column, comparison, what in conditions:
            path = joined.path(self._need_of(column.table), column.column)
            tests.append(Test(of=path, comparison=comparison, value=what))
        for mine, theirs, comparison in r._against:
            need = self._need_of(mine.table)
            path, than = joined.path(need, mine.column), joined.path(need, theirs.column)
            tests.append(Test(of=path, comparison=comparison, than=than))
        for column, period in days:
            tests += self._day_tests(
                joined.path(self._need_of(column.table), column.column), column, period
            )
        lacking = tuple(self._lacking(each, joined) for each in r._absent)
        query = self._composed(joined, groups, figures, shown, order, tests, lacking, named)
        return query, joined

    def _join(self) -> Joined:
        preferred = self._r._target or self._r._counted
        found = join(
            self._model, self._needs, self._roots, preferred.table if preferred is not None else ""
        )
        if found is None:
            raise Unclear("no table has all of it")
        return found

    def _values(self) -> list[tuple[Value, tuple[Value, ...], bool]]:
        """Each value that is named; values of one column that stand together are alternatives."""
        found: list[tuple[Value, list[Value], bool]] = []
        for named in self._r._named:
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
            if others and (value.table, value.columns[0]) in self._r.lists:
                path = joined.path(need, value.columns[0])
                texts = [v.values[0] for v in (value, *others)]
                return [Test(of=path, comparison="contains", value=text) for text in texts]
            if others:
                texts = [value.values[0], *(o.values[0] for o in others)]
                path = joined.path(need, value.columns[0])
                return [Test(of=path, comparison="in", value=texts)]
            comparison: Comparison = "not" if negated else "is"
            if (value.table, value.columns[0]) in self._r.lists and not negated:
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
        target = r._target or r._counted
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
        if isinstance(what, _End):
            column = self._pick(what)
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
        target = self._r._target
        if asked is not None or column is None or target is None:
            return what
        if self._depends(target, column, joined):
            return what
        if self._r._kind(column) not in ("money", "number"):
            raise Unclear(f"there may be several {column.column}")
        return Asked("sum", columns=(column,)), column, turned

    def _text_column(self) -> Column:
        target = self._r._target or self._r._counted
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
        if own.date and not (own.people and not self._r._when):
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
        target = r._target or r._counted
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
            scale = _SCALES.get((self._r._unit(column), self._r._said_unit), 1.0)
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
        for asked, comparison, value in r._having:
            column = self._pick(asked.columns) if asked.columns else None
            figure = self._figure(asked, column, joined)
            number = value if isinstance(value, int | float) else float(value)
            having.append(Test(of=figure, comparison=comparison, value=number))
        if r._compares or self._compared_values(named):
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
        if r._counted is not None:
            wanted.append(
                self._figure(Asked("count", rows=r._counted, distinct=True), None, joined)
            )
        wanted += [self._figure(asked, column, joined) for asked, column in figures]
        if r._when and r._end_of_days:
            column = self._day_column(Days(None), joined)  # type: ignore[arg-type]
            self._add(self._need_of(column.table))
            path = self._join().path(self._need_of(column.table), column.column)
            wanted.append(Figure(operation=r._end_of_days, of=path))  # type: ignore[arg-type]
        orders: list[Order] = []
        limit = r._limit
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
        target = r._target
        is_list = target is not None and r._counted is None
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
        if r._top and not orders:
            if not wanted and self._chosen and is_list:
                wanted.append(Figure(operation="sum", of=next(iter(self._chosen.values())).name))
            if not wanted:
                raise Unclear("nothing says what is best")
            orders.append(Order(by=wanted[0], descending=r._top_down))
        if orders and limit is None and r._order and is_list and not r._direction:
            limit = _LISTED if r._plural else 1
            if by and not self._is_superlative():
                limit = None
        if (
            orders
            and limit is None
            and r._order
            and groups
            and not is_list
            and self._is_superlative()
        ):
            limit = 1
        if not orders:
            orders = self._usual_order(wanted, by, target, joined, is_list=is_list)
        if r._when and not wanted and not shown and is_list:
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
            for i in self._r._items
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
            if self._r._each_of is not None:
                self._span_tests.append(
                    Test(of=span, comparison="in", value=list(self._r._each_of[1]))
                )
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
        for need in self._r._shown_names:
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
        if spans and r._direction != "desc":
            return [Order(by=spans[0])]
        if wanted and by:
            return [Order(by=wanted[0], descending=r._direction != "asc")]
        if is_list and target is not None:
            table = self._model.tables[target.table]
            if r._direction and table.date:
                path = joined.path(target, table.date)
                return (
                    []
                    if by and path not in by
                    else [Order(by=path, descending=r._direction == "desc")]
                )
            if table.name and (r._alphabetical or not r._direction):
                return [Order(by=joined.path(target, c)) for c in table.name]
            if table.key:
                return [Order(by=joined.path(target, c)) for c in table.key]
        return []
