"""`new --from-database` and `--from-csv`: a project over a database that somebody has."""

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import duckdb
import psycopg
import pytest
from typer.testing import CliRunner, Result

from server.cli.main import command_line
from tests.authoring.databases import SHOP, write_shop
from tests.support import postgresql

COMMANDS = command_line("new", "check")


def run(*args: str) -> Result:
    return CliRunner().invoke(COMMANDS, list(args))


def drafted(project: Path, *options: str) -> Result:
    """A new project that passes `check`."""
    done = run("new", str(project), *options)
    assert done.exit_code == 0, done.output
    checked = run("check", "--quick", str(project))
    assert checked.exit_code == 0, checked.output
    return done


@pytest.mark.slow
def test_a_project_over_sqlite(tmp_path: Path) -> None:
    project = tmp_path / "shop"
    database = write_shop(tmp_path / "data.db")
    done = drafted(project, "--from-database", f"sqlite:///{database}")
    adapter = (project / "adapters/shop/adapter.yaml").read_text()
    assert f'database: "{database}"' in adapter
    assert "IntentSQLRetriever" in adapter
    assert "note: tbl_cust: card_number left out, for what the name says" in done.stderr
    assert not (project / ".env").exists()


@pytest.mark.slow
def test_a_database_within_the_project_is_named_by_its_place(tmp_path: Path) -> None:
    project = tmp_path / "shop"
    project.mkdir()
    database = write_shop(project / "shop.db")
    drafted(project, "--from-database", str(database))
    assert 'database: "shop.db"' in (project / "adapters/shop/adapter.yaml").read_text()


@pytest.mark.slow
def test_a_project_over_duckdb(tmp_path: Path) -> None:
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute(
            "CREATE TABLE sales (id INTEGER PRIMARY KEY, region TEXT, sold_on DATE, price DOUBLE)"
        )
        database.execute(
            "INSERT INTO sales SELECT n, ['North', 'South'][1 + n % 2], "
            "DATE '2026-01-01' + CAST(n AS INTEGER), n * 1.5 FROM range(1, 60) AS counted(n)"
        )
    drafted(tmp_path / "sales", "--from-database", str(path))
    written = (tmp_path / "sales/adapters/sales/templates.yaml").read_text()
    assert "STRFTIME" in written
    assert "id: figures_of_sales_by" in written


@pytest.mark.slow
def test_files_of_data_are_copied_into_the_project(tmp_path: Path) -> None:
    trips = tmp_path / "trips.csv"
    rows = "".join(f"{n},{('bus', 'tram')[n % 2]},{n * 3}\n" for n in range(1, 31))
    trips.write_text(f"id,vehicle,distance_km\n{rows}")
    stops = tmp_path / "stops.tsv"
    stops.write_text("id\tname\n1\tHarbour\n2\tMill\n")
    project = tmp_path / "city"
    done = drafted(project, "--from-csv", str(trips), str(stops))
    assert 'database: "adapters/city/data"' in (project / "adapters/city/adapter.yaml").read_text()
    assert str(project / "adapters/city/data/trips.csv") in done.stdout
    assert (project / "adapters/city/data/stops.tsv").read_text() == stops.read_text()
    trips.unlink()
    assert run("check", "--quick", str(project)).exit_code == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--from-database", "mysql://host/shop"), "'mysql' is not a kind of database"),
        (("--from-database", "nowhere.db"), "the database is not there"),
        (("--from-csv", "nowhere.csv"), "there is no file nowhere.csv"),
        (("--from-csv", "notes.txt"), "notes.txt is no file of data"),
        (("--from-csv", "a.csv", "--from-database", "b.db"), "are one or the other"),
        (("more.csv",), "is for --from-csv"),
    ],
)
def test_what_cannot_be_drafted_from_is_named(
    tmp_path: Path, options: tuple[str, ...], told: str
) -> None:
    project = tmp_path / "shop"
    refused = run("new", str(project), *options)
    assert refused.exit_code == 1
    assert told in " ".join(refused.stderr.split())
    assert not project.exists()


def test_an_empty_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 1")
    refused = run("new", str(tmp_path / "shop"), "--from-database", str(path))
    assert refused.exit_code == 1
    assert "holds no table to ask about" in " ".join(refused.stderr.split())


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    missing = postgresql.why_not()
    if missing is not None:
        pytest.skip(missing)
    with postgresql.postgresql() as url:
        plain = url.replace("postgresql+psycopg://", "postgresql://")
        with psycopg.connect(plain) as database:
            database.execute(SHOP.replace("REAL", "NUMERIC(10, 2)").encode())
            database.execute("COMMENT ON COLUMN tbl_cust.city IS 'home city'")
            database.execute(
                "INSERT INTO tbl_cust SELECT n, 'Customer ' || n, "
                "CASE n % 2 WHEN 0 THEN 'York' ELSE 'Leeds' END FROM generate_series(1, 30) AS n"
            )
            database.execute(
                "INSERT INTO \"order\" SELECT n, 1 + n % 30, DATE '2026-01-01' + n, "
                "CASE n % 2 WHEN 0 THEN 'open' ELSE 'shipped' END, n * 1.5, NULL "
                "FROM generate_series(1, 80) AS n"
            )
        yield plain


def test_the_password_of_postgresql_stands_in_env_alone(tmp_path: Path, server_url: str) -> None:
    project = tmp_path / "shop"
    done = run("new", str(project), "--from-database", server_url)
    assert done.exit_code == 0, done.output
    written = {path.name: path.read_text() for path in project.rglob("*") if path.is_file()}
    holding = [name for name, text in written.items() if postgresql.PASSWORD in text]
    assert holding == [".env"]
    assert postgresql.PASSWORD not in done.output
    assert 'database: "${SHOP_DATABASE_URL}"' in written["adapter.yaml"]
    assert "SHOP_DATABASE_URL=postgresql://" in written[".env.example"]
    assert os.stat(project / ".env").st_mode & 0o077 == 0
    assert "left out: the database" not in done.stderr
    assert "TO_CHAR" in written["templates.yaml"]
    assert "home_city" in written["templates.yaml"]
