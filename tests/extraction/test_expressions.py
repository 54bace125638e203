"""A parameter that is an expression takes the words that the sum stands in, and no others."""

from datetime import UTC, datetime

import pytest

from server.extraction.extractor import Extractor
from server.library.model import BuiltinExecution, Domain, Parameter, Template

NOW = datetime(2025, 3, 5, 12, tzinfo=UTC)
TEMPLATE = Template(
    id="calculate",
    description="Work out a sum, in digits or in words",
    nl_examples=("What is 25% off 120?", "Calculate (2 + 3) * 4", "half of 10 plus 3"),
    kind="function",
    execution=BuiltinExecution("calculator", "evaluate"),
    parameters=(Parameter("expression", "expression", "The sum to work out", required=True),),
)
EXTRACTOR = Extractor(Domain("d"))


@pytest.mark.parametrize(
    ("asked", "expression"),
    [
        ("please take 20% off 80", "take 20% off 80"),
        ("what's left of 50 after 12.75?", "left of 50 after 12.75"),
        ("work out the square root of 144 for me", "square root of 144 for me"),
        ("the score was 3-2", None),
        ("meet me on 3/4/2025", None),
    ],
)
def test_a_sum_is_the_argument(asked: str, expression: str | None) -> None:
    found = EXTRACTOR.extract(asked, TEMPLATE, now=NOW)
    assert found.arguments.get("expression") == expression


def test_all_words_of_a_sum_are_its_value() -> None:
    reading = EXTRACTOR.read("what is the remainder when 47 is divided by 6", NOW)
    found = EXTRACTOR.extract_from(reading, TEMPLATE)
    covered = EXTRACTOR.cover(reading, TEMPLATE, found)
    values = [reading.text[w.start : w.end] for w in covered.words if w.role == "value"]
    assert " ".join(values) == "remainder when 47 is divided by 6"
