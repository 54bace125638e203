"""A shop in a file of SQLite, its library, and a server that answers over it."""

import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI

from server.access.models import NewKey
from server.settings.models import Settings
from tests.support.api import client_from, running
from tests.support.configuring import adapter, configure, write_library

CITIES = ("Lisbon", "Porto", "Dublin")
ORDERS = 60
CUSTOMER = ("Ana Silva", "Bob Stone", "=cmd|' /C calc'!A0")


def make_shop(path: Path, orders: int = ORDERS) -> Path:
    """`orders` orders, each of a city, a customer, a day in March 2026 and a total."""
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, city TEXT, ordered TEXT, "
            "total REAL, card TEXT)"
        )
        connection.executemany(
            "INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?)",
            (
                (n, CUSTOMER[n % 3], CITIES[n % 3], f"2026-03-{1 + n % 28:02}", n * 100.5, "4111 1")
                for n in range(1, orders + 1)
            ),
        )
    connection.close()
    return path


def asking(name: str, sql: str, examples: Sequence[str], **more: Any) -> dict[str, Any]:
    return {"id": name, "description": name.replace("_", " "), "nl_examples": list(examples),
            "sql": sql, **more}  # fmt: skip


CITY = {"name": "city", "type": "string", "description": "Name of the city", "required": True,
        "enum": list(CITIES)}  # fmt: skip
TEMPLATES = [
    asking(
        "orders_in_city",
        "SELECT id, customer, ordered, total FROM orders WHERE city = :city ORDER BY id",
        ["Show me the orders in Lisbon", "Which orders came from Porto?", "orders in Dublin"],
        parameters=[CITY],
    ),
    asking(
        "order_by_id",
        "SELECT id, customer, city, ordered, total FROM orders WHERE id = :id",
        ["Show order 12", "Details of order 5", "What is in order 33?"],
        parameters=[{"name": "id", "type": "integer", "description": "Number of the order"}],
        result_format="summary",
    ),
    asking(
        "count_orders",
        "SELECT COUNT(*) AS orders FROM orders",
        ["How many orders are there?", "count all orders", "number of orders"],
        result_format="single",
    ),
    asking(
        "revenue_by_city",
        "SELECT city, COUNT(*) AS orders, SUM(total) AS revenue FROM orders GROUP BY city",
        ["Revenue by city", "What did we earn in each city?", "income per city"],
        result_format="summary",
    ),
    asking(
        "orders_by_day",
        "SELECT ordered, COUNT(*) AS orders FROM orders GROUP BY ordered ORDER BY ordered",
        ["Orders by day", "How many orders came on each day?", "orders per day"],
    ),
    asking(
        "delete_order",
        "DELETE FROM orders WHERE id = :id",
        ["Delete order 12", "Remove order 5", "Erase order 33"],
        parameters=[{"name": "id", "type": "integer", "description": "Number of the order"}],
        effect="write",
    ),
]
CARDS = asking(
    "cards_in_city",
    "SELECT id, card FROM orders WHERE city = :city AND (:card IS NULL OR card = :card)",
    ["Which cards paid in Lisbon?", "cards used in Porto", "payment cards in Dublin"],
    parameters=[CITY, {"name": "card", "type": "string", "required": False}],
    sensitive_params=["card"],
)
DOMAIN: dict[str, Any] = {
    "domain_name": "shop",
    "response_config": {
        "supported_languages": ["en", "de"],
        "currency": {"revenue": "EUR", "total": "EUR"},
    },
}


@dataclass(frozen=True)
class Shop:
    app: FastAPI
    client: httpx.AsyncClient
    database: Path
    settings: Settings

    async def ask(self, message: str, session: str | None = None, **headers: str) -> Any:
        response = await self.send(message, session, **headers)
        assert response.status_code == 200, response.text
        return response.json()

    async def send(
        self, message: str, session: str | None = None, **headers: str
    ) -> httpx.Response:
        body = {"message": message} | ({} if session is None else {"session_id": session})
        return await self.client.post("/chat", json=body, headers=headers)

    async def key(self, adapter: str = "shop", **named: Any) -> dict[str, str]:
        raw, _ = await self.app.state.api.keys.create(NewKey(adapter, **named))
        return {"authorization": f"Bearer {raw}"}


@asynccontextmanager
async def open_shop(
    folder: Path,
    *,
    orders: int = ORDERS,
    templates: Sequence[Any] = (),
    others: Sequence[Any] = (),
    **config: Any,
) -> AsyncIterator[Shop]:
    """The whole server over a shop and `others`, and a client with a key of its own."""
    database = make_shop(folder / "shop.db", orders)
    library = write_library(folder / "library", [*TEMPLATES, *templates], DOMAIN)
    shop = adapter(
        "shop",
        library,
        implementation="retrievers.implementations.intent.IntentSQLRetriever",
        database=str(database),
        config=config,
    )
    settings = configure(folder, [shop, *others]).settings
    async with running(settings, {}) as app, client_from(app, "127.0.0.1") as client:
        await app.state.api.adapters.every_one_tried()
        opened = Shop(app, client, database, settings)
        client.headers.update(await opened.key())
        yield opened
