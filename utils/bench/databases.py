"""What a question to a database costs beyond the database's own work.

    .venv/bin/python -m utils.bench.databases [--runs 500] [--orders 100000]
        [--postgresql URL] [--json]

Asks a shop of its own in SQLite, in DuckDB where its driver is installed, and in PostgreSQL where
a URL of a database that may be written to is given. The vector of a question is known after the
first time it is asked; "beyond" is a whole turn less the same statement asked of the driver alone.
"""

import argparse
import asyncio
import json
import sqlite3
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import yaml

from server.adapters.local import open_adapter
from server.chat.adapter import Adapter
from utils.bench._machine import describe_machine, percentiles
from utils.bench._turns import Opened, read_settings

DOMAIN: Final = {"domain_name": "Shop"}
NUMBER: Final = {"name": "order_id", "type": "integer", "description": "Number of the order"}
CITY: Final = {"name": "city", "type": "string", "description": "City", "example": "Porto"}
TEMPLATES: Final[Sequence[Mapping[str, Any]]] = (
    {
        "id": "order_by_number",
        "description": "One order by its number",
        "nl_examples": ["show order 12", "what is in order number 7", "order 881 please"],
        "parameters": [NUMBER],
        "sql": "SELECT id, city, total FROM orders WHERE id = :order_id",
    },
    {
        "id": "orders_of_city",
        "description": "The latest orders from a city",
        "nl_examples": ["latest orders from Porto", "orders from Cork", "newest orders from Leeds"],
        "parameters": [CITY],
        "sql": "SELECT id, city, total FROM orders WHERE city = :city ORDER BY id DESC LIMIT 20",
    },
    {
        "id": "count_orders",
        "description": "How many orders there are",
        "nl_examples": ["how many orders are there?", "count the orders", "number of orders"],
        "sql": "SELECT count(*) AS orders FROM orders",
        "result_format": "single",
    },
)
QUESTIONS: Final[Mapping[str, tuple[str, tuple[Any, ...]]]] = {
    "show order 4711": ("SELECT id, city, total FROM orders WHERE id = {}", (4711,)),
    "latest orders from Porto": (
        "SELECT id, city, total FROM orders WHERE city = {} ORDER BY id DESC LIMIT 20",
        ("Porto",),
    ),
    "how many orders are there?": ("SELECT count(*) AS orders FROM orders", ()),
}
CITIES: Final = ("Porto", "Cork", "Leeds", "Turin", "Ghent")
TABLE: Final = "CREATE TABLE orders (id integer PRIMARY KEY, city varchar, total integer)"
INDEX: Final = "CREATE INDEX by_city ON orders (city, id)"
INSERT: Final = "INSERT INTO orders VALUES ({0}, {0}, {0})"

Ask = Callable[[str, tuple[Any, ...]], object]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--orders", type=int, default=100_000)
    parser.add_argument("--postgresql", metavar="URL", help="it gets a table named orders")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures: dict[str, Any] = {"machine": describe_machine(), "orders": options.orders}
    rows = [(n, CITIES[n % len(CITIES)], n % 997) for n in range(1, options.orders + 1)]
    with tempfile.TemporaryDirectory(prefix="orbit-bench-") as folder:
        for name, database, ask, mark in shops(Path(folder), rows, options.postgresql):
            config = written(Path(folder) / name, database)
            figures[name] = asyncio.run(measure(config, ask, mark, options.runs))
    print(json.dumps(figures, indent=2) if options.json else as_text(figures))


def shops(
    folder: Path, rows: Sequence[tuple[Any, ...]], postgresql: str | None
) -> Sequence[tuple[str, str, Ask, str]]:
    """Each database: its name, what `database:` says, its driver, and how it marks a value."""
    made = [("sqlite", str(folder / "shop.db"), sqlite_of(folder / "shop.db", rows), "?")]
    if find_spec("duckdb"):
        path = folder / "shop.duckdb"
        made.append(("duckdb", str(path), duckdb_of(path, rows), "?"))
    if postgresql:
        made.append(("postgresql", postgresql, postgresql_of(postgresql, rows), "%s"))
    return made


def sqlite_of(path: Path, rows: Sequence[tuple[Any, ...]]) -> Ask:
    connection = sqlite3.connect(path)
    connection.execute(TABLE)
    connection.executemany(INSERT.format("?"), rows)
    connection.execute(INDEX)
    connection.commit()
    return lambda text, values: connection.execute(text, values).fetchall()


def duckdb_of(path: Path, rows: Sequence[tuple[Any, ...]]) -> Ask:
    import duckdb

    connection = duckdb.connect(str(path))
    connection.execute(TABLE)
    connection.execute(
        "INSERT INTO orders SELECT * FROM (SELECT unnest(?), unnest(?), unnest(?))",
        [list(column) for column in zip(*rows, strict=True)],
    )
    connection.close()  # whoever writes keeps all others out
    reading = duckdb.connect(
        str(path),
        read_only=True,
        config={
            "autoinstall_known_extensions": False, "autoload_known_extensions": False,
            "allow_community_extensions": False, "enable_external_access": False,
            "lock_configuration": True,
        },
    )  # fmt: skip
    return lambda text, values: reading.execute(text, values).fetchall()


def postgresql_of(url: str, rows: Sequence[tuple[Any, ...]]) -> Ask:
    import psycopg

    connection = psycopg.connect(url.replace("+psycopg", ""), autocommit=True)
    connection.execute("DROP TABLE IF EXISTS orders")
    connection.execute(TABLE)
    with connection.cursor() as cursor, cursor.copy("COPY orders FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)
    connection.execute(INDEX)
    connection.execute("ANALYZE orders")
    return lambda text, values: connection.execute(text.encode(), values).fetchall()


def written(place: Path, database: str) -> Path:
    """A configuration of one adapter over a database."""
    place.mkdir()
    (place / "domain.yaml").write_text(yaml.safe_dump(DOMAIN))
    (place / "templates.yaml").write_text(yaml.safe_dump({"templates": list(TEMPLATES)}))
    listed = {
        "name": "shop",
        "implementation": "retrievers.implementations.intent.IntentSQLRetriever",
        "database": database,
        "config": {
            "domain_config_path": str(place / "domain.yaml"),
            "template_library_path": str(place / "templates.yaml"),
        },
    }
    config = place / "config.yaml"
    config.write_text(yaml.safe_dump({"data_dir": str(place / "data"), "adapters": [listed]}))
    return config


async def measure(config: Path, ask: Ask, mark: str, runs: int) -> dict[str, Any]:
    settings, environ = read_settings(config, {})
    async with open_adapter(settings, environ, settings.adapters[0]) as adapter:
        return {
            question: await beyond(adapter, question, partial(ask, text.format(mark), values), runs)
            for question, (text, values) in QUESTIONS.items()
        }


async def beyond(
    adapter: Adapter, question: str, query: Callable[[], object], runs: int
) -> dict[str, Any]:
    opened = Opened(adapter, "user")
    for _ in range(20):
        answer = await opened.ask(question)
        query()
    assert answer.metadata["tool_execution"]["status"] == "success", answer.content
    turns, queries = [], []
    for _ in range(runs):  # by turns, so that both have the same moments of the machine
        begin = perf_counter()
        await opened.ask(question)
        between = perf_counter()
        query()
        turns.append((between - begin) * 1000)
        queries.append((perf_counter() - between) * 1000)
    less = [turn - alone for turn, alone in zip(turns, queries, strict=True)]
    return {
        "turn_ms": percentiles(turns),
        "query_ms": percentiles(queries),
        "beyond_ms": percentiles(less),
    }


def as_text(figures: dict[str, Any]) -> str:
    lines = [f"{figures['machine']}; {figures['orders']:,} orders; p50 and p99 in ms"]
    for name in ("sqlite", "duckdb", "postgresql"):
        for question, of in figures.get(name, {}).items():
            shown = (
                f"{what} {of[key]['p50']:.2f} ({of[key]['p99']:.2f})"
                for what, key in (
                    ("turn", "turn_ms"), ("query", "query_ms"), ("beyond", "beyond_ms")
                )
            )  # fmt: skip
            lines.append(f"{name:<11}{question:<28}{', '.join(shown)}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
