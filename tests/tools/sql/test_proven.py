"""SQL that a database took is not asked about again."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from server.tools.sql.address import read_address
from server.tools.sql.check import ask_database
from server.tools.sql.database import Database
from server.tools.sql.databases import open_database
from server.tools.sql.proven import ProvenSql
from tests.tools.sql.test_check import COUNTRY, library

pytestmark = pytest.mark.anyio
SQL = "SELECT name FROM customers WHERE country = :country"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def shop(folder: Path, tables: str) -> Database:
    path = folder / "shop.db"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as made:
        made.executescript(tables)
    return open_database(read_address(f"sqlite:///{path}"), pool_size=1)


class Kept(ProvenSql):
    """Counts how often something was proven anew."""

    times = 0

    def keep(self, digest: str) -> None:
        self.times += 1
        super().keep(digest)


async def test_it_is_asked_once_while_nothing_changes(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "heads" / "shop.sql")
    database = shop(tmp_path, "CREATE TABLE customers (name TEXT, country TEXT)")
    try:
        for _ in range(3):
            found = await ask_database(library(tmp_path, SQL, COUNTRY), database, proven=kept)
            assert found.problems == []
        assert kept.times == 1
        other = SQL.replace("SELECT name", "SELECT name, country")
        await ask_database(library(tmp_path, other, COUNTRY), database, proven=kept)
        assert kept.times == 2
    finally:
        await database.close()


async def test_another_schema_is_asked_about_again(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "shop.sql")
    database = shop(tmp_path, "CREATE TABLE customers (name TEXT, country TEXT)")
    await ask_database(library(tmp_path, SQL, COUNTRY), database, proven=kept)
    await database.close()
    database = shop(tmp_path, "CREATE TABLE customers (label TEXT, country TEXT)")
    try:
        found = await ask_database(library(tmp_path, SQL, COUNTRY), database, proven=kept)
        assert len(found.problems) == 1
        assert kept.times == 1
    finally:
        await database.close()


async def test_where_it_cannot_be_kept_it_is_asked_again(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept = Kept(tmp_path / "file" / "shop.sql")
    database = shop(tmp_path, "CREATE TABLE customers (name TEXT, country TEXT)")
    try:
        found = await ask_database(library(tmp_path, SQL, COUNTRY), database, proven=kept)
        assert found.problems == []
        assert not kept.holds("")
    finally:
        await database.close()
