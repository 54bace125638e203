"""Queries over a data model as SQL: names of the model alone, and every value bound."""

from typing import Any

import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st

from server.library.composed_sql import QUERY, ComposedSql
from server.library.data_model import DataModel
from server.library.sql_text import Binding, ConditionFailed

MODEL = DataModel.model_validate(
    {
        "tables": {
            'odd "customers"': {
                "called": "customer",
                "key": "id",
                "name": "name",
                "columns": {"id": {"kind": "key"}, "name": {}, "city": {"kind": "category"}},
            },
            "orders": {
                "called": "order",
                "key": "id",
                "date": "placed",
                "columns": {
                    "id": {"kind": "key"},
                    "placed": {"kind": "date"},
                    "total": {"kind": "money"},
                },
                "links": [{"columns": "customer_id", "table": 'odd "customers"', "key": "id"}],
            },
        },
        "measures": [{"called": "revenue", "table": "orders", "times": "total", "kind": "money"}],
    }
)
SQL = ComposedSql("", (), model=MODEL)


def composed(**query: Any) -> tuple[str, list[Any]]:
    """The statement with `?` for values, and the values."""
    arguments = {QUERY: query}
    filled, values = SQL.fill(arguments), SQL.values(arguments)
    text = "".join("?" if isinstance(part, Binding) else str(part) for part in filled.parts)
    return text, [values[part.name] for part in filled.parts if isinstance(part, Binding)]


def test_tables_are_joined_by_their_links() -> None:
    text, values = composed(
        table="orders",
        select=["customer_id.name", {"operation": "sum", "of": "revenue"}],
        tests=[{"of": "customer_id.city", "comparison": "is", "value": "Lisbon"}],
        group=["customer_id.name"],
        order=[{"by": {"operation": "sum", "of": "revenue"}, "descending": True}],
        limit=3,
    )
    assert text == (
        'SELECT t1."name" AS "customer", SUM(t0."total") AS "revenue" FROM "orders" AS t0 '
        'JOIN "odd ""customers""" AS t1 ON t0."customer_id" = t1."id" WHERE t1."city" = ? '
        'GROUP BY t1."name" ORDER BY SUM(t0."total") DESC LIMIT 3'
    )
    assert values == ["Lisbon"]


def test_what_is_not_there_is_asked_of_the_other_table() -> None:
    text, values = composed(
        table='odd "customers"',
        select=["name"],
        lacking=[{"table": "orders", "up": ["customer_id"], "tests": [
            {"of": "placed", "comparison": "from", "value": "2026-01-01"}]}],
    )  # fmt: skip
    assert "WHERE NOT EXISTS (SELECT 1 FROM" in text
    assert values == ["2026-01-01"]


def test_a_share_binds_what_is_true_of_its_part() -> None:
    part = {"of": "customer_id.city", "comparison": "is", "value": "Lisbon"}
    text, values = composed(
        table="orders",
        select=[{"operation": "sum", "of": "revenue", "share": True, "where": [part]}],
        tests=[{"of": "placed", "comparison": "from", "value": "2026-01-01"}],
    )
    assert text == (
        'SELECT SUM(CASE WHEN t1."city" = ? THEN t0."total" ELSE 0 END) * 100.0 / SUM(t0."total") '
        'AS "percent_of_revenue" FROM "orders" AS t0 LEFT JOIN "odd ""customers""" AS t1 '
        'ON t0."customer_id" = t1."id" WHERE t0."placed" >= ?'
    )
    assert values == ["Lisbon", "2026-01-01"]


def test_an_average_for_each_of_other_things_divides_by_their_number() -> None:
    text, _ = composed(
        table="orders",
        select=[{"operation": "average", "of": "revenue", "per": "customer_id.id"}],
    )
    assert text.startswith(
        'SELECT SUM(t0."total") * 1.0 / COUNT(DISTINCT t1."id") AS "average_revenue_per_customer"'
    )


def test_the_best_of_each_are_those_of_the_first_place_among_them() -> None:
    text, _ = composed(
        table="orders",
        select=["customer_id.name", "total"],
        order=[{"by": "total", "descending": True}],
        limit=1,
        ties=True,
        each=["customer_id.id"],
    )
    assert text == (
        'SELECT "customer", "total" FROM (SELECT t1."name" AS "customer", t0."total" AS "total", '
        'RANK() OVER (PARTITION BY t1."id" ORDER BY t0."total" DESC) AS "its_place" FROM "orders" '
        'AS t0 JOIN "odd ""customers""" AS t1 ON t0."customer_id" = t1."id") AS ranked '
        'WHERE "its_place" <= 1 ORDER BY "customer", "total"'
    )


def test_what_has_a_bound_is_counted_by_its_groups() -> None:
    bound = {"of": {"operation": "count"}, "comparison": "least", "value": 5}
    text, values = composed(
        table="orders",
        select=["customer_id.id"],
        tests=[bound],
        group=["customer_id.id"],
        counted='odd "customers"',
    )
    assert text.startswith('SELECT COUNT(*) AS "number_of_customers" FROM (SELECT t1."id"')
    assert text.endswith("HAVING COUNT(*) >= ?) AS counted")
    assert values == [5]


def test_a_length_is_told_in_another_unit_row_by_row() -> None:
    length = {"operation": "value", "of": "total", "scale": 60.0, "unit": "hours"}
    text, _ = composed(table="orders", select=["id", length])
    assert text == (
        'SELECT t0."id" AS "id", t0."total" / 60.0 AS "total_in_hours" FROM "orders" AS t0'
    )


@pytest.mark.parametrize(
    ("query", "what"),
    [
        (None, "query: Input should be"),
        ({"table": "orders"}, "query.select: Field required"),
        ({"table": "orders; DROP TABLE x", "select": ["id"]}, "no 'orders; DROP TABLE x'"),
        ({"table": "orders", "select": ["secret"]}, "no 'secret'"),
        ({"table": "orders", "select": ["customer_id.password"]}, "no 'customer_id.password'"),
        ({"table": "orders", "select": ["total FROM x --"]}, "no 'total FROM x --'"),
        ({"table": "orders", "select": ["id"], "limit": 10**9}, "query.limit"),
        ({"table": "orders", "select": ["id"], "sql": "x"}, "query.sql: Extra inputs"),
        ({"table": "orders", "select": ["id"], "tests": [{"of": "id", "comparison": "or 1=1"}]},
         "query.tests.0.comparison"),
        ({"table": "orders", "select": ["id"], "counted": "x; DROP"}, "no 'x; DROP'"),
        ({"table": "orders", "select": ["id"], "order": [{"by": "id"}], "limit": 1, "ties": True,
          "each": ["id) --"]}, "no 'id) --'"),
        ({"table": "orders", "select": ["id"], "lacking": [{"table": "orders", "up": ["x"]}]},
         "no 'x'"),
    ],
)  # fmt: skip
def test_a_query_that_is_none_says_what_is_wrong(query: Any, what: str) -> None:
    with pytest.raises(ConditionFailed) as failed:
        SQL.fill({QUERY: query})
    assert what in str(failed.value)


TEXTS = st.one_of(st.text(max_size=30), st.sampled_from(["'; --", '" OR 1=1', "\\%_", "\0", ":v1"]))


@given(
    value=TEXTS,
    comparison=st.sampled_from(["is", "not", "more", "less", "contains", "from", "until"]),
    limit=st.one_of(st.none(), st.integers(1, 1_000)),
    each=st.sampled_from(["day", "month", "year"]),
    ties=st.booleans(),
    counted=st.sampled_from(["", "orders"]),
    unit=TEXTS,
)
@settings(max_examples=60, deadline=None)
def test_whatever_is_asked_is_one_select_with_its_values_bound(
    value: str,
    comparison: str,
    limit: int | None,
    each: str,
    ties: bool,
    counted: str,
    unit: str,
) -> None:
    longest = {"operation": "highest", "of": "total", "scale": 2.0, "unit": unit}
    text, values = composed(
        table="orders",
        select=[{"column": "placed", "each": each}, {"operation": "count"}, longest],
        order=[{"by": {"operation": "count"}}],
        ties=ties,
        counted=counted,
        tests=[{"of": "customer_id.name", "comparison": comparison, "value": value}],
        group=[{"column": "placed", "each": each}],
        limit=limit,
    )
    statements = sqlglot.parse(text.replace("?", ":v"), dialect="sqlite")
    assert [type(one).__name__ for one in statements] == ["Select"]
    assert values == [value]
    assert len(value) < 4 or value == unit or value not in text
