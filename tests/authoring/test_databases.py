"""Drafts from databases: what is read of them, and what can be asked then."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from server.authoring.databases.draft import draft_from_database
from server.authoring.databases.survey import LookedAt, Survey, survey_database
from server.authoring.databases.things import Thing, paths_from, things_of
from server.authoring.databases.words import words_of_columns
from server.authoring.drafts import Draft
from server.authoring.phrases import plural
from server.errors import RequestInvalid
from server.tools.sql.address import read_address
from server.tools.sql.databases import open_database
from tests.authoring.databases import write_shop


def survey(path: Path, looked_at: LookedAt | None = None) -> Survey:
    async def look() -> Survey:
        database = open_database(read_address(str(path)))
        try:
            return await survey_database(database, looked_at or LookedAt())
        finally:
            await database.close()

    return asyncio.run(look())


def draft(address: str, looked_at: LookedAt | None = None) -> Draft:
    async def look() -> Draft:
        database = open_database(read_address(address))
        try:
            return await draft_from_database(database, "shop", looked_at or LookedAt())
        finally:
            await database.close()

    return asyncio.run(look())


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_shop(tmp_path_factory.mktemp("databases") / "shop.db")


@pytest.fixture(scope="module")
def drafted(shop: Path) -> Draft:
    return draft(str(shop))


def things(path: Path) -> dict[str, Thing]:
    return {thing.noun: thing for thing in things_of(survey(path))}


@pytest.mark.parametrize(
    ("table", "noun"),
    [
        ("tbl_cust", "customer"),
        ("InvoiceLine", "invoice line"),
        ("film_categories", "film category"),
        ("dbo.Staff", "staff"),
        ("EMPLOYEES", "employee"),
    ],
)
def test_tables_have_names_of_things(table: str, noun: str) -> None:
    assert words_of_columns().noun_of_table(table) == noun


@pytest.mark.parametrize(
    ("column", "secret", "contact"),
    [
        ("password_hash", True, False),
        ("CardNumber", True, False),
        ("api_token", True, False),
        ("SSN", True, False),
        ("email", False, True),
        ("PhoneNumber", False, True),
        ("discard_reason", False, False),
        ("city", False, False),
        ("pinned", False, False),
    ],
)
def test_names_tell_what_must_not_be_looked_at(column: str, secret: bool, contact: bool) -> None:
    known = words_of_columns()
    assert (known.is_secret(column), known.is_contact(column)) == (secret, contact)


def test_columns_have_roles_and_keys_are_found(shop: Path) -> None:
    found = things(shop)
    assert [*found] == ["customer", "category", "product", "order", "order line"]
    roles = {prop.label: prop.role for prop in found["order"].properties}
    assert roles == {
        "id": "key",
        "customer id": "reference",
        "date": "date",
        "status": "category",
        "total": "measure",
        "shipped on": "date",
    }
    assert found["product"].of_role("flag")[0].label == "active"
    assert found["customer"].names == ("cust_name",)
    assert found["order line"].joins_two
    reached = [path[-1].noun for path in paths_from(found["order line"])]
    assert sorted(reached) == ["category", "customer", "order", "product"]


def test_keys_that_nothing_declares_are_read_from_names_and_values(tmp_path: Path) -> None:
    for name, text in {
        "authors.csv": "id,name\n1,Ann Lee\n2,Bo Ek\n",
        "books.csv": "id,title,author_id,pages\n1,North,1,120\n2,South,2,300\n3,East,1,80\n",
        "loans.csv": "id,author_id,days\n1,77,3\n2,78,4\n",
    }.items():
        (tmp_path / name).write_text(text)
    tables = survey(tmp_path).tables
    assert [(k.columns, k.table) for k in tables["books"].foreign_keys] == [
        (("author_id",), "authors")
    ]
    assert tables["loans"].foreign_keys == ()  # no author has such a number


def test_what_must_not_be_looked_at_stands_nowhere(drafted: Draft) -> None:
    assert "card_number" not in str(drafted.templates)
    assert "4111" not in str((drafted.templates, drafted.domain, drafted.questions))
    assert drafted.notes == ("tbl_cust: card_number left out, for what the name says",)


def test_tables_columns_and_values_can_be_left_out(shop: Path) -> None:
    one = draft(str(shop), LookedAt(tables=frozenset({"tbl_cust"})))
    assert {t["id"].rpartition("_")[2] for t in one.templates["templates"]} >= {"customers"}
    assert '"order"' not in str(one.templates)
    without = draft(str(shop), LookedAt(skipped=frozenset({"tbl_cust.city", "status"})))
    assert "city" not in str(without.templates)
    assert "status" not in str(without.templates)
    blind = draft(str(shop), LookedAt(samples=False))
    assert "Birch" not in str((blind.templates, blind.domain, blind.questions))
    assert len(blind.templates["templates"]) > 20


@pytest.mark.parametrize(
    ("looked_at", "told"),
    [
        (LookedAt(tables=frozenset({"custs"})), "there is no table 'custs'"),
        (LookedAt(skipped=frozenset({"cti"})), "there is no column 'cti'"),
    ],
)
def test_what_is_not_there_is_refused(shop: Path, looked_at: LookedAt, told: str) -> None:
    with pytest.raises(RequestInvalid, match=told):
        survey(shop, looked_at)


@pytest.mark.parametrize(
    "template_id",
    [
        *("list_customers", "count_orders", "customer_details", "order_by_id", "list_products"),
        *("top_orders", "the_order", "top_products", "the_product", "count_orders_by"),
        *("figures_of_orders", "figures_of_orders_by", "average_of_products"),
        *("order_lines_of_order", "customers_without", "customers_by_number_of_what"),
    ],
)
def test_a_draft_asks(drafted: Draft, template_id: str) -> None:
    found = {t["id"]: t for t in drafted.templates["templates"]}
    assert template_id in found
    assert 2 <= len(found[template_id]["nl_examples"]) <= 60


def test_one_template_takes_what_differs_in_a_value_only(drafted: Draft) -> None:
    found = {t["id"]: t for t in drafted.templates["templates"]}

    def choices(template_id: str, name: str) -> list[str]:
        return next(p["enum"] for p in found[template_id]["parameters"] if p["name"] == name)

    assert choices("figures_of_orders", "figure") == ["total", "average"]
    assert choices("count_orders_by", "which") == ["highest", "lowest"]
    assert choices("top_orders", "order_ranking") == [
        *("highest_total_value", "lowest_total_value", "newest", "oldest")
    ]
    assert choices("customers_without", "without") == ["orders"]
    assert choices("list_orders", "lacking") == ["not shipped"]
    assert choices("list_orders", "dated") == ["date", "shipped"]
    assert "between" in choices("list_orders", "comparison")


@pytest.mark.parametrize(
    ("template_id", "parameter"),
    [
        ("list_orders", "product"),  # by a table between
        ("list_products", "unit_price"),  # a number by its own name
        ("count_orders", "comparison"),
        ("count_orders", "lacking"),
        ("count_order_lines_by", "by"),
    ],
)
def test_what_is_narrowed_by_is_a_parameter(
    drafted: Draft, template_id: str, parameter: str
) -> None:
    found = {t["id"]: t for t in drafted.templates["templates"]}
    assert parameter in {p["name"] for p in found[template_id]["parameters"]}


def test_one_group_alone_is_a_choice_that_its_statement_reads(tmp_path: Path) -> None:
    path = tmp_path / "music.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "CREATE TABLE artist (id INTEGER PRIMARY KEY, name TEXT);"
            "CREATE TABLE album (id INTEGER PRIMARY KEY, title TEXT,"
            " artist_id INTEGER REFERENCES artist (id));"
        )
        rows = [(n, f"Band {n}") for n in range(1, 31)]
        database.executemany("INSERT INTO artist VALUES (?, ?)", rows)
        albums = [(n, f"Album {n}", n % 30 + 1) for n in range(1, 91)]
        database.executemany("INSERT INTO album VALUES (?, ?, ?)", albums)
        database.commit()
    found = {t["id"]: t for t in draft(str(path)).templates["templates"]}
    by = next(p for p in found["count_albums_by"]["parameters"] if p["name"] == "by")
    assert by["enum"] == ["by_artist"]
    assert "by == 'by_artist'" in found["count_albums_by"]["sql"]
    assert "LIKE" in found["albums_called"]["sql"]


def test_of_two_references_to_one_table_the_plain_word_is_the_main_one(tmp_path: Path) -> None:
    path = tmp_path / "films.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "CREATE TABLE language (language_id INTEGER PRIMARY KEY, name TEXT);"
            "CREATE TABLE film (film_id INTEGER PRIMARY KEY, title TEXT,"
            " original_language_id INTEGER REFERENCES language (language_id),"
            " language_id INTEGER REFERENCES language (language_id));"
        )
    film = things(path)["film"]
    assert [link.noun for link in film.links] == ["language", "original language"]


def test_words_for_numbers_tell_the_one_that_is_called_so(drafted: Draft) -> None:
    found = {t["id"]: t for t in drafted.templates["templates"]}
    parameters = {p["name"]: p for p in found["list_products"]["parameters"]}
    aliases = {*parameters["unit_price"]["aliases"]}
    assert "cheaper" in aliases
    assert aliases.isdisjoint({"than", "more", "less", "over"})  # said of every number
    assert "cheaper than" in parameters["comparison"]["synonyms"]["below"]
    children = {p["name"]: p for p in found["customers_by_number_of_what"]["parameters"]}
    assert "cheaper than" not in children["comparison"]["synonyms"]["below"]


def test_a_name_of_two_columns_narrows_like_one(tmp_path: Path) -> None:
    path = tmp_path / "club.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "CREATE TABLE member (id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT);"
            "CREATE TABLE visit (id INTEGER PRIMARY KEY, visited_on DATE,"
            " member_id INTEGER REFERENCES member (id));"
            "INSERT INTO member VALUES (1, 'Ana', 'Silva'), (2, 'Bo', 'Ek');"
            "INSERT INTO visit VALUES (1, '2026-03-01', 1), (2, '2026-03-02', 2);"
        )
    found = {t["id"]: t for t in draft(str(path)).templates["templates"]}
    narrowed = "member.first_name || ' ' || member.last_name = :member"
    assert narrowed in found["list_visits"]["sql"]
    assert "Ana Silva's visits" in found["list_visits"]["nl_examples"]


@pytest.mark.parametrize(
    ("table", "column", "noun"),
    [("supplier", "supp_no", "supplier"), ("service", "svc_cd", "service")],
)
def test_short_forms_are_of_the_table_that_they_refer_to(
    tmp_path: Path, table: str, column: str, noun: str
) -> None:
    path = tmp_path / "parts.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            f"CREATE TABLE tbl_{table} (id TEXT PRIMARY KEY, name TEXT);"
            f"CREATE TABLE tbl_part (id INTEGER PRIMARY KEY, name TEXT,"
            f" {column} TEXT REFERENCES tbl_{table} (id));"
        )
    assert [link.noun for link in things(path)["part"].links] == [noun]


def test_names_stand_for_references_and_odd_names_are_quoted(drafted: Draft) -> None:
    found = {t["id"]: t for t in drafted.templates["templates"]}
    sql = found["list_orders"]["sql"]
    assert 'FROM "order" AS orders' in sql
    assert "customer.cust_name AS customer" in sql
    assert "{% if status %}AND orders.status = :status{% endif %}" in sql
    assert ".cust_id," not in sql.partition("FROM")[0]


def test_values_that_nobody_says_have_words(drafted: Draft) -> None:
    assert drafted.domain["vocabulary"]["value_synonyms"] == {"on_hold": ["on hold", "on holds"]}
    assert "clients" in drafted.domain["vocabulary"]["entity_synonyms"]["customer"]


def test_questions_repeat_no_example(drafted: Draft) -> None:
    examples = {ask for t in drafted.templates["templates"] for ask in t["nl_examples"]}
    asked = [question["ask"] for question in drafted.questions["questions"]]
    assert len(asked) == len({*asked}) > 20
    assert examples.isdisjoint(asked)


def test_what_the_database_cannot_run_is_left_out_and_named(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from server.authoring.databases import draft as drafting
    from server.authoring.databases.family import DraftTemplate
    from server.authoring.sentences import ExampleQuestion

    asks = (ExampleQuestion("what of the moon?", {}), ExampleQuestion("the moon", {}))
    broken = DraftTemplate("moon", "The moon", "SELECT craters FROM moon", asks)
    monkeypatch.setattr(drafting, "templates_of", lambda *_: iter([broken]))
    made = draft(str(shop))
    assert made.templates == {"templates": []}
    assert "moon is left out: the database does not have what this asks for" in made.notes[-1]


def test_of_many_tables_no_more_templates_than_one_reads_through(tmp_path: Path) -> None:
    path = tmp_path / "many.db"
    nouns = ("club", "coach", "court", "league", "match", "member", "sponsor", "stadium", "ticket",
             "trophy", "umpire", "venue", "season", "squad", "kit", "injury")  # fmt: skip
    with closing(sqlite3.connect(path)) as database:
        before = ""
        for noun in nouns:
            link = f", {before}_id INTEGER REFERENCES {before}s({before}_id)" if before else ""
            database.execute(
                f"CREATE TABLE {noun}s ({noun}_id INTEGER PRIMARY KEY, name VARCHAR(40), "
                f"city VARCHAR(20), price NUMERIC(8,2), founded DATE{link})"
            )
            rows = [
                (n, f"{noun.title()} {n}", ("Rome", "Oslo", "Lima")[n % 3], n * 1.5,
                 f"20{10 + n % 9}-03-0{1 + n % 9}", *([1 + n % 9] if before else []))
                for n in range(1, 31)
            ]  # fmt: skip
            marks = ", ".join("?" * len(rows[0]))
            database.executemany(f"INSERT INTO {noun}s VALUES ({marks})", rows)
            before = noun
        database.commit()
    written = draft(str(path))
    ids = [template["id"] for template in written.templates["templates"]]
    assert 30 <= len(ids) <= 60
    assert {f"list_{plural(noun)}" for noun in nouns} <= {*ids}
    asked = {question["template"] for question in written.questions["questions"]} - {None}
    assert asked <= {*ids}
