"""The record shop in databases that are not SQLite."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.databases.record_shop import TABLES, inserts
from tests.support.postgresql import postgresql, why_not


@contextmanager
def record_shop_in(kind: str, folder: Path) -> Iterator[str]:
    """Make it, and give what `database:` says; the test is skipped where there is none."""
    if kind == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        path = folder / "shop.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute(TABLES)
            for text, values in inserts("?"):
                connection.executemany(text, [list(row) for row in values])
        yield str(path)
        return
    if reason := why_not():
        pytest.skip(reason)
    import psycopg

    with postgresql() as url:
        with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
            connection.execute(TABLES.encode())
            for text, values in inserts("%s"):
                with connection.cursor() as cursor:
                    cursor.executemany(text.encode(), values)
        yield url
