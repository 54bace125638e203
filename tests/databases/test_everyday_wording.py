"""Questions in the words that people have for the things they do, over a draft as it is written."""

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.databases.record_shop import make_record_shop
from tests.databases.test_data_questions import open_draft, result_of
from utils.bench._turns import Opened
from utils.bench.drafts import is_same

pytestmark = pytest.mark.anyio


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


@pytest.fixture(scope="module")
async def opened(shop: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Opened]:
    async with open_draft(tmp_path_factory.mktemp("drafted"), shop) as library:
        yield library


SOLD = "invoices i JOIN invoice_lines l USING (invoice_id) JOIN tracks t USING (track_id)"
BY_CUSTOMER = (
    "SELECT c.first_name, c.last_name, SUM(i.total) FROM customers c JOIN invoices i "
    "USING (customer_id) GROUP BY c.customer_id ORDER BY 3 DESC LIMIT 10"
)
NEVER_SOLD = "SELECT name FROM tracks WHERE track_id NOT IN (SELECT track_id FROM invoice_lines)"


@pytest.mark.parametrize(
    ("ask", "sql"),
    [
        # Verbs in any of their forms.
        ("who has been buying Night Song 9?",
         f"SELECT DISTINCT c.first_name, c.last_name FROM {SOLD} JOIN customers c "
         "USING (customer_id) WHERE t.name = 'Night Song 9'"),
        # Those who work here, and those who pay.
        ("who on the team was hired in 2022?", "SELECT 'Mara', 'Lund'"),
        ("how many customers does each of our people look after?",
         "SELECT e.first_name, e.last_name, COUNT(*) FROM customers c JOIN employees e "
         "ON e.employee_id = c.support_rep_id GROUP BY e.employee_id"),
        ("which colleague joined first?", "SELECT 'Grace', 'Hall', '2015-03-01'"),
        ("our ten biggest spenders", BY_CUSTOMER),
        ("our ten best paying customers", BY_CUSTOMER),
        ("top 10 customers by what they've spent", BY_CUSTOMER),
        ("how many people do we have in each job?",
         "SELECT title, COUNT(*) FROM employees GROUP BY 1"),
        # Things that are not named.
        ("is there anything that nobody has ever bought?", NEVER_SOLD),
        ("tracks that haven't sold even once", NEVER_SOLD),
        ("anyone who has never bought a thing?",
         "SELECT first_name, last_name FROM customers WHERE customer_id NOT IN "
         "(SELECT customer_id FROM invoices)"),
        ("what do we sell that costs more than 1.50?",
         "SELECT name FROM tracks WHERE unit_price > 1.5"),
        ("anything that runs longer than 6 minutes?",
         "SELECT name FROM tracks WHERE milliseconds > 360000"),
        ("which genres have stuff priced at 1.99?",
         "SELECT DISTINCT g.name FROM tracks JOIN genres g USING (genre_id) "
         "WHERE unit_price = 1.99"),
        ("the 4 best sellers of 2026, in units",
         f"SELECT t.name, SUM(l.quantity) FROM {SOLD} WHERE i.invoice_date LIKE '2026%' "
         "GROUP BY t.track_id ORDER BY 2 DESC, 1 LIMIT 4"),
        # Names by how they begin and end.
        ("artists whose name starts with Blue", "SELECT 'Blue Heron'"),
        ("artists whose names end in Yet", "SELECT 'Nobody Yet'"),
        # What is said beside the question.
        ("what is Ana Silva's email? she left her umbrella here", "SELECT 'c6@example.org'"),
        ("a customer lost River Song 4, what does it cost?",
         "SELECT unit_price FROM tracks WHERE name = 'River Song 4'"),
        # Who has nobody, and what was not done to what is asked for.
        ("tracks from Album A that nobody has bought",
         f"{NEVER_SOLD} AND album_id IN (SELECT album_id FROM albums WHERE title = 'Album A')"),
        ("tracks nobody has bought from Album A",
         f"{NEVER_SOLD} AND album_id IN (SELECT album_id FROM albums WHERE title = 'Album A')"),
        # Orders that are said by the way.
        ("invoices above 5, highest first",
         "SELECT invoice_id, total FROM invoices WHERE total > 5 ORDER BY total DESC"),
        ("top 1 countries our customers live in",
         "SELECT country, COUNT(*) FROM customers GROUP BY 1 ORDER BY 2 DESC LIMIT 1"),
        ("which month of 2026 was our best one?",
         "SELECT substr(invoice_date, 1, 7), SUM(total) FROM invoices "
         "WHERE invoice_date LIKE '2026%' GROUP BY 1 ORDER BY 2 DESC LIMIT 1"),
        ("who placed the last three invoices?",
         "SELECT invoice_id, first_name, last_name FROM invoices JOIN customers "
         "USING (customer_id) ORDER BY invoice_date DESC LIMIT 3"),
        ("what did Ana Silva buy in 2026, and how much of each?",
         f"SELECT t.name, SUM(l.quantity) FROM {SOLD} JOIN customers c USING (customer_id) "
         "WHERE c.first_name = 'Ana' AND c.last_name = 'Silva' AND i.invoice_date LIKE '2026%' "
         "GROUP BY t.track_id"),
        ("break our tracks down by genre, with the number of each",
         "SELECT g.name, COUNT(*) FROM tracks JOIN genres g USING (genre_id) GROUP BY 1"),
        ("whose album is called Album B?",
         "SELECT name FROM artists JOIN albums USING (artist_id) WHERE title = 'Album B'"),
        ("on average, how many minutes does a jazz track last?",
         "SELECT AVG(milliseconds) / 60000.0 FROM tracks JOIN genres g USING (genre_id) "
         "WHERE g.name = 'Jazz'"),
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
    "ask",
    [
        "how do I give a customer their money back?",
        "how much are we going to sell in December?",
        "what is our revenue going to be next year?",
        "how many stars did customers give Album A?",
        "is there a genre that Ana Silva has but Ben Quinn doesn't?",
    ],
)
async def test_what_no_rows_tell_is_declined(opened: Opened, ask: str) -> None:
    answer = await opened.ask(ask)
    assert "tool_execution" not in answer.metadata, answer.content
