"""`GET /metrics`, scraped and read back."""

from dataclasses import replace

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from server.access.models import NewKey
from server.api.requests import ApiState
from server.core.coverage import Coverage, CoveredWord, WordRole
from server.core.decision import Answer, NoMatch
from server.metrics.metrics import Metrics
from tests.api.conftest import Edge
from tests.support.api import api_over

pytestmark = pytest.mark.anyio


def samples(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def label(name: str, **labels: str) -> tuple[str, frozenset[tuple[str, str]]]:
    return name, frozenset(labels.items())


async def test_what_happened_is_read_back(edge: Edge) -> None:
    headers = {"X-API-Key": edge.key}
    for message in ("What is 15% of 200?", "Divide 1 by 0", "who are you"):
        await edge.client.post("/chat", json={"message": message}, headers=headers)
    await edge.client.get("/secret-path-of-a-person")
    found = samples((await edge.client.get("/metrics")).text)
    adapter = edge.adapters.get("arithmetic")
    turns = samples(adapter.metrics.text().decode())
    assert found[label("orbit_requests_total", method="POST", route="/chat", status="200")] == 3
    assert found[label("orbit_requests_total", method="GET", route="unmatched", status="404")] == 1
    assert found[label("orbit_request_seconds_count", route="/chat")] == 3
    assert turns[label("orbit_decisions_total", adapter="arithmetic", decision="call")] == 2
    assert turns[label("orbit_decisions_total", adapter="arithmetic", decision="no_match")] == 1
    assert turns[label("orbit_stage_seconds_count", adapter="arithmetic", stage="match")] == 3
    assert turns[label("orbit_turn_seconds_count", adapter="arithmetic")] == 3
    by_status = {
        dict(labels)["status"]: value
        for (name, labels), value in turns.items()
        if name == "orbit_tool_calls_total"
    }
    assert by_status == {"success": 1, "error": 1}
    assert "secret-path" not in (await edge.client.get("/metrics")).text


def test_words_are_counted_by_what_they_were_taken_for() -> None:
    metrics, places = Metrics(), ((0, 4), (5, 7), (8, 12), (13, 16))
    roles: tuple[tuple[WordRole, str], ...] = (
        *(("value", ""), ("frame", "")),
        *(("unread", "name"), ("unread", "")),
    )
    words = tuple(
        CoveredWord(*place, role, kind=kind)
        for place, (role, kind) in zip(places, roles, strict=True)
    )
    read, ruled = Coverage("x" * 16, words), Coverage("x" * 16, words, ruled=True)
    for coverage in (read, ruled):
        answer = Answer("", 1.0, {}, NoMatch("", coverage=coverage))
        metrics.turn("sums", answer, 0.1, corrects=coverage is read)
    found = samples(metrics.text().decode())
    for role, count in (("value", 1), ("frame", 1), ("unread", 2)):
        assert found[label("orbit_words_total", adapter="sums", role=role)] == count
    for kind in ("name", "word"):
        assert found[label("orbit_unread_words_total", adapter="sums", kind=kind)] == 1
    assert found[label("orbit_corrections_total", adapter="sums")] == 1


async def test_without_a_token_only_this_machine_may_read(edge: Edge) -> None:
    far = await edge.remote.get("/metrics")
    assert (far.status_code, far.json()["error"]["code"]) == (403, "key_foreign")


@pytest.mark.parametrize(
    ("sent", "status"), [("Bearer s3cret", 200), ("Bearer wrong", 401), ("", 401)]
)
async def test_a_token_opens_metrics_from_anywhere(edge: Edge, sent: str, status: int) -> None:
    state = replace(edge.state, metrics_token="s3cret")
    assert await get_status(state, sent) == status


async def test_metrics_can_be_switched_off(edge: Edge) -> None:
    assert await get_status(edge.state, "", serve_metrics=False) == 404


async def get_status(state: ApiState, authorization: str, *, serve_metrics: bool = True) -> int:
    api = api_over(state, serve_metrics=serve_metrics)
    transport = httpx.ASGITransport(api, client=("192.0.2.7", 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://orbit") as client:
        response = await client.get("/metrics", headers={"Authorization": authorization})
    return response.status_code


async def test_a_request_over_the_limit_is_counted(edge: Edge) -> None:
    key, _ = await edge.keys.create(NewKey("arithmetic", limits=("1/minute",)))
    headers = {"X-API-Key": key}
    statuses = []
    for _ in range(3):
        response = await edge.client.post("/chat", json={"message": "hi"}, headers=headers)
        statuses.append(response.status_code)
    found = samples((await edge.client.get("/metrics")).text)
    assert statuses == [200, 429, 429]
    assert found[label("orbit_rate_limit_refusals_total", adapter="arithmetic")] == 2
