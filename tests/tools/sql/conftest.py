"""One small shop in each database that can be asked."""

import sqlite3
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Final

import pytest

from server.tools.sql.address import read_address
from server.tools.sql.database import Database
from server.tools.sql.databases import open_database
from tests.support.postgresql import postgresql, why_not

CUSTOMERS: Final = [
    (1, "Ana Silva", "Portugal"),
    (2, "Bob Stone", "Ireland"),
    (3, "O'Brien 100% \\_", "Ireland"),
]
TABLES: Final = (
    "CREATE TABLE customers (id integer PRIMARY KEY, name varchar(80) NOT NULL, country varchar)",
    "CREATE TABLE orders (id integer PRIMARY KEY, customer_id integer REFERENCES customers (id), "
    "total decimal(10, 2), status varchar, ordered date, note varchar)",
)
ORDERS: Final = [
    (n, 1 + n % 3, f"{n * 7.5:.2f}", ("open", "paid")[n % 2], f"2026-{1 + n % 12:02}-15", None)
    for n in range(1, 61)
]


def _fill(execute: object, mark: str) -> None:
    assert callable(execute)
    for table in TABLES:
        execute(table)
    for row in CUSTOMERS:
        execute(f"INSERT INTO customers VALUES ({', '.join([mark] * 3)})", row)
    for order in ORDERS:
        execute(f"INSERT INTO orders VALUES ({', '.join([mark] * 6)})", order)


@pytest.fixture(scope="session")
def postgresql_shop() -> Iterator[str]:
    if reason := why_not():
        pytest.skip(reason)
    import psycopg

    with postgresql() as url:
        with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
            _fill(connection.execute, "%s")
        yield url


@pytest.fixture(params=["sqlite", "duckdb", "postgresql"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """What `database:` says; a new file, or the one PostgreSQL that tests only read."""
    if request.param == "postgresql":
        url: str = request.getfixturevalue("postgresql_shop")
        return url
    path = tmp_path / f"shop.{'db' if request.param == 'sqlite' else 'duckdb'}"
    if request.param == "sqlite":
        made = sqlite3.connect(path)
        _fill(made.execute, "?")
        made.commit()
        made.close()
    else:
        duckdb = pytest.importorskip("duckdb")
        connection = duckdb.connect(str(path))
        _fill(connection.execute, "?")
        connection.close()
    return str(path)


@pytest.fixture
async def database(shop: str) -> AsyncIterator[Database]:
    opened = open_database(read_address(shop))
    yield opened
    await opened.close()
