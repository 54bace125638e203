"""A server over a database: questions, changes, who asks, and a database that fails."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from server.access.models import NewKey
from tests.support.api import client_from, running
from tests.support.configuring import adapter, configure, write_library

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

NAME = {"name": "customer_name", "type": "string", "description": "Name of the customer"}
TEMPLATES: list[dict[str, Any]] = [
    {
        "id": "orders_of_customer",
        "description": "Orders of a customer, newest first",
        "nl_examples": [
            "Show me the orders of Ana Silva", "What did Bob Stone order?",
            "orders placed by Mary Miller", "list the orders of John Smith please",
        ],
        "parameters": [NAME],
        "sql": "SELECT o.id, o.total FROM orders o JOIN customers c ON c.id = o.customer_id "
        "WHERE c.name LIKE :customer_name ORDER BY o.id DESC",
    },
    {
        "id": "count_customers",
        "description": "How many customers there are",
        "nl_examples": ["How many customers are there?", "count the customers",
                        "number of customers", "how many customers do we have"],
        "sql": "SELECT count(*) AS customers FROM customers",
        "result_format": "single",
    },
    {
        "id": "delete_order",
        "description": "Delete an order by its number",
        "nl_examples": ["delete order 7", "remove order number 12", "please delete order 3"],
        "parameters": [{"name": "order_id", "type": "integer", "description": "Number"}],
        "effect": "write",
        "sql": "DELETE FROM orders WHERE id = :order_id",
    },
    {
        "id": "my_orders",
        "description": "The orders of whoever asks",
        "nl_examples": ["what have I ordered?", "show my own orders", "my orders please"],
        "sql": "SELECT id FROM orders WHERE owner = :caller_user_id ORDER BY id",
    },
    {
        "id": "shipments",
        "description": "List shipments",
        "nl_examples": ["list all shipments", "which shipments are there", "show the shipments"],
        "sql": "SELECT * FROM shipments",
    },
]  # fmt: skip


def fill(path: Path) -> None:
    made = sqlite3.connect(path)
    made.executescript(
        "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT);"
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INT, total NUM, owner TEXT);"
        "INSERT INTO customers VALUES (1, 'Ana Silva'), (2, 'Bob Stone');"
        "INSERT INTO orders VALUES (1, 1, 10, 'ana'), (2, 1, 20.5, 'bob'), (3, 2, 30, 'ana');"
    )
    made.close()


@dataclass
class Shop:
    client: httpx.AsyncClient
    keys: dict[str | None, str]
    path: Path

    async def ask(
        self, message: str, user: str | None = None, session: str | None = None
    ) -> dict[str, Any]:
        body = {"message": message} | ({"session_id": session} if session else {})
        answer = await self.client.post("/chat", json=body, headers={"X-API-Key": self.keys[user]})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def rows(self, message: str, user: str | None = None) -> list[dict[str, Any]]:
        execution = (await self.ask(message, user))["metadata"]["tool_execution"]
        assert execution["status"] == "success"
        rows: list[dict[str, Any]] = execution["result"]["rows"]
        return rows


@asynccontextmanager
async def serving(folder: Path, templates: Sequence[Any] = TEMPLATES) -> AsyncIterator[Shop]:
    library = write_library(folder / "library", templates, {"domain_name": "Shop"})
    shop = adapter(
        "shop",
        library,
        implementation="retrievers.implementations.intent.IntentSQLRetriever",
        database="shop.db",
    )
    settings = configure(folder, [shop]).settings
    async with running(settings, {}) as api, client_from(api, "127.0.0.1") as client:
        store = api.state.api.keys
        keys = {
            user: (await store.create(NewKey(adapter="shop", user_id=user)))[0]
            for user in (None, "ana", "bob")
        }
        while (await client.get("/ready")).json()["status"] == "opening":  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        yield Shop(client, keys, folder / "shop.db")


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    fill(tmp_path / "shop.db")
    async with serving(tmp_path) as served:
        yield served


async def test_a_question_is_answered_from_the_database(shop: Shop) -> None:
    answer = await shop.ask("show me the orders of ana silva")
    execution = answer["metadata"]["tool_execution"]
    assert answer["metadata"]["template_id"] == "orders_of_customer"
    assert execution["tool_name"] == "sql"
    assert execution["result"] == {
        "columns": ["id", "total"],
        "rows": [{"id": 2, "total": 20.5}, {"id": 1, "total": 10}],
        "row_count": 2,
        "truncated": False,
    }


async def test_a_change_waits_for_a_yes(shop: Shop) -> None:
    asked = await shop.ask("delete order 3", session="s")
    assert asked["metadata"]["proposal"]["status"] == "held"
    assert len(await shop.rows("orders placed by Bob Stone")) == 1
    done = await shop.ask("yes", session="s")
    assert done["metadata"]["tool_execution"]["result"]["row_count"] == 1
    assert await shop.rows("orders placed by Bob Stone") == []


async def test_who_asks_comes_from_the_key_and_never_from_the_question(shop: Shop) -> None:
    assert await shop.rows("show my own orders", "ana") == [{"id": 1}, {"id": 3}]
    assert await shop.rows("show my own orders", "bob") == [{"id": 2}]
    refused = await shop.ask("show my own orders")
    assert refused["metadata"]["policy"]["outcome"] == "auth_required"


async def test_a_template_without_its_table_is_left_out_and_named(shop: Shop) -> None:
    ready = (await shop.client.get("/ready")).json()
    assert "no table 'shipments'" in str(ready)
    answer = await shop.ask("list all shipments")
    assert answer["metadata"].get("tool_execution") is None


async def test_a_database_that_goes_and_comes_is_told_and_used_again(shop: Shop) -> None:
    away = shop.path.rename(shop.path.with_suffix(".away"))
    answer = await shop.ask("How many customers are there?")
    execution = answer["metadata"]["tool_execution"]
    assert (execution["status"], execution["error_message"]) == (
        "error",
        "the database is not there",
    )
    assert str(shop.path.parent) not in answer["content"]
    away.rename(shop.path)
    assert await shop.rows("How many customers are there?") == [{"customers": 2}]


async def test_a_server_starts_without_its_database(tmp_path: Path) -> None:
    async with serving(tmp_path) as shop:
        fill(shop.path)
        assert await shop.rows("How many customers are there?") == [{"customers": 2}]


async def test_a_table_that_goes_meanwhile_is_named(shop: Shop) -> None:
    changed = sqlite3.connect(shop.path)
    changed.execute("DROP TABLE customers")
    changed.close()
    answer = await shop.ask("How many customers are there?")
    assert "no such table: customers" in answer["content"]


async def test_a_value_is_a_value_whatever_it_says(shop: Shop) -> None:
    for hostile in ("x'; DROP TABLE orders; --", "' OR '1'='1", "%", "{{ 7 * 7 }}"):
        answer = await shop.ask(f"Show me the orders of {hostile}")
        execution = answer["metadata"].get("tool_execution") or {}
        assert execution.get("result", {"rows": []})["rows"] == []
    assert len(await shop.rows("orders placed by Bob Stone")) == 1


def test_a_public_library_is_read_as_it_is_written(tmp_path: Path) -> None:
    library = {
        "generated_at": "2026-01-01", "status": "completed", "total_templates": 1,
        "templates": [
            {
                "id": "overdue_invoices",
                "description": "Overdue invoices, of one customer or all",
                "sql_template": "SELECT * FROM invoices WHERE (? IS NULL OR customer_id = ?) "
                "LIMIT ? OFFSET ?",
                "parameters": [
                    {"name": "customer_id", "type": "string", "required": False, "default": None},
                    {"name": "customer_id", "type": "string", "required": False, "default": None},
                    {"name": "limit", "type": "integer", "required": False, "default": 100},
                    {"name": "offset", "type": "integer", "required": False, "default": 0},
                ],
                "nl_examples": ["Which invoices are overdue?"],
                "result_format": "table", "approved": True, "tags": ["invoice"],
                "semantic_tags": {"action": "find", "primary_entity": "invoice"},
            }
        ],
    }  # fmt: skip
    (tmp_path / "domain.yaml").write_text("domain_name: Billing\ndomain_type: billing\n")
    (tmp_path / "templates.yaml").write_text(yaml.safe_dump(library))
    from server.library.loader import load_library

    loaded = load_library(tmp_path / "domain.yaml", [tmp_path / "templates.yaml"], {})
    assert [p for p in loaded.problems if p.is_error] == []
    assert loaded.library is not None
    template = loaded.library.templates["overdue_invoices"]
    assert [p.name for p in template.parameters] == ["customer_id", "limit", "offset"]


async def test_an_adapter_that_cannot_be_opened_keeps_nothing_of_its_database(
    tmp_path: Path,
) -> None:
    fill(tmp_path / "shop.db")
    shipments = [each for each in TEMPLATES if each["id"] == "shipments"]
    async with serving(tmp_path, shipments) as shop:
        ready = await shop.client.get("/ready")
        assert "no table 'shipments'" in ready.text
        for thread in threading.enumerate():
            if "database-sqlite" in thread.name:
                await asyncio.to_thread(thread.join, 5)
                assert not thread.is_alive()
