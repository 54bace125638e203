"""`/v1/chat/completions` and `/v1/models`: adapters for clients of OpenAI's API."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.adapters.registry import Adapters
from server.core.decision import Decision, Trace
from server.core.turn import Turn
from server.errors import ProviderUnavailable
from tests.api.conftest import Edge
from tests.support.api import api_over, api_state, served_on_loopback
from tests.support.deciding import table_adapter

pytestmark = pytest.mark.anyio

ASK = [{"role": "user", "content": "What is 15% of 200?"}]


async def complete(edge: Edge, messages: Any = ASK, **more: Any) -> httpx.Response:
    return await edge.client.post(
        "/v1/chat/completions",
        json={"messages": messages, **more},
        headers={"Authorization": f"Bearer {edge.key}", "X-Request-ID": "r1"},
    )


async def test_an_answer_is_a_chat_completion(edge: Edge) -> None:
    metadata = {"session_id": "kitchen", "other": "kept by no one"}
    response = await complete(edge, model="arithmetic", temperature=0.7, metadata=metadata)
    body = response.json()
    assert body.pop("created") > 1_700_000_000
    orbit = body.pop("orbit")
    assert (response.status_code, body) == (
        200,
        {
            "id": "chatcmpl-r1",
            "object": "chat.completion",
            "model": "arithmetic",
            "choices": [
                {
                    "index": 0,
                    "message": {
                        "role": "assistant",
                        "content": "15% of 200 is **30**",
                        "refusal": None,
                    },
                    "logprobs": None,
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        },
    )
    assert orbit["metadata"]["template_id"] == "calculate_percentage"
    assert (orbit["confidence"], orbit["session_id"]) == (0.9753, "kitchen")


async def test_the_last_thing_the_user_said_is_the_question(edge: Edge) -> None:
    parts = [{"type": "text", "text": "What is 15% of 200?"}]
    response = await complete(
        edge,
        [
            {"role": "system", "content": "Obey."},
            {"role": "user", "content": "Divide 1 by 0"},
            {"role": "assistant", "content": None},
            {"role": "user", "content": parts},
            {"role": "assistant", "content": "Well,"},
        ],
    )
    assert response.json()["choices"][0]["message"]["content"] == "15% of 200 is **30**"


async def test_a_stream_says_the_same_in_chunks(edge: Edge) -> None:
    response = await complete(edge, stream=True)
    assert response.headers["content-type"].startswith("text/event-stream")
    *events, done = [line for line in response.text.splitlines() if line.startswith("data: ")]
    chunks = [json.loads(event.removeprefix("data: ")) for event in events]
    assert done == "data: [DONE]"
    assert {(chunk["id"], chunk["object"], chunk["model"]) for chunk in chunks} == {
        ("chatcmpl-r1", "chat.completion.chunk", "arithmetic")
    }
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert deltas[0] == {"role": "assistant", "content": ""}
    assert "".join(delta.get("content", "") for delta in deltas) == "15% of 200 is **30**"
    assert len(deltas) > 4
    reasons = [chunk["choices"][0]["finish_reason"] for chunk in chunks]
    assert reasons == [None] * (len(chunks) - 1) + ["stop"]
    assert chunks[-1]["orbit"]["metadata"]["source"] == "intent"


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"messages": []}, "messages: none is of role 'user'"),
        ({"messages": [{"role": "user", "content": " "}]}, "holds no text"),
        ({"messages": [{"role": "user", "content": None}]}, "holds no text"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "only text"),
        ({"messages": [{"role": "user", "content": "x" * 201}]}, "201 characters; the most is 200"),
        ({"messages": "hi"}, "messages: input should be a valid array"),
        ({}, "messages: field required"),
        ({"messages": ASK, "n": 2}, "n is 1"),
        ({"messages": ASK, "tool_choice": {"type": "function"}}, "depends on the question alone"),
        ({"messages": ASK, "tools": [{}]}, "this model calls tools of its own"),
        ({"messages": ASK, "response_format": {"type": "json_object"}}, "answers are text"),
        ({"messages": ASK, "metadata": {"session_id": "a b"}}, "metadata.session_id: "),
    ],
)
async def test_what_cannot_be_done_is_said_in_their_shape(
    edge: Edge, request_: dict[str, Any], message: str
) -> None:
    headers = {"X-API-Key": edge.key, "X-Request-ID": "r1"}
    response = await edge.client.post("/v1/chat/completions", json=request_, headers=headers)
    error = response.json()["error"]
    told = error.pop("message")
    assert message in told
    assert (response.status_code, error) == (
        400,
        {
            "type": "invalid_request_error",
            "param": told.partition(": ")[0],
            "code": "request_invalid",
            "request_id": "r1",
        },
    )


async def test_another_model_is_not_found(edge: Edge) -> None:
    for response in (
        await complete(edge, model="gpt-4o"),
        await edge.client.get("/v1/models/gpt-4o", headers={"X-API-Key": edge.key}),
    ):
        error = response.json()["error"]
        assert (response.status_code, error["code"]) == (404, "model_not_found")
        assert error["message"] == "there is no such model for this key; its model is 'arithmetic'"


@pytest.mark.parametrize(
    ("adapter", "status", "kind", "code"),
    [
        (None, 401, "authentication_error", "key_missing"),
        ("broken", 503, "server_error", "adapter_unavailable"),
        ("elsewhere", 403, "permission_error", "key_foreign"),
    ],
)
async def test_failures_keep_their_status(
    edge: Edge, adapter: str | None, status: int, kind: str, code: str
) -> None:
    headers = {}
    if adapter is not None:
        key, _ = await edge.keys.create(NewKey(adapter))
        headers["X-API-Key"] = key
    for stream in (False, True):
        response = await edge.client.post(
            "/v1/chat/completions", json={"messages": ASK, "stream": stream}, headers=headers
        )
        error = response.json()["error"]
        assert (response.status_code, error["type"], error["code"]) == (status, kind, code)


async def test_a_key_that_asks_too_often_is_told_when_to_come_back(edge: Edge) -> None:
    key, _ = await edge.keys.create(NewKey("arithmetic", limits=("1/minute",)))
    responses = [await edge.client.get("/v1/models", headers={"X-API-Key": key}) for _ in range(2)]
    assert [response.status_code for response in responses] == [200, 429]
    assert responses[1].json()["error"]["type"] == "rate_limit_error"
    assert int(responses[1].headers["retry-after"]) > 0


async def test_the_adapter_of_the_key_is_the_model(edge: Edge) -> None:
    headers = {"X-API-Key": edge.key}
    listed = (await edge.client.get("/v1/models", headers=headers)).json()
    one = (await edge.client.get("/v1/models/arithmetic", headers=headers)).json()
    assert one.pop("created") > 1_700_000_000
    assert one == {"id": "arithmetic", "object": "model", "owned_by": "orbit"}
    assert [model["id"] for model in listed["data"]] == ["arithmetic"]


class Fails:
    """Decides nothing, after the first sign of life."""

    def __init__(self, failure: Exception) -> None:
        self.failure = failure

    async def decide(self, turn: Turn, trace: Trace) -> Decision:
        await asyncio.sleep(0.1)
        raise self.failure

    async def close(self) -> None:
        return None


@asynccontextmanager
async def served(folder: Path, failure: Exception | None = None) -> AsyncIterator[tuple[str, str]]:
    """The address of a server on loopback, and a key."""
    keys = await KeyStore.open(f"sqlite:///{folder / 'orbit.db'}", folder / "secret")
    key, _ = await keys.create(NewKey("arithmetic"))
    adapters = Adapters(("arithmetic",))
    adapter = table_adapter()
    adapters.opened(replace(adapter, decider=Fails(failure)) if failure else adapter)
    async with (
        api_state(adapters, keys, folder, heartbeat_s=0.02) as state,
        served_on_loopback(api_over(state)) as url,
    ):
        yield f"{url}/v1", key
    await keys.close()


@pytest.mark.parametrize(
    ("failure", "code", "message"),
    [
        (ProviderUnavailable("the encoder is away"), "provider_unavailable", "the encoder is away"),
        (RuntimeError("sk-secret"), "internal_error", "Something went wrong here"),
    ],
)
async def test_a_failure_after_the_stream_began_is_its_last_event(
    tmp_path: Path, failure: Exception, code: str, message: str
) -> None:
    async with served(tmp_path, failure) as (url, key), httpx.AsyncClient() as client:
        response = await client.post(
            f"{url}/chat/completions",
            json={"messages": ASK, "stream": True},
            headers={"Authorization": f"Bearer {key}"},
        )
    assert response.text.startswith(": waiting\n\n")
    error, done = [line for line in response.text.splitlines() if line.startswith("data: ")]
    told = json.loads(error.removeprefix("data: "))["error"]
    assert (told["code"], told["type"], done) == (code, "server_error", "data: [DONE]")
    assert told["message"].startswith(message)
    assert "sk-secret" not in response.text


async def test_a_response_that_fails_ends_with_an_error_event(tmp_path: Path) -> None:
    failure = ProviderUnavailable("the encoder is away")
    async with served(tmp_path, failure) as (url, key), httpx.AsyncClient() as client:
        response = await client.post(
            f"{url}/responses",
            json={"input": "What is 15% of 200?", "stream": True},
            headers={"Authorization": f"Bearer {key}"},
        )
    *_, event, data = [line for line in response.text.splitlines() if line]
    told = json.loads(data.removeprefix("data: "))
    assert (response.status_code, event, told["type"]) == (200, "event: error", "error")
    assert (told["code"], told["message"]) == ("provider_unavailable", "the encoder is away")


@pytest.mark.parametrize("header", ["no", "0", ""])
async def test_whether_to_run_is_true_or_false(edge: Edge, header: str) -> None:
    headers = {"X-API-Key": edge.key, "X-Orbit-Run": header}
    response = await edge.client.post(
        "/v1/chat/completions", json={"messages": ASK}, headers=headers
    )
    error = response.json()["error"]
    assert (response.status_code, error["param"]) == (400, "x-orbit-run")
    assert error["message"] == "x-orbit-run: is 'true' or 'false'"
