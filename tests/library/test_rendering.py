"""Values and templates become what a person reads."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.core.suggestions import format_value
from server.library.rendering import (
    RenderingFailed,
    format_items,
    format_result,
    format_table,
    render,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (30, "30"),
        (30.0, "30"),
        (0.1, "0.1"),
        (1e21, "1000000000000000000000"),
        (Decimal("2.50"), "2.5"),
        (Decimal("1E+3"), "1000"),
        (100, "100"),
        (-0.5, "-0.5"),
        (0.0, "0"),
        (-0.0, "0"),
        (Decimal("-0.00"), "0"),
        (True, "yes"),
        (None, ""),
        ([1, 2.0, "x"], "1, 2, x"),
        ({"a": 1.0}, "a: 1"),
    ],
)
def test_values_read_as_people_write_them(value: Any, text: str) -> None:
    assert format_value(value) == text


def test_numbers_in_templates_have_no_trailing_zeros() -> None:
    assert render("{{ p }}% of {{ v }}", {"p": 15.0, "v": Decimal("200.0")}) == "15% of 200"


def test_an_unknown_variable_is_named() -> None:
    with pytest.raises(RenderingFailed, match="'nobody' is undefined"):
        render("{{ nobody }}", {})


@pytest.mark.parametrize(
    "hostile",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ x.__init__.__globals__ }}",
        "{% for i in range(999999999) %}{% endfor %}",
    ],
)
def test_the_sandbox_holds(hostile: str) -> None:
    with pytest.raises(RenderingFailed):
        render(hostile, {"x": object()})


def test_values_are_data_and_never_templates() -> None:
    assert render("{{ name }}", {"name": "{{ 7 * 7 }}"}) == "{{ 7 * 7 }}"


def test_rows_are_a_table_with_every_column() -> None:
    rows = [{"name": "Ann", "age": 31}, {"name": "Bo|b", "city": "Bonn\nam Rhein"}]
    assert format_result(rows) == (
        "| name | age | city |\n| --- | --- | --- |\n| Ann | 31 |  |\n| Bo\\|b |  | Bonn am Rhein |"
    )


def test_a_long_table_says_where_it_was_cut() -> None:
    table = format_table([{"n": n} for n in range(25)])
    assert table.endswith("| 19 |\n\nThe first 20 of 25 rows.")


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (30.0, "**30**"),
        ({"sum": 3.0, "ok": True}, "- sum: 3\n- ok: yes"),
        ([1, 2], "1, 2"),
        ([], "Nothing was found."),
        (None, "Done."),
    ],
)
def test_other_results_are_readable_too(result: Any, text: str) -> None:
    assert format_result(result) == text


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(_JSON)
def test_any_json_value_reads_as_something(value: Any) -> None:
    assert isinstance(format_result(value), str)


ROWS = [{"id": n} for n in range(25)]


@pytest.mark.parametrize(
    ("items", "total", "complete", "end"),
    [
        (ROWS[:2], 2, True, "| 1 |\n\n2 in all."),
        (ROWS[:1], 1, True, "| 0 |"),
        (ROWS, 25, True, "| 19 |\n\nThe first 20 of 25."),
        (ROWS[:3], 40, False, "| 2 |\n\nThe first 3 of 40."),
        (ROWS[:3], None, False, "| 2 |\n\nThe first 3; there are more."),
        (["a", "b"], 2, True, "- a\n- b\n\n2 in all."),
        ([], 0, True, "Nothing was found."),
    ],
)
def test_a_list_says_how_much_of_it_is_shown(
    items: list[Any], total: int | None, complete: bool, end: str
) -> None:
    assert format_items(items, total=total, complete=complete).endswith(end)
