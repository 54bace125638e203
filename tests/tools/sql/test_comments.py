"""Comments of tables and columns, as SQLite keeps them."""

import pytest

from server.tools.sql.comments import comments_of


@pytest.mark.parametrize(
    ("create", "table", "columns"),
    [
        ("CREATE TABLE a (b TEXT)", "", {}),
        ("CREATE TABLE a ( -- all of them\n b TEXT)", "all of them", {}),
        ("CREATE TABLE a /* all */ (b TEXT) -- of them", "all; of them", {}),
        ("CREATE TABLE a (b TEXT, -- one\n c TEXT -- two\n)", "", {"b": "one", "c": "two"}),
        ("CREATE TABLE a (b TEXT, c TEXT, -- of c\n d REAL)", "", {"c": "of c"}),
        ("CREATE TABLE a (\n -- of b\n -- too\n B TEXT, c REAL)", "", {"b": "of b; too"}),
        ('CREATE TABLE a ("b c" TEXT /* said */, d TEXT)', "", {"b c": "said"}),
        ("CREATE TABLE a (b TEXT DEFAULT '-- no', c NUMERIC(5, 2) -- c's\n)", "", {"c": "c's"}),
        ("CREATE TABLE a (b TEXT CHECK (b IN ('x', 'y')), -- kind\n c TEXT)", "", {"b": "kind"}),
    ],
)
def test_a_comment_is_of_what_it_stands_beside(
    create: str, table: str, columns: dict[str, str]
) -> None:
    assert comments_of(create) == (table, columns)
