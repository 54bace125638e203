"""Questions that no template foresees, over a draft as it is written."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from server.library.composed_sql import DATA_TEMPLATE, ComposedSql
from server.tools.sql.address import read_address
from server.tools.sql.databases import open_database
from server.tools.sql.statement import driver_statement
from tests.databases.other_databases import record_shop_in
from tests.databases.record_shop import make_record_shop
from utils.bench._turns import Opened, open_library
from utils.bench.drafts import draft_into, is_same

pytestmark = pytest.mark.anyio

TODAY = date(2026, 11, 22)
FEW = 4


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_record_shop(tmp_path_factory.mktemp("record-shop") / "shop.db")


@pytest.fixture(scope="module")
def connection(shop: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(shop)) as opened:
        yield opened


@asynccontextmanager
async def open_draft(folder: Path, database: Path, **more: Any) -> AsyncIterator[Opened]:
    """Draft a library over a database, and open it with but a few of its templates."""
    await draft_into(folder / "library", database)
    templates = folder / "library" / "templates.yaml"
    written = yaml.safe_load(templates.read_text())
    templates.write_text(yaml.safe_dump({"templates": written["templates"][:FEW]}))
    more |= {
        "database": str(database),
        "implementation": "retrievers.implementations.intent.IntentSQLRetriever",
    }
    async with open_library(
        folder / "library", folder / "data", today=TODAY, runs=True, **more
    ) as library:
        yield library


@pytest.fixture(scope="module")
async def opened(shop: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Opened]:
    async with open_draft(tmp_path_factory.mktemp("drafted"), shop) as library:
        yield library


def result_of(answer: Any) -> dict[str, Any]:
    ran = answer.metadata["tool_execution"]
    assert ran["status"] == "success", answer.content
    result: dict[str, Any] = ran["result"]
    return result


SPENT = (
    "SELECT c.first_name, c.last_name FROM customers c JOIN invoices i USING (customer_id) "
    "GROUP BY c.customer_id HAVING SUM(i.total) > 31.55"
)
SOLD_BY_GENRE = (
    "SELECT g.name FROM invoice_lines l JOIN invoices i USING (invoice_id) JOIN tracks t "
    "USING (track_id) JOIN genres g USING (genre_id) WHERE i.invoice_date LIKE '2025%' "
    "GROUP BY g.genre_id ORDER BY SUM(l.quantity) DESC LIMIT 1"
)


@pytest.mark.parametrize(
    ("ask", "sql"),
    [
        ("which artists don't have a single album?",
         "SELECT name FROM artists WHERE artist_id NOT IN (SELECT artist_id FROM albums)"),
        ("customers who have never bought anything",
         "SELECT first_name, last_name FROM customers WHERE customer_id NOT IN "
         "(SELECT customer_id FROM invoices)"),
        ("how many tracks have never been sold?",
         "SELECT COUNT(*) FROM tracks WHERE track_id NOT IN (SELECT track_id FROM invoice_lines)"),
        ("which customers placed their last order before July 2026?",
         "SELECT c.first_name, c.last_name, MAX(i.invoice_date) FROM customers c JOIN invoices i "
         "USING (customer_id) GROUP BY c.customer_id HAVING MAX(i.invoice_date) < '2026-07-01'"),
        ("best selling track in each genre",
         "SELECT g, t, n FROM (SELECT g.name AS g, t.name AS t, SUM(l.quantity) AS n, RANK() OVER "
         "(PARTITION BY g.genre_id ORDER BY SUM(l.quantity) DESC) AS place FROM invoice_lines l "
         "JOIN tracks t USING (track_id) JOIN genres g USING (genre_id) GROUP BY t.track_id) "
         "WHERE place = 1"),
        ("what was our best month for sales in each year?",
         "SELECT y, m, s FROM (SELECT substr(invoice_date, 1, 4) AS y, substr(invoice_date, 1, 7) "
         "AS m, SUM(total) AS s, RANK() OVER (PARTITION BY substr(invoice_date, 1, 4) ORDER BY "
         "SUM(total) DESC) AS place FROM invoices GROUP BY 2) WHERE place = 1"),
        ("running total of sales by month in 2026",
         "SELECT m, SUM(s) OVER (ORDER BY m) FROM (SELECT substr(invoice_date, 1, 7) AS m, "
         "SUM(total) AS s FROM invoices WHERE invoice_date LIKE '2026%' GROUP BY 1)"),
        ("who is our best customer in each country?",
         "SELECT y, f, l, s FROM (SELECT c.country AS y, c.first_name AS f, c.last_name AS l, "
         "SUM(i.total) AS s, RANK() OVER (PARTITION BY c.country ORDER BY SUM(i.total) DESC) AS "
         "place FROM customers c JOIN invoices i USING (customer_id) GROUP BY c.customer_id) "
         "WHERE place = 1"),
        ("average spend per customer by country",
         "SELECT c.country, SUM(i.total) * 1.0 / COUNT(DISTINCT c.customer_id) FROM customers c "
         "JOIN invoices i USING (customer_id) GROUP BY c.country"),
        ("which tracks need reordering?",
         "SELECT name, units_in_stock, reorder_level FROM tracks "
         "WHERE units_in_stock < reorder_level"),
        ("what would it cost to buy every track on Album A?",
         "SELECT SUM(unit_price) FROM tracks JOIN albums USING (album_id) WHERE title = 'Album A'"),
        ("who bought rock tracks in 2026?",
         "SELECT DISTINCT c.first_name, c.last_name FROM customers c JOIN invoices i USING "
         "(customer_id) JOIN invoice_lines USING (invoice_id) JOIN tracks USING (track_id) JOIN "
         "genres g USING (genre_id) WHERE g.name = 'Rock' AND i.invoice_date LIKE '2026%'"),
        ("where does Ana Silva live?", "SELECT 'Ana', 'Silva', 'Lisbon', 'Portugal'"),
        ("which employee has been with us the longest?", "SELECT 'Grace', 'Hall', '2015-03-01'"),
        ("who was the last customer to buy Night Song 13?",
         "SELECT c.first_name, c.last_name FROM customers c JOIN invoices i USING (customer_id) "
         "JOIN invoice_lines USING (invoice_id) JOIN tracks t USING (track_id) WHERE t.name = "
         "'Night Song 13' ORDER BY i.invoice_date DESC LIMIT 1"),
        ("how many invoices were there on Saturdays and Sundays?",
         "SELECT COUNT(*) FROM invoices WHERE STRFTIME('%w', invoice_date) IN ('6', '0')"),
        ("which month of the year has the most invoices?",
         "SELECT 'October', COUNT(*) FROM invoices WHERE STRFTIME('%m', invoice_date) = '10'"),
        ("invoices per quarter in 2025",
         "SELECT '2025-Q' || ((STRFTIME('%m', invoice_date) + 2) / 3), COUNT(*) FROM invoices "
         "WHERE invoice_date LIKE '2025%' GROUP BY 1"),
        ("customers without an email",
         "SELECT first_name, last_name FROM customers WHERE email IS NULL"),
        ("customers that have spent over 31.55 in total", SPENT),
        ("what was our best selling genre last year?", SOLD_BY_GENRE),
        ("who has bought Marble Arch?",
         "SELECT DISTINCT c.first_name, c.last_name FROM customers c JOIN invoices USING "
         "(customer_id) JOIN invoice_lines USING (invoice_id) JOIN tracks t USING (track_id) JOIN "
         "albums USING (album_id) JOIN artists a USING (artist_id) WHERE a.name = 'Marble Arch'"),
        ("who does Ivo Petrov report to?", "SELECT 'Grace', 'Hall'"),
        ("I need Ana Silva's email address", "SELECT 'c6@example.org'"),
        ("show me the rock tracks that run longer than 6 minutes",
         "SELECT t.name FROM tracks t JOIN genres g USING (genre_id) WHERE g.name = 'Rock' "
         "AND milliseconds > 360000"),
        ("average track length per genre, in minutes",
         "SELECT g.name, AVG(milliseconds) / 60000.0 FROM tracks JOIN genres g USING (genre_id) "
         "GROUP BY 1"),
        ("revenue by country, highest first",
         "SELECT country, SUM(total) FROM invoices JOIN customers USING (customer_id) GROUP BY 1"),
        ("sales in 2025 and 2026",
         "SELECT substr(invoice_date, 1, 4), SUM(total) FROM invoices GROUP BY 1"),
        ("which playlists is River Song 4 on?",
         "SELECT p.name FROM playlists p JOIN playlist_tracks USING (playlist_id) JOIN tracks t "
         "USING (track_id) WHERE t.name = 'River Song 4'"),
        ("what's on invoice 12?",
         "SELECT t.name FROM invoice_lines JOIN tracks t USING (track_id) WHERE invoice_id = 12"),
        ("how many different countries do our customers come from?",
         "SELECT COUNT(DISTINCT country) FROM customers"),
        ("how many customers does each sales rep have?",
         "SELECT e.first_name, e.last_name, COUNT(*) FROM customers c JOIN employees e "
         "ON e.employee_id = c.support_rep_id GROUP BY e.employee_id"),
        ("artists with at least two albums",
         "SELECT a.name FROM artists a JOIN albums USING (artist_id) GROUP BY 1 "
         "HAVING COUNT(*) >= 2"),
        ("tracks below their reorder level",
         "SELECT name FROM tracks WHERE units_in_stock < reorder_level"),
        ("names and email addresses of the German customers",
         "SELECT first_name, last_name, email FROM customers WHERE country = 'Germany'"),
        ("customers in Paris or London",
         "SELECT first_name, last_name FROM customers WHERE city IN ('Paris', 'London')"),
        ("who was hired most recently", "SELECT 'Mara', 'Lund'"),
        ("do we have more rock or more jazz tracks?",
         "SELECT g.name, COUNT(*) FROM tracks JOIN genres g USING (genre_id) "
         "WHERE g.name IN ('Rock', 'Jazz') GROUP BY 1"),
        ('find tracks with "Glass" in the name',
         "SELECT name FROM tracks WHERE name LIKE '%Glass%'"),
        ("which month of 2026 had the most invoices?",
         "SELECT substr(invoice_date, 1, 7), COUNT(*) FROM invoices WHERE invoice_date LIKE "
         "'2026%' GROUP BY 1 ORDER BY 2 DESC LIMIT 1"),
        ("what is the average invoice worth?", "SELECT AVG(total) FROM invoices"),
        ("average number of tracks per album",
         "SELECT COUNT(*) * 1.0 / COUNT(DISTINCT album_id) FROM tracks"),
        ("how many invoices do we have per month on average?",
         "SELECT COUNT(*) * 1.0 / COUNT(DISTINCT substr(invoice_date, 1, 7)) FROM invoices"),
        ("average revenue per customer",
         "SELECT SUM(total) / COUNT(DISTINCT customer_id) FROM invoices"),
        ("what percentage of our revenue comes from France?",
         "SELECT 100.0 * SUM(CASE WHEN country = 'France' THEN total END) / SUM(total) "
         "FROM invoices JOIN customers USING (customer_id)"),
        ("what share of the customers live in Germany?",
         "SELECT 100.0 * SUM(country = 'Germany') / COUNT(*) FROM customers"),
        ("share of the revenue by country",
         "SELECT country, 100.0 * SUM(total) / (SELECT SUM(total) FROM invoices) "
         "FROM invoices JOIN customers USING (customer_id) GROUP BY 1"),
        ("which invoices are overdue?",
         "SELECT invoice_id FROM invoices WHERE paid_date IS NULL AND due_date < '2026-11-22'"),
        ("how many invoices were paid late in 2026?",
         "SELECT COUNT(*) FROM invoices WHERE paid_date > due_date "
         "AND invoice_date LIKE '2026%'"),
        ("how many invoices were paid after the due date?",
         "SELECT COUNT(*) FROM invoices WHERE paid_date > due_date"),
        ("average number of days from the invoice date to the paid date",
         "SELECT AVG(julianday(paid_date) - julianday(invoice_date)) FROM invoices"),
        ("which invoices have both Night Song 9 and Stone Song 14 on them?",
         "SELECT invoice_id FROM invoice_lines JOIN tracks USING (track_id) WHERE name IN "
         "('Night Song 9', 'Stone Song 14') GROUP BY 1 HAVING COUNT(DISTINCT name) = 2"),
        ("which countries do our customers come from?", "SELECT DISTINCT country FROM customers"),
        ("how many countries do we have customers in?",
         "SELECT COUNT(DISTINCT country) FROM customers"),
        ("countries with exactly two customers",
         "SELECT country FROM customers GROUP BY 1 HAVING COUNT(*) = 2"),
        ("jazz tracks for 1.29",
         "SELECT t.name FROM tracks t JOIN genres g USING (genre_id) "
         "WHERE g.name = 'Jazz' AND unit_price = 1.29"),
        ("tracks that cost less than a dollar", "SELECT name FROM tracks WHERE unit_price < 1"),
        ("how many of the folk tracks are in stock?",
         "SELECT COUNT(*) FROM tracks t JOIN genres g USING (genre_id) "
         "WHERE g.name = 'Folk' AND units_in_stock > 0"),
        ("customers without an email, how many?",
         "SELECT COUNT(*) FROM customers WHERE email IS NULL"),
        ("everything by Blue Heron",
         "SELECT title FROM albums JOIN artists USING (artist_id) WHERE name = 'Blue Heron'"),
        ("who works under Grace Hall?",
         "SELECT first_name, last_name FROM employees WHERE reports_to = 1"),
        ("what was the revenue in the first half of 2026?",
         "SELECT SUM(total) FROM invoices WHERE invoice_date BETWEEN '2026-01-01' AND "
         "'2026-06-30'"),
        ("what is the total of invoice 12?", "SELECT total FROM invoices WHERE invoice_id = 12"),
        ("who bought more than 5 times?",
         "SELECT c.first_name, c.last_name FROM customers c JOIN invoices USING (customer_id) "
         "GROUP BY customer_id HAVING COUNT(*) > 5"),
        ("how many open invoices are there?",
         "SELECT COUNT(*) FROM invoices WHERE status = 'open'"),
        ("tracks by Blue Heron with their length in minutes, longest first",
         "SELECT t.name, milliseconds / 60000.0 FROM tracks t JOIN albums USING (album_id) "
         "JOIN artists a USING (artist_id) WHERE a.name = 'Blue Heron'"),
        ("how many minutes of music are on Album A?",
         "SELECT SUM(milliseconds) / 60000.0 FROM tracks JOIN albums USING (album_id) "
         "WHERE title = 'Album A'"),
        ("which artist has the most albums?",
         "SELECT name FROM artists JOIN albums USING (artist_id) GROUP BY 1 HAVING COUNT(*) = 2"),
        ("the most expensive track of each genre",
         "SELECT g.name, t.name FROM tracks t JOIN genres g USING (genre_id) WHERE unit_price = "
         "(SELECT MAX(unit_price) FROM tracks x WHERE x.genre_id = g.genre_id)"),
        ("the longest track on each playlist",
         "SELECT p.name, t.name FROM playlists p JOIN playlist_tracks USING (playlist_id) JOIN "
         "tracks t USING (track_id) WHERE milliseconds = (SELECT MAX(milliseconds) FROM tracks "
         "JOIN playlist_tracks x USING (track_id) WHERE x.playlist_id = p.playlist_id)"),
        ("tracks longer than the average jazz track",
         "SELECT name FROM tracks WHERE milliseconds > (SELECT AVG(milliseconds) FROM tracks "
         "JOIN genres g USING (genre_id) WHERE g.name = 'Jazz')"),
        ("how many customers have at least 6 invoices?",
         "SELECT COUNT(*) FROM (SELECT 1 FROM invoices GROUP BY customer_id "
         "HAVING COUNT(*) >= 6)"),
        ("list the customers from France and the number of invoices each of them has",
         "SELECT first_name, last_name, COUNT(*) FROM customers JOIN invoices USING (customer_id) "
         "WHERE country = 'France' GROUP BY customer_id"),
        ("which customers spent more than 30 in total, with the amount, highest first?",
         "SELECT first_name, last_name, SUM(total) FROM customers JOIN invoices USING "
         "(customer_id) GROUP BY customer_id HAVING SUM(total) > 30"),
        ("customers outside France and Portugal",
         "SELECT first_name, last_name FROM customers "
         "WHERE country NOT IN ('France', 'Portugal')"),
        ("customers sorted by last name", "SELECT first_name, last_name FROM customers"),
        ("revenue for each month of 2026, in order of month",
         "SELECT substr(invoice_date, 1, 7), SUM(total) FROM invoices "
         "WHERE invoice_date LIKE '2026%' GROUP BY 1"),
        ("Which invoices have not been paid yet? Show the customer and the total.",
         "SELECT invoice_id, first_name, last_name, total FROM invoices JOIN customers "
         "USING (customer_id) WHERE paid_date IS NULL"),
        ("who bought Glass Song 15 but never Stone Song 6?",
         "WITH bought AS (SELECT customer_id, name FROM invoices JOIN invoice_lines "
         "USING (invoice_id) JOIN tracks USING (track_id)) SELECT first_name, last_name FROM "
         "customers WHERE customer_id IN (SELECT customer_id FROM bought WHERE name = 'Glass Song "
         "15') AND customer_id NOT IN (SELECT customer_id FROM bought WHERE name = 'Stone Song "
         "6')"),
        ("what is on invoice 12: track, quantity and price?",
         "SELECT t.name, quantity, l.unit_price FROM invoice_lines l JOIN tracks t "
         "USING (track_id) WHERE invoice_id = 12"),
        ("what is our stock worth per genre?",
         "SELECT g.name, SUM(unit_price * units_in_stock) FROM tracks JOIN genres g "
         "USING (genre_id) GROUP BY 1"),
        ("which 3 jazz tracks cost the most?",
         "SELECT t.name FROM tracks t JOIN genres g USING (genre_id) WHERE g.name = 'Jazz' "
         "ORDER BY unit_price DESC LIMIT 3"),
        ("who bought Glass Song 3, and when?",
         "SELECT DISTINCT first_name, last_name, invoice_date FROM customers JOIN invoices "
         "USING (customer_id) JOIN invoice_lines USING (invoice_id) JOIN tracks t "
         "USING (track_id) WHERE t.name = 'Glass Song 3'"),
        ("who bought more than twice in 2026?",
         "SELECT first_name, last_name FROM customers JOIN invoices USING (customer_id) "
         "WHERE invoice_date LIKE '2026%' GROUP BY customer_id HAVING COUNT(*) > 2"),
        ("did we make more money in 2025 or in 2026?",
         "SELECT substr(invoice_date, 1, 4), SUM(total) FROM invoices GROUP BY 1"),
        ("revenue in 2026, from March on",
         "SELECT SUM(total) FROM invoices WHERE invoice_date >= '2026-03-01' "
         "AND invoice_date < '2027-01-01'"),
        ("employees except Grace Hall",
         "SELECT first_name, last_name FROM employees WHERE employee_id <> 1"),
        ("which tracks has Ana Silva never bought?",
         "SELECT name FROM tracks WHERE track_id NOT IN (SELECT track_id FROM invoice_lines "
         "JOIN invoices USING (invoice_id) JOIN customers USING (customer_id) "
         "WHERE first_name = 'Ana' AND last_name = 'Silva')"),
    ],
)  # fmt: skip
async def test_a_question_gets_the_rows_that_it_asks_for(
    opened: Opened, connection: sqlite3.Connection, ask: str, sql: str
) -> None:
    result = result_of(await opened.ask(ask))
    found = [tuple(row.values()) for row in result["rows"]]
    wanted = connection.execute(sql).fetchall()
    assert wanted
    assert is_same(found, wanted, ordered=False), (found, wanted)


@pytest.mark.parametrize(
    ("ask", "word"),
    [
        ("how satisfied are our French customers", "satisfied"),
        ("who directed Album A", "directed"),
        ("customers who returned a track", "returned"),
        ("rock tracks with explicit lyrics", "explicit"),
        ("please raise the price of Night Song 9 to 3", "raise"),
        ("revenue by country excluding taxes", "taxes"),
        ("how many tracks did Ana Silva return", "return"),
    ],
)
async def test_a_word_that_was_not_read_is_named_and_nothing_runs(
    opened: Opened, ask: str, word: str
) -> None:
    answer = await opened.ask(ask)
    assert answer.metadata.get("tool_execution") is None, answer.metadata["tool_execution"]
    assert word in answer.content


@pytest.mark.parametrize(
    "ask",
    [
        "which artists are from France?",  # somebody there may have bought them
        "what did Ana Silva buy on her last invoice?",
        "show the tracks of Album A in album order",
        "who manages each artist, and in which country?",
    ],
)
async def test_what_could_be_meant_otherwise_is_not_answered(opened: Opened, ask: str) -> None:
    assert (await opened.ask(ask)).metadata.get("tool_execution") is None


@pytest.mark.parametrize("ask", ["delete invoice 12", "don't list the albums by Blue Heron"])
async def test_what_is_no_question_runs_nothing(opened: Opened, ask: str) -> None:
    assert (await opened.ask(ask)).metadata.get("tool_execution") is None


async def test_the_call_says_how_the_question_was_read(opened: Opened) -> None:
    answer = await opened.ask("top 3 customers by total spend")
    assert answer.metadata["template_id"] == DATA_TEMPLATE
    query = answer.metadata["tool_execution"]["parameters"]["query"]
    json.dumps(query)
    assert (query["table"], query["limit"]) == ("invoices", 3)
    assert {word["as"] for word in answer.metadata["coverage"]} <= {
        "value", "frame", "filler", "operator",
    }  # fmt: skip


HOSTILE = ("Robert'); DROP TABLE customers;--", "100% \\_ sure", '" OR 1=1 --', "%(x)s :y ?")


async def test_a_name_is_only_ever_a_value(tmp_path: Path) -> None:
    path = make_record_shop(tmp_path / "shop.db")
    with closing(sqlite3.connect(path)) as database:
        for number, name in enumerate(HOSTILE, 1):
            database.execute("UPDATE artists SET name = ? WHERE artist_id = ?", (name, number))
        database.commit()
    async with open_draft(tmp_path, path) as library:
        for number, name in enumerate(HOSTILE, 1):
            answer = await library.ask(f"list all albums by {name}")
            ran = answer.metadata.get("tool_execution") or {}
            with closing(sqlite3.connect(path)) as database:
                titles = "SELECT title FROM albums WHERE artist_id = ?"
                own = {title for (title,) in database.execute(titles, (number,))}
                assert database.execute("SELECT COUNT(*) FROM customers").fetchone() == (12,)
            if ran.get("status") == "success":
                assert {row["title"] for row in ran["result"]["rows"]} <= own


async def test_what_came_since_is_known_after_a_while(tmp_path: Path) -> None:
    path = make_record_shop(tmp_path / "shop.db")
    often = {"sql": {"vocabulary": {"refresh_s": 1}}}
    async with open_draft(tmp_path, path, config=often) as library:
        with closing(sqlite3.connect(path)) as database:
            database.execute("UPDATE artists SET name = 'Quartz Choir' WHERE artist_id = 1")
            database.commit()
        async with asyncio.timeout(30):
            while True:
                answer = await library.ask("list all albums by Quartz Choir")
                if answer.metadata.get("template_id") == DATA_TEMPLATE:
                    break
                await asyncio.sleep(0.2)
        assert {row["title"] for row in result_of(answer)["rows"]} == {"Album D", "Album H"}


@pytest.mark.parametrize("kind", ["duckdb", "postgresql"])
async def test_other_databases_give_the_same_rows(
    opened: Opened, tmp_path: Path, kind: str
) -> None:
    data = opened.adapter.library.domain.data
    assert data is not None
    sql = ComposedSql("", (), model=data)
    with record_shop_in(kind, tmp_path) as address:
        database = open_database(read_address(address))
        try:
            for ask in (
                "which artists don't have a single album?",
                "revenue by country, highest first",
                "sales in 2025 and 2026",
                "sales month by month in 2026",
                "average track length per genre, in minutes",
                "customers without an email",
                'find tracks with "Glass" in the name',
                "customers in Paris or London",
                "the three cheapest jazz tracks",
                "customers that have spent over 31.55 in total",
                "invoices since March 2026",
                "average number of days from the invoice date to the paid date",
                "which invoices are overdue?",
                "average number of tracks per album",
                "what percentage of our revenue comes from France?",
                "share of the revenue by country",
                "which artist has the most albums?",
                "the most expensive track of each genre",
                "how many customers have at least 6 invoices?",
                "how many minutes of music are on Album A?",
                "employees except Grace Hall",
                "sales per quarter in 2026",
                "revenue by weekday",
                "busiest month of the year",
                "how many invoices on weekends",
                "running total of sales by month in 2026",
                "best selling track in each genre",
                "which tracks need reordering?",
            ):
                answer = await opened.ask(ask)
                arguments = {"query": answer.metadata["tool_execution"]["parameters"]["query"]}
                filled, values = sql.fill(arguments), sql.values(arguments)
                statement = driver_statement(filled, values, database.address.kind)
                deadline = asyncio.get_running_loop().time() + 30
                async with database.rows(statement, deadline=deadline) as rows:
                    found = [tuple(map(plain, row)) for row in await rows.fetch(1_000)]
                wanted = [tuple(row.values()) for row in result_of(answer)["rows"]]
                assert is_same(found, wanted, ordered=False), (ask, found, wanted)
        finally:
            await database.close()


def plain(value: Any) -> Any:
    if isinstance(value, date):
        return value.isoformat()
    return value if isinstance(value, str | int | None) else float(value)
