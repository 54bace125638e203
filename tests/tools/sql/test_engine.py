"""Templates that ask a database, on every kind of it."""

import asyncio
import sqlite3
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from server.core.tools import Effect, ToolCall
from server.errors import ToolFailed, ToolTimedOut
from server.library.sql_model import SqlExecution
from server.library.sql_text import parse_sql
from server.tools.sql.address import read_address
from server.tools.sql.database import Database, DatabaseDown, DatabaseFailed
from server.tools.sql.databases import open_database
from server.tools.sql.engine import SqlCalls, SqlLimits, SqlRun
from server.tools.sql.sqlite import SqliteDatabase
from server.tools.sql.statement import Statement

pytestmark = pytest.mark.anyio


async def ask(
    database: Database,
    sql: str,
    limits: SqlLimits | None = None,
    *,
    timeout_s: float = 20.0,
    effect: Effect = "read",
    names: tuple[str, ...] = (),
    **arguments: Any,
) -> Mapping[str, Any]:
    execution = SqlExecution(parse_sql(sql, names), effect=effect)
    calls = SqlCalls({"t": SqlRun(execution)}, database, limits)
    call = ToolCall("t", "sql", "query", arguments)
    return await calls.run(call, timeout_s=timeout_s)


async def ids(database: Database, condition: str, **arguments: Any) -> list[int]:
    sql = f"SELECT id FROM customers c WHERE {condition} ORDER BY id"
    return [row["id"] for row in (await ask(database, sql, **arguments))["rows"]]


async def test_rows_are_objects_by_column(database: Database) -> None:
    sql = (
        "SELECT o.id, c.id, o.total, o.ordered, o.note, o.status = 'paid' AS paid FROM orders o "
        "JOIN customers c ON c.id = o.customer_id WHERE o.id = :id"
    )
    found = await ask(database, sql, id=3)
    paid = 1 if database.address.kind == "sqlite" else True
    assert found == {
        "columns": ["id", "id_2", "total", "ordered", "note", "paid"],
        "rows": [
            {"id": 3, "id_2": 1, "total": 22.5, "ordered": "2026-04-15", "note": None, "paid": paid}
        ],
        "row_count": 1,
        "truncated": False,
    }


@pytest.mark.parametrize(
    ("condition", "arguments", "found"),
    [
        ("country = :c", {"c": "Ireland"}, [2, 3]),
        ("country = %(c)s AND id > %(n)s", {"c": "Ireland", "n": 2}, [3]),
        ("(:c IS NULL OR country = :c)", {"c": "Portugal"}, [1]),
        ("(:c IS NULL OR country = :c)", {}, [1, 2, 3]),
        ("(%(n)s IS NULL OR id >= %(n)s)", {"n": 2}, [2, 3]),
        ("LOWER(name) LIKE LOWER(:q)", {"q": "STONE"}, [2]),
        ("name LIKE :q", {"q": "%"}, [3]),
        ("name LIKE :q", {"q": "_"}, [3]),
        ("name LIKE :q", {"q": "\\"}, [3]),
        ("name LIKE '%' || :q", {"q": "100% \\_"}, [3]),
        ("name LIKE :q || '%'", {"q": "B_b"}, []),
        ("name LIKE CONCAT('%', :q, '%')", {"q": "'Brien"}, [3]),
        ("country IN (:many)", {"many": ["Portugal", "Spain", "x'"]}, [1]),
        ("country IN (:many)", {"many": []}, []),
        ("country = :c", {"c": "' OR '1'='1"}, []),
        ("1 = 1 {% if c %}AND country = :c{% endif %}", {"c": "Portugal"}, [1]),
        ("1 = 1 {% if c %}AND country = :c{% endif %}", {}, [1, 2, 3]),
    ],
)
async def test_values_are_bound(
    database: Database, condition: str, arguments: dict[str, Any], found: list[int]
) -> None:
    if "CONCAT" in condition and sqlite3.sqlite_version_info < (3, 44):
        condition = condition.replace("CONCAT('%', :q, '%')", "'%' || :q || '%'")
    assert await ids(database, condition, **arguments) == found


async def test_question_marks_take_the_parameters_in_order(database: Database) -> None:
    sql = "SELECT id FROM customers WHERE (? IS NULL OR country = ?) ORDER BY id LIMIT ? OFFSET ?"
    names = ("country", "country", "limit", "offset")
    found = await ask(database, sql, names=names, country="Ireland", limit=5, offset=1)
    assert found["rows"] == [{"id": 3}]


async def test_dates_are_compared_as_dates(database: Database) -> None:
    sql = "SELECT count(*) AS n FROM orders WHERE ordered >= :since AND ordered < :until"
    found = await ask(database, sql, since="2026-03-01", until="2026-04-01")
    assert found["rows"] == [{"n": 5}]


async def test_a_cut_is_told(database: Database) -> None:
    sql = "SELECT id, status FROM orders ORDER BY id"
    by_rows = await ask(database, sql, SqlLimits(rows=7))
    assert (by_rows["row_count"], by_rows["truncated"]) == (7, True)
    whole = await ask(database, sql, SqlLimits(rows=60))
    assert (whole["row_count"], whole["truncated"]) == (60, False)
    by_bytes = await ask(database, sql, SqlLimits(bytes=100))
    assert by_bytes["truncated"]
    assert 1 <= by_bytes["row_count"] < 60
    cell = await ask(database, "SELECT name FROM customers WHERE id = 1", SqlLimits(cell_chars=5))
    assert cell["rows"] == [{"name": "Ana …"}]


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM orders",
        "UPDATE customers SET name = 'x'",
        "INSERT INTO customers VALUES (9, 'x', 'y')",
        "CREATE TABLE more (id integer)",
        "DROP TABLE orders",
    ],
)
async def test_a_template_that_reads_cannot_change_anything(database: Database, sql: str) -> None:
    # `check` refuses it before; the database does so by its own means.
    with pytest.raises(DatabaseFailed) as failed:
        await ask(database, sql)
    # PostgreSQL does not even begin to read the rows of such a statement.
    assert failed.value.kind in ("read-only", "other")
    assert len((await ask(database, "SELECT * FROM orders"))["rows"]) == 60


@pytest.mark.parametrize(
    ("kind", "sql"),
    [
        ("sqlite", "ATTACH '/tmp/other.db' AS other"),
        ("duckdb", "SELECT * FROM read_csv('/etc/passwd')"),
        ("duckdb", "ATTACH '/tmp/other.duckdb'"),
        ("duckdb", "COPY customers TO '/tmp/customers.csv'"),
        ("duckdb", "INSTALL httpfs"),
        ("duckdb", "SET enable_external_access = true"),
        ("postgresql", "COPY customers TO PROGRAM 'cat'"),
    ],
)
async def test_nothing_beside_the_database_is_reached(
    database: Database, kind: str, sql: str
) -> None:
    if database.address.kind != kind:
        pytest.skip(f"for {kind}")
    with pytest.raises(ToolFailed):
        await ask(database, sql)


async def test_a_change_is_made_alone_in_its_transaction(database: Database) -> None:
    sql = "UPDATE customers SET country = :to WHERE country = :from_ AND id > :id"
    try:
        assert (await ask(database, sql, effect="write", to="Spain", from_="Ireland", id=1))[
            "row_count"
        ] == 2
        assert await ids(database, "country = 'Spain'") == [2, 3]
    finally:
        await ask(database, sql, effect="write", to="Ireland", from_="Spain", id=0)
    assert await ids(database, "country = 'Ireland'") == [2, 3]


async def test_a_change_may_give_rows_back(database: Database) -> None:
    sql = "UPDATE orders SET note = :note WHERE id = 1 RETURNING id, note"
    found = await ask(database, sql, effect="write", note=None)
    assert (found["rows"], found["row_count"]) == ([{"id": 1, "note": None}], 1)


async def test_a_change_that_the_database_refuses_is_undone(database: Database) -> None:
    with pytest.raises(DatabaseFailed) as failed:
        await ask(database, "INSERT INTO customers VALUES (1, 'x', 'y')", effect="write")
    assert failed.value.kind == "constraint"
    assert await ids(database, "name = 'x'") == []


ENDLESS = (
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
    "SELECT count(*) FROM n WHERE i < 0"
)


async def test_a_statement_that_takes_too_long_is_ended(database: Database) -> None:
    with pytest.raises(ToolTimedOut, match="in time"):
        await ask(database, ENDLESS, timeout_s=0.3)
    assert await ids(database, "id = 1") == [1]  # and its connection is not lost


async def test_a_caller_who_goes_away_ends_the_statement(database: Database) -> None:
    asking = [asyncio.create_task(ask(database, ENDLESS)) for _ in range(4)]
    await asyncio.sleep(0.2)
    for task in asking:
        task.cancel()
    await asyncio.gather(*asking, return_exceptions=True)
    assert await ids(database, "id = 1") == [1]


async def test_a_connection_is_closed_by_none_while_another_thread_reads_it(tmp_path: Path) -> None:
    """What reads goes on for a moment after nobody waits for it any more."""
    with sqlite3.connect(tmp_path / "shop.db") as made:
        made.execute("CREATE TABLE t (n)")
    made.close()
    database = SqliteDatabase(read_address(str(tmp_path / "shop.db")), pool_size=1)
    begun, go_on, ended = threading.Event(), threading.Event(), list[str]()

    def stall(value: int) -> int:
        if value == 5000:
            begun.set()
            go_on.wait(20)
            ended.append("read")
        return value

    endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    statement = Statement(f"{endless} SELECT stall(i) FROM n", ())
    connect = database.connect

    def with_stall() -> Any:
        connection = connect()
        connection.create_function("stall", 1, stall)
        return connection

    database.connect = with_stall  # type: ignore[method-assign]
    clock = asyncio.get_running_loop().time

    async def read() -> None:
        async with database.rows(statement, deadline=clock() + 20) as rows:
            while await rows.fetch(1000):
                pass

    reading = asyncio.create_task(read())
    assert await asyncio.to_thread(begun.wait, 20)
    pool = database._pool
    assert pool is not None
    sa.event.listen(pool, "invalidate", lambda *_: ended.append("closed"))
    reading.cancel()
    await asyncio.sleep(0.2)
    go_on.set()
    await asyncio.gather(reading, return_exceptions=True)
    for _ in range(2000):
        if "closed" in ended:
            break
        await asyncio.sleep(0.01)
    assert ended == ["read", "closed"]
    await database.close()


async def test_many_ask_at_once(database: Database) -> None:
    found = await asyncio.gather(*(ids(database, "id = :id", id=1 + n % 3) for n in range(40)))
    assert found == [[1 + n % 3] for n in range(40)]


async def test_what_is_not_there_is_named(database: Database) -> None:
    with pytest.raises(DatabaseFailed) as failed:
        await ask(database, "SELECT * FROM items")
    assert failed.value.kind == "changed"
    assert "items" in str(failed.value)


@pytest.mark.parametrize("name", ["no.db", "no.duckdb", "no.parquet"])
async def test_a_database_that_is_not_there_is_told_without_its_path(
    tmp_path: Path, name: str
) -> None:
    database = open_database(read_address(str(tmp_path / name)))
    with pytest.raises(DatabaseDown, match="is not there") as failed:
        await ask(database, "SELECT 1")
    assert str(tmp_path) not in str(failed.value)
    await database.close()


@pytest.mark.parametrize("name", ["bad.db", "bad.duckdb"])
async def test_a_file_that_is_no_database_is_told(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"this is text " * 1000)
    database = open_database(read_address(str(path)))
    with pytest.raises(DatabaseDown):
        await ask(database, "SELECT * FROM t")
    await database.close()


async def test_a_server_that_is_down_is_told_without_its_password() -> None:
    pytest.importorskip("psycopg")
    address = read_address("postgresql://me:hunter2-secret@127.0.0.1:1/shop")
    assert "hunter2" not in address.shown
    database = open_database(address)
    with pytest.raises(DatabaseDown) as failed:
        await ask(database, "SELECT 1")
    assert "hunter2" not in str(failed.value)
    await database.close()


async def test_a_locked_database_can_still_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.tools.sql.sqlite._BUSY_S", 0.1)
    path = tmp_path / "shop.db"
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("CREATE TABLE t (i)")
    database = open_database(read_address(str(path)))
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("INSERT INTO t VALUES (1)")
    assert (await ask(database, "SELECT * FROM t"))["rows"] == []
    with pytest.raises(DatabaseFailed) as failed:
        await ask(database, "INSERT INTO t VALUES (2)", effect="write")
    assert failed.value.kind == "locked"
    writer.execute("COMMIT")
    assert (await ask(database, "SELECT * FROM t"))["rows"] == [{"i": 1}]
    await database.close()
    writer.close()


async def test_another_file_in_the_same_place_is_noticed(tmp_path: Path) -> None:
    for name, value in (("one", 1), ("two", 2)):
        made = sqlite3.connect(tmp_path / name)
        made.execute(f"CREATE TABLE t AS SELECT {value} AS i")
        made.close()
    path = tmp_path / "shop.db"
    (tmp_path / "one").rename(path)
    database = open_database(read_address(str(path)))
    assert (await ask(database, "SELECT i FROM t"))["rows"] == [{"i": 1}]
    (tmp_path / "two").rename(path)
    assert (await ask(database, "SELECT i FROM t"))["rows"] == [{"i": 2}]
    await database.close()


async def test_files_of_data_are_tables_by_their_names(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    (tmp_path / "cities.csv").write_text("city,people\nPorto,231800\nCork,222526\n")
    duckdb.sql("SELECT 'Cork' AS city, DATE '2026-01-02' AS day").write_parquet(
        str(tmp_path / "visits.parquet")
    )
    database = open_database(read_address(str(tmp_path)))
    sql = "SELECT day, people FROM visits JOIN cities USING (city) WHERE city = :city"
    assert (await ask(database, sql, city="Cork"))["rows"] == [
        {"day": "2026-01-02", "people": 222526}
    ]
    await database.close()


async def test_text_that_is_no_utf_8_is_shown_as_far_as_it_can_be(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    made = sqlite3.connect(path)
    made.execute("CREATE TABLE t AS SELECT CAST(x'4df87a' AS TEXT) AS a, x'00ff' AS b")
    made.close()
    database = open_database(read_address(str(path)))
    found = await ask(database, "SELECT a, b, 9007199254740993 AS big FROM t")
    assert found["rows"] == [{"a": "M\ufffdz", "b": "<2 bytes>", "big": "9007199254740993"}]
    await database.close()


async def test_all_rows_are_streamed_whatever_an_answer_takes(database: Database) -> None:
    execution = SqlExecution(parse_sql("SELECT id, status FROM orders ORDER BY id"))
    calls = SqlCalls({"t": SqlRun(execution)}, database, SqlLimits(rows=2, streams=1))
    call = ToolCall("t", "sql", "query", {})
    async with calls.stream(call, timeout_s=20) as (columns, pieces):
        rows = [row async for piece in pieces for row in piece]
        with pytest.raises(ToolFailed, match="as many downloads"):
            async with calls.stream(call, timeout_s=20):
                pass
    assert columns == ("id", "status")
    assert [row["id"] for row in rows] == list(range(1, 61))
    assert (await calls.run(call, timeout_s=20))["row_count"] == 2
