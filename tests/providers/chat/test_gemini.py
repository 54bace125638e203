"""Models of Gemini, over a real wire on loopback that speaks its REST API."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic import SecretStr

from server.core.chat_messages import FunctionCall, Message, Reply, TokenUsage
from server.core.tools import ToolDefinition, ToolParameter
from server.errors import ProviderError, ProviderRejected, ProviderTimedOut, ProviderUnavailable
from server.providers.chat.gemini import PROVIDER, GeminiChat, GeminiChatOptions
from server.providers.failures import ProviderBusy
from tests.providers.chat.speaking import broken_off, heard, said
from tests.support.gemini_server import gemini
from tests.support.loopback import Answer, Service, serving
from tests.support.ollama_server import words

pytestmark = pytest.mark.anyio

WRONG_KEY = {"error": {"code": 400, "details": [{"reason": "API_KEY_INVALID"}]}}
NO_TEXT = {"candidates": [{"content": {"parts": [{"text": 1}]}, "finishReason": "STOP"}]}


@pytest.fixture
def served() -> Iterator[Service]:
    with serving(gemini) as service:
        yield service


@asynccontextmanager
async def chatting(
    served: Service, model: str | None = None, **options: Any
) -> AsyncIterator[GeminiChat]:
    settings = GeminiChatOptions(
        base_url=f"{served.base_url}/v1beta",
        api_key=SecretStr("sk-secret"),
        **{"timeout_s": 5.0, **options},
    )
    chat = GeminiChat(model or str(PROVIDER.default_model), settings)
    try:
        yield chat
    finally:
        await chat.close()


async def test_a_conversation_gets_a_reply(served: Service) -> None:
    messages = [
        Message("system", "Be brief."),
        Message("user", "Check order #001"),
        Message("assistant", "It is on its way."),
        Message("user", "Cancel it"),
    ]
    async with chatting(served) as chat:
        reply = await chat.complete(messages)
    assert reply == Reply("Hello there.", "gemini:gemini-2.5-flash", tokens=TokenUsage(4, 3))
    (asked,) = served.asked
    assert asked.path == "/v1beta/models/gemini-2.5-flash:generateContent"
    assert asked.headers["x-goog-api-key"] == "sk-secret"
    assert asked.body == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Check order #001"}]},
            {"role": "model", "parts": [{"text": "It is on its way."}]},
            {"role": "user", "parts": [{"text": "Cancel it"}]},
        ],
        "generationConfig": {
            "temperature": 0.0,
            "maxOutputTokens": 512,
            "thinkingConfig": {"thinkingBudget": 0},
        },
    }


async def test_a_schema_goes_along_in_its_words(served: Service) -> None:
    served.reply = lambda asked: gemini(asked, words('{"verb": "refund"}'))
    schema = {
        "type": "object",
        "properties": {
            "verb": {"type": "string"},
            "n": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
        "required": ["verb"],
        "additionalProperties": False,
    }  # fmt: skip
    async with chatting(served) as chat:
        reply = await chat.complete(said("refund"), schema=schema)
    assert reply.text == '{"verb": "refund"}'
    config = served.asked[0].body["generationConfig"]
    assert config["responseMimeType"] == "application/json"
    assert config["responseSchema"] == {
        "type": "OBJECT",
        "properties": {"verb": {"type": "STRING"}, "n": {"type": "INTEGER", "nullable": True}},
        "propertyOrdering": ["verb", "n"],
        "required": ["verb"],
    }


async def test_functions_are_declared_and_called(served: Service) -> None:
    call = {"name": "get_weather", "arguments": {"city": "Oslo"}}
    served.reply = lambda asked: gemini(asked, words(call))
    tools = [
        ToolDefinition("get_weather", "Weather", (ToolParameter("city", "string"),)),
        ToolDefinition("now", "The time"),
    ]
    async with chatting(served) as chat:
        reply = await chat.complete(said("weather in Oslo"), tools=tools)
    assert reply.calls == (FunctionCall("get_weather", {"city": "Oslo"}),)
    weather, now = served.asked[0].body["tools"][0]["functionDeclarations"]
    assert weather["parameters"]["properties"] == {"city": {"type": "STRING"}}
    assert now == {"name": "now", "description": "The time"}


async def test_a_stream_says_its_words_and_then_the_whole(served: Service) -> None:
    # A line's end to Python, and none to the protocol.
    served.reply = lambda asked: gemini(asked, words("one\u2028", "two\x85", "שלוש"))
    async with chatting(served) as chat:
        pieces, reply = await heard(chat, "hi")
    assert pieces == ["one\u2028", "two\x85", "שלוש"]
    assert reply == Reply("".join(pieces), "gemini:gemini-2.5-flash", tokens=TokenUsage(4, 3))


async def test_a_reply_that_ran_into_the_limit_is_cut(served: Service) -> None:
    async with chatting(served, max_tokens=2) as chat:
        whole = await chat.complete(said("hi"))
        _, streamed = await heard(chat, "hi")
        shorter = await chat.complete(said("hi"), max_tokens=1)
    cut = Reply("Hello there", "gemini:gemini-2.5-flash", tokens=TokenUsage(4, 2), cut=True)
    assert (whole, streamed, shorter.text) == (cut, cut, "Hello")


async def test_a_model_that_must_think_may(served: Service) -> None:
    message = "Budget 0 is invalid. This model only works in thinking mode."
    refusal = {"error": {"code": 400, "message": message}}
    served.answers = [Answer(refusal, 400)]
    async with chatting(served, "gemini-2.5-pro") as chat:
        assert (await chat.complete(said("hi"))).text == "Hello there."
        await heard(chat, "hi")
    thought = ["thinkingConfig" in asked.body["generationConfig"] for asked in served.asked]
    assert thought == [True, False, False]


async def test_thoughts_are_no_part_of_the_reply(served: Service) -> None:
    parts = [{"text": "Hmm. ", "thought": True}, {"text": "Yes."}]
    served.answers = [
        Answer({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]})
    ]
    async with chatting(served) as chat:
        assert (await chat.complete(said("hi"))).text == "Yes."


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"promptFeedback": {"blockReason": "SAFETY"}}, r"declined to answer \(SAFETY\)"),
        ({"candidates": [{"finishReason": "RECITATION"}]}, r"declined to answer \(RECITATION\)"),
        ({"candidates": [{"finishReason": "key sk-secret"}]}, "declined to answer$"),
    ],
)
async def test_who_declines_is_understood(served: Service, body: Any, why: str) -> None:
    async with chatting(served) as chat:
        served.answers = [Answer(body), Answer(events=iter([body]))]
        with pytest.raises(ProviderRejected, match=why):
            await chat.complete(said("hi"))
        assert await broken_off(chat, "hi") == ([], ProviderRejected)


@pytest.mark.parametrize(
    ("status", "body", "failure", "message"),
    [
        (400, WRONG_KEY, ProviderRejected, "refuses the credentials (status 401)"),
        (403, {}, ProviderRejected, "refuses the credentials (status 403); set GEMINI_API_KEY"),
        (404, {}, ProviderRejected, "has no model 'gemini-2.5-flash'; check the model's name"),
        (400, {"error": "sk-secret"}, ProviderRejected, "refuses the request (status 400)"),
        (503, {}, ProviderUnavailable, "cannot answer now (status 503)"),
    ],
)  # fmt: skip
async def test_a_refusal_names_the_provider_and_never_its_words(
    served: Service, status: int, body: Any, failure: type[ProviderError], message: str
) -> None:
    async with chatting(served) as chat:
        served.answers = [Answer(body, status), Answer(body, status)]
        with pytest.raises(failure) as raised:
            await chat.complete(said("hi"))
        assert await broken_off(chat, "hi") == ([], type(raised.value))
    assert str(raised.value).startswith("chat provider 'gemini' at 127.0.0.1:")
    assert message in str(raised.value)
    assert "sk-secret" not in str(raised.value)


async def test_when_to_come_back_is_heard(served: Service) -> None:
    served.answers = [Answer({}, 429, {"Retry-After": "7"})]
    async with chatting(served) as chat:
        with pytest.raises(ProviderBusy) as busy:
            await chat.complete(said("hi"))
    assert busy.value.retry_after_s == 7


@pytest.mark.parametrize(
    "body",
    [b"garbage", [], {}, {"candidates": []}, {"candidates": [[]]}, {"candidates": "x"}, NO_TEXT],
)
async def test_an_answer_that_is_no_reply_is_refused(served: Service, body: Any) -> None:
    served.answers = [Answer(body)]
    async with chatting(served) as chat:
        with pytest.raises(ProviderRejected, match=r"not a valid reply|declined"):
            await chat.complete(said("hi"))


@pytest.mark.parametrize("end", [None, {"error": {"code": 500, "message": "sk-secret"}}])
async def test_a_stream_that_breaks_off_is_a_failure(served: Service, end: Any) -> None:
    events = [{"candidates": [{"content": {"parts": [{"text": "Hel"}]}}]}, *([end] if end else [])]
    served.answers = [Answer(events=iter(events)), Answer(events=iter(events * 2), dies_after=1)]
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


async def test_a_name_cannot_leave_its_place_in_the_address(served: Service) -> None:
    served.answers = [Answer({}, 404)]
    async with chatting(served, "models/../../x?key=1") as chat:
        with pytest.raises(ProviderRejected):
            await chat.complete(said("hi"))
    assert served.asked[0].path == "/v1beta/models/..%2F..%2Fx%3Fkey%3D1:generateContent"
