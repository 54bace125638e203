"""Around the calls: health, readiness, errors of routing, documentation, request ids."""

import pytest

from server import __version__
from server.access.models import NewKey
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


async def test_nothing_is_ready_when_no_adapter_serves(edge: Edge) -> None:
    await edge.adapters.close()
    response = await edge.client.get("/ready")
    assert (response.status_code, response.json()["status"]) == (503, "opening")


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
