"""Rows of JSON data: filtered, sorted, cut down, summed up, and asked in one small form."""

from collections.abc import Callable
from itertools import compress
from operator import itemgetter
from typing import Any, Final

from server.core.suggestions import described_value
from server.core.tools import ToolDefinition, ToolParameter
from server.errors import ArgumentsInvalid
from server.text.tokens import DateOrder
from server.tools.builtin.base import Arguments, Operation, OperationTool
from server.tools.rows.aggregates import AGGREGATES, aggregate
from server.tools.rows.conditions import OPERATORS, WITHOUT_VALUE, condition
from server.tools.rows.fields import find_row_field, language_vocabulary, rank
from server.tools.rows.forms import BUILT_ON_QUERY, Form
from server.tools.rows.moments import Moments
from server.tools.rows.query import run_query
from server.tools.rows.reader import (
    PLAIN_FIELD,
    parse_json_rows,
    read_rows,
    read_rows_or_list,
)
from server.tools.rows.shown import shown_query

MAX_FIELDS: Final = 200
"""Most fields one call may select."""

ORDERS: Final = language_vocabulary("orders")
_DATA: Final = ToolParameter(
    "data",
    "array",
    "The rows: a list of objects, or JSON text of one",
    items={"type": "object"},
    format="rows",
)
_FILTER: Final = ToolDefinition(
    "filter",
    "Keep the rows whose field meets a condition",
    (
        _DATA,
        ToolParameter("field", "string", "The field to look at; dots lead inside objects"),
        ToolParameter("operator", "string", "How to compare", vocabulary=OPERATORS),
        ToolParameter(
            "value",
            "string",
            f"What to compare with; not needed for {' and '.join(sorted(WITHOUT_VALUE))}",
            required=False,
        ),
    ),
)
_SORT: Final = ToolDefinition(
    "sort",
    "Put rows in the order of a field",
    (
        _DATA,
        ToolParameter("field", "string", "The field to sort by"),
        ToolParameter(
            "order",
            "string",
            "Which end comes first",
            required=False,
            default="asc",
            vocabulary=ORDERS,
        ),
    ),
)
_SELECT: Final = ToolDefinition(
    "select",
    "Keep only some fields of each row",
    (
        _DATA,
        ToolParameter(
            "fields",
            "array",
            "The fields to keep, in order",
            items={"type": "string"},
            format="names",
        ),
    ),
)
_AGGREGATE: Final = ToolDefinition(
    "aggregate",
    "Sum up a field over all rows",
    (
        _DATA,
        ToolParameter("field", "string", "The field to sum up; count needs none", required=False),
        ToolParameter("operation", "string", "What to make of the values", vocabulary=AGGREGATES),
    ),
)


class JsonTransform(OperationTool):
    """filter, sort, select and aggregate; query, and what is built on it."""

    def __init__(self, date_order: DateOrder = "mdy") -> None:
        moments = Moments(date_order)
        super().__init__(
            "json_transform",
            (
                Operation(_FILTER, _filter),
                Operation(_SORT, _sort),
                Operation(_SELECT, _select),
                Operation(_AGGREGATE, _aggregate),
                *(
                    Operation(definition, _as_query(form, moments))
                    for definition, form in BUILT_ON_QUERY
                ),
            ),
            {"rows": read_rows, "rows_or_list": read_rows_or_list, "names": _read_names},
        )


def _as_query(form: Form, moments: Moments) -> Callable[[Arguments], dict[str, Any]]:
    def run(given: Arguments) -> dict[str, Any]:
        rows, is_plain = given["data"]
        found = run_query(rows, form(given), moments)
        value = found.value
        if (
            is_plain
            and isinstance(value, list)
            and all(isinstance(row, dict) and row.keys() == {PLAIN_FIELD} for row in value)
        ):
            value = [row[PLAIN_FIELD] for row in value]
        answer = {
            "result": value,
            "input": {"rows": len(rows), "query": found.query},
            "count": found.count,
            "read_as": shown_query(found.query),
        }
        return answer | ({"interpreted_as": ", ".join(found.notes)} if found.notes else {})

    return run


def _filter(given: Arguments) -> dict[str, Any]:
    rows, operator, value = given["data"], given["operator"], given.get("value")
    if value is None and operator not in WITHOUT_VALUE:
        raise ArgumentsInvalid(f"json_transform filter needs value to compare by {operator}")
    field = find_row_field(rows, given["field"], "field", must_exist=operator not in WITHOUT_VALUE)
    kept = list(compress(rows, map(condition(operator, value), field.values(rows))))
    taken = {"rows": len(rows), "field": field.name, "operator": operator}
    if value is not None:
        taken["value"] = value
    return {"result": kept, "input": taken, "count": len(kept)}


def _sort(given: Arguments) -> dict[str, Any]:
    rows, order = given["data"], given["order"]
    field = find_row_field(rows, given["field"], "field")
    pairs = list(zip(rows, field.values(rows, absent=None), strict=True))
    ranked = [(rank(value), row) for row, value in pairs if value is not None]
    without = [row for row, value in pairs if value is None]
    ranked.sort(key=itemgetter(0), reverse=order == "desc")
    taken = {"rows": len(rows), "field": field.name, "order": order}
    return {"result": [row for _, row in ranked] + without, "input": taken, "count": len(rows)}


def _select(given: Arguments) -> dict[str, Any]:
    rows = given["data"]
    fields = [find_row_field(rows, name, "fields") for name in given["fields"]]
    names = [field.name for field in fields]
    columns = [field.values(rows, absent=None) for field in fields]
    selected = [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]
    taken = {"rows": len(rows), "fields": names}
    return {"result": selected, "input": taken, "count": len(rows)}


def _aggregate(given: Arguments) -> dict[str, Any]:
    rows, operation = given["data"], given["operation"]
    if "field" not in given:
        if operation != "count":
            raise ArgumentsInvalid(f"json_transform aggregate needs field for {operation}")
        taken = {"rows": len(rows), "operation": operation}
        return {"result": len(rows), "input": taken, "count": len(rows)}
    field = find_row_field(rows, given["field"], "field")
    values = [value for value in field.values(rows, absent=None) if value is not None]
    return {
        "result": aggregate(operation, values, field.name),
        "input": {"rows": len(rows), "field": field.name, "operation": operation},
        "count": len(values),
    }


def _read_names(value: Any, name: str) -> list[Any]:
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = parse_json_rows(value, name)
    elif isinstance(value, str):
        words = value.replace(" and ", ",").split(",")
        value = [word.strip() for word in words if word.strip()]
    if not isinstance(value, list | tuple):
        raise ArgumentsInvalid(f"{name} must be a list of names, not {described_value(value)}")
    if not 1 <= len(value) <= MAX_FIELDS:
        raise ArgumentsInvalid(f"{name} must name 1 to {MAX_FIELDS} fields, not {len(value)}")
    return list(value)
