"""Two servers on one database: workers of one data folder, or replicas with their own."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import httpx
from fastapi import FastAPI

from server.access.models import NewKey
from server.cli.options import configured
from server.settings.models import AdapterSettings, Settings
from tests.support.api import client_from, running
from tests.support.configuring import adapter, configure, write_library
from tests.support.sql_shop import DOMAIN, TEMPLATES, make_shop

WITHIN_S = 2.0
"""How soon one server shall do what was done on the other."""
_BUSY_S = 8.0
"""What a busy machine may take on top of it."""
SECRET = "of-the-installation-" * 3


@dataclass
class Replica:
    """One of the two, asked without a socket; `headers` are those of a key for either."""

    app: FastAPI
    client: httpx.AsyncClient
    settings: Settings
    library: Path

    async def ask(self, message: str, session: str = "s", **headers: str) -> Any:
        body = {"message": message, "session_id": session}
        answer = await self.client.post("/chat", json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def admin(self, method: str, path: str, body: Any = None) -> httpx.Response:
        return await self.client.request(method, f"/admin{path}", json=body)

    async def made(self, adapter: str = "shop", **named: Any) -> tuple[str, str]:
        """A key, and its id."""
        raw, record = await self.app.state.api.keys.create(NewKey(adapter, **named))
        return raw, record.key_id


@asynccontextmanager
async def pair(
    url: str, folder: Path, *, shop: Any = None, each: Sequence[Any] = ({}, {}), **sections: Any
) -> AsyncIterator[tuple[Replica, Replica]]:
    """Two servers over one shop, with the sections of `each`; on SQLite they share all folders."""
    database, kind = make_shop(folder / "shop.db"), url.partition(":")[0]
    async with AsyncExitStack() as closing:
        found: list[Replica] = []
        for number, own in enumerate(each):
            home = folder if kind == "sqlite" else folder / str(number)
            if not found or kind != "sqlite":
                home.mkdir(exist_ok=True)
                library = write_library(home / "library", TEMPLATES, DOMAIN)
                answering = adapter(
                    "shop", library, implementation="retrievers.implementations.intent."
                    "IntentSQLRetriever", database=str(database), **(shop or {}),
                )  # fmt: skip
                shared: dict[str, Any] = {"access": {"database_url": url, "secret": SECRET}}
                if kind == "sqlite":
                    shared["server"] = {"workers": 2}
                configure(home, [answering], **shared, **sections, **own)
            path = home / "config.yaml"
            settings = configured(path).settings
            app = await closing.enter_async_context(running(settings, {}, reader_of(path)))
            client = await closing.enter_async_context(client_from(app, "127.0.0.1"))
            await app.state.api.adapters.every_one_tried()
            found.append(Replica(app, client, settings, library))
        raw, _ = await found[0].made(role="admin", user_id="ana")
        for one in found:
            one.client.headers["X-API-Key"] = raw
        yield found[0], found[1]


def reader_of(path: Path) -> Callable[[], Sequence[AdapterSettings]]:
    return lambda: configured(path).settings.adapters


async def soon(asked: Any, wanted: Any) -> None:
    """Wait until what is `asked` gives what is `wanted`, as long as one may wait for another."""
    until_s = monotonic() + WITHIN_S + _BUSY_S
    while (found := await asked()) != wanted:
        assert monotonic() < until_s, found
        await asyncio.sleep(0.05)
