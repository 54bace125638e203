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
