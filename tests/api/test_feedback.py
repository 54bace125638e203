"""`POST /chat/feedback`: an opinion on an answer, by the key that got it."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from server.access.models import NewKey
from server.conversation.inbox import InboxStore
from server.settings.models import InboxSettings
from server.storage.database import Database
from tests.api.conftest import Edge
from tests.support.deciding import table_adapter

pytestmark = pytest.mark.anyio


@pytest.fixture
async def store(edge: Edge, tmp_path: Path) -> AsyncIterator[InboxStore]:
    opened = InboxStore(Database.open(f"sqlite:///{tmp_path / 'orbit.db'}"), InboxSettings())
    edge.adapters.opened(replace(table_adapter(), inbox=opened))
    yield opened
    await opened.close(with_database=True)


async def post(edge: Edge, path: str, body: Any, key: str = "", **headers: str) -> Any:
    headers = {"Authorization": f"Bearer {key or edge.key}"} | headers
    return await edge.client.post(path, json=body, headers=headers)


async def test_an_answer_is_marked_by_the_id_of_its_request(edge: Edge, store: InboxStore) -> None:
    asked = await post(edge, "/chat", {"message": "What is 15% of 200?"})
    said = {
        "request_id": asked.headers["x-request-id"],
        "session_id": asked.json()["session_id"],
        "verdict": "wrong",
        "comment": "I meant the other way round",
        "expected": "divide",
    }
    assert (await post(edge, "/chat/feedback", said)).status_code == 204
    await store._behind.flush()
    (turn,) = await store.turns("arithmetic")
    assert (turn.question, turn.template_id) == ("What is 15% of 200?", "calculate_percentage")
    assert (turn.verdict, turn.expected) == ("wrong", "divide")
    gone = await edge.client.delete(
        f"/chat/sessions/{turn.session_id}", headers={"Authorization": f"Bearer {edge.key}"}
    )
    assert (gone.status_code, await store.turns("arithmetic")) == (204, [])


async def test_the_answer_of_another_key_is_unknown(edge: Edge, store: InboxStore) -> None:
    await post(edge, "/chat", {"message": "nonsense"}, **{"X-Request-ID": "r-1"})
    stranger, _ = await edge.keys.create(NewKey("arithmetic"))
    refused = await post(
        edge, "/chat/feedback", {"request_id": "r-1", "verdict": "wrong"}, stranger
    )
    assert (refused.status_code, refused.json()["error"]["code"]) == (404, "turn_unknown")
    own = await post(edge, "/chat/feedback", {"request_id": "r-1", "verdict": "wrong"})
    assert own.status_code == 204


@pytest.mark.parametrize(
    ("change", "status", "said"),
    [
        ({"verdict": "great"}, 422, "verdict"),
        ({"expected": "divde"}, 422, "divide"),
        ({"request_id": "no such id"}, 422, "request_id"),
        ({"comment": "x" * 2001}, 422, "comment"),
        ({"request_id": "other"}, 404, "no turn"),
    ],
)
async def test_what_cannot_be_noted_is_refused(
    edge: Edge, store: InboxStore, change: dict[str, str], status: int, said: str
) -> None:
    await post(edge, "/chat", {"message": "nonsense"}, **{"X-Request-ID": "r-1"})
    refused = await post(edge, "/chat/feedback", {"request_id": "r-1", "verdict": "wrong"} | change)
    assert refused.status_code == status
    assert said in refused.json()["error"]["message"]


async def test_without_an_inbox_no_turn_is_known(edge: Edge) -> None:
    refused = await post(edge, "/chat/feedback", {"request_id": "r-1", "verdict": "right"})
    assert (refused.status_code, "inbox.enabled" in refused.text) == (404, True)


async def test_opinions_count_against_the_limits_of_the_key(edge: Edge, store: InboxStore) -> None:
    raw, _ = await edge.keys.create(NewKey("arithmetic", limits=("2/minute",)))
    await post(edge, "/chat", {"message": "nonsense"}, raw, **{"X-Request-ID": "r-1"})
    body = {"request_id": "r-1", "verdict": "right"}
    statuses = [(await post(edge, "/chat/feedback", body, raw)).status_code for _ in range(2)]
    assert statuses == [204, 429]
