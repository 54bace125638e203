"""Numbers with another operator between them are no list."""

from datetime import UTC, datetime

import pytest

from server.extraction.extractor import Extractor
from server.library.model import BuiltinExecution, Domain, Parameter, Template

ADD = Template(
    "add",
    "Add numbers",
    "function",
    ("Add 5 and 7",),
    (Parameter("values", "array", items={"type": "number"}),),
    BuiltinExecution("calculator", "add"),
)
NOW = datetime(2025, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("operator", ["*", "×", "times", "^", "multiplied by", "divided by"])
def test_what_another_operator_takes_is_left_over(operator: str) -> None:
    found = Extractor(Domain("d")).extract(f"2 + 3 {operator} 4", ADD, now=NOW)
    assert (found.arguments, found.grounding.unused) == ({"values": [2, 3]}, ("4",))


@pytest.mark.parametrize(
    ("question", "values", "unused"),
    [
        ("5 - 3 + 2", [3, 2], ("5",)),
        ("2-4-6", [2, 4, 6], ()),
        ("5 + -3", [5, -3], ()),
        ("5 + 5 = 11, right?", [5, 5], ("11",)),
        ("sum 1 through 10", None, ("1", "10")),
        ("add the numbers from 1 to 100", None, ("1", "100")),
        ("sum 1..10", None, ("1", "10")),
        ("add 5 to 10", [5, 10], ()),
    ],
)
def test_only_what_is_written_out_is_a_list(
    question: str, values: list[int] | None, unused: tuple[str, ...]
) -> None:
    found = Extractor(Domain("d")).extract(question, ADD, now=NOW)
    assert (found.arguments.get("values"), found.grounding.unused) == (values, unused)


@pytest.mark.parametrize(
    ("example", "unused"), [("4 times 25", ("^",)), ("3^4", ()), ("2 to the power 3", ("^",))]
)
def test_a_power_is_left_over_where_no_example_has_one(
    example: str, unused: tuple[str, ...]
) -> None:
    two = (Parameter("a", "number"), Parameter("b", "number"))
    run = BuiltinExecution("calculator", "multiply")
    multiply = Template("multiply", "Multiply", "function", (example,), two, run)
    found = Extractor(Domain("d")).extract("2^8", multiply, now=NOW)
    assert (found.arguments, found.grounding.unused) == ({"a": 2, "b": 8}, unused)
