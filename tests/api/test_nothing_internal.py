"""What no call tells the holder of an adapter's key: paths, SQL, endpoints, secrets."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from server.access.keys import KeyStore
from server.access.models import NewKey
from tests.support.api import client_from, running
from tests.support.configuring import DOMAIN, PERCENTAGE, adapter, configure, write_library
from tests.support.ports import free_port

pytestmark = pytest.mark.anyio

HIDDEN = "hush"
"""Stands in every path, statement, address and secret of the project, and in nothing else."""
NUMBER = {"name": "number", "type": "integer", "description": "Of the order", "required": True}
ASKS = {"rows": "show order 7", "service": "show order 7", "broken": "What is 15% of 200?"}
OPEN: dict[str, dict[str, Any] | None] = {
    "GET /adapters/{name}/library": None,
    "GET /adapters/{name}/library/map": None,
    "POST /adapters/{name}/library/map": {"message": "show order 7"},
    "GET /adapters/{name}/library/collisions": None,
    "GET /adapters/{name}/library/words": None,
    "GET /adapters/{name}/questions": None,
    "POST /adapters/{name}/evaluations": {},
    "GET /adapters/{name}/tools": None,
    "GET /key": None,
    "GET /console/start": None,
    "POST /chat": {"message": "show order 7", "explain": True},
    "POST /chat/confirm": {"session_id": "s", "accept": True, "explain": True},
}
"""The calls of the console that such a key may make, with their bodies."""


def show_order(name: str, **how: Any) -> dict[str, Any]:
    examples = ["show order 7", "what is in order number 12", "show me order 3"]
    return {"id": name, "description": "Show an order by its number", "nl_examples": examples,
            "parameters": [NUMBER], **how}  # fmt: skip


def drop_order(name: str, **how: Any) -> dict[str, Any]:
    examples = ["cancel order 7", "call off order number 12", "cancel order no. 3"]
    return {"id": name, "description": "Cancel an order", "nl_examples": examples,
            "parameters": [NUMBER], "confirm": True, **how}  # fmt: skip


def project(folder: Path) -> list[dict[str, Any]]:
    """A database, a service that nobody answers for, and an adapter that cannot be opened."""
    database = folder / f"{HIDDEN}.db"
    with sqlite3.connect(database) as connection:
        connection.execute(f"CREATE TABLE {HIDDEN}_orders (id INTEGER PRIMARY KEY)")
    connection.close()
    select = f"SELECT id AS number FROM {HIDDEN}_orders WHERE id = :number"
    delete = f"DELETE FROM {HIDDEN}_orders WHERE id = :number"
    rows = [show_order("read_row", sql=select), drop_order("drop_row", sql=delete, effect="write")]
    endpoint = f"http://127.0.0.1:{free_port()}/{HIDDEN}/{{number}}"
    common = {"endpoint": endpoint, "headers": {"X-Token": f"{HIDDEN}-token"}}
    calls = [show_order("call", **common), drop_order("undo", method="DELETE", **common)]
    retrievers = "retrievers.implementations.intent."
    return [
        adapter(
            "rows",
            write_library(folder / "rows", rows, DOMAIN),
            implementation=f"{retrievers}IntentSQLRetriever",
            database=str(database),
        ),
        adapter(
            "service",
            write_library(folder / "service", calls, DOMAIN),
            implementation=f"{retrievers}IntentHTTPRetriever",
            config={"http": {"private_hosts": ["127.0.0.1"]}},
        ),
        adapter("broken", write_library(folder / "broken", [{**PERCENTAGE, "tool_name": HIDDEN}])),
    ]


@dataclass
class Site:
    client: httpx.AsyncClient
    routes: list[str]
    keys: dict[str, str]

    async def call(self, route: str, name: str, body: Any = None) -> httpx.Response:
        method, _, path = route.partition(" ")
        for part in ("{name}", "{adapter}"):
            path = path.replace(part, name)
        path = path.replace("{number}", "1").replace("{key_id}", "0" * 12)
        path += {"words": "?q=order", "content": f"?id={name}/tools.yaml"}.get(
            path.rpartition("/")[2], ""
        )
        headers = {"X-API-Key": self.keys[name]}
        return await self.client.request(method, path, json=body, headers=headers)


@asynccontextmanager
async def site_in(folder: Path) -> AsyncIterator[Site]:
    folder = folder / f"{HIDDEN}-folder"
    folder.mkdir()
    rows = project(folder)
    for name, template in (("rows", "read_row"), ("service", "call")):
        question = f"{{ask: show order 7, template: {template}}}"
        written = f"questions:\n  - {question}\n  - {{ask: hi, template: none}}\n"
        (folder / name / "questions.yaml").write_text(written)
    found = configure(folder, rows, inbox={"enabled": True})
    store = await KeyStore.open(found.settings.database_url, found.settings.secret_path)
    keys = {name: (await store.create(NewKey(name)))[0] for name in ASKS}
    await store.close()
    async with running(found.settings, found.environ) as api:
        await api.state.api.adapters.every_one_tried()
        paths = api.openapi()["paths"].items()
        routes = [f"{method.upper()} {path}" for path, methods in paths for method in methods]
        async with client_from(api, "127.0.0.1") as client:
            yield Site(client, routes, keys)


def told(response: httpx.Response) -> str:
    return f"{response.headers}{response.text}".lower()


@pytest.mark.slow
async def test_no_call_of_the_console_tells_how_calls_are_carried_out(tmp_path: Path) -> None:
    async with site_in(tmp_path) as site:
        console = {
            route
            for route in site.routes
            if route.split()[1].startswith(("/adapters/", "/console", "/key"))
        }
        assert console <= OPEN.keys()  # a new call is to be looked at here as well
        for name, question in ASKS.items():
            held = await site.call(
                "POST /chat", name, {"message": "cancel order 7", "session_id": "s"}
            )
            proposal = held.json().get("metadata", {}).get("proposal", {}).get("proposal_id", "x")
            for route, body in OPEN.items():
                if route == "POST /chat/confirm":
                    body = {**(body or {}), "proposal_id": proposal}
                found = await site.call(route, name, body)
                assert HIDDEN not in told(found), (name, route, found.text)
                unopened = name == "broken" and route not in ("GET /key", "GET /console/start")
                assert (found.status_code >= 400) == unopened, (name, route, found.text)
            evaluated = {"questions": [{"ask": question, "template": None}]}
            found = await site.call("POST /adapters/{name}/evaluations", name, evaluated)
            assert HIDDEN not in told(found)


async def test_calls_for_admins_tell_nobody_else(tmp_path: Path) -> None:
    async with site_in(tmp_path) as site:
        admins = [route for route in site.routes if " /admin/" in route]
        assert len(admins) > 20
        for route in admins:
            for name in ASKS:
                found = await site.call(route, name, {} if "GET" not in route else None)
                expected = 422 if route == "POST /admin/sign-in" else 403
                assert found.status_code == expected, (route, found.text)
                assert HIDDEN not in told(found), (route, found.text)
