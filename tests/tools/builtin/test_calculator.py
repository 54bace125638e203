"""The calculator: what it answers, what it refuses, and what is true of it always."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.core.ports import Tool
from server.errors import ArgumentsInvalid, ToolError, ToolFailed, ToolUnknown
from server.tools.builtin.calculator import MAX_VALUES, Calculator
from tests.tools.anything import ANYTHING, outcome

CALCULATOR = Calculator()
NUMBERS = st.decimals(
    allow_nan=False, allow_infinity=False, places=4, min_value=-(10**12), max_value=10**12
)


def result(operation: str, **arguments: Any) -> Any:
    return CALCULATOR.run(operation, arguments)["result"]


def exact(operation: str, **arguments: Any) -> Decimal:
    return Decimal(str(result(operation, **arguments)))


def test_it_is_a_tool_with_eight_operations() -> None:
    assert isinstance(CALCULATOR, Tool)
    assert {name: [p.name for p in d.parameters] for name, d in CALCULATOR.operations.items()} == {
        "percentage": ["value", "percentage", "total"],
        "add": ["values"],
        "subtract": ["a", "b"],
        "multiply": ["a", "b"],
        "divide": ["a", "b"],
        "average": ["values"],
        "round": ["value", "decimals"],
        "evaluate": ["expression"],
    }


def test_a_result_says_what_was_asked() -> None:
    assert CALCULATOR.run("percentage", {"value": 150, "percentage": 20}) == {
        "result": 30,
        "operation": "percentage",
        "input": {"value": 150, "percentage": 20},
    }


@pytest.mark.parametrize(
    ("operation", "arguments", "answer"),
    [
        ("percentage", {"value": 25, "total": 100}, 25),
        ("percentage", {"value": "1,500", "percentage": "12.5%"}, 187.5),
        ("percentage", {"value": 1, "total": 3}, 33.3333333333333),
        ("add", {"values": [0.1, 0.2]}, 0.3),
        ("add", {"values": ["1,500", 2, Decimal("0.5")]}, 1502.5),
        ("add", {"values": "[1, 2.5]"}, 3.5),
        ("add", {"values": "1, 2 and 3"}, 6),
        ("add", {"values": "1,2,3"}, 6),
        ("add", {"values": "1,500"}, 1500),
        ("add", {"values": "-4 + 5"}, 1),
        ("subtract", {"a": 10, "b": 4}, 6),
        ("subtract", {"a": 0.3, "b": 0.1}, 0.2),
        ("multiply", {"a": 1.1, "b": 1.1}, 1.21),
        ("multiply", {"a": 10**30, "b": 10**30}, 10**60),
        ("divide", {"a": 10, "b": 4}, 2.5),
        ("divide", {"a": 9, "b": 3}, 3),
        ("average", {"values": [1, 2, 3, 4]}, 2.5),
        ("average", {"values": (2, 4)}, 3),
        ("round", {"value": 2.675, "decimals": 2}, 2.68),
        ("round", {"value": -2.5}, -3),
        ("round", {"value": 3.14159, "decimals": "3"}, 3.142),
        ("round", {"value": 1250, "decimals": -2}, 1300),
        ("round", {"value": 2.5, "decimals": None}, 3),
    ],
)
def test_it_calculates_exactly(operation: str, arguments: dict[str, Any], answer: Any) -> None:
    calculated = result(operation, **arguments)
    assert (calculated, type(calculated)) == (answer, type(answer))


@pytest.mark.parametrize(
    ("operation", "arguments", "failure", "message"),
    [
        ("divide", {"a": 1, "b": 0}, ToolFailed, "Division by zero"),
        ("percentage", {"value": 1, "total": 0.0}, ToolFailed, "Division by zero"),
        (
            "percentage",
            {"value": 1},
            ArgumentsInvalid,
            "percentage needs percentage or total beside value",
        ),
        (
            "percentage",
            {"value": 1, "percentage": 2, "total": 3},
            ArgumentsInvalid,
            "percentage takes either percentage or total, not both",
        ),
        ("subtract", {"a": 1}, ArgumentsInvalid, "calculator subtract needs b"),
        ("add", {}, ArgumentsInvalid, "calculator add needs values"),
        (
            "multiply",
            {"a": 1, "c": 2},
            ArgumentsInvalid,
            "calculator multiply argument 'c' is not one of a, b",
        ),
        (
            "add",
            {"value": [1]},
            ArgumentsInvalid,
            "calculator add argument 'value' is not one of values; did you mean 'values'?",
        ),
        ("add", {"values": []}, ArgumentsInvalid, "values is empty; at least one number is needed"),
        ("add", {"values": 5}, ArgumentsInvalid, "values must be a list of numbers, not a number"),
        (
            "average",
            {"values": [1, "two"]},
            ArgumentsInvalid,
            "values[1] is 'two', which is not a number",
        ),
        ("add", {"values": "[1,"}, ArgumentsInvalid, "values is not a JSON array of numbers"),
        (
            "add",
            {"values": [1] * (MAX_VALUES + 1)},
            ArgumentsInvalid,
            "values holds 10001 numbers; at most 10000 are taken",
        ),
        (
            "round",
            {"value": 1, "decimals": 51},
            ArgumentsInvalid,
            "decimals is 51, and must be from -50 to 50",
        ),
        (
            "round",
            {"value": 1, "decimals": 1.5},
            ArgumentsInvalid,
            "decimals is 1.5, which is not a whole number",
        ),
        (
            "multply",
            {"a": 1, "b": 2},
            ToolUnknown,
            "calculator operation 'multply' is not one of percentage, add, subtract, multiply, "
            "divide, average, round, evaluate; did you mean 'multiply'?",
        ),
    ],
)
def test_it_says_what_is_wrong(
    operation: str, arguments: dict[str, Any], failure: type[ToolError], message: str
) -> None:
    with pytest.raises(failure) as refused:
        CALCULATOR.run(operation, arguments)
    assert str(refused.value) == message


@given(NUMBERS, NUMBERS)
def test_adding_is_undone_by_subtracting(a: Decimal, b: Decimal) -> None:
    assert exact("subtract", a=result("add", values=[a, b]), b=b) == a


@given(NUMBERS, NUMBERS)
def test_multiplying_does_not_depend_on_the_order(a: Decimal, b: Decimal) -> None:
    assert result("multiply", a=a, b=b) == result("multiply", a=b, b=a)
    assert Fraction(exact("multiply", a=a, b=b)) == Fraction(a) * Fraction(b)


@given(NUMBERS, NUMBERS)
def test_a_percentage_is_a_product_over_a_hundred(value: Decimal, percentage: Decimal) -> None:
    share = exact("percentage", value=value, percentage=percentage)
    assert Fraction(share) == Fraction(value) * Fraction(percentage) / 100


@given(st.lists(NUMBERS, min_size=1, max_size=20))
def test_an_average_lies_between_the_extremes(values: list[Decimal]) -> None:
    slack = Decimal("1e-9")
    assert min(values) - slack <= exact("average", values=values) <= max(values) + slack


@given(NUMBERS, st.integers(-10, 10))
def test_rounding_moves_by_half_a_step_at_most_and_only_once(value: Decimal, decimals: int) -> None:
    rounded = exact("round", value=value, decimals=decimals)
    assert abs(rounded - value) <= Decimal(5).scaleb(-decimals - 1)
    assert exact("round", value=rounded, decimals=decimals) == rounded


NAMES = st.sampled_from(["value", "percentage", "total", "values", "a", "b", "decimals"])


@given(
    st.sampled_from(sorted(CALCULATOR.operations)) | st.text(max_size=10),
    st.dictionaries(NAMES | st.text(max_size=5), ANYTHING, max_size=4),
)
def test_whatever_it_is_given_it_answers_or_says_why_not(
    operation: str, arguments: dict[str, Any]
) -> None:
    answer = outcome(CALCULATOR, operation, arguments)
    assert answer if isinstance(answer, str) else set(answer) == {"result", "operation", "input"}


def test_an_expression_has_its_value_its_unit_and_how_it_was_read() -> None:
    answer = Calculator().run("evaluate", {"expression": "5 kg + 300 g"})
    assert answer == {
        "result": 5.3,
        "operation": "evaluate",
        "input": {"expression": "5 kg + 300 g"},
        "unit": "kg",
        "answer": "5.3 kg",
        "reading": "5 kg + 300 g",
    }


@pytest.mark.parametrize(
    ("expression", "failure", "message"),
    [
        ("9^9^9", ToolFailed, "the result has more than 100 digits"),
        ("factorial of 5", ToolFailed, "a factorial is not something that I can work out"),
        ("3 + x", ArgumentsInvalid, "expression: 'x' is not something that I can calculate with"),
        (5, ArgumentsInvalid, "expression must be a text, not a number"),
    ],
)
def test_what_is_no_expression_is_refused(
    expression: object, failure: type[Exception], message: str
) -> None:
    with pytest.raises(failure) as refused:
        Calculator().run("evaluate", {"expression": expression})
    assert str(refused.value) == message
