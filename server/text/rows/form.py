"""What was asked about rows so far, and the query that it comes to."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from server.text.rows.joining import Condition, Unclear, either, joined, opposite
from server.text.rows.words import PLAIN, RowProfile

_NUMERIC: Final = frozenset({"sum", "average", "median"})


@dataclass(slots=True)
class Key:
    """A column that rows are sorted by."""

    field: str
    order: str = "asc"


@dataclass(slots=True)
class RowForm:
    """Filled in word by word; `query` says what it comes to, or raises `Unclear`."""

    profile: RowProfile
    conditions: list[Condition] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    sort: list[Key] = field(default_factory=list)
    group: list[str] = field(default_factory=list)
    aggregates: list[tuple[str, str]] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)
    pending_degree: str = ""
    counting: bool = False
    distinct: bool = False
    sorting: bool = False
    grouping: bool = False
    showing: bool = False
    keeping: bool = False
    removing: bool = False
    only: bool = False
    joint: Literal["", "and", "or"] = ""
    _negated: bool = False
    _excluding: bool = False
    _excluded_at: int = -1
    _excluded_before: bool = False
    _top: tuple[str, int] | None = None
    _ranked: list[tuple[str, str, int]] = field(default_factory=list)
    _order: str = ""
    _summed: str = ""

    # Said on the way.

    def boundary(self) -> None:
        """A sentence has ended, or the rows stand there."""
        if self._negated or (self._excluding and not self._used_exclusion):
            self._dangling = True
        self._excluding = False
        self.joint = ""

    _used_exclusion: bool = True
    _dangling: bool = False

    def comma(self) -> None:
        self._excluding = False

    def joined(self) -> None:
        self.joint = "and"

    def negate(self) -> None:
        if self._negated:
            self._dangling = True
        self._negated = True

    def exclude(self) -> None:
        """What follows is left out; after a verb that leaves out, it is what is kept."""
        self._excluding, self._used_exclusion = True, False

    def started(self) -> bool:
        return bool(self.conditions or self.columns or self.sort or self.aggregates)

    def wants_column(self) -> bool:
        """Whether a column has been asked for by name, so that one is no condition."""
        return bool(self.pending)

    # Conditions.

    def add(self, name: str, operator: str, value: Any, *, negated: bool = False) -> None:
        test = {"field": name, "operator": operator}
        if value is not None:
            test["value"] = value
        self._put(test, negated=negated)

    def add_values(self, name: str, values: Sequence[Any], *, negated: bool = False) -> None:
        if len(values) == 1:
            self._put({"field": name, "operator": "eq", "value": values[0]}, negated=negated)
        else:
            self._put({"field": name, "operator": "in", "value": list(values)}, negated=negated)

    def _put(self, test: dict[str, Any], *, negated: bool) -> None:
        removed = self.removing != self._excluding
        if self._excluding:
            if self._used_exclusion and self.joint:
                raise Unclear  # all but the red ones and those over 5
            self._used_exclusion = True
        if self._negated != negated:
            test = opposite(test)
        self._negated = False
        last = self.conditions[-1] if self.conditions else None
        if last and last.removed == removed and self.joint in ("and", "or"):
            # No row is red and blue: the red ones and the blue ones are meant.
            both = either(last.test, test)
            if both is not None:
                last.test, self.joint = both, ""
                return
        self.conditions.append(Condition(test, self.joint, removed))
        self.joint = ""

    # Sums.

    def aggregate(self, operations: Sequence[str], name: str) -> None:
        self.aggregates += [(operation, name) for operation in operations]

    def sums(self) -> bool:
        return bool(self.aggregates or self.pending or self.counting)

    def per_row(self) -> bool:
        """Whether an average is asked for, which is one for each row anyway."""
        return any(op in ("average", "median") for op, _ in self.aggregates) or bool(
            self.pending and self.pending[-1] in ("average", "median")
        )

    # Order.

    def last_key(self) -> Key | None:
        return self.sort[-1] if self.sort else None

    def direct(self, order: str, name: str = "") -> None:
        if name:
            if self.sort and self.sort[-1].field == name:
                self.sort[-1].order = order
            else:
                self.sort.append(Key(name, order))
        elif self.sort:
            self.sort[-1].order = order
        else:
            self._order = order

    def top(self, order: str, count: int) -> None:
        if self._top is not None or not count >= 1:
            raise Unclear
        self._top = order, count

    def first_rows(self, count: int) -> None:
        """The first of the rows in whatever order they come to stand."""
        if self._limit is not None or count < 1:
            raise Unclear
        self._limit = count

    def has_top(self) -> bool:
        return self._top is not None

    def rank_by(self, name: str) -> None:
        if self._top is None:
            raise Unclear
        self._ranked.append((name, *self._top))
        self._top = None

    def rank(self, name: str, order: str, count: int) -> None:
        """The rows at one end of a column; the one there is, where no number is said."""
        self._ranked.append((name, order, count))

    def rank_sums(self, order: str, name: str) -> None:
        """The group with the largest sum, or the smallest."""
        self._summed = order
        if name:
            self.group, self.grouping = [name], True

    # Columns.

    def show_column(self, name: str, *, surely: bool) -> bool:
        """Take a column as what is shown, summed up or left out; False where it names rows."""
        if self.joint == "or":
            raise Unclear
        if self.pending:
            self.aggregate(self.pending, name)
            self._last_pending, self.pending = list(self.pending), []
            return True
        if self.group and self.grouping and self.joint == "and":
            self.group.append(name)
            self.joint = ""
            return True
        if self.aggregates and self.joint == "and" and self._last_pending:
            self.aggregate(self._last_pending, name)
            self.joint = ""
            return True
        if self._excluding or (self.dropped and self.joint == "and" and not self.removing):
            self._used_exclusion = True
            self.joint = ""
            (self.columns if self.removing else self.dropped).append(name)
            return True
        if self.removing:
            self.dropped.append(name)
            self.joint = ""
            return True
        if self.only or surely or self.columns:
            if self.counting:
                raise Unclear
            self.columns.append(name)
            self.joint = ""
            return True
        return False

    _last_pending: list[str] = field(default_factory=list)

    # The end.

    def query(self) -> dict[str, Any]:
        """Return the query, or raise `Unclear`."""
        if self._negated or self._dangling or not self._used_exclusion or self.joint == "or":
            raise Unclear
        self._settle_sums()
        self._settle_order()
        query: dict[str, Any] = {}
        if self.conditions:
            query["where"] = self._where()
        elif self.removing and not (self.dropped or self.columns):
            raise Unclear
        if self.group and not self.aggregates and not self.counting:
            raise Unclear
        if self.aggregates or self.counting:
            self._check_sums()
            query["aggregate"] = [
                {"operation": op, "field": name} for op, name in self.aggregates
            ] or [{"operation": "count"}]
            if self.group:
                query["group"] = list(dict.fromkeys(self.group))
            if (self.sort or self._limit) and not self.group:
                raise Unclear
        if self.sort:
            query["sort"] = [{"field": one.field, "order": one.order} for one in self.sort]
        if self._limit is not None:
            query["limit"] = self._limit
            if self._ties:
                query["ties"] = True
        if self.columns:
            query["columns"] = list(dict.fromkeys(self.columns))
        if self.dropped:
            query["drop"] = list(dict.fromkeys(self.dropped))
        if self.distinct:
            query["distinct"] = True
        if not query or (self.columns and self.dropped):
            raise Unclear
        return query

    _limit: int | None = None
    _ties: bool = False

    def _settle_sums(self) -> None:
        if self.pending:
            names = [PLAIN] if self.profile.is_plain else self.profile.of_kind("number")
            if len(names) != 1 or self.columns:
                raise Unclear
            self.aggregate(self.pending, names[0])

    def _check_sums(self) -> None:
        if self.columns or self.dropped or self.distinct:
            raise Unclear
        if self.counting and self.aggregates:
            raise Unclear
        for operation, name in self.aggregates:
            if operation in _NUMERIC and self.profile.kinds.get(name) not in ("number", "mixed"):
                raise Unclear
        told_once = any(op in ("distinct", "count_distinct") for op, _ in self.aggregates)
        if told_once and len(self.aggregates) > 1:
            raise Unclear

    def _settle_order(self) -> None:
        numbers = [PLAIN] if self.profile.is_plain else self.profile.of_kind("number")
        if self._top is not None:
            keys = {key.field for key in self.sort}
            names = list(keys) if len(keys) == 1 else numbers
            if len(names) != 1:
                raise Unclear
            self.sort = []
            self.rank_by(names[0])
        if len(self._ranked) > 1:
            raise Unclear
        if self._ranked:
            name, order, count = self._ranked[0]
            if self.sort and [key.field for key in self.sort] != [name]:
                raise Unclear
            self.sort = [Key(name, order)]
            if self._limit is not None:
                raise Unclear
            self._limit, self._ties = max(count, 1), not count
            if self.group or self.aggregates or self.counting:
                raise Unclear
        if self._summed:
            if len(self.aggregates) != 1 or len(self.group) != 1:
                if len(self.aggregates) != 1 or len(self.columns) != 1 or self.group:
                    raise Unclear
                self.group, self.columns = self.columns, []
            operation, name = self.aggregates[0]
            self.sort = [Key(f"{operation}_{name}", self._summed)]
            self._limit, self._ties = 1, True
        if self._order or (self.sorting and not self.sort):
            self._settle_direction()

    def _settle_direction(self) -> None:
        order = self._order or "asc"
        if self.sort:
            if self._order:
                self.sort[-1].order = order
            return
        if self.group and len(self.aggregates) == 1:
            operation, name = self.aggregates[0]
            self.sort = [Key(f"{operation}_{name}", order)]
        elif self.profile.is_plain:
            self.sort = [Key(PLAIN, order)]
        elif len(self.profile.kinds) == 1:
            self.sort = [Key(next(iter(self.profile.kinds)), order)]
        elif len(self.columns) == 1:
            self.sort = [Key(self.columns[0], order)]
        else:
            raise Unclear

    def _where(self) -> dict[str, Any]:
        kept = [one for one in self.conditions if not one.removed]
        away = [one for one in self.conditions if one.removed]
        parts = []
        if kept:
            parts.append(joined(kept))
        if away:
            inner = joined(away)
            parts.append(opposite(inner))
        return parts[0] if len(parts) == 1 else {"all": parts}
