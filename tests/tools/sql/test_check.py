"""What a database says of a library before anybody asks it."""

import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import yaml

from server.library.loader import load_library
from server.library.model import Library
from server.tools.sql.address import read_address
from server.tools.sql.check import ask_database
from server.tools.sql.database import Database
from server.tools.sql.databases import open_database

pytestmark = pytest.mark.anyio

NUMBER = {"name": "least", "type": "number", "required": False}
COUNTRY = {"name": "country", "type": "string", "required": False}
LIMIT = {"name": "limit", "type": "integer", "default": 10}
SINCE = {"name": "since", "type": "date", "required": False}


def library(folder: Path, sql: str, *parameters: dict[str, Any], **more: Any) -> Library:
    template = {
        "id": "t", "description": "T", "nl_examples": ["one question"], "sql": sql,
        "parameters": list(parameters), **more,
    }  # fmt: skip
    (folder / "domain.yaml").write_text("domain_name: Shop\n")
    (folder / "templates.yaml").write_text(yaml.safe_dump({"templates": [template]}))
    loaded = load_library(folder / "domain.yaml", [folder / "templates.yaml"], {})
    assert loaded.library is not None, loaded.problems
    return loaded.library


@pytest.mark.parametrize(
    ("sql", "parameters"),
    [
        (
            "SELECT c.name, sum(o.total) AS spent FROM customers c JOIN orders o "
            "ON o.customer_id = c.id WHERE (:country IS NULL OR c.country = :country) "
            "{% if least %}AND o.total >= :least {% endif %}"
            "{% if since %}AND o.ordered >= :since {% endif %}"
            "GROUP BY c.name ORDER BY spent DESC LIMIT :limit",
            (COUNTRY, NUMBER, SINCE, LIMIT),
        ),
        ("SELECT * FROM customers WHERE LOWER(name) LIKE LOWER(:country)", (COUNTRY,)),
        ("SELECT * FROM customers WHERE country = :caller_user_id", ()),
    ],
)
async def test_what_can_be_asked_has_no_problem(
    database: Database, tmp_path: Path, sql: str, parameters: tuple[dict[str, Any], ...]
) -> None:
    found = await ask_database(library(tmp_path, sql, *parameters), database)
    assert found.problems == []


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("SELECT * FROM custmers", "no table 'custmers'; did you mean 'customers'?"),
        ("SELECT nam FROM customers", "does not take the SQL: .*nam"),
        ("SELECT name, count(*) FROM customers {% if country %}WHERE cuntry = :country{% endif %}",
         "does not take the SQL: .*"),
        ("SELECT no_such_function(name) FROM customers", "does not take the SQL: .*"),
    ],
)  # fmt: skip
async def test_the_database_itself_is_asked(
    database: Database, tmp_path: Path, sql: str, says: str
) -> None:
    found = (await ask_database(library(tmp_path, sql, COUNTRY), database)).problems
    assert [(each.kind, each.template) for each in found] == [("bad-sql", "t")]
    assert re.search(says, found[0].what)


async def test_a_change_is_planned_and_not_made(database: Database, tmp_path: Path) -> None:
    sql = "DELETE FROM orders WHERE total < :least"
    asked = library(tmp_path, sql, {**NUMBER, "required": True}, effect="write")
    assert (await ask_database(asked, database)).problems == []


async def test_a_database_that_is_down_is_one_warning(tmp_path: Path) -> None:
    database = open_database(read_address(str(tmp_path / "none.db")))
    (found,), schema = await ask_database(library(tmp_path, "SELECT * FROM anything"), database)
    assert (found.kind, found.severity) == ("database-down", "warning")
    assert schema is None
    await database.close()


async def test_a_database_that_is_locked_is_a_warning_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.tools.sql.sqlite._BUSY_S", 0.1)
    writer = sqlite3.connect(tmp_path / "shop.db", isolation_level=None)
    writer.execute("CREATE TABLE t (i)")
    writer.execute("BEGIN EXCLUSIVE")
    database = open_database(read_address(str(tmp_path / "shop.db")))
    (found,), _ = await ask_database(library(tmp_path, "SELECT i FROM t"), database)
    assert "locked" in found.what
    assert not found.is_error
    await database.close()
    writer.close()
