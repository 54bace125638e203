"""Conditions: every operator, its names, and pairs that do not match in kind."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.core.tools import ToolParameter
from server.errors import ArgumentsInvalid
from server.tools.rows.conditions import OPERATORS, condition
from server.tools.rows.fields import MISSING, rank

OPERATOR = ToolParameter("operator", "string", vocabulary=OPERATORS)


@pytest.mark.parametrize(
    ("written", "operator"),
    [
        (">", "gt"),
        ("greater than", "gt"),
        ("is greater than", "gt"),
        ("at least", "gte"),
        (">=", "gte"),
        ("under", "lt"),
        ("Less_Than", "lt"),
        ("<=", "lte"),
        ("no more than", "lte"),
        ("is", "eq"),
        ("==", "eq"),
        ("not", "ne"),
        ("<>", "ne"),
        ("is not", "ne"),
        ("includes", "contains"),
        ("does not contain", "not_contains"),
        ("one of", "in"),
        ("not_in", "not_in"),
        ("startswith", "starts_with"),
        ("ending  with", "ends_with"),
        ("is not null", "exists"),
        ("empty", "missing"),
    ],
)
def test_an_operator_has_many_names(written: str, operator: str) -> None:
    assert OPERATOR.value_of(written) == operator


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_operator_is_its_own_name(operator: str) -> None:
    assert OPERATOR.value_of(operator) == operator


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        (
            "containz",
            "operator 'containz' is not one of eq, ne, gt, gte, lt, lte, contains, not_contains, "
            "in, not_in, starts_with, ends_with, exists, missing; did you mean 'contains'?",
        ),
        (5, "operator must be text, not a number"),
    ],
)
def test_an_unknown_operator_is_told_with_those_there_are(written: Any, problem: str) -> None:
    with pytest.raises(ArgumentsInvalid) as refused:
        OPERATOR.value_of(written)
    assert str(refused.value) == problem


HOLDS = [
    (5, "eq", 5.0),
    (5, "eq", "5"),
    ("1,500", "eq", 1500),
    ("0.10", "eq", Decimal("0.1")),
    (1e23, "eq", 10**23),
    ("Rome", "eq", "rome"),
    (True, "eq", "yes"),
    ("false", "eq", False),
    ([1, {"a": 2}], "eq", [1, {"a": 2}]),
    (date(2025, 3, 4), "eq", "2025-03-04"),
    (5, "ne", 6),
    (MISSING, "ne", 5),
    (None, "ne", "x"),
    (0.3, "gt", "0.2"),
    ("10", "gt", 9),
    ("2025-03-05", "gt", "2025-03-04"),
    (2, "gte", 2),
    (-1, "lt", 0.5),
    ("Apple", "lt", "banana"),
    (2, "lte", "2.0"),
    ("Big Apple", "contains", "app"),
    (1555, "contains", "55"),
    (["a", 2], "contains", "2"),
    (None, "not_contains", "x"),
    ("Rome", "in", ["Oslo", "rome"]),
    (5, "in", "4, 5"),
    (5, "in", "[4, 5]"),
    (True, "in", ["yes"]),
    (5, "in", 5),
    (MISSING, "not_in", ["x"]),
    ("Apple", "starts_with", "app"),
    (1500, "starts_with", 15),
    ("Apple", "ends_with", "PLE"),
    ("", "exists", None),
    (0, "exists", True),
    (None, "exists", "false"),
    (MISSING, "missing", None),
    (None, "missing", None),
]

FAILS = [
    (5, "eq", 6),
    (1, "eq", True),
    ("1", "eq", True),
    ("true", "eq", 1),
    ("5x", "eq", 5),
    (MISSING, "eq", "x"),
    (None, "eq", "null"),
    ("N/A", "gt", 5),
    ("N/A", "lt", 5),
    (5, "gt", "abc"),
    (True, "gt", 0),
    (None, "lt", 5),
    (MISSING, "gte", 0),
    ([9], "gt", 5),
    ({"a": 1}, "contains", "a"),
    (None, "contains", "n"),
    (None, "starts_with", "n"),
    (["x"], "ends_with", "x"),
    ("x", "in", []),
    (None, "exists", None),
    (0, "missing", None),
    (0, "exists", "no"),
]


@pytest.mark.parametrize(("value", "operator", "target"), HOLDS)
def test_a_condition_holds(value: Any, operator: str, target: Any) -> None:
    assert condition(operator, target)(value) is True


@pytest.mark.parametrize(("value", "operator", "target"), FAILS)
def test_a_condition_does_not_hold(value: Any, operator: str, target: Any) -> None:
    assert condition(operator, target)(value) is False


@pytest.mark.parametrize(
    ("operator", "target", "problem"),
    [
        ("gt", True, "value must be a number or text to compare by gt"),
        ("lt", [1], "value must be a number or text to compare by lt"),
        ("contains", {"a": 1}, "value must be text or a number, not an object"),
        ("eq", float("nan"), "value holds nan, which is not a finite number"),
        ("gt", 10**60, "value holds a number of more than 50 digits"),
        ("in", "[1, NaN]", "value holds nan, which is not a finite number"),
        ("in", "[1,", "value is not JSON: Expecting value at line 1 column 4"),
    ],
)
def test_what_cannot_be_compared_with_is_refused(operator: str, target: Any, problem: str) -> None:
    with pytest.raises(ArgumentsInvalid) as refused:
        condition(operator, target)
    assert str(refused.value) == problem


VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(-1e20, 1e20)
    | st.decimals(-(10**9), 10**9, places=3)
    | st.text(max_size=5)
    | st.sampled_from(["5", "5.0", "1e3", "1,000", "-2", "true", "2025-03-04"])
    | st.lists(st.integers(0, 3), max_size=2)
)
COMPARABLE = st.integers(-5, 5) | st.floats(-5, 5) | st.sampled_from(["1", "2.5", "a", "B"])


@given(VALUES, VALUES, VALUES)
def test_ranks_are_one_order(a: Any, b: Any, c: Any) -> None:
    x, y, z = rank(a), rank(b), rank(c)
    assert (x < y) + (x == y) + (x > y) == 1
    assert not (x <= y <= z) or x <= z
    assert x != y or hash(x) == hash(y)


@given(VALUES, COMPARABLE)
def test_an_operator_and_its_opposite_split_the_comparable(value: Any, target: Any) -> None:
    above, below = condition("gt", target)(value), condition("lte", target)(value)
    assert above + below == (rank(value)[0] == rank(target)[0])
    assert condition("gte", target)(value) == (above or condition("eq", target)(value))


@given(VALUES, VALUES.filter(lambda value: value is not None))
def test_in_a_list_of_one_is_equal(value: Any, target: Any) -> None:
    assert condition("in", [target])(value) == condition("eq", target)(value)
    assert condition("not_in", [target])(value) == condition("ne", target)(value)
