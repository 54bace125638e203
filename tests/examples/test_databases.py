"""The databases of the examples: made by one command, and asked as people ask."""

import hashlib
import importlib.util
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from examples.databases.shop import make_shop
from server.cli.main import command_line
from server.cli.options import Configured, configured
from server.evaluation.questions import Question, load_questions
from server.library.loader import load_library
from server.library.model import Library
from tests.examples.running import EXAMPLES, ROOT, Example

pytestmark = pytest.mark.slow  # data are made and half a thousand questions are asked

HAS_DUCKDB = importlib.util.find_spec("duckdb") is not None
NAMES = [
    "shop-sql",
    pytest.param("open-data", marks=pytest.mark.skipif(not HAS_DUCKDB, reason="needs duckdb")),
]
LAST_DAY = date(2026, 6, 4)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command_line("demo-databases", "check"), list(arguments))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone after `demo-databases`, with smaller databases."""
    folder: Path = tmp_path_factory.mktemp("clone")
    shutil.copytree(ROOT / "config", folder / "config")
    (folder / "examples").symlink_to(ROOT / "examples")
    made = run(
        "demo-databases", "--orders", "3000", "--trips", "4000", "--config", str(folder / "config")
    )
    assert made.exit_code == 0, made.output
    return folder


@pytest.fixture(scope="module")
def found(project: Path) -> Configured:
    return configured(project / "config" / "config.yaml")


@pytest.fixture(scope="module")
def opened(found: Configured) -> Iterator[Callable[[str], Example]]:
    examples: dict[str, Example] = {}

    def example(name: str) -> Example:
        if name not in examples:
            examples[name] = Example(found, found.adapter(name), {})
        return examples[name]

    yield example
    for each in examples.values():
        each.close()


def library(name: str) -> Library:
    folder = EXAMPLES / name
    loaded = load_library(folder / "domain.yaml", [folder / "templates.yaml"], {})
    assert loaded.problems == ()
    assert loaded.library is not None
    return loaded.library


def questions(name: str) -> tuple[Question, ...]:
    listed, problems = load_questions(
        EXAMPLES / name / "questions.yaml", library(name).templates, {}
    )
    assert problems == ()
    return listed


def rows(example: Example, question: str) -> list[dict[str, Any]]:
    execution = example.ask(question).metadata["tool_execution"]
    assert execution["status"] == "success"
    found: list[dict[str, Any]] = execution["result"]["rows"]
    return found


def test_a_fresh_clone_has_neither_switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEMO_SHOP", raising=False)
    monkeypatch.delenv("DEMO_OPEN_DATA", raising=False)
    shipped = configured(ROOT / "config" / "config.yaml").settings.adapters
    if not (ROOT / ".env").exists():
        assert {a.name for a in shipped if a.enabled}.isdisjoint({"shop-sql", "open-data"})


def test_the_command_switches_on_what_it_made_and_says_so_once(project: Path) -> None:
    expected = ["DEMO_SHOP=true", *(["DEMO_OPEN_DATA=true"] if HAS_DUCKDB else [])]
    assert (project / ".env").read_text().splitlines() == expected
    (project / ".env").write_text("DEMO_SHOP=false\nOTHER=1")
    again = run("demo-databases", "--orders", "3000", "--trips", "4000", "--config", str(project))
    assert (project / ".env").read_text().splitlines() == [
        "DEMO_SHOP=false",
        "OTHER=1",
        *expected[1:],
    ]
    assert f"ask --adapter shop-sql --config {project}/config/config.yaml 'Which" in again.stderr
    (project / ".env").write_text("\n".join(expected))


def test_without_duckdb_the_shop_is_made_and_the_rest_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "config", tmp_path / "config")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    made = run("demo-databases", "--orders", "100", "--config", str(tmp_path))
    assert made.exit_code == 0
    assert [file.name for file in (tmp_path / "data" / "demo").iterdir()] == ["shop.db"]
    assert (tmp_path / ".env").read_text() == "DEMO_SHOP=true\n"
    assert "pip install 'orbit-server[duckdb]' && orbit demo-databases --config" in made.stderr
    assert "--adapter open-data" not in made.stderr


def test_the_same_orders_and_day_make_the_same_shop(tmp_path: Path) -> None:
    def digest(name: str, day: date, orders: int) -> str:
        make_shop(tmp_path / name, day, orders)
        made = sqlite3.connect(tmp_path / name)
        try:
            return hashlib.sha256("\n".join(made.iterdump()).encode()).hexdigest()
        finally:
            made.close()

    one, two = digest("a.db", LAST_DAY, 300), digest("b.db", LAST_DAY, 300)
    other = digest("a.db", date(2026, 6, 5), 300)
    assert one == two != other


def test_a_shop_holds_together(project: Path) -> None:
    made = sqlite3.connect(project / "data" / "demo" / "shop.db")
    try:
        assert made.execute("PRAGMA foreign_key_check").fetchall() == []
        never = {
            "ordered before they had registered": "SELECT COUNT(*) FROM orders o JOIN customers c "
            "ON c.id = o.customer_id WHERE o.ordered_on < c.registered_on",
            "a total that is not the sum of its items": "SELECT COUNT(*) FROM (SELECT o.id FROM "
            "orders o JOIN order_items i ON i.order_id = o.id GROUP BY o.id "
            "HAVING ABS(o.total - SUM(i.quantity * i.unit_price)) > 0.01)",
            "delivered before it was sent": "SELECT COUNT(*) FROM shipments "
            "WHERE delivered_on < shipped_on",
            "sent without an order that was": "SELECT COUNT(*) FROM shipments s JOIN orders o "
            "ON o.id = s.order_id WHERE o.status NOT IN ('shipped', 'delivered', 'returned')",
        }
        assert {
            why: made.execute(sql).fetchone()[0] for why, sql in never.items()
        } == dict.fromkeys(never, 0)
    finally:
        made.close()


@pytest.mark.skipif(not HAS_DUCKDB, reason="needs duckdb")
def test_the_same_trips_and_day_make_the_same_rides(tmp_path: Path) -> None:
    import duckdb

    from examples.databases.rides import make_rides

    for name in ("one", "two"):
        make_rides(tmp_path / name, LAST_DAY, trips=500)
    with duckdb.connect() as connection:
        for table in ("trips", "days", "stations"):
            one, two = (
                connection.execute(
                    "SELECT * FROM read_parquet(?) ORDER BY ALL",
                    [str(tmp_path / name / f"{table}.parquet")],
                ).fetchall()
                for name in ("one", "two")
            )
            assert one == two != []


def test_check_finds_nothing(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every statement, planned by the database itself."""
    monkeypatch.chdir(project)
    checked = run("check", "--quick", "--config", "config/config.yaml")
    assert (checked.exit_code, checked.stdout) == (0, "")


@pytest.mark.parametrize("name", ["shop-sql", "open-data"])
def test_there_are_templates_and_questions_enough(name: str) -> None:
    listed, templates = questions(name), library(name).templates
    counts = Counter(question.template for question in listed)
    assert len(templates) >= 25
    assert len(listed) >= 150
    assert counts[None] >= 30
    assert {one: counts[one] for one in templates if counts[one] < 2} == {}
    assert {t.id for t in templates.values() if len(t.nl_examples) < 7} == set()


@pytest.mark.parametrize("name", ["shop-sql", "open-data"])
def test_no_question_is_an_example(name: str) -> None:
    def folded(text: str) -> str:
        return " ".join(text.casefold().split()).rstrip("?!. ")

    taught = {folded(e) for t in library(name).templates.values() for e in t.nl_examples}
    assert [q.ask for q in questions(name) if folded(q.ask) in taught] == []


@pytest.mark.parametrize("name", NAMES)
def test_people_are_understood(name: str, opened: Callable[[str], Example]) -> None:
    """Every question is asked of the database, and no call may fail."""
    figures = opened(name).evaluate(EXAMPLES / name / "questions.yaml").to_dict()
    assert figures["template_accuracy"] >= 0.92
    assert figures["argument_accuracy"] >= 0.92
    assert figures["abstain_recall"] >= 0.9
    assert figures["wrong_call_rate"] <= 0.03


def test_the_shop_answers_from_its_data(project: Path, opened: Callable[[str], Example]) -> None:
    shop = opened("shop-sql")
    assert rows(shop, "How many orders are there?") == [{"orders": 3000}]
    (total,) = rows(shop, "what is our total revenue?")
    for part in ("month", "country", "category"):
        parts = rows(shop, f"Revenue by {part}")
        assert round(sum(row["revenue"] for row in parts), 2) == total["revenue"]
    spenders = rows(shop, "which buyers have ordered for over 2000")
    assert spenders
    assert min(row["spent"] for row in spenders) >= 2000
    (item, *_) = rows(shop, "What is in order 1200?")
    assert item["amount"] == round(item["quantity"] * item["unit_price"], 2)


def test_a_stretch_of_days_and_a_value_of_the_data_are_words(
    project: Path, opened: Callable[[str], Example]
) -> None:
    shop = opened("shop-sql")
    (total,) = rows(shop, "What was our revenue in 2025?")
    months = rows(shop, "Revenue by month for 2025")
    assert round(sum(month["revenue"] for month in months), 2) == total["revenue"]
    assert len(months) == 12
    assert {row["city"] for row in rows(shop, "customers in lisbonn please")} == {"Lisbon"}
    assert "There is no city “Toronto”." in shop.ask("customers from Toronto").content
    # Of parcels, nobody is told what others there are.
    assert rows(shop, "track P000000000") == []


def test_who_asks_looks_after_customers_of_their_own(
    project: Path, opened: Callable[[str], Example]
) -> None:
    """Whoever is at this machine without a key is the user `local`."""
    made = sqlite3.connect(project / "data" / "demo" / "shop.db")
    mine = made.execute("SELECT COUNT(*) FROM customers WHERE account_manager = 'local'").fetchone()
    made.close()
    assert len(rows(opened("shop-sql"), "Which customers do I look after?")) == mine[0] > 0


def test_a_change_is_proposed_and_made_after_a_yes(
    project: Path, opened: Callable[[str], Example]
) -> None:
    shop, path = opened("shop-sql"), project / "data" / "demo" / "shop.db"

    def order(status: str) -> Any:
        made = sqlite3.connect(path)
        try:
            sql = (
                "SELECT id, delivery_address, status FROM orders WHERE status = ? ORDER BY id DESC"
            )
            return made.execute(sql, [status]).fetchone()
        finally:
            made.close()

    number, address, _ = order("open")
    proposed = shop.decide(f"Change the address of order {number} to Elm Road 5, 10115 Berlin")
    assert proposed.metadata["proposal"]["status"] == "held"
    assert order("open") == (number, address, "open")
    moved = shop.ask(f"Change the address of order {number} to Elm Road 5, 10115 Berlin")
    assert moved.content == f"Order {number} goes to Elm Road 5, 10115 Berlin."
    assert order("open")[1] == "Elm Road 5, 10115 Berlin"
    cancelled = shop.ask(f"please cancel order {number}")
    assert cancelled.content == f"Order {number} is cancelled."
    assert order("cancelled")[0] == number
    gone, *_ = order("delivered")
    assert shop.ask(f"please cancel order {gone}").content.startswith("Nothing was changed")


@pytest.mark.skipif(not HAS_DUCKDB, reason="needs duckdb")
def test_the_open_data_answer_from_their_files(opened: Callable[[str], Example]) -> None:
    rides = opened("open-data")
    assert rows(rides, "total number of trips") == [{"trips": 4000}]
    by_district = rows(rides, "Trips by district")
    assert sum(row["trips"] for row in by_district) == 4000
    assert {row["district"] for row in rows(rides, "list all stations")} == {
        row["district"] for row in by_district
    }
    (shares,) = rows(rides, "How many round trips were there?")
    assert shares["of_all"] == 4000


@pytest.mark.skipif(not HAS_DUCKDB, reason="needs duckdb")
def test_a_command_that_asks_duckdb_says_its_answer_alone(project: Path) -> None:
    command = ["ask", "total number of trips", "--adapter", "open-data", "--config", str(project)]
    asked = subprocess.run(
        [sys.executable, "-m", "server", *command],
        capture_output=True, text=True, check=True, cwd=ROOT, env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    assert re.search("4,?000", asked.stdout)
    assert "leaked" not in asked.stderr
