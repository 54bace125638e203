"""Which of several values is whose, as the examples arrange them around words."""

from typing import Any

import pytest

from server.extraction.extractor import Extractor
from server.library.model import BuiltinExecution, Domain, Parameter, Template
from tests.extraction.support import NOW

Found = tuple[dict[str, Any], set[str]]


def asked(
    text: str, *examples: str, of: tuple[Parameter, ...], operation: str = "compute"
) -> Found:
    run = BuiltinExecution("calculator", operation)
    template = Template("t", "", "function", examples, of, run)
    found = Extractor(Domain("d")).extract(text, template, now=NOW)
    return dict(found.arguments), set(found.by_order)


DIVIDED = Parameter("a", "number", example=20), Parameter("b", "number", example=5)
DIVISIONS = "how many 5s are in 35", "divide 20 by 4", "35 over 7"
PLAIN = Parameter("a", "number"), Parameter("b", "number")
BOTH = {"a", "b"}


@pytest.mark.parametrize(
    "text",
    ["how many 15s in 90", "how many 15s are there in 90?", "divide 90 by 15", "90 over 15",
     "please split 90 by 15"],
)  # fmt: skip
def test_the_words_between_two_values_say_which_is_which(text: str) -> None:
    assert asked(text, *DIVISIONS, of=DIVIDED) == ({"a": 90, "b": 15}, set())


@pytest.mark.parametrize("text", ["90 15", "90 and 15", "put 90 into 15"])
def test_what_no_example_has_rests_on_order_alone(text: str) -> None:
    assert asked(text, *DIVISIONS, of=DIVIDED) == ({"a": 90, "b": 15}, BOTH)


def test_examples_without_known_roles_are_in_order_unless_their_words_turn_it() -> None:
    examples = "subtract 5 from 20", "20 minus 5"
    assert asked("10 minus 3", *examples, of=PLAIN) == ({"a": 10, "b": 3}, set())
    assert asked("subtract 3 from 10", *examples, of=PLAIN) == ({"a": 3, "b": 10}, BOTH)
    assert asked("subtract 3 from 10", *examples, of=DIVIDED) == ({"a": 10, "b": 3}, set())


def test_the_operands_of_a_sum_have_no_roles() -> None:
    found = asked("3 and 10", "20 plus 5", of=PLAIN, operation="add")
    assert found == ({"a": 3, "b": 10}, set())
    points = Parameter("points", "integer"), Parameter("member", "integer")
    assert asked("3 10", "20 to 5", of=points, operation="add")[1] == {"points", "member"}


def test_two_arrangements_that_fit_in_different_roles_are_asked_about() -> None:
    n = "([0-9]+)"
    shown = (
        Parameter("a", "number", extraction_patterns=(f"{n} with [0-9]+ up", f"with {n} down")),
        Parameter("b", "number", extraction_patterns=(f"with {n} up", f"{n} with [0-9]+ down")),
    )
    examples = "20 with 5 up", "4 with 8 down"
    assert asked("3 with 9 down", *examples, of=shown) == ({"a": 9, "b": 3}, set())
    assert asked("3 with 9", *examples, of=shown)[0] == {}


@pytest.mark.parametrize("text", ["30 is 20% of how much", "45 is 15% of what?"])
def test_a_value_that_is_asked_for_is_no_value(text: str) -> None:
    of = Parameter("percentage", "number"), Parameter("value", "number")
    assert asked(text, "20% of 50", of=of)[1] == {"percentage", "value"}
    assert asked("20% of 50 is what", "20% of 50", of=of)[1] == set()


def test_the_ends_of_a_range_are_told_by_their_values() -> None:
    of = Parameter("first_day", "date"), Parameter("last_day", "date")
    assert asked("off 2025-03-10, 2025-03-14", "off from Monday to Friday", of=of)[1] == set()
