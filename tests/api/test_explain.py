"""`explain`: how long each stage of an answer took, and what it found."""

import json
from dataclasses import replace
from typing import Any

import pytest

from server.access.models import NewKey
from tests.api.conftest import Edge
from tests.support.deciding import LIBRARY, PERCENTAGE, table_adapter

pytestmark = pytest.mark.anyio

ASKED = {"message": "What is 15% of 200?", "explain": True}


async def trace(edge: Edge, key: str, **more: Any) -> list[dict[str, Any]]:
    response = await edge.client.post("/chat", json=ASKED | more, headers={"X-API-Key": key})
    assert response.status_code == 200
    if not more.get("stream"):
        return list(response.json()["trace"])
    events = [json.loads(line[6:]) for line in response.text.splitlines() if line]
    assert [event for event in events if "trace" in event] == [events[-1]]
    return list(events[-1]["trace"])


@pytest.mark.parametrize("stream", [False, True])
async def test_every_key_learns_how_long_stages_took_and_an_admin_what_they_found(
    edge: Edge, stream: bool
) -> None:
    admin, _ = await edge.keys.create(NewKey("arithmetic", role="admin"))
    plain = await trace(edge, edge.key, stream=stream)
    assert [each["stage"] for each in plain] == ["match", "tool", "compose"]
    assert {tuple(each) for each in plain} == {("stage", "ms")}
    assert all(each["ms"] >= 0 for each in plain)
    told = await trace(edge, admin, stream=stream)
    assert [each["stage"] for each in told] == ["match", "tool", "compose"]
    assert told[0]["question"] == ASKED["message"]


async def test_without_it_nothing_is_explained(edge: Edge) -> None:
    answer = await edge.client.post(
        "/chat", json={"message": "either"}, headers={"X-API-Key": edge.key}
    )
    assert "trace" not in answer.json()


async def test_words_of_a_private_turn_are_told_to_nobody(edge: Edge) -> None:
    policy = replace(PERCENTAGE.policy, sensitive_params=("value",))
    private = replace(PERCENTAGE, policy=policy)
    library = replace(LIBRARY, templates=dict(LIBRARY.templates) | {private.id: private})
    edge.adapters.opened(table_adapter("arithmetic", library))
    admin, _ = await edge.keys.create(NewKey("arithmetic", role="admin"))
    told = await trace(edge, admin)
    assert told[0]["question"] == "[REDACTED]"
    assert "200" not in json.dumps([{**each, "ms": 0} for each in told])
