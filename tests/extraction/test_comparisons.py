"""Which key of the data is compared, and with what."""

from datetime import UTC, datetime
from typing import Any

import pytest

from server.extraction.extractor import Extractor
from server.library.model import BuiltinExecution, Domain, Parameter, Template

NOW = datetime(2025, 3, 5, tzinfo=UTC)
WORDS = {"under": "lt", "less than": "lt", "over": "gt", "=": "eq", "eq": "eq"}
FILTER = Template(
    "filter",
    "Keep rows",
    "function",
    ('price over 20 [{"price": 1}]',),
    (
        Parameter("data", "array", items={"type": "object"}),
        Parameter("field", "string"),
        Parameter("operator", "string", enum=("lt", "gt", "eq"), choices=WORDS),
        Parameter("value", "string"),
    ),
    BuiltinExecution("json_transform", "filter"),
)


@pytest.mark.parametrize(
    ("question", "found", "unused"),
    [
        ('items with stock less than 10 [{"item":"nut","stock":4}]', ("stock", "lt", 10), ()),
        ('those with a = 2 [{"a":1},{"a":2}]', ("a", "eq", 2), ()),
        ('codes under B12 [{"code":"B11"},{"code":"B19"}]', ("code", "lt", "B12"), ()),
        # Items are names: what is compared with 2 is not said.
        ('items under 2 dollars [{"item":"pen","price":3}]', ("item", "lt", None), ("2",)),
    ],
)
def test_the_key_before_the_comparison_is_compared(
    question: str, found: tuple[Any, ...], unused: tuple[str, ...]
) -> None:
    extracted = Extractor(Domain("d")).extract(question, FILTER, now=NOW)
    got = tuple(extracted.arguments.get(name) for name in ("field", "operator", "value"))
    assert (got, extracted.grounding.unused) == (found, unused)
