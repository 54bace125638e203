"""Data to rows: what is taken, and what is refused before anything is done with it."""

import json
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from server.errors import ArgumentsInvalid
from server.tools.rows.reader import MAX_ROWS, check_values, parse_json_rows, read_rows

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(10**49, 10**400)
    | st.floats()
    | st.text()
    | st.just(date(2025, 3, 4))
    | st.decimals()
    | st.just(b"x")
)
VALUES = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(st.text("ab"), SCALARS)
ALMOST_JSON = st.text('[]{},:"\\/ \n\t0123456789.+-eEuaNInfityrls\x00', max_size=30)

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


def verdict(look: Callable[[], object]) -> str:
    try:
        look()
    except ArgumentsInvalid as refused:
        return str(refused)
    return "taken"


@given(st.lists(st.dictionaries(st.sampled_from("abc"), VALUES), max_size=4))
@example([{"a": 10**49}, {"a": 9 * 10**49}])
@example([{"a": None}, {"a": float("nan")}])
@example([{"a": 1.5}, {"a": 10**400}])
def test_a_glance_at_rows_says_what_a_close_look_says(rows: list[dict[str, Any]]) -> None:
    closely = verdict(lambda: check_values([v for row in rows for v in row.values()], "data"))
    assert verdict(lambda: read_rows(rows, "data")) == closely
    many = rows * 30
    closely = verdict(lambda: check_values([v for row in many for v in row.values()], "data"))
    assert verdict(lambda: read_rows(many, "data")) == closely


def python_reads(text: str) -> str:
    try:
        return repr(json.loads(text))
    except ValueError:
        return "refused"


def we_read(text: str) -> str:
    try:
        return repr(parse_json_rows(text, "data"))
    except ArgumentsInvalid:
        return "refused"


@given(
    ALMOST_JSON
    | st.text()
    | st.recursive(SCALARS, st.lists).map(lambda v: json.dumps(v, default=str))
)
@example('"\\ud800"')
@example('{"a": 1, "b": 2, "a": 3}')
@example("[-0, -0.0, 1e400, 5e-324, 0.1234567890123456789012345]")
@example("9" * 4300)
@example("9" * 4301)
def test_json_is_read_as_python_reads_it(text: str) -> None:
    assert we_read(text) == python_reads(text)


@given(st.floats())
def test_a_float_in_json_keeps_every_digit(number: float) -> None:
    assert repr(parse_json_rows(json.dumps(number), "data")) == repr(number)
