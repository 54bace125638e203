"""Limits of keys and adapters, and gateways, at the edge."""

import json
from dataclasses import replace

import httpx
import pytest

from server.access.gateway import Gateway
from server.access.models import NewKey
from server.core.decision import Decision, NoMatch, Trace
from server.core.gateway import sign_caller
from server.core.turn import Caller, Turn
from tests.api.conftest import Edge
from tests.support.api import api_over
from tests.support.deciding import table_adapter

pytestmark = pytest.mark.anyio

BODY = b'{"message": "hi"}'
SECRET = b"s" * 32


async def ask(edge: Edge, key: str, **headers: str) -> httpx.Response:
    return await edge.client.post(
        "/chat", content=BODY, headers={"Authorization": f"Bearer {key}", **headers}
    )


async def test_a_key_is_limited_and_told_where_it_stands(edge: Edge) -> None:
    key, _ = await edge.keys.create(NewKey("arithmetic", limits=("2/minute", "100/hour")))
    first, second, third = [await ask(edge, key) for _ in range(3)]
    assert [r.status_code for r in (first, second, third)] == [200, 200, 429]
    policy = '"2/minute";q=2;w=60, "100/hour";q=100;w=3600'
    assert {r.headers["ratelimit-policy"] for r in (first, second, third)} == {policy}
    assert first.headers["ratelimit"].startswith('"2/minute";r=1;t=')
    assert third.headers["ratelimit-remaining"] == "0"
    assert 1 <= int(third.headers["retry-after"]) <= 60
    assert third.json()["error"]["code"] == "rate_limited"
    # What was refused was counted nowhere, and other keys are not concerned.
    assert '"100/hour";r=98;' in third.headers["ratelimit"]
    assert (await ask(edge, edge.key)).status_code == 200


async def test_a_key_without_limits_is_told_nothing(edge: Edge) -> None:
    assert "ratelimit" not in (await ask(edge, edge.key)).headers


async def test_an_adapter_is_limited_over_all_its_keys(edge: Edge) -> None:
    edge.adapters.opened(replace(table_adapter(), rate_limits=("3/minute",)))
    keys = [(await edge.keys.create(NewKey("arithmetic", limits=("9/minute",))))[0] for _ in "ab"]
    answers = [await ask(edge, keys[number % 2]) for number in range(5)]
    assert [a.status_code for a in answers] == [200, 200, 200, 429, 429]
    assert "adapter" in answers[-1].json()["error"]["message"]
    assert answers[-1].headers["ratelimit-remaining"] == "7"


class Remembering:
    """Decides nothing, and remembers who asked."""

    def __init__(self) -> None:
        self.callers: list[Caller] = []

    async def decide(self, turn: Turn, trace: Trace) -> Decision:
        self.callers.append(turn.caller)
        return NoMatch("nothing")

    async def close(self) -> None:
        return None


async def test_a_gateway_speaks_for_its_users(edge: Edge) -> None:
    key, record = await edge.keys.create(NewKey("arithmetic"))
    retriever = Remembering()
    edge.adapters.opened(replace(table_adapter(), decider=retriever))
    gateway = Gateway(
        SECRET, frozenset({record.key_id}), ("guest", "user", "premium"), clock_s=lambda: 1000.0
    )
    api = api_over(replace(edge.state, gateway=gateway))
    headers = {
        "X-API-Key": key,
        "X-Orbit-User": "ana",
        "X-Orbit-Role": "premium",
        "X-Orbit-Time": "1000",
        "X-Orbit-Signature": sign_caller(SECRET, "POST", "/chat", "ana", "premium", "1000", BODY),
    }
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(api), base_url="http://orbit"
    ) as client:
        good = await client.post("/chat", content=BODY, headers=headers)
        replayed = await client.post("/chat", content=BODY, headers=headers)
        forged = await client.post(
            "/chat", content=BODY, headers={**headers, "X-Orbit-Role": "admin"}
        )
    assert [r.status_code for r in (good, replayed, forged)] == [200, 403, 403]
    assert json.loads(forged.text)["error"]["code"] == "gateway_refused"
    assert [(c.user_id, c.role) for c in retriever.callers] == [("ana", "premium")]
