"""Whatever a tool returns becomes JSON that any client can read."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.core.json import to_json


class Colour(Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Decimal("0.1"), "0.1"),
        (Decimal("30.0"), "30"),
        (float("nan"), "null"),
        ({"x": float("inf"), "y": Decimal("NaN")}, '{"x":null,"y":null}'),
        (Decimal("1e999999"), "null"),
        (Decimal("1e-999999"), "0.0"),
        ({"x": 10**5000}, '{"x":null}'),
        (date(2025, 3, 4), '"2025-03-04"'),
        (datetime(2025, 3, 4, 5, 6, tzinfo=UTC), '"2025-03-04T05:06:00+00:00"'),
        (Colour.RED, '"red"'),
        ({1, 2}, "[1,2]"),
        ("שלום", '"שלום"'),
        ({1: {("a", 1): 2}}, '{"1":{"(\'a\', 1)":2}}'),
    ],
)
def test_values_become_json(value: Any, text: str) -> None:
    assert to_json(value) == text


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.decimals() | st.text() | st.dates(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
        max_leaves=10,
    )
)
def test_any_value_parses_back(value: Any) -> None:
    json.loads(to_json(value), parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
