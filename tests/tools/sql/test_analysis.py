"""What is known of SQL before it is run."""

import pytest

from server.core.tools import Effect
from server.library.sql_text import parse_sql
from server.tools.sql.address import DatabaseKind
from server.tools.sql.analysis import (
    counts_rows,
    parameter_columns,
    statement_problems,
    variants,
)
from server.tools.sql.database import Database
from server.tools.sql.schema import Column, DatabaseSchema, ForeignKey, Table, read_schema

pytestmark = pytest.mark.anyio

KINDS: tuple[DatabaseKind, ...] = ("sqlite", "postgresql", "duckdb")


def columns(*names: str) -> dict[str, Column]:
    return {name: Column(name, "text", "text") for name in names}


SHOP = DatabaseSchema(
    {
        "customers": Table("customers", columns("id", "name", "country")),
        "orders": Table("orders", columns("id", "customer_id", "total", "status", "ordered")),
    }
)


def problems(sql: str, effect: Effect = "read", kind: DatabaseKind = "sqlite") -> list[str]:
    return [
        problem
        for filled, _ in variants(parse_sql(sql))
        for problem in statement_problems(filled, (kind,), effect, SHOP)
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM orders WHERE total > :total LIMIT :limit OFFSET :offset",
        "WITH paid AS (SELECT * FROM orders WHERE status = :s) SELECT count(*) FROM paid",
        "SELECT id FROM orders UNION ALL SELECT id FROM customers ORDER BY id LIMIT 3",
        "SELECT id FROM orders o WHERE EXISTS (SELECT 1 FROM customers c WHERE c.id = o.id)",
        "SELECT CASE WHEN total > :a THEN 'big' ELSE 'small' END AS size, count(*) FROM orders "
        "{% if s %}WHERE status IN (:s){% endif %} GROUP BY 1 HAVING count(*) > 2",
        "SELECT rank() OVER (PARTITION BY status ORDER BY total DESC) FROM orders;",
        "VALUES (1), (2)",
    ],
)
def test_a_question_is_one_select(sql: str, kind: DatabaseKind) -> None:
    assert problems(sql, kind=kind) == []


@pytest.mark.parametrize(
    ("sql", "effect", "says"),
    [
        ("SELECT 1; SELECT 2", "read", "2 statements"),
        ("", "read", "0 statements"),
        ("DELETE FROM orders", "read", "it holds DELETE; write effect: write"),
        ("WITH x AS (DELETE FROM orders RETURNING id) SELECT * FROM x", "read", "DELETE"),
        ("DROP TABLE orders", "read", "no SELECT"),
        ("PRAGMA writable_schema = 1", "read", "no SELECT"),
        ("ATTACH 'x.db' AS x", "read", "no SELECT"),
        ("SELECT 1", "write", "INSERT, UPDATE and DELETE"),
        ("DROP TABLE orders", "write", "INSERT, UPDATE and DELETE"),
        ("SELECT FROM WHERE", "read", "cannot be read"),
        ("SELECT * FROM ordres", "read", "no table 'ordres'; did you mean 'orders'?"),
        ("SELECT o.totl FROM orders o", "read", "no column 'totl'; did you mean 'total'?"),
        ("SELECT 1 {% if a %}FROM nowhere{% endif %}", "read", "no table 'nowhere'"),
    ],
)
def test_what_else_it_may_be_is_named(sql: str, effect: Effect, says: str) -> None:
    (problem,) = problems(sql, effect)
    assert says in problem


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("sql", "uses"),
    [
        ("FROM orders WHERE status = :a", {"a": "orders.status ="}),
        ("FROM orders o WHERE :a < o.total", {"a": "orders.total >"}),
        ("FROM orders WHERE id BETWEEN :a AND :b", {"a": "orders.id >=", "b": "orders.id <="}),
        ("FROM customers WHERE LOWER(name) LIKE LOWER(:a)", {"a": "customers.name like"}),
        ("FROM customers WHERE name LIKE '%' || :a || '%'", {"a": "customers.name like"}),
        ("FROM customers WHERE country IN (:a)", {"a": "customers.country in"}),
        ("FROM customers WHERE (:a IS NULL OR country = :a)", {"a": "customers.country ="}),
        ("FROM orders o JOIN customers c ON c.id = o.customer_id WHERE c.name = :a AND o.id = :b",
         {"a": "customers.name =", "b": "orders.id ="}),
        ("FROM orders WHERE customer_id IN (SELECT id FROM customers WHERE name = :a)",
         {"a": "customers.name ="}),
        ("FROM orders WHERE 1 = 1 {% if a %}AND status = :a{% endif %}", {"a": "orders.status ="}),
        ("FROM orders WHERE total > :a * 2 LIMIT :n", {"a": "orders.total >"}),
        ("FROM orders WHERE status = :a OR ordered = :a", {}),
        ("FROM orders WHERE total + id > :a", {}),
    ],
)  # fmt: skip
def test_the_column_that_an_argument_is_compared_with(
    sql: str, uses: dict[str, str], kind: DatabaseKind
) -> None:
    found = parameter_columns(parse_sql(f"SELECT * {sql}"), kind, SHOP)
    assert uses == {
        name: f"{use.table.name}.{use.column.name} {use.comparison}" for name, use in found.items()
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("compared", "names"),
    [
        ("c.name || ' ' || c.country = :a", ("name", "country")),
        ("LOWER(c.country || ' ' || c.name) LIKE LOWER(:a)", ("country", "name")),
        ("c.name || c.country = :a", None),
        ("c.name || ' ' || o.status = :a", None),
        ("c.name || ' ' || c.country || '!' = :a", None),
    ],
)
def test_columns_with_a_blank_between_them_are_one_name(
    compared: str, names: tuple[str, ...] | None, kind: DatabaseKind
) -> None:
    sql = f"SELECT * FROM customers c JOIN orders o ON o.customer_id = c.id WHERE {compared}"
    use = parameter_columns(parse_sql(sql), kind, SHOP).get("a")
    assert (use and use.names) == names


@pytest.mark.parametrize(
    ("sql", "counts"),
    [
        ("SELECT COUNT(*) AS orders FROM orders", True),
        ("SELECT COUNT(DISTINCT id) FROM orders {% if a %}WHERE status = :a{% endif %}", True),
        ("SELECT status, COUNT(*) FROM orders GROUP BY status", False),
        ("SELECT COUNT(*) FROM orders GROUP BY status", False),
        ("SELECT SUM(total) FROM orders", False),
        ("SELECT id FROM orders", False),
        ("SELECT FROM WHERE", False),
    ],
)  # fmt: skip
def test_what_gives_but_a_number_of_rows_counts_them(sql: str, counts: bool) -> None:
    assert counts_rows(parse_sql(sql)) is counts


async def test_the_schema_is_read(database: Database) -> None:
    schema = await read_schema(database)
    assert sorted(schema.tables) == ["customers", "orders"]
    orders = schema.tables["orders"]
    assert orders.primary_key == ("id",)
    assert orders.foreign_keys == (ForeignKey(("customer_id",), "customers", ("id",)),)
    assert [(c.name, c.kind) for c in orders.columns.values()] == [
        ("id", "integer"), ("customer_id", "integer"), ("total", "number"), ("status", "text"),
        ("ordered", "date"), ("note", "text"),
    ]  # fmt: skip
    assert schema.table("ORDERS") is orders
    assert not schema.tables["customers"].columns["name"].nullable


def test_no_more_variants_are_tried_than_a_few() -> None:
    many = "".join(f"{{% if a{n} %}}AND {n} = :a{n} {{% endif %}}" for n in range(30))
    tried = list(variants(parse_sql(f"SELECT 1 WHERE 1 = 1 {many}")))
    assert len(tried) <= 65
    assert {len(filled.names) for filled, _ in tried} >= {0, 30}
