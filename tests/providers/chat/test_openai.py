"""Models of servers that speak OpenAI's protocol, over a real wire on loopback."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic import SecretStr

from server.core.chat_messages import FunctionCall, Message, Reply, TokenUsage
from server.core.tools import ToolDefinition, ToolParameter
from server.errors import ProviderError, ProviderRejected, ProviderTimedOut, ProviderUnavailable
from server.providers.chat.openai import PROVIDER, OpenAIChat, OpenAIChatOptions, is_strict
from server.providers.failures import ProviderBusy
from tests.providers.chat.speaking import broken_off, heard, said
from tests.support.loopback import Answer, Service, serving
from tests.support.ollama_server import words
from tests.support.openai_server import openai, refusal

pytestmark = pytest.mark.anyio

VERB = {"type": "object", "properties": {"verb": {"type": "string"}}, "required": ["verb"]}
BAD_ARGUMENTS = {"name": "f", "arguments": "{not json"}
NO_CALL = {"choices": [{"message": {"tool_calls": [{"function": BAD_ARGUMENTS}]}}]}


@pytest.fixture
def served() -> Iterator[Service]:
    with serving(openai) as service:
        yield service


@asynccontextmanager
async def chatting(
    served: Service, model: str | None = None, **options: Any
) -> AsyncIterator[OpenAIChat]:
    settings = OpenAIChatOptions(
        base_url=f"{served.base_url}/v1/",
        api_key=SecretStr("sk-secret"),
        **{"timeout_s": 5.0, **options},
    )
    chat = OpenAIChat(model or str(PROVIDER.default_model), settings)
    try:
        yield chat
    finally:
        await chat.close()


async def test_a_conversation_gets_a_reply(served: Service) -> None:
    messages = [Message("system", "Be brief."), Message("user", "Hello")]
    async with chatting(served) as chat:
        reply = await chat.complete(messages)
    assert reply == Reply("Hello there.", "openai:gpt-4o-mini", tokens=TokenUsage(4, 3))
    (asked,) = served.asked
    assert asked.headers["authorization"] == "Bearer sk-secret"
    assert asked.body == {
        "model": "gpt-4o-mini",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hello"},
        ],
        "temperature": 0.0,
        "max_tokens": 512,
    }


async def test_functions_are_offered_and_called(served: Service) -> None:
    call = {"name": "get_weather", "arguments": '{"city": "Oslo {1}"}'}
    served.reply = lambda asked: openai(asked, words(call))
    weather = ToolDefinition("get_weather", "Weather", (ToolParameter("city", "string"),))
    async with chatting(served) as chat:
        reply = await chat.complete(said("weather in Oslo"), tools=[weather])
    assert (reply.text, reply.calls) == ("", (FunctionCall("get_weather", {"city": "Oslo {1}"}),))
    assert served.asked[0].body["tools"] == [weather.to_openai_schema()]


async def test_a_stream_says_its_words_and_then_the_whole(served: Service) -> None:
    # A line's end to Python, and none to the protocol.
    served.reply = lambda asked: openai(asked, words("one\u2028", "two\x85", "שלוש"))
    async with chatting(served) as chat:
        pieces, reply = await heard(chat, "hi")
    assert pieces == ["one\u2028", "two\x85", "שלוש"]
    assert reply == Reply("".join(pieces), "openai:gpt-4o-mini", tokens=TokenUsage(4, 3))


async def test_a_reply_that_ran_into_the_limit_is_cut(served: Service) -> None:
    async with chatting(served, max_tokens=2) as chat:
        whole = await chat.complete(said("hi"))
        _, streamed = await heard(chat, "hi")
        shorter = await chat.complete(said("hi"), max_tokens=1)
    cut = Reply("Hello there", "openai:gpt-4o-mini", tokens=TokenUsage(4, 2), cut=True)
    assert (whole, streamed, shorter.text) == (cut, cut, "Hello")


def forms(served: Service) -> list[str | None]:
    return [asked.body.get("response_format", {}).get("type") for asked in served.asked]


async def test_a_server_without_schemas_is_asked_for_json_and_then_told_in_words(
    served: Service,
) -> None:
    served.answers = [
        refusal("'response_format.type' must be 'json_object' or 'text'"),
        refusal("response_format: extra inputs are not permitted", 422),
        refusal("response_format is not supported", 422),
    ]
    async with chatting(served) as chat:
        await chat.complete([Message("system", "Be brief."), *said("hi")], schema=VERB)
        await chat.complete(said("hi"), schema=VERB)
    assert forms(served) == ["json_schema", "json_object", "json_object", None, None]
    told = f"Answer with JSON alone, which fits this JSON schema: {json.dumps(VERB)}"
    heads = [asked.body["messages"][0]["content"] for asked in served.asked]
    assert heads == ["Be brief.", *[f"Be brief.\n\n{told}"] * 3, told]
    assert served.asked[1].body["response_format"]["schema"] == VERB
    assert "schema" not in served.asked[2].body["response_format"]


async def test_what_a_server_refuses_is_left_out_from_then_on(served: Service) -> None:
    served.answers = [
        refusal("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        refusal("Unsupported value: 'temperature' does not support 0 with this model."),
    ]
    async with chatting(served) as chat:
        await chat.complete(said("hi"), max_tokens=9)
        served.answers = [refusal("unknown field stream_options", 422)]
        _, reply = await heard(chat, "hi")
    keys = [set(asked.body) - {"model", "messages"} for asked in served.asked]
    assert keys == [
        {"max_tokens", "temperature"},
        {"max_completion_tokens", "temperature"},
        {"max_completion_tokens"},
        {"max_completion_tokens", "stream", "stream_options"},
        {"max_completion_tokens", "stream"},
    ]
    assert reply == Reply("Hello there.", "openai:gpt-4o-mini")


async def test_a_refusal_of_something_else_changes_nothing(served: Service) -> None:
    served.answers = [refusal("This model's maximum context length is 8192 tokens.")]
    async with chatting(served) as chat:
        with pytest.raises(ProviderRejected):
            await chat.complete(said("hi"), schema=VERB)
        await chat.complete(said("hi"), schema=VERB)
    assert forms(served) == ["json_schema", "json_schema"]


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (VERB, False),
        ({**VERB, "additionalProperties": False}, True),
        ({**VERB, "additionalProperties": False, "required": []}, False),
        ({"type": "array", "items": {"type": "object"}}, False),
        ({"type": "array", "items": {"type": "string"}}, True),
    ],
)
def test_only_a_closed_schema_is_strict(schema: dict[str, Any], strict: bool) -> None:
    assert is_strict(schema) is strict


@pytest.mark.parametrize(
    ("status", "failure", "message"),
    [
        (401, ProviderRejected, "refuses the credentials (status 401); set OPENAI_API_KEY"),
        (404, ProviderRejected, "has no model 'gpt-4o-mini'; check the model's name and models.op"),
        (400, ProviderRejected, "refuses the request (status 400)"),
        (500, ProviderUnavailable, "cannot answer now (status 500)"),
    ],
)
async def test_a_refusal_names_the_provider_and_never_its_words(
    served: Service, status: int, failure: type[ProviderError], message: str
) -> None:
    async with chatting(served) as chat:
        served.answers = [refusal("bad key sk-secret", status), refusal("bad sk-secret", status)]
        with pytest.raises(failure) as raised:
            await chat.complete(said("hi"))
        assert await broken_off(chat, "hi") == ([], type(raised.value))
    assert str(raised.value).startswith("chat provider 'openai' at 127.0.0.1:")
    assert message in str(raised.value)
    assert "sk-secret" not in str(raised.value)


async def test_when_to_come_back_is_heard(served: Service) -> None:
    served.answers = [Answer({}, 429, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"})]
    async with chatting(served) as chat:
        with pytest.raises(ProviderBusy) as busy:
            await chat.complete(said("hi"))
    assert busy.value.retry_after_s == 0


@pytest.mark.parametrize(
    "body", [b"garbage", [], {}, {"choices": []}, {"choices": [{"message": []}]}, NO_CALL]
)
async def test_an_answer_that_is_no_reply_is_refused(served: Service, body: Any) -> None:
    served.answers = [Answer(body)]
    async with chatting(served) as chat:
        with pytest.raises(ProviderRejected, match="not a valid reply"):
            await chat.complete(said("hi"))


async def test_an_answer_without_an_end_is_refused(served: Service) -> None:
    served.answers = [Answer({"choices": "x" * (9 * 2**20)})]
    async with chatting(served) as chat:
        with pytest.raises(ProviderRejected, match="not a valid reply"):
            await chat.complete(said("hi"))


@pytest.mark.parametrize("kind", ["refusal", "content_filter"])
async def test_who_declines_is_understood(served: Service, kind: str) -> None:
    message = {"content": None, "refusal": "I will not" if kind == "refusal" else None}
    served.answers = [Answer({"choices": [{"message": message, "finish_reason": kind}]})]
    async with chatting(served) as chat:
        with pytest.raises(ProviderRejected, match="declined to answer"):
            await chat.complete(said("hi"))


@pytest.mark.parametrize("end", [None, {"error": {"message": "out of memory, sk-secret"}}])
async def test_a_stream_that_breaks_off_is_a_failure(served: Service, end: Any) -> None:
    chunk = {"choices": [{"delta": {"content": "Hel"}, "finish_reason": None}]}
    events = [chunk, *([end] if end else [])]
    served.answers = [Answer(events=iter(events)), Answer(events=iter([chunk] * 2), dies_after=1)]
    async with chatting(served) as chat:
        for _ in range(2):
            pieces, failure = await broken_off(chat, "hi")
            assert pieces == ["Hel"]
            assert failure is not None
            assert issubclass(failure, ProviderUnavailable)
        assert (await chat.complete(said("again"))).text == "Hello there."


async def test_a_slow_server_times_out(served: Service) -> None:
    served.answers = [Answer({}, delay_s=0.5)]
    async with chatting(served, timeout_s=0.05) as chat:
        with pytest.raises(ProviderTimedOut, match="did not answer in time"):
            await chat.complete(said("hi"))
