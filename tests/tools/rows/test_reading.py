"""Data to rows: what is taken, and what is refused before anything is done with it."""

from decimal import Decimal
from types import MappingProxyType
from typing import Any

import pytest

from server.errors import ArgumentsInvalid
from server.tools.rows.reading import MAX_ROWS, read_rows

DEEP: Any = []
for _ in range(60):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        ([{"a": 1}, {"b": None}], [{"a": 1}, {"b": None}]),
        ({"a": 1}, [{"a": 1}]),
        (({"a": [1, {"b": 2.5}]},), [{"a": [1, {"b": 2.5}]}]),
        ([MappingProxyType({"a": 1})], [{"a": 1}]),
        ('[{"a": 1.5, "b": "x"}]', [{"a": 1.5, "b": "x"}]),
        (' {"a": true}', [{"a": True}]),
        ([], []),
        ([{}], [{}]),
        ([{"a": Decimal("1.10")}], [{"a": Decimal("1.10")}]),
    ],
)
def test_rows_are_a_list_of_objects_or_json_of_one(data: Any, rows: list[Any]) -> None:
    assert read_rows(data, "data") == rows


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (None, "data must be a list of objects, not nothing"),
        (5, "data must be a list of objects, not a number"),
        ('"text"', "data must be a list of objects, not text"),
        ([{"a": 1}, 2], "data[1] is a number; every row must be an object"),
        (
            "[{",
            "data is not JSON: Expecting property name enclosed in double quotes "
            "at line 1 column 3",
        ),
        ("", "data is not JSON: Expecting value at line 1 column 1"),
        ("[" * 100_000, "data is nested too deeply"),
        ([{"a": DEEP}], "data is nested too deeply; at most 50 levels are taken"),
        ([{"a": 1}] * (MAX_ROWS + 1), "data has 100001 rows; at most 100000 are taken"),
        ("9" * 5_000_001, "data is longer than 5000000 characters"),
        (f'[{{"a": {"9" * 5000}}}]', "data holds a number of more than 50 digits"),
        ([{"a": 10**5000}], "data holds a number of more than 50 digits"),
        ([{"a": Decimal("1e999999")}], "data holds a number of more than 50 digits"),
        ('[{"a": 1e999}]', "data holds inf, which is not a finite number"),
        ('[{"a": NaN}]', "data holds nan, which is not a finite number"),
        ([{"a": 1.0}, {"a": float("nan")}], "data holds nan, which is not a finite number"),
        ([{"a": [{"b": float("inf")}]}], "data holds inf, which is not a finite number"),
        ([{"a": Decimal("sNaN")}], "data holds sNaN, which is not a finite number"),
        ([{"a": b"x"}], "data holds a bytes, which is no JSON"),
        ([{"a": {1, 2}}], "data holds a set, which is no JSON"),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, str) else "",
)
def test_what_is_no_rows_is_refused(data: Any, problem: str) -> None:
    with pytest.raises(ArgumentsInvalid) as refused:
        read_rows(data, "data")
    assert str(refused.value) == problem
