"""A question about rows in one small form: conditions, groups, sums, order, number, columns.

    where:     {field, operator, value} | {all: […]} | {any: […]} | {not: …}
    group:     [field, …]
    aggregate: [{operation, field}, …]
    sort:      [{field, order}, …]
    limit:     how many rows; with `ties`, also those that equal the last one in order
    columns:   [field, …]          drop: [field, …]
    distinct:  true, for each row once

They are done in this order, and each part may be left out.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Final

from server.core.suggestions import described_value, unknown
from server.core.tools import ToolParameter
from server.errors import ArgumentsInvalid
from server.tools.numbers import read_integer
from server.tools.rows.aggregates import AGGREGATES, aggregate
from server.tools.rows.conditions import OPERATORS, WITHOUT_VALUE, condition
from server.tools.rows.fields import (
    MISSING,
    Rank,
    RowField,
    find_called_field,
    language_vocabulary,
    rank,
)
from server.tools.rows.moments import Moments
from server.tools.rows.reader import MAX_ROWS, Row

MAX_DEPTH: Final = 8
MAX_CONDITIONS: Final = 100
MAX_PARTS: Final = 50
"""Most fields, keys of an order, or aggregates."""

PARTS: Final = (
    "where", "group", "aggregate", "sort", "limit", "ties", "columns", "drop", "distinct",
)  # fmt: skip
_CONDITION: Final = frozenset({"field", "operator", "value"})
_OWN: Final = frozenset({"between", "blank", "filled"})
"""Operators beside those of `filter`."""
_BLANK: Final[tuple[Any, ...]] = (None, "", [], {})
_OPERATOR: Final = ToolParameter("operator", "string", vocabulary=OPERATORS)
_OPERATION: Final = ToolParameter("operation", "string", vocabulary=AGGREGATES)
_ORDER: Final = ToolParameter("order", "string", vocabulary=language_vocabulary("orders"))

Test = Callable[[int], bool]
"""Whether the row at a place is one that was asked for."""


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What came of a query; `query` is the same with every name as the rows have it."""

    value: Any
    count: int
    query: Mapping[str, Any]
    notes: tuple[str, ...]
    """Names that were found by what somebody called them: `price` by “prise”."""


def run_query(rows: Sequence[Row], query: Any, moments: Moments) -> QueryResult:
    """Work out a query over rows, or raise `ArgumentsInvalid` or `ToolFailed`."""
    written = _mapping(query, "query", PARTS)
    return _Run(list(rows), moments).result(written)


@dataclass(slots=True)
class _Run:
    """One query: the rows as they are at each step, and the query as it was understood."""

    rows: list[Row]
    moments: Moments
    notes: dict[str, str] = field(default_factory=dict)
    understood: dict[str, Any] = field(default_factory=dict)
    conditions: int = 0

    def result(self, query: Mapping[str, Any]) -> QueryResult:
        if "where" in query:
            test, self.understood["where"] = self._test(query["where"], 0)
            self.rows = [row for at, row in enumerate(self.rows) if test(at)]
        summed: Any = None
        if "group" in query or "aggregate" in query:
            asked = query.get("aggregate", [{"operation": "count"}])
            summed = self._aggregate(asked, self._fields(query.get("group", []), "group"))
        if "sort" in query:
            self._sort(query["sort"])
        if "limit" in query:
            self._limit(query)
        self._cut(query)
        value = summed if summed is not None and not query.get("group") else self.rows
        count = len(self.rows)
        return QueryResult(value, count, self.understood, tuple(self.notes.values()))

    def _field(self, asked: Any, name: str) -> RowField:
        found, note = find_called_field(self.rows, asked, name)
        if note:
            self.notes[found.name] = note
        return found

    def _fields(self, asked: Any, name: str) -> list[RowField]:
        names = _several([asked] if isinstance(asked, str) else asked, name)
        return [self._field(one, name) for one in names]

    def _test(self, where: Any, depth: int) -> tuple[Test, Any]:
        if depth > MAX_DEPTH:
            raise ArgumentsInvalid(f"where is nested too deeply; at most {MAX_DEPTH} levels")
        if isinstance(where, list | tuple):
            where = {"all": list(where)}
        if not isinstance(where, Mapping):
            raise ArgumentsInvalid(f"where must be a condition, not {described_value(where)}")
        joint = next((key for key in ("all", "any", "not") if key in where), None)
        if joint is None:
            return self._condition(_mapping(where, "a condition", _CONDITION))
        if len(where) != 1:
            raise ArgumentsInvalid(f"{joint!r} stands by itself in a condition")
        if joint == "not":
            test, inner = self._test(where["not"], depth + 1)
            return (lambda at: not test(at)), {"not": inner}
        parts = [self._test(one, depth + 1) for one in _several(where[joint], joint, least=0)]
        tests = [test for test, _ in parts]
        holds = all if joint == "all" else any
        return (lambda at: holds(test(at) for test in tests)), {joint: [one for _, one in parts]}

    def _condition(self, written: Mapping[str, Any]) -> tuple[Test, Any]:
        self.conditions += 1
        if self.conditions > MAX_CONDITIONS:
            raise ArgumentsInvalid(f"where has more than {MAX_CONDITIONS} conditions")
        asked = written.get("operator", "eq")
        operator = asked if asked in _OWN else _OPERATOR.value_of(asked)
        column = self._field(written.get("field"), "field")
        target = written.get("value")
        if target is None and operator not in WITHOUT_VALUE | {"blank", "filled"}:
            raise ArgumentsInvalid(f"the condition on {column.name!r} needs value for {operator}")
        understood = {"field": column.name, "operator": operator}
        if target is not None:
            understood["value"] = target
        values = column.values(self.rows)
        if operator in ("blank", "filled"):
            wanted = operator == "blank"
            return (lambda at: _is_blank(values[at]) == wanted), understood
        if operator in ("gt", "gte", "lt", "lte", "eq", "ne", "between", "in", "not_in"):
            values, target = self.moments.compared(values, target)
        if operator == "between":
            low, high = _ends(target, column.name)
            above, below = condition("gte", low), condition("lte", high)
            return (lambda at: above(values[at]) and below(values[at])), understood
        test = condition(operator, target)
        return (lambda at: test(values[at])), understood

    def _aggregate(self, asked: Any, group: Sequence[RowField]) -> Any:
        parts: list[tuple[str, str, RowField | None]] = []
        for one in _several(asked, "aggregate"):
            part = _mapping(one, "an aggregate", ("operation", "field"))
            operation = _OPERATION.value_of(part.get("operation"))
            named = part.get("field")
            if named is None and operation != "count":
                raise ArgumentsInvalid(f"aggregate needs field for {operation}")
            column = None if named is None else self._field(named, "field")
            name = operation if column is None else f"{operation}_{column.name}"
            parts.append((name, operation, column))
        self.understood["aggregate"] = [
            {"operation": operation} | ({"field": column.name} if column else {})
            for _, operation, column in parts
        ]
        if not group:
            found = {name: self._reduced(self.rows, op, column) for name, op, column in parts}
            return next(iter(found.values())) if len(found) == 1 else found
        names = [one.name for one in group]
        self.understood["group"] = names
        members: dict[tuple[Rank, ...], list[Row]] = {}
        columns = [one.values(self.rows, absent=None) for one in group]
        for row, keys in zip(self.rows, zip(*columns, strict=True), strict=True):
            members.setdefault(tuple(map(rank, keys)), []).append(row)
        summed: list[Row] = []
        for rows in members.values():
            first = {one.name: one.values(rows[:1], absent=None)[0] for one in group}
            sums = {name: self._reduced(rows, op, column) for name, op, column in parts}
            summed.append(first | sums)
        self.rows = summed
        return None

    def _reduced(self, rows: Sequence[Row], operation: str, column: RowField | None) -> Any:
        if column is None:
            return len(rows)
        values = [v for v in column.values(rows, absent=None) if v is not None]
        if operation in ("min", "max") and values:
            pick = min if operation == "min" else max
            return pick(zip(self.moments.ranks(values), values, strict=True), key=itemgetter(0))[1]
        return aggregate(operation, values, column.name)

    def _sort(self, asked: Any) -> None:
        keys = _several(asked, "sort")
        done = []
        order = list(range(len(self.rows)))
        for key in reversed(keys):
            written = {"field": key} if isinstance(key, str) else key
            part = _mapping(written, "a key of sort", ("field", "order"))
            column = self._field(part.get("field"), "sort")
            direction = _ORDER.value_of(part.get("order", "asc"))
            values = column.values(self.rows, absent=None)
            ranks = self.moments.ranks(values)
            present = [at for at in order if values[at] is not None]
            absent = [at for at in order if values[at] is None]
            present.sort(key=ranks.__getitem__, reverse=direction == "desc")
            order = present + absent
            done.append({"field": column.name, "order": direction})
        self.rows = [self.rows[at] for at in order]
        self.understood["sort"] = done[::-1]

    def _limit(self, query: Mapping[str, Any]) -> None:
        limit = read_integer(query["limit"], "limit", least=1, most=MAX_ROWS)
        self.understood["limit"] = limit
        rows, keys = self.rows, self.understood.get("sort", [])
        kept = rows[:limit]
        if query.get("ties") and keys and kept:
            self.understood["ties"] = True
            names = [find_called_field(rows, key["field"], "sort")[0] for key in keys]
            columns = [self.moments.ranks(one.values(rows, absent=None)) for one in names]
            last = limit - 1 if len(rows) >= limit else len(rows) - 1
            edge = [column[last] for column in columns]
            while last + 1 < len(rows) and [column[last + 1] for column in columns] == edge:
                last += 1
            kept = rows[: last + 1]
            if any(value is None for value in names[0].values(kept[:1], absent=None)):
                kept = []  # no row has a value to be the largest
        self.rows = kept

    def _cut(self, query: Mapping[str, Any]) -> None:
        if "columns" in query:
            fields = self._fields(query["columns"], "columns")
            names = [one.name for one in fields]
            self.understood["columns"] = names
            columns = [one.values(self.rows, absent=None) for one in fields]
            self.rows = [dict(zip(names, each, strict=True)) for each in zip(*columns, strict=True)]
        if "drop" in query:
            away = {one.name for one in self._fields(query["drop"], "drop")}
            self.understood["drop"] = sorted(away)
            self.rows = [{k: v for k, v in row.items() if k not in away} for row in self.rows]
        if query.get("distinct"):
            self.understood["distinct"] = True
            first: dict[Rank, Row] = {}
            for row in self.rows:
                first.setdefault(rank({k: rank(v) for k, v in row.items()}), row)
            self.rows = list(first.values())


def _is_blank(value: Any) -> bool:
    return value is MISSING or value in _BLANK or (isinstance(value, str) and not value.strip())


def _ends(target: Any, name: str) -> tuple[Any, Any]:
    if not isinstance(target, list | tuple) or len(target) != 2:
        raise ArgumentsInvalid(f"the condition on {name!r} needs two values for between")
    low, high = target
    return (high, low) if rank(high) < rank(low) else (low, high)


def _mapping(value: Any, name: str, known: Sequence[str] | frozenset[str]) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ArgumentsInvalid(f"{name} must be an object, not {described_value(value)}")
    for key in value:
        if key not in known:
            raise ArgumentsInvalid(unknown(f"the part of {name}", key, sorted(known)))
    return {key: one for key, one in value.items() if one is not None}


def _several(value: Any, name: str, *, least: int = 0) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise ArgumentsInvalid(f"{name} must be a list, not {described_value(value)}")
    if not least <= len(value) <= MAX_PARTS:
        raise ArgumentsInvalid(f"{name} may have up to {MAX_PARTS} parts, not {len(value)}")
    return list(value)
