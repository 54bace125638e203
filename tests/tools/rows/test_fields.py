"""Finding fields: exactly, by path, loosely, or not at all."""

from typing import Any

import pytest

from server.errors import ArgumentsInvalid
from server.tools.rows.fields import MISSING, find_row_field

ROWS: list[dict[str, Any]] = [
    {"Unit Price": 5, "a.b": 1, "place": {"city": "Rome"}, "tags": ["x", {"k": "y"}]},
    {"id": 2},
]


@pytest.mark.parametrize(
    ("asked", "name", "values"),
    [
        ("id", "id", [MISSING, 2]),
        ("a.b", "a.b", [1, MISSING]),
        ("place.city", "place.city", ["Rome", MISSING]),
        ("tags.0", "tags.0", ["x", MISSING]),
        ("tags.1.k", "tags.1.k", ["y", MISSING]),
        ("unit_price", "Unit Price", [5, MISSING]),
        ("ID", "id", [MISSING, 2]),
    ],
)
def test_a_field_is_found(asked: str, name: str, values: list[Any]) -> None:
    field = find_row_field(ROWS, asked, "field")
    assert (field.name, field.values(ROWS)) == (name, values)


@pytest.mark.parametrize(
    ("rows", "asked", "problem"),
    [
        (
            ROWS,
            "idd",
            "no row has a field 'idd'; there are Unit Price, a.b, place, tags, id; "
            "did you mean 'id'?",
        ),
        (
            ROWS,
            "place.town",
            "no row has a field 'place.town'; there are Unit Price, a.b, place, tags, id; "
            "did you mean 'place'?",
        ),
        (
            ROWS,
            "tags.7",
            "no row has a field 'tags.7'; there are Unit Price, a.b, place, tags, id; "
            "did you mean 'tags'?",
        ),
        (
            [{"ab": 1, "a_b": 2}],
            "A B",
            "no row has a field 'A B'; there are ab, a_b; did you mean 'ab'?",
        ),
        ([{}], "x", "no row has a field 'x'; the rows are empty"),
        (ROWS, "", "field must have 1 to 200 characters"),
        (ROWS, 3, "field must be text, not a number"),
    ],
)
def test_a_field_that_no_row_has_is_refused(
    rows: list[dict[str, Any]], asked: Any, problem: str
) -> None:
    with pytest.raises(ArgumentsInvalid) as refused:
        find_row_field(rows, asked, "field")
    assert str(refused.value) == problem


def test_of_no_rows_any_field_will_do() -> None:
    assert find_row_field([], "anything", "field").name == "anything"


def test_a_field_may_be_one_that_is_looked_for() -> None:
    assert find_row_field(ROWS, "nothing", "field", must_exist=False).values(ROWS[:1]) == [MISSING]
