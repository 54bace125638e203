"""The inbox over HTTP: clusters, what would help, and one click that helps."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from server.conversation.inbox import InboxStore
from server.settings.models import InboxSettings, Settings
from server.storage.database import Database
from tests.e2e.test_reloading import Server, serving
from tests.evaluation.test_asked_examples import LABEL, LOCATION
from tests.evaluation.test_inbox_review import PLACE, TURN, turn
from tests.support.audit import changes
from tests.support.configuring import adapter, write_library

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

DECLINED = "consignment P-4141"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    sums = adapter("sums", write_library(tmp_path / "sums"))
    parcels = adapter("parcels", write_library(tmp_path / "parcels", [LOCATION, LABEL]))
    async with serving(tmp_path, sums, parcels, inbox={"enabled": True}) as found:
        store = InboxStore(
            Database.open(f"sqlite:///{tmp_path / 'data' / 'orbit.db'}"), InboxSettings()
        )
        store.note(turn(DECLINED, **PLACE))
        store.note(turn("<b>qzx</b> gloop"))
        await store.close(with_database=True)
        yield found


async def call(server: Server, method: str, path: str = "", key: str = "") -> httpx.Response:
    headers = {"X-API-Key": key or server.admin}
    return await server.client.request(method, f"/admin/inbox/parcels{path}", headers=headers)


async def clusters(server: Server) -> dict[str, int]:
    found: list[dict[str, Any]] = (await call(server, "GET")).json()["clusters"]
    return {next(iter(row["questions"])): row["number"] for row in found}


async def test_what_was_declined_is_listed_without_proposals(server: Server) -> None:
    listed = (await call(server, "GET")).json()
    assert listed["enabled"]
    (row,) = [each for each in listed["clusters"] if DECLINED in each["questions"]]
    assert (row["kinds"], row["template"], row["masked"]) == (
        {"declined": 1},
        PLACE["template_id"],
        False,
    )
    assert "proposal" not in row


async def test_a_proposal_is_made_by_one_click(server: Server) -> None:
    number = (await clusters(server))[DECLINED]
    review = (await call(server, "POST", f"/{number}/review")).json()
    assert review["proposal"]["changes"] == [
        {"kind": "add_synonym", "text": "consignment", "word": "parcel"}
    ]
    assert review["would_change"]["changes"][0]["ask"] == DECLINED
    made = await server.client.post(
        "/admin/adapters/parcels/library/changes",
        json={"changes": review["proposal"]["changes"]},
        headers={"X-API-Key": server.admin},
    )
    assert made.status_code == 200
    domain = (server.folder / "parcels" / "domain.yaml").read_text()
    assert 'parcel: ["consignment"]' in domain
    review = (await call(server, "POST", f"/{number}/review")).json()
    assert review["why"] == "understood by now: drop these"
    dropped = await call(server, "DELETE", f"/{number}")
    assert dropped.json() == {"dropped": 1}
    assert DECLINED not in await clusters(server)
    settings = Settings(data_dir=server.folder / "data")
    assert changes(settings, "inbox") == [("drop", "success")]


async def test_why_nothing_is_proposed_is_said(server: Server) -> None:
    number = (await clusters(server))["<b>qzx</b> gloop"]
    review = (await call(server, "POST", f"/{number}/review")).json()
    assert review["why"].startswith("what is meant is not clear")


@pytest.mark.parametrize(("method", "path"), [("POST", "/999/review"), ("DELETE", "/999")])
async def test_a_cluster_that_is_not_there(server: Server, method: str, path: str) -> None:
    refused = await call(server, method, path)
    error = refused.json()["error"]
    assert (refused.status_code, error["code"]) == (404, "cluster_unknown")
    assert error["message"].startswith("no cluster has the number 999; there are ")


@pytest.mark.parametrize(("method", "path"), [("GET", ""), ("POST", "/1/review"), ("DELETE", "/1")])
async def test_the_inbox_is_for_admins(server: Server, method: str, path: str) -> None:
    refused = await call(server, method, path, key=server.key)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "key_foreign")


async def test_an_inbox_that_is_off_is_empty(tmp_path: Path) -> None:
    assert TURN.adapter == "parcels"
    rows = [adapter(name, write_library(tmp_path / name)) for name in ("sums", "parcels")]
    async with serving(tmp_path, *rows) as server:
        assert (await call(server, "GET")).json() == {"enabled": False, "clusters": []}
        assert (await call(server, "DELETE", "/1")).json()["error"]["code"] == "cluster_unknown"
