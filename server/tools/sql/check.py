"""Checking the SQL of a library: by reading it, and by asking the database itself."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, get_args

from server.core.storable import storable_text
from server.core.suggestions import did_you_mean, shortened
from server.errors import Problem, Severity, ToolError, ToolTimedOut
from server.library.caller import CALLER_ARGUMENTS
from server.library.composed_sql import DATA_TEMPLATE
from server.library.model import Library, Parameter, Template
from server.library.sql_model import SqlExecution
from server.library.sql_text import FilledSql
from server.tools.sql.address import DatabaseKind
from server.tools.sql.analysis import statement_problems, variants
from server.tools.sql.database import Database, DatabaseDown, DatabaseFailed
from server.tools.sql.proven import ProvenSql, digest_of
from server.tools.sql.schema import DatabaseSchema, read_schema
from server.tools.sql.statement import Statement, driver_statement

_TIMEOUT_S: Final = 30.0
_EXPLAIN: Final[Mapping[DatabaseKind, str]] = {
    "sqlite": "EXPLAIN QUERY PLAN ", "postgresql": "EXPLAIN ", "duckdb": "EXPLAIN ",
}  # fmt: skip
_SAMPLES: Final[Mapping[str, Any]] = {
    "integer": 1, "number": 1.5, "boolean": True, "array": ["1"], "date": "2026-01-31",
    "datetime": "2026-01-31T12:00:00", "time": "12:00",
}  # fmt: skip
_MAX_SAID: Final = 300


def sql_problems(library: Library, kind: DatabaseKind | None) -> list[Problem]:
    """What is wrong with the SQL of templates by itself, as a kind of database reads it.

    Where the kind is not known, SQL that any of them reads is right.
    """
    kinds: Sequence[DatabaseKind] = (kind,) if kind is not None else get_args(DatabaseKind)
    return [
        _about(template, what)
        for template, execution in _asking(library)
        for what in dict.fromkeys(
            what
            for filled, _ in variants(execution.sql, _choices(template))
            for what in statement_problems(filled, kinds, execution.effect)
        )
    ]


class DatabaseFindings(NamedTuple):
    """What a database says of a library, and its schema; None where it could not be read."""

    problems: list[Problem]
    schema: DatabaseSchema | None = None


async def ask_database(
    library: Library,
    database: Database,
    *,
    timeout_s: float = _TIMEOUT_S,
    proven: ProvenSql | None = None,
) -> DatabaseFindings:
    """Have a database plan a library's SQL: tables and columns that it does not have are problems.

    A database whose schema cannot be read is one warning. What is `proven` is not asked again
    while neither the SQL nor the schema changes.
    """
    asking = list(_asking(library))
    if not asking:
        return DatabaseFindings([])
    try:
        schema = await read_schema(database, timeout_s=timeout_s)
    except ToolError as failed:
        what = f"{failed} ({database.address.shown}); no SQL is compared with it"
        down = Problem(what, asking[0][0].where, "database-down", "warning")
        return DatabaseFindings([down])
    digest = _digest(asking, database, schema)
    if proven is not None and proven.holds(digest):
        return DatabaseFindings([*_data_problems(library, schema)], schema)
    found: list[Problem] = []
    for template, execution in asking:
        for filled, chosen in variants(execution.sql, _choices(template)):
            named = list(
                statement_problems(filled, (database.address.kind,), execution.effect, schema)
            )
            if not named:
                arguments = {**sample_arguments(template), **chosen}
                said = await _explained(filled, arguments, database, timeout_s)
                named = [f"the database does not take the SQL: {said}"] if said else []
            found += [_about(template, what) for what in named]
            if named:
                break
    if proven is not None and not found:
        proven.keep(digest)
    return DatabaseFindings([*found, *_data_problems(library, schema)], schema)


def _digest(
    asking: Sequence[tuple[Template, SqlExecution]], database: Database, schema: DatabaseSchema
) -> str:
    asked = (
        (template.id, execution.sql.source, execution.effect, *_asked_with(template))
        for template, execution in asking
    )
    return digest_of((database.address.kind, schema, *asked))


def _asked_with(template: Template) -> tuple[Any, ...]:
    """The values that a template's SQL is asked with."""
    return (*sorted(_choices(template).items()), *sorted(sample_arguments(template).items()))


def _data_problems(library: Library, schema: DatabaseSchema) -> Iterator[Problem]:
    """What the domain's `data` names, and the database does not have."""
    data = library.domain.data
    template = library.templates.get(DATA_TEMPLATE)
    if data is None or template is None:
        return
    for name, told in data.tables.items():
        table = schema.table(name)
        if table is None:
            hint = did_you_mean(name, sorted(schema.tables))
            yield _about(template, f"data: there is no table {name!r}; {hint}")
            continue
        known = {column.lower() for column in table.columns}
        linked = (column for link in told.links for column in link.columns)
        for column in dict.fromkeys((*told.columns, *told.key, *told.name, *linked)):
            if column.lower() not in known:
                hint = did_you_mean(column, sorted(table.columns))
                yield _about(template, f"data: {name!r} has no column {column!r}; {hint}")


def sample_arguments(template: Template) -> dict[str, Any]:
    """A value for each parameter of a template, of the right kind."""
    samples: dict[str, Any] = dict.fromkeys(CALLER_ARGUMENTS, "1")
    return samples | {p.name: _sample(p) for p in template.parameters}


def _sample(parameter: Parameter) -> Any:
    for given in (parameter.default, *parameter.enum[:1], parameter.example):
        if given is not None:
            return given
    descriptor = parameter.descriptor
    return _SAMPLES.get(descriptor.kind, _SAMPLES.get(descriptor.json_type, "1"))


def _asking(library: Library) -> Iterator[tuple[Template, SqlExecution]]:
    for template in library.templates.values():
        if isinstance(template.execution, SqlExecution):
            yield template, template.execution


def _choices(template: Template) -> Mapping[str, Sequence[Any]]:
    """The values that conditions are tried with: none at all where a parameter may be absent."""
    choices: dict[str, Sequence[Any]] = dict.fromkeys(CALLER_ARGUMENTS, (None, "1"))
    for parameter in template.parameters:
        absent = () if parameter.required or parameter.default is not None else (None,)
        choices[parameter.name] = (*absent, *(parameter.enum or (_sample(parameter),)))
    return choices


async def _explained(
    filled: FilledSql, arguments: Mapping[str, Any], database: Database, timeout_s: float
) -> str:
    """What the database has against a statement, which it plans and does not run."""
    kind = database.address.kind
    statement = driver_statement(filled, arguments, kind)
    planned = Statement(_EXPLAIN[kind] + statement.text, statement.values, plans=True)
    deadline = asyncio.get_running_loop().time() + timeout_s
    try:
        async with database.rows(planned, deadline=deadline) as rows:
            await rows.fetch(1)
    except (DatabaseDown, ToolTimedOut):
        return ""
    except DatabaseFailed as failed:
        if failed.kind in _NO_FAULT:
            return ""
        cause = failed.__cause__
        said = str(getattr(cause, "orig", None) or cause or failed).strip()
        return shortened(storable_text(said.partition("\n")[0]), _MAX_SAID)
    return ""


_NO_FAULT: Final = frozenset({"read-only", "value", "busy", "locked"})
"""Failures of planning that come of the sample values, or of the moment."""


def _about(template: Template, what: str, severity: Severity = "error") -> Problem:
    what = f"template {template.id!r}: {what}"
    return Problem(what, template.where, "bad-sql", severity, template=template.id)
