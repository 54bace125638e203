"""What a statement does with a database, read with sqlglot before anybody asks it."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, traverse_scope

from server.core.suggestions import did_you_mean
from server.core.tools import Effect
from server.library.sql_text import Binding, ConditionFailed, FilledSql, SqlText
from server.tools.sql.address import DatabaseKind
from server.tools.sql.schema import Column, DatabaseSchema, Table
from server.tools.sql.statement import written

Comparison = Literal["=", "<>", "<", "<=", ">", ">=", "in", "like"]

_DIALECTS: Final[Mapping[DatabaseKind, str]] = {
    "sqlite": "sqlite", "postgresql": "postgres", "duckdb": "duckdb",
}  # fmt: skip
_MARK: Final = "orbit_argument_"
_MOST_VARIANTS: Final = 16
_COMPARISONS: Final[Mapping[type[exp.Expr], Comparison]] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
    exp.Like: "like", exp.ILike: "like", exp.In: "in", exp.Is: "=",
    exp.NullSafeEQ: "=",
}  # fmt: skip
_TURNED: Final[Mapping[Comparison, Comparison]] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_READS: Final = (exp.Select, exp.SetOperation, exp.Subquery, exp.Values)
_CHANGES: Final = (exp.Insert, exp.Update, exp.Delete, exp.Merge)


class NotRead(ValueError):
    """A statement that cannot be parsed; the message says where."""


@dataclass(frozen=True, slots=True)
class ColumnUse:
    """The column that an argument is compared with, or the columns that make up a name."""

    table: Table
    column: Column
    comparison: Comparison
    folded: Literal["", "lower", "upper"] = ""
    """The case that the column is put into, where the argument has to have it already."""
    joined: tuple[Column, ...] = ()
    """Columns that follow it, each after a blank: first_name || ' ' || last_name."""

    @property
    def columns(self) -> tuple[Column, ...]:
        return (self.column, *self.joined)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


def variants(
    sql: SqlText, given: Mapping[str, Sequence[Any]] | None = None
) -> Iterator[tuple[FilledSql, Mapping[str, Any]]]:
    """The statements that conditions make of SQL, each once, with arguments that lead to it.

    `given` are the values that conditions are tried with, by argument: None where it may be absent.
    """
    names = sorted(sql.conditions)
    choices = [(given or {}).get(name, (None, 1)) for name in names]
    seen: set[FilledSql] = set()
    for values in _combinations(choices):
        arguments = dict(zip(names, values, strict=True))
        try:
            filled = sql.fill(arguments)
        except ConditionFailed:
            continue
        if filled not in seen:
            seen.add(filled)
            yield filled, arguments


def _combinations(choices: Sequence[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """All combinations of values where they are few.

    Of many, each value by itself, beside all others given and beside none of them given.
    """
    if math.prod(map(len, choices)) <= _MOST_VARIANTS:
        yield from itertools.product(*(reversed(each) for each in choices))
        return
    most, least = tuple(each[-1] for each in choices), tuple(each[0] for each in choices)
    for others in (most, least):
        yield others
        for at, each in enumerate(choices):
            yield from ((*others[:at], value, *others[at + 1 :]) for value in each)


def statement_problems(
    filled: FilledSql,
    kinds: Sequence[DatabaseKind],
    effect: Effect,
    schema: DatabaseSchema | None = None,
) -> Iterator[str]:
    """What keeps a statement from being run: more than one, of another kind, unknown names.

    It is read as any of the `kinds` of database.
    """
    try:
        statements = _first_read(filled, kinds)
    except NotRead as wrong:
        yield f"the SQL cannot be read: {wrong}"
        return
    if len(statements) != 1:
        yield f"the SQL holds {len(statements)} statements; a template runs one"
        return
    root = statements[0]
    changing = [node for node in root.walk() if isinstance(node, (*_CHANGES, exp.Into, exp.DDL))]
    if effect == "read" and (changing or not isinstance(root, _READS)):
        what = type(changing[0] if changing else root).__name__.upper()
        hint = "; write effect: write if it should change something" if changing else ""
        yield f"the SQL is no SELECT: it holds {what}{hint}"
    elif effect == "write" and not isinstance(root, _CHANGES):
        what = type(root).__name__.upper()
        yield f"effect: write is for INSERT, UPDATE and DELETE; the SQL is {what}"
    elif schema is not None:
        yield from _unknown_names(root, schema)


def parameter_columns(
    sql: SqlText, kind: DatabaseKind, schema: DatabaseSchema
) -> Mapping[str, ColumnUse]:
    """The column that each argument is compared with, where there is one and only one."""
    found: dict[str, ColumnUse] = {}
    several: set[str] = set()
    for filled, _ in variants(sql):
        for name, use in _uses(filled, kind, schema):
            other = found.setdefault(name, use)
            if (other.table.written, other.names) != (use.table.written, use.names):
                several.add(name)
    return {name: use for name, use in found.items() if name not in several}


@lru_cache(maxsize=1024)
def summed_columns(sql: SqlText) -> frozenset[str]:
    """The columns of a result, in lower case, that are counts and sums of groups of rows.

    Over different groups they may be added up; averages and distinct counts may not.
    """
    found = list[frozenset[str]]()
    for filled, _ in variants(sql):
        try:
            statements = _first_read(filled, tuple(_DIALECTS))
        except NotRead:
            return frozenset()
        select = statements[0] if len(statements) == 1 else None
        if not isinstance(select, exp.Select) or select.args.get("group") is None:
            return frozenset()
        found.append(frozenset(e.alias_or_name.lower() for e in select.expressions if _sums(e)))
    return frozenset.intersection(*found) if found else frozenset()


@lru_cache(maxsize=1024)
def counts_rows(sql: SqlText) -> bool:
    """Whether all that comes of it is how many rows there are."""
    filled = next((one for one, _ in variants(sql)), None)
    try:
        statements = _first_read(filled, tuple(_DIALECTS)) if filled is not None else ()
    except NotRead:
        return False
    select = statements[0] if len(statements) == 1 else None
    if not isinstance(select, exp.Select) or select.args.get("group") is not None:
        return False
    return len(select.expressions) == 1 and isinstance(select.expressions[0].unalias(), exp.Count)


def _sums(expression: exp.Expr) -> bool:
    while isinstance(expression, exp.Alias | exp.Paren | exp.Round | exp.Coalesce | exp.Cast):
        expression = expression.this
    if isinstance(expression, exp.Sum | exp.Count):
        return not isinstance(expression.this, exp.Distinct)
    return False


def is_argument(name: str) -> bool:
    return name.startswith(_MARK)


def _first_read(filled: FilledSql, kinds: Sequence[DatabaseKind]) -> Sequence[exp.Expr]:
    failures: list[NotRead] = []
    for kind in kinds:
        try:
            return _parsed(filled, kind)
        except NotRead as wrong:
            failures.append(wrong)
    raise failures[0]


@lru_cache(maxsize=1024)
def _parsed(filled: FilledSql, kind: DatabaseKind) -> tuple[exp.Expr, ...]:
    """The statements, with every argument as a column of a name of ours."""
    text = "".join(
        f"{_MARK}{part.name}" if isinstance(part, Binding) else written(part, kind)
        for part in filled.parts
    )
    try:
        parsed = sqlglot.parse(text, read=_DIALECTS[kind])
    except SqlglotError as wrong:
        raise NotRead(_where(wrong, filled)) from wrong
    except RecursionError:
        raise NotRead("it is nested too deeply") from None
    return tuple(each for each in parsed if each is not None)


def _where(wrong: SqlglotError, filled: FilledSql) -> str:
    errors = getattr(wrong, "errors", None) or [{}]
    first = errors[0]
    near = str(first.get("highlight") or "").replace(_MARK, ":")
    line = first.get("line")
    said = str(first.get("description") or str(wrong).partition("\n")[0]).rstrip(".")
    place = f" in line {line}" if line and "\n" in filled.shown() else ""
    return f"{said.replace(_MARK, ':')}{f' near {near!r}' if near else ''}{place}"


def _unknown_names(root: exp.Expr, schema: DatabaseSchema) -> Iterator[str]:
    defined = {cte.alias.lower() for cte in root.find_all(exp.CTE)}
    known = sorted(schema.tables)
    missing = False
    for table in root.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier) or table.name.lower() in defined:
            continue
        if schema.table(_written(table)) is None and schema.table(table.name) is None:
            missing = True
            yield f"there is no table {_written(table)!r}; {did_you_mean(table.name, known)}"
    if not missing:
        yield from _unknown_columns(root, schema)


def _written(table: exp.Table) -> str:
    return f"{table.db}.{table.name}" if table.db else table.name


def _unknown_columns(root: exp.Expr, schema: DatabaseSchema) -> Iterator[str]:
    for scope in _scopes(root):
        for column in scope.columns:
            source = scope.sources.get(column.table) if column.table else None
            if is_argument(column.name) or not isinstance(source, exp.Table):
                continue
            table = schema.table(_written(source)) or schema.table(source.name)
            if table is not None and _column(table, column.name) is None:
                hint = did_you_mean(column.name, sorted(table.columns))
                yield f"the table {table.name!r} has no column {column.name!r}; {hint}"


def _scopes(root: exp.Expr) -> Sequence[Scope]:
    try:
        return traverse_scope(root)
    except (SqlglotError, RecursionError):
        return ()  # the database itself is asked as well


def _column(table: Table, name: str) -> Column | None:
    folded = name.lower()
    return next((c for c in table.columns.values() if c.name.lower() == folded), None)


def _uses(
    filled: FilledSql, kind: DatabaseKind, schema: DatabaseSchema
) -> Iterator[tuple[str, ColumnUse]]:
    try:
        statements = _parsed(filled, kind)
    except NotRead:
        return
    for root in statements:
        for scope in _scopes(root):
            for column in scope.columns:
                if is_argument(column.name):
                    use = _use(column, scope, schema)
                    if use is not None:
                        yield column.name.removeprefix(_MARK), use


def _use(argument: exp.Column, scope: Scope, schema: DatabaseSchema) -> ColumnUse | None:
    comparing: exp.Expr | None = argument.parent
    while comparing is not None and not isinstance(comparing, (*_COMPARISONS, exp.Between)):
        if isinstance(comparing, exp.Connector | exp.Select | exp.Where):
            return None
        comparing = comparing.parent
    if comparing is None:
        return None
    beside = [
        column
        for column in comparing.find_all(exp.Column)
        if not is_argument(column.name) and column.find_ancestor(exp.Select) is scope.expression
    ]
    if len(beside) > 1:
        beside = _joined(beside, comparing)
    if not beside:
        return None
    found = [_column_of(one, scope, schema) for one in beside]
    known = [one for one in found if one is not None]
    if len(known) < len(found) or any(table is not known[0][0] for table, _ in known):
        return None
    folded = _folded(beside[0], comparing) if not _folded(argument, comparing) else ""
    joined = tuple(column for _, column in known[1:])
    return ColumnUse(*known[0], _comparison(comparing, argument), folded, joined)


def _joined(columns: Sequence[exp.Column], comparing: exp.Expr) -> list[exp.Column]:
    """The columns in their order, where they are put together with blanks and nothing else."""
    whole = next(comparing.find_all(exp.DPipe), None)
    parts = list(whole.flatten()) if whole is not None else []
    found = [part for part in parts[::2] if isinstance(part, exp.Column)]
    blanks = [part for part in parts[1::2] if isinstance(part, exp.Literal) and part.this == " "]
    is_whole = len(found) + len(blanks) == len(parts)
    is_same = {*map(id, found)} == {*map(id, columns)}
    return found if is_whole and is_same and len({one.table for one in found}) == 1 else []


def _folded(column: exp.Column, comparing: exp.Expr) -> Literal["", "lower", "upper"]:
    """The case that a comparison puts a column, or an argument, into."""
    node = column.parent
    while node is not None and node is not comparing:
        if isinstance(node, exp.Lower | exp.Upper):
            return "lower" if isinstance(node, exp.Lower) else "upper"
        node = node.parent
    return ""


def _comparison(comparing: exp.Expr, argument: exp.Column) -> Comparison:
    if isinstance(comparing, exp.Between):
        is_low = argument in list(comparing.args["low"].find_all(exp.Column))
        return ">=" if is_low else "<="
    comparison = next(c for kind, c in _COMPARISONS.items() if isinstance(comparing, kind))
    is_left = argument in list(comparing.this.find_all(exp.Column))
    return _TURNED.get(comparison, comparison) if is_left else comparison


def _column_of(
    column: exp.Column, scope: Scope, schema: DatabaseSchema
) -> tuple[Table, Column] | None:
    sources = [scope.sources.get(column.table)] if column.table else list(scope.sources.values())
    for source in sources:
        if isinstance(source, exp.Table):
            table = schema.table(_written(source)) or schema.table(source.name)
            found = _column(table, column.name) if table is not None else None
            if table is not None and found is not None:
                return table, found
    return None
