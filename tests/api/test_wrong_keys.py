"""Clients that try keys."""

from dataclasses import replace

import httpx
import pytest

from server.access.models import NewKey
from server.access.wrong_keys import WrongKeys
from tests.api.conftest import Edge
from tests.support.api import api_over, client_from

pytestmark = pytest.mark.anyio

ASKED = {"message": "What is 15% of 200?"}


async def test_who_tries_wrong_keys_waits_and_nobody_else(
    edge: Edge, caplog: pytest.LogCaptureFixture
) -> None:
    api = api_over(replace(edge.state, wrong_keys=WrongKeys(("3/minute",))))
    newer, _ = await edge.keys.create(NewKey("arithmetic"))
    async with client_from(api, "192.0.2.7") as one, client_from(api, "192.0.2.8") as other:

        async def ask(client: httpx.AsyncClient, key: str) -> int:
            response = await client.post("/chat", json=ASKED, headers={"X-API-Key": key})
            return response.status_code

        known = await ask(one, edge.key)
        tried = [await ask(one, f"orb_{number}") for number in range(5)]
        at_once = await one.post("/chat", json=ASKED, headers={"X-API-Key": "orb_9"})
        still = await ask(one, edge.key), await ask(one, newer), await ask(other, newer)
    assert (known, tried) == (200, [401, 401, 401, 429, 429])
    assert at_once.json()["error"]["code"] == "rate_limited"
    assert 1 <= int(at_once.headers["Retry-After"]) <= 60
    assert still == (200, 429, 200)
    counted = edge.state.metrics.text().decode()
    assert 'orbit_wrong_keys_total{outcome="unknown"} 3.0' in counted
    assert 'orbit_wrong_keys_total{outcome="throttled"} 4.0' in counted
    assert [record.levelname for record in caplog.records] == ["WARNING"]
