"""Operations over rows that are queries of one shape each."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from server.core.tools import ToolDefinition, ToolParameter
from server.tools.rows.aggregates import AGGREGATES
from server.tools.rows.conditions import OPERATORS
from server.tools.rows.reader import MAX_ROWS, PLAIN_FIELD

Arguments = Mapping[str, Any]

Form = Callable[[Arguments], Any]
"""Makes the query that an operation is of its arguments."""

_ROWS: Final = ToolParameter(
    "data",
    "array",
    "The rows: a list of objects, or a plain list of numbers or words",
    format="rows_or_list",
)
_OPTIONAL_FIELD: Final = ToolParameter("field", "string", "The field to look at", required=False)
_FIELD: Final = ToolParameter("field", "string", "The field to look at")
_OPERATOR: Final = ToolParameter(
    "operator", "string", "How to compare", required=False, default="eq", vocabulary=OPERATORS
)
_VALUE: Final = ToolParameter("value", "string", "What to compare with", required=False)
_NUMBER: Final = ToolParameter(
    "n", "integer", "How many rows", required=False, default=1, minimum=1, maximum=MAX_ROWS
)
_OPERATION: Final = ToolParameter(
    "operation", "string", "What to make of the values", required=False, default="count",
    vocabulary=AGGREGATES,
)  # fmt: skip
_BY: Final = ToolParameter(
    "by", "array", "The fields whose values make the groups", items={"type": "string"},
    format="names",
)  # fmt: skip
_FIELDS: Final = ToolParameter(
    "fields", "array", "The fields", items={"type": "string"}, format="names"
)
_SOME_FIELDS: Final = ToolParameter(
    "fields", "array", "The fields that count; all, when left out", items={"type": "string"},
    format="names", required=False,
)  # fmt: skip
_QUERY: Final = ToolParameter(
    "query",
    "object",
    "What is asked: where, group, aggregate, sort, limit, ties, columns, drop, distinct",
)


def _condition(given: Arguments) -> dict[str, Any]:
    return {key: given[key] for key in ("field", "operator", "value") if key in given}


def _ranked(given: Arguments, order: str, limit: int, *, ties: bool) -> dict[str, Any]:
    key = {"field": given.get("field", PLAIN_FIELD), "order": order}
    return {"sort": [key], "limit": limit, "ties": ties}


def _grouped(given: Arguments) -> dict[str, Any]:
    part = {key: given[key] for key in ("operation", "field") if key in given}
    return {"group": given["by"], "aggregate": [part]}


def _distinct(given: Arguments) -> dict[str, Any]:
    chosen = {"columns": given["fields"]} if "fields" in given else {}
    return {**chosen, "distinct": True}


def _counted(given: Arguments) -> dict[str, Any]:
    where = {"where": _condition(given)} if "field" in given else {}
    return {**where, "aggregate": [{"operation": "count"}]}


BUILT_ON_QUERY: Final[tuple[tuple[ToolDefinition, Form], ...]] = (
    (
        ToolDefinition("query", "Answer a question about rows in one form", (_ROWS, _QUERY)),
        lambda given: given["query"],
    ),
    (
        ToolDefinition(
            "group_by", "Sum up a field for each value of others",
            (_ROWS, _BY, _OPTIONAL_FIELD, _OPERATION),
        ),
        _grouped,
    ),
    (
        ToolDefinition("distinct", "Each row once, or each value of fields", (_ROWS, _SOME_FIELDS)),
        _distinct,
    ),
    (
        ToolDefinition(
            "exclude", "Leave out the rows whose field meets a condition",
            (_ROWS, _FIELD, _OPERATOR, _VALUE),
        ),
        lambda given: {"where": {"not": _condition(given)}},
    ),
    (
        ToolDefinition("drop", "Leave out some fields of each row", (_ROWS, _FIELDS)),
        lambda given: {"drop": given["fields"]},
    ),
    (
        ToolDefinition(
            "top", "The rows with the largest values of a field", (_ROWS, _OPTIONAL_FIELD, _NUMBER)
        ),
        lambda given: _ranked(given, "desc", given["n"], ties=False),
    ),
    (
        ToolDefinition(
            "bottom", "The rows with the smallest values of a field",
            (_ROWS, _OPTIONAL_FIELD, _NUMBER),
        ),
        lambda given: _ranked(given, "asc", given["n"], ties=False),
    ),
    (
        ToolDefinition("largest", "The whole row with the largest value", (_ROWS, _FIELD)),
        lambda given: _ranked(given, "desc", 1, ties=True),
    ),
    (
        ToolDefinition("smallest", "The whole row with the smallest value", (_ROWS, _FIELD)),
        lambda given: _ranked(given, "asc", 1, ties=True),
    ),
    (
        ToolDefinition(
            "count", "How many rows there are, or meet a condition",
            (_ROWS, _OPTIONAL_FIELD, _OPERATOR, _VALUE),
        ),
        _counted,
    ),
)  # fmt: skip
"""Each operation with the query that it is."""
