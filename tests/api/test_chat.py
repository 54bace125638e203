"""`POST /chat`: answers, and what is wrong with a request."""

import json
from typing import Any

import pytest

from server.access.models import NewKey
from tests.api.conftest import Edge
from tests.support.api import MAX_BODY_BYTES

pytestmark = pytest.mark.anyio


async def ask(edge: Edge, message: str, **more: Any) -> Any:
    return await edge.client.post(
        "/chat",
        json={"message": message, **more},
        headers={"Authorization": f"Bearer {edge.key}"},
    )


async def test_an_answer_has_the_documented_shape(edge: Edge) -> None:
    answer = (await ask(edge, "What is 15% of 200?", session_id="kitchen")).json()
    took = answer["metadata"]["tool_execution"].pop("execution_time_ms")
    assert took >= 0
    assert answer == {
        "content": "15% of 200 is **30**",
        "metadata": {
            "source": "intent",
            "template_id": "calculate_percentage",
            "tool_execution": {
                "tool_name": "calculator",
                "operation": "percentage",
                "status": "success",
                "parameters": {"value": 200, "percentage": 15},
                "result": {
                    "result": 30,
                    "operation": "percentage",
                    "input": {"value": 200, "percentage": 15},
                },
            },
            "synthesized": False,
            "match": {
                "confidence": 0.9753,
                "similarity": 0.9,
                "nearest_example": "What is 15% of 200?",
                "why": "nearest by far",
                "runner_up": {"template_id": "divide", "confidence": 0.01},
            },
            "arguments": {
                "value": {"kind": "recognizer", "span": [0, 1], "text": "x"},
                "percentage": {"kind": "recognizer", "span": [0, 1], "text": "x"},
            },
        },
        "confidence": 0.9753,
        "session_id": "kitchen",
    }


async def test_a_session_is_made_up_when_none_is_named(edge: Edge) -> None:
    answer = (await ask(edge, "What is 15% of 200?")).json()
    assert len(answer["session_id"]) == 32


async def test_a_tool_that_fails_is_an_answer(edge: Edge) -> None:
    response = await ask(edge, "Divide 1 by 0")
    execution = response.json()["metadata"]["tool_execution"]
    assert response.status_code == 200
    assert (execution["status"], execution["error_message"]) == ("error", "Division by zero")
    assert response.json()["content"].startswith(
        "I couldn't complete the calculation. Please check your input."
    )


async def test_the_key_may_come_in_either_header(edge: Edge) -> None:
    for headers in ({"X-API-Key": edge.key}, {"Authorization": f"bearer  {edge.key} "}):
        response = await edge.client.post("/chat", json={"message": "hi"}, headers=headers)
        assert response.status_code == 200


async def test_json_is_read_whatever_the_content_type(edge: Edge) -> None:
    response = await edge.client.post(
        "/chat",
        content=b'{"message": "hi"}',
        headers={"X-API-Key": edge.key, "Content-Type": "application/x-www-form-urlencoded"},
    )
    assert response.status_code == 200


@pytest.mark.parametrize(
    ("body", "status", "code", "message"),
    [
        (b"", 400, "request_invalid", "the body is not JSON"),
        (b"{", 400, "request_invalid", "the body is not JSON"),
        (b"\xff\xfe\x00", 400, "request_invalid", "the body is not JSON"),
        (b'{"message": "\\ud800"}', 400, "request_invalid", "the body is not JSON"),
        (b"[" * 3000, 400, "request_invalid", "the body is not JSON"),
        (b"[]", 422, "fields_invalid", "body: expected an object with the field 'message'"),
        (b"{}", 422, "fields_invalid", "message: is missing"),
        (b'{"message": 5}', 422, "fields_invalid", "message: input should be a valid string"),
        (b'{"message": null}', 422, "fields_invalid", "message: input should be a valid string"),
        (b'{"message": " \\n "}', 400, "request_invalid", "'message' is empty"),
        (
            b'{"message": "hi", "mesage": 1}',
            422,
            "fields_invalid",
            "mesage: unknown field; known are message, session_id, stream",
        ),
        (b'{"message": "hi", "session_id": "a b"}', 422, "fields_invalid", "session_id: "),
        (b'{"message": "hi", "stream": "yes"}', 422, "fields_invalid", "stream: "),
        (
            b'{"message": "' + b"x" * 201 + b'"}',
            400,
            "request_invalid",
            "'message' has 201 characters; the most is 200",
        ),
    ],
)
async def test_a_body_that_is_wrong_is_told_how(
    edge: Edge, body: bytes, status: int, code: str, message: str
) -> None:
    response = await edge.client.post(
        "/chat", content=body, headers={"X-API-Key": edge.key, "X-Request-ID": "r-1"}
    )
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["request_id"]) == (status, code, "r-1")
    assert error["message"].startswith(message)


@pytest.mark.parametrize("declared", [True, False])
async def test_a_body_over_the_limit_is_refused(edge: Edge, declared: bool) -> None:
    content = b'{"message": "' + b"x" * MAX_BODY_BYTES + b'"}'

    async def drip() -> Any:
        yield content

    response = await edge.client.post("/chat", content=content if declared else drip())
    assert (response.status_code, response.json()["error"]["code"]) == (413, "body_too_large")


async def test_every_way_a_key_can_be_wrong_has_its_own_name(edge: Edge) -> None:
    revoked, record = await edge.keys.create(NewKey("arithmetic"))
    await edge.keys.revoke(record.key_id)
    foreign, _ = await edge.keys.create(NewKey("elsewhere"))
    closed, _ = await edge.keys.create(NewKey("broken"))
    opening, _ = await edge.keys.create(NewKey("late"))
    for key, status, code in (
        ("", 401, "key_missing"),
        ("nonsense", 401, "key_unknown"),
        (edge.key[:-1] + "!", 401, "key_unknown"),
        ("x" * 5000, 401, "key_unknown"),
        (revoked, 401, "key_revoked"),
        (foreign, 403, "key_foreign"),
        (closed, 503, "adapter_unavailable"),
        (opening, 503, "adapter_unavailable"),
    ):
        response = await edge.client.post(
            "/chat", json={"message": "hi"}, headers={"X-API-Key": key}
        )
        assert (response.status_code, response.json()["error"]["code"]) == (status, code)
        assert not key or key not in response.text
        assert ("WWW-Authenticate" in response.headers) == (status == 401)


async def test_a_sample_key_works_on_this_machine_only(edge: Edge) -> None:
    await edge.keys.create_sample("arithmetic", "agent")
    headers = {"Authorization": "Bearer agent"}
    here = await edge.client.post("/chat", json={"message": "hi"}, headers=headers)
    far = await edge.remote.post("/chat", json={"message": "hi"}, headers=headers)
    proxied = await edge.client.post(
        "/chat", json={"message": "hi"}, headers=headers | {"X-Forwarded-For": "192.0.2.7"}
    )
    rebound = await edge.client.post(
        "/chat", json={"message": "hi"}, headers=headers | {"Host": "evil.example"}
    )
    statuses = [response.status_code for response in (here, far, proxied, rebound)]
    assert statuses == [200, 403, 403, 403]


async def test_a_turn_has_a_deadline(edge: Edge) -> None:
    response = await ask(edge, "slow")
    assert (response.status_code, response.json()["error"]["code"]) == (504, "turn_timed_out")


async def test_a_provider_that_is_down_is_named(edge: Edge) -> None:
    response = await ask(edge, "down")
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (503, "provider_unavailable")
    assert "ollama" in error["message"]
    assert response.headers["Retry-After"] == "5"


async def test_a_fault_of_ours_says_nothing_of_the_inside(
    edge: Edge, caplog: pytest.LogCaptureFixture
) -> None:
    response = await ask(edge, "bug")
    assert (response.status_code, response.json()["error"]["code"]) == (500, "internal_error")
    assert "sk-secret" not in response.text
    assert response.json()["error"]["request_id"] in caplog.text


async def test_an_answer_streams_in_words(edge: Edge) -> None:
    response = await ask(edge, "What is 15% of 200?", stream=True)
    events = [json.loads(line[6:]) for line in response.text.split("\n\n") if line]
    assert response.headers["content-type"].startswith("text/event-stream")
    assert events[0] == {
        "status": "sources",
        "sources": [{"template_id": "calculate_percentage"}],
        "isComplete": False,
    }
    chunks = [event["chunk"] for event in events[1:-1]]
    assert chunks == ["15% ", "of ", "200 ", "is ", "**30**"]
    assert (events[-1]["status"], events[-1]["isComplete"]) == ("complete", True)
    assert events[-1]["confidence"] == 0.9753


async def test_the_question_goes_back_for_what_is_missing(edge: Edge) -> None:
    answer = (await ask(edge, "15% of what?")).json()
    assert answer["content"] == (
        "I need one more thing: **value** (The base value).\nFor example: “What is 15% of 200?”"
    )
    assert answer["metadata"]["missing"] == [
        {"name": "value", "description": "The base value", "type": "number"}
    ]


async def test_a_near_tie_is_put_to_the_person(edge: Edge) -> None:
    answer = (await ask(edge, "either")).json()
    assert answer["content"] == (
        "I can read that in more than one way. Which do you mean?\n"
        "1. Calculate a percentage of a given value (“What is 15% of 200?”)\n"
        "2. Divide one number by another (“Divide 100 by 4”)"
    )
    assert [option["template_id"] for option in answer["metadata"]["options"]] == [
        "calculate_percentage",
        "divide",
    ]


async def test_what_cannot_be_answered_says_what_can(edge: Edge) -> None:
    answer = (await ask(edge, "who are you")).json()
    assert answer["content"] == (
        "I have no tool that answers that. The nearest things I can do:\n"
        "- Calculate a percentage of a given value (“What is 15% of 200?”)"
    )
    assert (answer["metadata"]["template_id"], answer["metadata"]["why"]) == (
        None,
        "nothing is near",
    )
