"""Discounts, ages, birthdays and shared places, over a draft of a small trade."""

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.databases.test_data_questions import open_draft, result_of
from utils.bench._turns import Opened
from utils.bench.drafts import is_same

pytestmark = pytest.mark.anyio

TRADE = """
CREATE TABLE employees (employee_id INTEGER PRIMARY KEY, first_name VARCHAR(40),
  last_name VARCHAR(40), birth_date DATE, hire_date DATE, city VARCHAR(40), country VARCHAR(40));
CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, company_name VARCHAR(60),
  contact_name VARCHAR(60), phone VARCHAR(24), city VARCHAR(40), country VARCHAR(40));
CREATE TABLE suppliers (supplier_id INTEGER PRIMARY KEY, company_name VARCHAR(60),
  city VARCHAR(40), country VARCHAR(40));
CREATE TABLE products (product_id INTEGER PRIMARY KEY, product_name VARCHAR(60),
  supplier_id INTEGER REFERENCES suppliers(supplier_id), unit_price NUMERIC(8,2));
CREATE TABLE orders (order_id INTEGER PRIMARY KEY,
  customer_id INTEGER REFERENCES customers(customer_id),
  employee_id INTEGER REFERENCES employees(employee_id), order_date DATE, freight NUMERIC(8,2));
CREATE TABLE order_details (order_id INTEGER REFERENCES orders(order_id),
  product_id INTEGER REFERENCES products(product_id), unit_price NUMERIC(8,2), quantity INTEGER,
  discount REAL, PRIMARY KEY (order_id, product_id));
INSERT INTO employees VALUES
  (1, 'Nora', 'Lind', '1961-09-04', '2010-01-15', 'Oslo', 'Norway'),
  (2, 'Paul', 'Weir', '1979-09-21', '2018-06-01', 'London', 'United Kingdom'),
  (3, 'Rita', 'Falk', '1990-02-11', '2021-03-01', 'London', 'United Kingdom');
INSERT INTO customers VALUES
  (1, 'Harbour Foods', 'Hanna Moe', '555-0101', 'London', 'United Kingdom'),
  (2, 'Casa Verde', 'Luis Prado', '555-0102', 'Madrid', 'Spain'),
  (3, 'Nordlys', 'Erik Dahl', '555-0103', 'Bergen', 'Norway');
INSERT INTO suppliers VALUES
  (1, 'Thames Tea', 'London', 'United Kingdom'), (2, 'Kobe Rice', 'Kobe', 'Japan');
INSERT INTO products VALUES (1, 'Black Tea', 1, 4), (2, 'Green Tea', 1, 5), (3, 'Rice', 2, 10);
INSERT INTO orders VALUES
  (101, 1, 1, '2025-11-03', 10), (102, 1, 2, '2026-02-07', 30), (103, 2, 2, '2026-03-14', 20),
  (104, 3, 3, '2026-05-02', 5);
INSERT INTO order_details VALUES
  (101, 1, 4, 10, 0), (101, 3, 10, 2, 0.25), (102, 2, 5, 20, 0.1), (103, 3, 10, 5, 0),
  (104, 1, 4, 5, 0.25), (104, 2, 5, 1, 0);
"""


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def trade(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("trade") / "trade.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(TRADE)
    return path


@pytest.fixture(scope="module")
def connection(trade: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(trade)) as opened:
        yield opened


@pytest.fixture(scope="module")
async def opened(trade: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Opened]:
    async with open_draft(tmp_path_factory.mktemp("drafted"), trade) as library:
        yield library


@pytest.mark.parametrize(
    ("ask", "sql"),
    [
        ("how much money did we give away in discounts in 2026?",
         "SELECT SUM(d.unit_price * quantity * discount) FROM order_details d JOIN orders USING "
         "(order_id) WHERE order_date LIKE '2026%'"),
        ("how many orders had at least one product with a discount of 20% or more?", "SELECT 2"),
        ("what does order 101 come to after discount?", "SELECT 55.0"),
        ("rank the suppliers by last year's sales", "SELECT 'Thames Tea', 40.0 UNION "
         "SELECT 'Kobe Rice', 15.0"),
        ("who has a birthday in September?",
         "SELECT 'Nora', 'Lind', '1961-09-04' UNION SELECT 'Paul', 'Weir', '1979-09-21'"),
        ("employees older than 60", "SELECT 'Nora', 'Lind'"),
        ("which customers are in a city where we also have a supplier?", "SELECT 'Harbour Foods'"),
        ("customers in a country where we have no employees", "SELECT 'Casa Verde'"),
        ("which countries do we buy from but have no customers in?", "SELECT 'Japan'"),
        ("what is the phone number of Luis Prado?", "SELECT 'Casa Verde', '555-0102'"),
        ("what was the highest freight, and for which order?", "SELECT 102, 30"),
        ("Give me the order number, customer and order date of every order since March 2026",
         "SELECT order_id, company_name, order_date FROM orders JOIN customers USING (customer_id) "
         "WHERE order_date >= '2026-03-01'"),
        ("average order value by customer country",
         "SELECT 'United Kingdom', 72.5 UNION SELECT 'Spain', 50.0 UNION SELECT 'Norway', 20.0"),
        ("how many sales did we have in 2026?", "SELECT 3"),
    ],
)  # fmt: skip
async def test_a_question_gets_the_rows_that_it_asks_for(
    opened: Opened, connection: sqlite3.Connection, ask: str, sql: str
) -> None:
    result = result_of(await opened.ask(ask))
    found = [tuple(row.values()) for row in result["rows"]]
    wanted = connection.execute(sql).fetchall()
    assert is_same(found, wanted, ordered=False), (found, wanted)


@pytest.mark.parametrize(
    "ask",
    [
        "which customers have their birthday in September?",
        "how did we sell in 2025?",
        "orders with more than 20% freight",
    ],
)
async def test_what_the_data_cannot_answer_is_not_answered(opened: Opened, ask: str) -> None:
    answer = await opened.ask(ask)
    assert answer.metadata.get("tool_execution", {}).get("status") != "success", answer.content
