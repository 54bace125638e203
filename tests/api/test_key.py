"""`GET /key`: what the key of a request opens, and what it may do."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from server.access.models import NewKey
from server.conversation.inbox import InboxStore
from server.settings.models import InboxSettings
from server.storage.database import Database
from tests.api.conftest import Edge
from tests.support.api import api_over, client_from

pytestmark = pytest.mark.anyio

NOTHING = {"author": False, "inbox": False, "feedback": False}


async def own(edge: Edge, new: NewKey) -> dict[str, Any]:
    raw, _ = await edge.keys.create(new)
    response = await edge.client.get("/key", headers={"X-API-Key": raw})
    assert (response.status_code, response.headers["cache-control"]) == (200, "no-store")
    assert raw.rpartition("_")[2] not in response.text
    return dict(response.json())


async def test_a_key_says_what_it_opens(edge: Edge) -> None:
    new = NewKey("arithmetic", "ana", "premium", expires_in=timedelta(days=1))
    raw, record = await edge.keys.create(new)
    response = await edge.client.get("/key", headers={"X-API-Key": raw})
    assert record.expires_at is not None
    assert response.json() == {
        "adapter": "arithmetic",
        "role": "premium",
        "admin": False,
        "user_id": "ana",
        "key_id": record.key_id,
        "expires_at": record.expires_at.isoformat().replace("+00:00", "Z"),
        "adapter_state": "ready",
        "may": NOTHING,
    }


@pytest.mark.parametrize(
    ("adapter", "state"),
    [("arithmetic", "ready"), ("broken", "unavailable"), ("late", "opening"), ("gone", "unknown")],
)
async def test_it_says_how_its_adapter_stands(edge: Edge, adapter: str, state: str) -> None:
    described = await own(edge, NewKey(adapter))
    assert (described["adapter_state"], described["expires_at"]) == (state, None)


async def test_what_it_may_do_is_by_role_settings_and_place(edge: Edge, tmp_path: Path) -> None:
    database = Database.open(f"sqlite:///{tmp_path / 'orbit.db'}", timeout_s=5.0)
    inbox = InboxStore(database, InboxSettings(enabled=True), answered_last_h=1.0)
    admin, _ = await edge.keys.create(NewKey("arithmetic", role="admin"))
    api = api_over(replace(edge.state, inbox=inbox, listens_locally=True))
    async with client_from(api, "127.0.0.1") as here, client_from(api, "192.0.2.7") as there:
        asked = [
            (await client.get("/key", headers={"X-API-Key": raw})).json()["may"]
            for client, raw in ((here, admin), (there, admin), (here, edge.key))
        ]
    await database.close()
    assert asked == [
        {"author": True, "inbox": True, "feedback": True},
        {"author": False, "inbox": True, "feedback": True},
        {"author": False, "inbox": False, "feedback": True},
    ]
    assert (await own(edge, NewKey("arithmetic", role="admin")))["may"] == NOTHING


async def test_without_a_key_there_is_nothing_to_say(edge: Edge) -> None:
    assert (await edge.client.get("/key")).status_code == 401
