"""What tables and columns are called, by their names and comments."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from server.authoring.databases.names import names_of
from server.tools.sql.schema import Column, Table
from tests.authoring.test_databases import things


def table(name: str, *columns: str, comment: str = "", **said: str) -> Table:
    own = {c: Column(c, "text", "text", comment=said.get(c, "")) for c in (*columns, *said)}
    return Table(name, own, comment=comment)


@pytest.mark.parametrize(
    ("tables", "plain"),
    [
        (("ha_home", "ha_visit", "ha_gate"), ["home", "visit", "gate"]),
        (("HaHome", "HaVisit", "HaGate"), ["home", "visit", "gate"]),
        (("app_home", "app_visit", "app_visit_kind"), ["home", "visit", "visit kind"]),
        (("film", "film_actor", "film_copy", "film_text"), None),  # films are a thing
        (("ha_home", "ha_visit"), None),  # too few to tell
        (("ha_home", "ha_visit", "ha_gate", "home"), None),  # two would be one
        (("ha_home", "ha_visit", "ha_gate", "road"), None),  # not nearly all
    ],
)
def test_a_first_word_that_tables_share_is_no_part_of_names(
    tables: tuple[str, ...], plain: list[str] | None
) -> None:
    called = names_of([table(name, "id") for name in tables]).tables
    whole = [name.replace("_", " ") for name in tables]
    assert [each.plain for each in called.values()] == (plain or whole)


@pytest.mark.parametrize(
    ("columns", "plain"),
    [
        (("hom_id", "hom_area", "hom_rent"), ["id", "area", "rent"]),
        (("hom_id", "hom_area", "hom_rent", "area"), None),
        (("start_day", "start_place", "length"), None),
    ],
)
def test_a_first_word_that_columns_share_is_no_part_of_names(
    columns: tuple[str, ...], plain: list[str] | None
) -> None:
    called = names_of([table("home", *columns)]).columns
    whole = [name.replace("_", " ") for name in columns]
    assert [each.plain for each in called.values()] == (plain or whole)


@pytest.mark.parametrize(
    ("name", "comment", "plain"),
    [
        ("rep", "repairs to homes", "repairs"),
        ("tcy", "A tenancy, of one home", "tenancy"),
        ("wl", "the waiting list", "waiting list"),
        ("rent", "rented homes", "rent"),
        ("to", "tenancy order", "to"),
        ("area", "an address", "area"),
    ],
)
def test_short_forms_are_words_of_their_comments(name: str, comment: str, plain: str) -> None:
    assert names_of([table(name, "id", comment=comment)]).tables[name].plain == plain


@pytest.mark.parametrize(
    ("others", "plain"),
    [
        ({"cmp_by": "who sent the complaint"}, "complaint"),
        ({"kind": "complaint or campaign"}, "cmp"),  # two that it may be
        ({"kind": "a word"}, "cmp"),
    ],
)
def test_short_forms_are_words_that_the_schema_holds(others: Mapping[str, str], plain: str) -> None:
    tables = [table("cmp", "id"), table("letter", "day", **others)]
    assert names_of(tables).tables["cmp"].plain == plain


def test_words_that_are_none_short_for_another_stay() -> None:
    called = names_of([table("car", "id"), table("carrier", "id")]).tables
    assert [each.plain for each in called.values()] == ["car", "carrier"]


def test_a_draft_says_what_the_comments_of_sqlite_say(tmp_path: Path) -> None:
    path = tmp_path / "homes.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "CREATE TABLE ha_home (hom_id INTEGER PRIMARY KEY, hom_name TEXT,"
            " hom_flr INTEGER, -- floor, flats only\n"
            " hom_kind TEXT -- flat, house, cottage\n);"
            "CREATE TABLE ha_rep ( -- repairs\n rep_id INTEGER PRIMARY KEY,"
            " rep_home_id INTEGER, rep_cost REAL);"
            "CREATE TABLE ha_key (key_id INTEGER PRIMARY KEY, key_label TEXT, key_day DATE);"
            "INSERT INTO ha_home VALUES (1, 'North', 2, 'flat');"
        )
    found = things(path)
    assert [*found] == ["home", "repair", "key"]
    assert [p.label for p in found["home"].properties] == ["id", "name", "floor", "kind"]
    assert "rep" in found["repair"].also
    assert [link.noun for link in found["repair"].links] == ["home"]
