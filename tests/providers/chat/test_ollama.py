"""Models of an Ollama server, over a real wire on loopback."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest

from server.core.chat_messages import FunctionCall, Message, Reply, TokenUsage
from server.core.tools import ToolDefinition, ToolParameter
from server.errors import ProviderError, ProviderRejected, ProviderTimedOut, ProviderUnavailable
from server.providers.chat.ollama import PROVIDER, OllamaChat, OllamaChatOptions
from tests.providers.chat.speaking import broken_off, heard, said
from tests.support.ollama_server import OllamaStandIn, ollama_stand_in, words

pytestmark = pytest.mark.anyio

WEATHER = ToolDefinition(
    "get_weather",
    "Get the weather",
    (ToolParameter("location", "string"), ToolParameter("days", "integer", required=False)),
)


@pytest.fixture
def served() -> Iterator[OllamaStandIn]:
    with ollama_stand_in() as stand_in:
        yield stand_in


@asynccontextmanager
async def chatting(
    served: OllamaStandIn, model: str | None = None, **options: Any
) -> AsyncIterator[OllamaChat]:
    settings = OllamaChatOptions(base_url=served.base_url, **{"timeout_s": 5.0, **options})
    chat = OllamaChat(model or str(PROVIDER.default_model), settings)
    try:
        yield chat
    finally:
        await chat.close()


async def test_a_conversation_gets_a_reply(served: OllamaStandIn) -> None:
    messages = [Message("system", "Be brief."), Message("user", "Hello there, you")]
    async with chatting(served, "gemma3:270m", context_tokens=4096, keep_alive="10m") as chat:
        reply = await chat.complete(messages)
    assert reply == Reply("Hello there.", "ollama:gemma3:270m", tokens=TokenUsage(5, 3))
    assert served.chats == [
        {
            "model": "gemma3:270m",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Hello there, you"},
            ],
            "tools": [],
            "stream": False,
            "think": False,
            "options": {"temperature": 0.0, "num_predict": 512, "num_ctx": 4096},
            "keep_alive": "10m",
        }
    ]


async def test_a_schema_goes_along(served: OllamaStandIn) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}
    served.think = words('{"n":', " 3}")
    async with chatting(served) as chat:
        assert (await chat.complete(said("three"), schema=schema)).text == '{"n": 3}'
    assert served.chats[0]["format"] == schema


async def test_functions_are_offered_and_called(served: OllamaStandIn) -> None:
    served.think = words({"name": "get_weather", "arguments": {"location": "Paris {1}"}})
    async with chatting(served) as chat:
        reply = await chat.complete(said("weather in Paris"), tools=[WEATHER])
    assert (reply.text, reply.calls) == (
        "",
        (FunctionCall("get_weather", {"location": "Paris {1}"}),),
    )
    offered = served.chats[0]["tools"][0]["function"]
    assert (offered["name"], offered["parameters"]["required"]) == ("get_weather", ["location"])


async def test_a_stream_says_its_words_and_then_the_whole(served: OllamaStandIn) -> None:
    async with chatting(served) as chat:
        pieces, reply = await heard(chat, "hi")
    assert pieces == ["Hello", " there", "."]
    assert reply == Reply("Hello there.", "ollama:llama3.2", tokens=TokenUsage(1, 3))


async def test_a_reply_that_ran_into_the_limit_is_cut(served: OllamaStandIn) -> None:
    async with chatting(served, max_tokens=2) as chat:
        whole = await chat.complete(said("hi"))
        _, streamed = await heard(chat, "hi")
        shorter = await chat.complete(said("hi"), max_tokens=1)
    cut = Reply("Hello there", "ollama:llama3.2", tokens=TokenUsage(1, 2), cut=True)
    assert (whole, streamed, shorter.text) == (cut, cut, "Hello")


async def test_warming_loads_the_model_and_says_nothing(served: OllamaStandIn) -> None:
    async with chatting(served) as chat:
        await chat.warm()
    assert [asked["messages"] for asked in served.chats] == [[]]


async def test_a_model_that_is_not_there_says_how_to_get_it(served: OllamaStandIn) -> None:
    async with chatting(served, "qwen3:4b") as chat:
        with pytest.raises(ProviderRejected, match=r"has no model 'qwen3:4b'; run: ollama pull"):
            await chat.warm()
        assert await broken_off(chat, "hi") == ([], ProviderRejected)


@pytest.mark.parametrize(
    ("status", "failure", "message"),
    [
        (500, ProviderUnavailable, "cannot answer now (status 500)"),
        (400, ProviderRejected, "refuses the request (status 400)"),
        (401, ProviderRejected, "refuses the credentials (status 401)"),
    ],
)
async def test_a_refusal_names_the_provider_and_never_its_words(
    served: OllamaStandIn, status: int, failure: type[ProviderError], message: str
) -> None:
    async with chatting(served) as chat:
        served.statuses = [status]
        with pytest.raises(failure) as raised:
            await chat.complete(said("hi"))
        served.statuses = [status]
        assert await broken_off(chat, "hi") == ([], type(raised.value))
    assert str(raised.value).startswith("chat provider 'ollama' at 127.0.0.1:")
    assert message in str(raised.value)
    assert "sk-secret" not in str(raised.value)


@pytest.mark.parametrize(
    "raw",
    [
        b"garbage",
        b"{}",
        b"[]",
        b'{"message": "hi", "done": true}',
        b'{"message": {}, "done": true}',
    ],
)
async def test_an_answer_that_is_no_reply_is_refused(served: OllamaStandIn, raw: bytes) -> None:
    served.raw = raw
    async with chatting(served) as chat:
        with pytest.raises(ProviderRejected, match="returned something that is not a valid reply"):
            await chat.complete(said("hi"))


@pytest.mark.parametrize("fault", ["dies", "fails"])
async def test_a_stream_that_breaks_off_is_a_failure(served: OllamaStandIn, fault: str) -> None:
    setattr(served, f"{fault}_after", 2)
    async with chatting(served) as chat:
        pieces, failure = await broken_off(chat, "hi")
        assert failure is not None
        assert (pieces, issubclass(failure, ProviderUnavailable)) == (["Hello", " there"], True)
        setattr(served, f"{fault}_after", None)
        assert (await chat.complete(said("again"))).text == "Hello there."


async def test_who_stops_listening_stops_the_server_too(served: OllamaStandIn) -> None:
    served.think = lambda asked: ("x" * 1000 for _ in range(100_000))
    async with chatting(served) as chat:
        async with aclosing(chat.stream(said("hi"), max_tokens=100_000)) as stream:
            await anext(stream)
        assert await asyncio.to_thread(served.left.wait, 10)


async def test_a_slow_server_times_out(served: OllamaStandIn) -> None:
    served.delay_s = 0.5
    async with chatting(served, timeout_s=0.05) as chat:
        with pytest.raises(ProviderTimedOut, match="did not answer in time"):
            await chat.complete(said("hi"))
