"""`POST /intents/detect`: the bare result of an adapter's rule pack."""

from dataclasses import replace
from typing import Any

import pytest

from server.access.models import NewKey
from server.api.schemas import EXAMPLES
from server.intents.classifier import IntentClassifier
from tests.api.conftest import Edge
from tests.intents.support import DECISIONS, detector
from tests.support.deciding import table_adapter

pytestmark = pytest.mark.anyio


async def detect(edge: Edge, body: dict[str, Any]) -> Any:
    """What an adapter with the pack for decisions answers."""
    adapter = replace(table_adapter("late"), detect=IntentClassifier(detector(DECISIONS)).detect)
    edge.adapters.opened(adapter)
    raw, _ = await edge.keys.create(NewKey("late"))
    return await edge.client.post("/intents/detect", json=body, headers={"X-API-Key": raw})


async def test_the_result_has_exactly_the_fields_of_the_pack(edge: Edge) -> None:
    answer = await detect(edge, {"message": "כמה החלטות קיבלה ממשלה 37 בנושא בריאות?"})
    assert (answer.status_code, answer.json()) == (
        200,
        {
            "intent_type": "QUERY",
            "entities": {"operation": "count", "government_number": 37, "topic": "בריאות"},
            "confidence": 1.0,
            "route_flags": {
                "needs_context": False,
                "is_statistical": True,
                "is_comparison": False,
            },
            "explanation": "count operation",
        },
    )


async def test_what_cannot_be_understood_is_a_result_too(edge: Edge) -> None:
    answer = await detect(edge, {"message": "מה?"})
    assert (answer.status_code, answer.json()["intent_type"]) == (200, "CLARIFICATION")


async def test_an_adapter_without_a_pack_says_so(edge: Edge) -> None:
    answer = await edge.client.post(
        "/intents/detect",
        json={"message": "What is 15% of 200?"},
        headers={"Authorization": f"Bearer {edge.key}", "X-Request-ID": "r1"},
    )
    assert (answer.status_code, answer.json()) == (
        404,
        {
            "error": {
                "code": "intents_undefined",
                "message": "adapter 'arithmetic' has no rule pack; name one with `intents` in "
                "its `config`",
                "request_id": "r1",
            }
        },
    )


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"message": "  "}, 400, "request_invalid"),
        ({"message": "א" * 201}, 400, "request_invalid"),
        ({}, 422, "fields_invalid"),
        ({"message": "מה?", "session_id": "s"}, 422, "fields_invalid"),
    ],
)
async def test_bad_bodies_are_refused(
    edge: Edge, body: dict[str, Any], status: int, code: str
) -> None:
    answer = await detect(edge, body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


async def test_it_needs_a_key(edge: Edge) -> None:
    answer = await edge.client.post("/intents/detect", json={"message": "מה?"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "key_missing")


async def test_the_documented_example_is_what_comes_back(edge: Edge) -> None:
    document = (await edge.client.get("/openapi.json")).json()
    post = document["paths"]["/intents/detect"]["post"]
    body = post["requestBody"]["content"]["application/json"]["schema"]["examples"][0]
    shown = post["responses"]["200"]["content"]["application/json"]["example"]
    assert shown == EXAMPLES["detection"] == (await detect(edge, body)).json()
