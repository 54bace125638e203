"""Aggregates: what each makes of values, and of none."""

from decimal import Decimal
from statistics import median
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.core.tools import ToolParameter
from server.errors import ArgumentsInvalid, ToolError, ToolFailed
from server.tools.rows.aggregates import AGGREGATES, aggregate

OPERATION = ToolParameter("operation", "string", vocabulary=AGGREGATES)


@pytest.mark.parametrize(
    ("written", "operation"),
    [
        ("avg", "average"),
        ("Mean", "average"),
        ("total", "sum"),
        ("how many", "count"),
        ("highest", "max"),
        ("unique_values", "distinct"),
        ("count distinct", "count_distinct"),
    ],
)
def test_an_aggregate_has_many_names(written: str, operation: str) -> None:
    assert OPERATION.value_of(written) == operation


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        (
            "summ",
            "operation 'summ' is not one of sum, average, min, max, count, median, distinct, "
            "count_distinct; did you mean 'sum'?",
        ),
        (None, "operation must be text, not nothing"),
    ],
)
def test_an_unknown_aggregate_is_told_with_those_there_are(written: Any, problem: str) -> None:
    with pytest.raises(ArgumentsInvalid) as refused:
        OPERATION.value_of(written)
    assert str(refused.value) == problem


@pytest.mark.parametrize(
    ("operation", "values", "answer"),
    [
        ("sum", [0.1, 0.2, "1,000.7"], 1001),
        ("sum", [], 0),
        ("average", [1, 2], 1.5),
        ("average", [1, 1, 2], 1.33333333333333),
        ("min", [3, "2", 10], "2"),
        ("max", [3, "20", 10], "20"),
        ("max", ["apple", "Banana"], "Banana"),
        ("min", ["x", 5, True], True),
        ("count", ["a", "a"], 2),
        ("count", [], 0),
        ("median", [5, 1, 3], 3),
        ("median", [4, 1, 3, 2], 2.5),
        ("distinct", ["b", "a", "B", 1, 1.0], ["b", "a", 1]),
        ("count_distinct", ["b", "a", "B", 1, 1.0], 3),
    ],
)
def test_values_are_summed_up(operation: str, values: list[Any], answer: Any) -> None:
    result = aggregate(operation, values, "price")
    assert (result, type(result)) == (answer, type(answer))


@pytest.mark.parametrize(
    ("operation", "values", "failure", "message"),
    [
        ("average", [], ToolFailed, "There is no value of 'price' to take the average of"),
        ("max", [], ToolFailed, "There is no value of 'price' to take the max of"),
        ("sum", [1, "N/A"], ArgumentsInvalid, "a value of 'price' is 'N/A', which is not a number"),
        (
            "median",
            [True],
            ArgumentsInvalid,
            "a value of 'price' must be a number, not true or false",
        ),
    ],
)
def test_what_cannot_be_summed_up_is_refused(
    operation: str, values: list[Any], failure: type[ToolError], message: str
) -> None:
    with pytest.raises(failure) as refused:
        aggregate(operation, values, "price")
    assert str(refused.value) == message


NUMBERS = st.lists(st.decimals(-(10**6), 10**6, places=2), min_size=1, max_size=20)


@given(NUMBERS)
def test_aggregates_agree_with_arithmetic(values: list[Decimal]) -> None:
    found = {name: aggregate(name, values, "x") for name in AGGREGATES}
    assert Decimal(str(found["sum"])) == sum(values)
    assert (found["min"], found["max"]) == (min(values), max(values))
    assert Decimal(str(found["median"])) == median(values)
    assert found["count_distinct"] == len(found["distinct"]) == len(set(values))
    assert found["count"] == len(values)
