"""The json_transform tool: what each operation answers and refuses."""

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.core.ports import Tool
from server.errors import ArgumentsInvalid, ToolError, ToolFailed, ToolUnknown
from server.tools.builtin.json_transform import JsonTransform
from server.tools.rows.fields import rank
from tests.tools.anything import ANYTHING, outcome

TRANSFORM = JsonTransform()

PEN = {"name": "Pen", "price": 2.5, "stock": {"berlin": 10}}
INK = {"name": "Ink", "price": 12, "stock": {"berlin": 0}}
PAD = {"name": "Pad", "price": "3.75"}
SHOP: list[dict[str, Any]] = [PEN, INK, PAD]


def test_it_is_a_tool_with_its_operations() -> None:
    assert isinstance(TRANSFORM, Tool)
    assert {name: [p.name for p in d.parameters] for name, d in TRANSFORM.operations.items()} == {
        "filter": ["data", "field", "operator", "value"],
        "sort": ["data", "field", "order"],
        "select": ["data", "fields"],
        "aggregate": ["data", "field", "operation"],
        "query": ["data", "query"],
        "group_by": ["data", "by", "field", "operation"],
        "distinct": ["data", "fields"],
        "exclude": ["data", "field", "operator", "value"],
        "drop": ["data", "fields"],
        "top": ["data", "field", "n"],
        "bottom": ["data", "field", "n"],
        "largest": ["data", "field"],
        "smallest": ["data", "field"],
        "count": ["data", "field", "operator", "value"],
    }


def test_filtering_keeps_what_meets_the_condition() -> None:
    arguments = {"data": SHOP, "field": "price", "operator": "more than", "value": "3"}
    assert TRANSFORM.run("filter", arguments) == {
        "result": [INK, PAD],
        "operation": "filter",
        "input": {"rows": 3, "field": "price", "operator": "gt", "value": "3"},
        "count": 2,
    }


def test_sorting_puts_rows_without_a_value_last() -> None:
    arguments = {"data": json.dumps(SHOP), "field": "stock.berlin", "order": "descending"}
    assert TRANSFORM.run("sort", arguments) == {
        "result": [PEN, INK, PAD],
        "operation": "sort",
        "input": {"rows": 3, "field": "stock.berlin", "order": "desc"},
        "count": 3,
    }


def test_selecting_gives_every_row_the_same_fields() -> None:
    arguments = {"data": SHOP, "fields": "Name and stock.berlin"}
    assert TRANSFORM.run("select", arguments) == {
        "result": [
            {"name": "Pen", "stock.berlin": 10},
            {"name": "Ink", "stock.berlin": 0},
            {"name": "Pad", "stock.berlin": None},
        ],
        "operation": "select",
        "input": {"rows": 3, "fields": ["name", "stock.berlin"]},
        "count": 3,
    }


def test_aggregating_says_how_many_values_there_were() -> None:
    arguments = {"data": SHOP, "field": "price", "operation": "total"}
    assert TRANSFORM.run("aggregate", arguments) == {
        "result": 18.25,
        "operation": "aggregate",
        "input": {"rows": 3, "field": "price", "operation": "sum"},
        "count": 3,
    }


@pytest.mark.parametrize(
    ("operation", "arguments", "answer"),
    [
        ("filter", {"data": SHOP, "field": "stock", "operator": "missing"}, [PAD]),
        ("filter", {"data": SHOP, "field": "colour", "operator": "exists"}, []),
        ("filter", {"data": PEN, "field": "name", "operator": "=", "value": "pen"}, [PEN]),
        ("filter", {"data": [], "field": "name", "operator": "=", "value": "pen"}, []),
        ("sort", {"data": SHOP, "field": "price"}, [PEN, PAD, INK]),
        ("sort", {"data": SHOP, "field": "price", "order": "High to low"}, [INK, PAD, PEN]),
        ("sort", {"data": [], "field": "x"}, []),
        ("select", {"data": SHOP, "fields": ["price"]}, [{"price": p["price"]} for p in SHOP]),
        ("select", {"data": PEN, "fields": '["name", "price"]'}, [{"name": "Pen", "price": 2.5}]),
        ("aggregate", {"data": SHOP, "operation": "how many"}, 3),
        ("aggregate", {"data": SHOP, "field": "stock", "operation": "count"}, 2),
        ("aggregate", {"data": SHOP, "field": "price", "operation": "max"}, 12),
        ("aggregate", {"data": [], "field": "price", "operation": "sum"}, 0),
    ],
)
def test_it_answers(operation: str, arguments: dict[str, Any], answer: Any) -> None:
    assert TRANSFORM.run(operation, arguments)["result"] == answer


@pytest.mark.parametrize(
    ("operation", "arguments", "failure", "message"),
    [
        (
            "filter",
            {"data": SHOP, "field": "price", "operator": ">"},
            ArgumentsInvalid,
            "json_transform filter needs value to compare by gt",
        ),
        (
            "filter",
            {"data": SHOP, "field": "prise", "operator": ">", "value": 3},
            ArgumentsInvalid,
            "no row has a field 'prise'; there are name, price, stock; did you mean 'price'?",
        ),
        ("filter", {"data": SHOP}, ArgumentsInvalid, "json_transform filter needs field, operator"),
        (
            "sort",
            {"data": SHOP, "field": "price", "order": "sideways"},
            ArgumentsInvalid,
            "order 'sideways' is not one of asc, desc",
        ),
        (
            "sort",
            {"data": [3, 1, 2], "field": "x"},
            ArgumentsInvalid,
            "data[0] is a number; every row must be an object",
        ),
        (
            "select",
            {"data": SHOP, "fields": []},
            ArgumentsInvalid,
            "fields must name 1 to 200 fields, not 0",
        ),
        (
            "select",
            {"data": SHOP, "fields": 5},
            ArgumentsInvalid,
            "fields must be a list of names, not a number",
        ),
        (
            "aggregate",
            {"data": SHOP, "operation": "sum"},
            ArgumentsInvalid,
            "json_transform aggregate needs field for sum",
        ),
        (
            "aggregate",
            {"data": [], "field": "price", "operation": "avg"},
            ToolFailed,
            "There is no value of 'price' to take the average of",
        ),
        (
            "aggregate",
            {"data": SHOP, "field": "name", "operation": "sum"},
            ArgumentsInvalid,
            "a value of 'name' is 'Pen', which is not a number",
        ),
        (
            "pivot",
            {},
            ToolUnknown,
            "json_transform operation 'pivot' is not one of filter, sort, select, aggregate, "
            "query, group_by, distinct, exclude, drop, top, bottom, largest, smallest, count",
        ),
    ],
)
def test_it_says_what_is_wrong(
    operation: str, arguments: dict[str, Any], failure: type[ToolError], message: str
) -> None:
    with pytest.raises(failure) as refused:
        TRANSFORM.run(operation, arguments)
    assert str(refused.value) == message


VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-50, 50)
    | st.decimals(-50, 50, places=2)
    | st.text(max_size=4)
    | st.sampled_from(["5", "-3.5"])
)
ROWS = st.lists(st.fixed_dictionaries({"id": st.integers()}, optional={"x": VALUES}), max_size=12)
FILTERS = st.sampled_from(["eq", "gt", "gte", "lt", "lte", "contains", "starts_with", "in"])


@given(ROWS, FILTERS, st.integers(-9, 9) | st.decimals(-9, 9, places=1) | st.text(max_size=2))
def test_what_a_filter_keeps_and_drops_is_everything(
    rows: list[dict[str, Any]], operator: str, value: Any
) -> None:
    rows = [{"x": 0, "id": 0}, *rows]
    arguments = {"data": rows, "field": "x", "operator": operator, "value": value}
    kept = TRANSFORM.run("filter", arguments)["result"]
    remaining = iter(rows)
    assert all(any(row is other for other in remaining) for row in kept)
    again = TRANSFORM.run("filter", arguments | {"data": kept})["result"] if kept else []
    assert again == kept


@given(ROWS, st.sampled_from(["asc", "desc"]))
def test_sorting_keeps_every_row_and_puts_them_in_order(
    rows: list[dict[str, Any]], order: str
) -> None:
    rows = [{"x": 0, "id": 0}, *rows]
    ordered = TRANSFORM.run("sort", {"data": rows, "field": "x", "order": order})["result"]
    assert sorted(map(id, ordered)) == sorted(map(id, rows))
    present = [rank(row["x"]) for row in ordered if row.get("x") is not None]
    assert present == sorted(present, reverse=order == "desc")
    assert all(row.get("x") is None for row in ordered[len(present) :])


@given(st.lists(st.decimals(-(10**9), 10**9, places=4), min_size=1, max_size=20))
def test_sums_are_exact(values: list[Decimal]) -> None:
    rows = [{"x": str(value)} for value in values]
    answer = TRANSFORM.run("aggregate", {"data": rows, "field": "x", "operation": "sum"})
    assert Decimal(str(answer["result"])) == sum(values)


WORDS = st.sampled_from(["x", "asc", "eq", ">", "sum", '[{"x": 1}]', "[[[", "a, b"])
NAMES = st.sampled_from(["data", "field", "operator", "value", "order", "fields", "operation"])


@given(
    st.sampled_from(sorted(TRANSFORM.operations)) | st.text(max_size=10),
    st.dictionaries(NAMES | st.text(max_size=5), WORDS | ANYTHING | ROWS, max_size=5),
)
def test_whatever_it_is_given_it_answers_or_says_why_not(
    operation: str, arguments: dict[str, Any]
) -> None:
    answer = outcome(TRANSFORM, operation, arguments)
    assert answer if isinstance(answer, str) else answer["operation"] == operation


@given(
    ANYTHING | ROWS,
    WORDS | st.just("x"),
    st.sampled_from(["eq", "gt", "in", "contains", "ends_with", "exists", "nope"]),
    ANYTHING,
)
def test_whatever_is_filtered_by_whatever_it_answers_or_says_why_not(
    data: Any, field: str, operator: str, value: Any
) -> None:
    arguments = {"data": data, "field": field, "operator": operator, "value": value}
    answer = outcome(TRANSFORM, "filter", arguments)
    assert answer if isinstance(answer, str) else set(answer) >= {"result", "count"}
