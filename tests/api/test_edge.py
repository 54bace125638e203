"""Around the calls: health, readiness, errors of routing, documentation, request ids."""

import httpx
import pytest

from server import __version__
from server.access.models import NewKey
from server.api.error_responses import error_response
from server.api.factory import create_api
from server.errors import IndexUnavailable, StoreUnavailable, ValueRefused
from tests.api.conftest import Edge

pytestmark = pytest.mark.anyio


async def test_health_says_which_start_of_which_version(edge: Edge) -> None:
    body = (await edge.client.get("/health")).json()
    assert (body["status"], body["version"], len(body["instance"])) == ("ok", __version__, 32)


async def test_readiness_names_what_does_not_serve_and_why(edge: Edge) -> None:
    response = await edge.client.get("/ready")
    assert (response.status_code, response.json()) == (
        200,
        {
            "status": "degraded",
            "adapters": [
                {"name": "arithmetic", "state": "ready", "details": {"templates": 2}},
                {"name": "broken", "state": "unavailable", "why": "no template can be used"},
                {"name": "late", "state": "opening"},
            ],
        },
    )


async def test_why_an_adapter_does_not_serve_is_for_this_machine_and_for_keys(edge: Edge) -> None:
    mine, _ = await edge.keys.create(NewKey("broken"))
    admin, _ = await edge.keys.create(NewKey("arithmetic", role="admin"))

    async def reasons(key: str) -> list[str]:
        headers = {"X-API-Key": key} if key else {}
        rows = (await edge.remote.get("/ready", headers=headers)).json()["adapters"]
        return [row["name"] for row in rows if "why" in row or "details" in row]

    assert [await reasons(key) for key in ("", "wrong", edge.key, mine, admin)] == [
        [],
        [],
        ["arithmetic"],
        ["broken"],
        ["arithmetic", "broken"],
    ]


async def test_where_things_are_kept_is_told_to_nobody(
    edge: Edge, caplog: pytest.LogCaptureFixture
) -> None:
    path = "/srv/orbit/data/orbit.db"
    edge.adapters.failed("broken", f"{path} cannot be read")
    raw, _ = await edge.keys.create(NewKey("broken"))
    said = await edge.client.post("/chat", json={"message": "x"}, headers={"X-API-Key": raw})
    assert (said.status_code, path in said.text, path in caplog.text) == (503, False, True)
    for failure in (StoreUnavailable(path), ValueRefused(path), IndexUnavailable(path)):
        response = error_response(failure, "r")
        assert (response.status_code, path.encode() in bytes(response.body)) == (503, False)


@pytest.mark.parametrize(
    ("allowed", "host", "status"),
    [
        (None, "evil.example", 200),
        (frozenset(), "evil.example", 421),
        (frozenset(), "localhost.evil.example", 421),
        (frozenset(), "localhost@evil.example", 421),
        (frozenset(), "", 421),
        (frozenset(), "[::1", 421),
        (frozenset(), "localhost:8000", 200),
        (frozenset(), "127.0.0.1:8000", 200),
        (frozenset(), "[::1]:8000", 200),
        (frozenset({"orbit.example"}), "ORBIT.example.:443", 200),
        (frozenset({"orbit.example"}), "evil.example", 421),
    ],
)
async def test_a_request_for_another_host_is_not_answered(
    edge: Edge, allowed: frozenset[str] | None, host: str, status: int
) -> None:
    api = create_api(edge.state.metrics, max_body_bytes=100, allowed_hosts=allowed)
    api.state.api = edge.state
    transport = httpx.ASGITransport(api)
    async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
        for path in ("/health", "/docs", "/ready"):
            found = await client.get(path, headers={"Host": host})
            assert found.status_code == status


async def test_nothing_is_ready_when_no_adapter_serves(edge: Edge) -> None:
    await edge.adapters.close()
    response = await edge.client.get("/ready")
    assert (response.status_code, response.json()["status"]) == (503, "opening")


async def test_a_server_that_is_to_stop_says_so_and_is_alive(edge: Edge) -> None:
    edge.state.stopping.set()
    ready = await edge.client.get("/ready")
    states = [row["state"] for row in ready.json()["adapters"]]
    assert (ready.status_code, ready.json()["status"]) == (503, "draining")
    assert states == ["ready", "unavailable", "opening"]
    assert (await edge.client.get("/health")).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [("GET", "/nowhere", 404, "not_found"), ("GET", "/chat", 405, "method_not_allowed")],
)
async def test_errors_of_routing_have_the_one_shape(
    edge: Edge, method: str, path: str, status: int, code: str
) -> None:
    response = await edge.client.request(method, path)
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (status, code)
    assert error["request_id"] == response.headers["X-Request-ID"]


async def test_a_parameter_of_an_address_is_refused_in_the_one_shape(edge: Edge) -> None:
    raw, _ = await edge.keys.create(NewKey("arithmetic", role="admin"))
    response = await edge.client.get(
        "/admin/guards/arithmetic/decisions?limit=0&differing=<perhaps>", headers={"X-API-Key": raw}
    )
    problems = {
        "limit": "Input should be greater than or equal to 1",
        "differing": "Input should be a valid boolean, unable to interpret input",
    }
    assert (response.status_code, response.json()["error"]) == (
        422,
        {
            "code": "fields_invalid",
            "message": "; ".join(f"{field}: {problem}" for field, problem in problems.items()),
            "request_id": response.headers["X-Request-ID"],
            "details": [
                {"field": field, "problem": problem} for field, problem in problems.items()
            ],
        },
    )


@pytest.mark.parametrize(
    ("given", "kept"),
    [("abc-1.2_3", True), ("a b", False), ("x" * 65, False), ("é", False), ("", False)],
)
async def test_a_plain_request_id_comes_back(edge: Edge, given: str, kept: bool) -> None:
    response = await edge.client.get("/health", headers={b"X-Request-ID": given.encode()})
    assert (response.headers["X-Request-ID"] == given) == kept
    assert response.headers["X-Request-ID"]


async def test_the_documentation_page_needs_no_other_host(edge: Edge) -> None:
    page = (await edge.client.get("/docs")).text
    script = (await edge.client.get("/static-offline-docs/swagger-ui-bundle.js")).status_code
    assert ("http://" in page, "https://" in page, script) == (False, False, 200)


async def test_the_openapi_document_has_real_examples(edge: Edge) -> None:
    document = (await edge.client.get("/openapi.json")).json()
    post = document["paths"]["/chat"]["post"]
    body = post["requestBody"]["content"]["application/json"]["schema"]
    assert body["examples"] == [{"message": "What is 15% of 200?"}]
    answer = document["components"]["schemas"]["ChatResponse"]["examples"][0]
    assert answer["content"] == "15% of 200 is **30**"
    assert set(document["components"]["securitySchemes"]) == {"HTTPBearer", "APIKeyHeader"}
