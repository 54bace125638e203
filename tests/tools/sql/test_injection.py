"""No value changes what is asked, whatever it is."""

import sqlite3
from typing import Any, Final, get_args

import sqlglot
from hypothesis import example, given
from hypothesis import strategies as st

from server.library.sql_text import parse_sql
from server.tools.sql.address import DatabaseKind
from server.tools.sql.statement import driver_statement

TEMPLATES: Final = [
    parse_sql(sql)
    for sql in (
        "SELECT * FROM t WHERE a = :v",
        "SELECT * FROM t WHERE a LIKE :v",
        "SELECT * FROM t WHERE LOWER(a) LIKE LOWER('%' || :v || '%') AND b <> '50%%'",
        "SELECT * FROM t WHERE a IN (:v)",
        "SELECT * FROM t WHERE (:v IS NULL OR a = :v) {% if v %}AND b = :v{% endif %} LIMIT 5",
        "UPDATE t SET a = %(v)s WHERE b LIKE %(v)s AND c = '100%%'",
    )
]
HOSTILE: Final = (
    "'", "''", '"', "\\", "\\'", "'; DROP TABLE t; --", "/*", "*/", "--", ";", "%", "%%", "_",
    "%s", "%(v)s", ":v", "?", "$1", "$$", "\n", "\r", "\u2019", "\uff07", "{{ v }}", "{% if 1 %}",
    " OR 1=1", "x' UNION SELECT * FROM secrets --", "CHAR(39)", "0x27",
)  # fmt: skip
TEXTS: Final = st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=5))).map("".join)
VALUES: Final = st.one_of(TEXTS, st.integers(), st.floats(allow_nan=False), st.booleans())
DIALECTS: Final = {"sqlite": "sqlite", "duckdb": "duckdb", "postgresql": "postgres"}


@given(VALUES)
@example("'; DROP TABLE t; --")
def test_a_statement_is_the_same_for_every_value(value: Any) -> None:
    for sql in TEMPLATES:
        arguments = {"v": value}
        plain = {"v": "plain"}
        filled = sql.fill(arguments) if value else sql.fill(plain)
        for kind in get_args(DatabaseKind):
            statement = driver_statement(filled, arguments, kind)
            assert statement.text == driver_statement(sql.fill(plain), plain, kind).text
            places = (
                statement.text.count("?") if kind != "postgresql" else statement.text.count("%(")
            )
            assert places >= len(statement.values)


def test_every_statement_is_one() -> None:
    for sql in TEMPLATES:
        for kind in get_args(DatabaseKind):
            text = driver_statement(sql.fill({"v": "x"}), {"v": "x"}, kind).text
            for name in driver_statement(sql.fill({"v": "x"}), {"v": "x"}, "postgresql").values:
                text = text.replace(f"%({name})s", "NULL")
            parsed = sqlglot.parse(text.replace("%%", "%"), read=DIALECTS[kind])
            assert len(parsed) == 1


@given(TEXTS, TEXTS)
@example("100%", "%")
@example("a_b", "_")
@example("back\\slash", "\\")
def test_a_search_finds_what_holds_the_text_and_nothing_else(cell: str, searched: str) -> None:
    cell, searched = (text.replace("\0", "").lower() for text in (cell, searched))
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (a)")
    connection.execute("INSERT INTO t VALUES (?)", (cell,))
    for sql, holds in (
        ("SELECT count(*) FROM t WHERE a LIKE :v", searched in cell),
        ("SELECT count(*) FROM t WHERE a LIKE '%' || :v || '%'", searched in cell),
        ("SELECT count(*) FROM t WHERE a LIKE :v || '%'", cell.startswith(searched)),
        ("SELECT count(*) FROM t WHERE a LIKE :v ESCAPE '!'", searched in cell),
    ):
        statement = driver_statement(parse_sql(sql).fill({}), {"v": searched}, "sqlite")
        ((found,),) = connection.execute(statement.text, statement.values)
        assert found == holds
    connection.close()
