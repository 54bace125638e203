"""Programs that speak to OpenAI's API, against a server on loopback."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openai
import pytest

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.adapters.registry import Adapters
from server.core.chat_messages import Reply, TokenUsage
from server.metrics.metrics import Metrics
from server.providers.chat.scripted import ScriptedChat
from server.providers.metered import MeteredChatModel
from tests.adapters.cities import configure_cities
from tests.llm.adapters import speaking
from tests.support.api import api_over, api_state, running, served_on_loopback
from tests.support.sql_shop import open_shop

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

LISTED = "Show me the orders in Lisbon"
NO_TOKENS = (0, 0, 0)


@dataclass(frozen=True)
class Served:
    url: str
    key: str

    def client(self, kind: Any = openai.AsyncOpenAI) -> Any:
        return kind(api_key=self.key, base_url=self.url, max_retries=0)


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with open_shop(tmp_path) as shop, served_on_loopback(shop.app) as url:
        headers = await shop.key()
        yield Served(f"{url}/v1", headers["authorization"].removeprefix("Bearer "))


async def test_the_client_goes_on_with_its_messages_and_confirms(served: Served) -> None:
    messages: list[Any] = []
    heard = []
    async with served.client() as client:
        for text in (LISTED, "delete the second one", "yes", "Show order 6"):
            messages.append({"role": "user", "content": text})
            answer = await client.chat.completions.create(model="shop", messages=messages)
            messages.append(answer.choices[0].message)
            heard.append(answer.choices[0].message.content)
            usage = answer.usage
            used = usage.prompt_tokens, usage.completion_tokens, usage.total_tokens
            assert used == NO_TOKENS
    assert "Please confirm" in heard[1]
    assert heard[2:] == ["1 row was changed.", "Nothing was found."]


async def test_a_stream_is_gone_on_with_as_well(served: Served) -> None:
    messages: list[Any] = []

    async def say(client: Any, text: str) -> str:
        messages.append({"role": "user", "content": text})
        stream = await client.chat.completions.create(
            model="shop", messages=messages, stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in stream]
        assert (chunks[-1].choices, chunks[-1].usage.total_tokens) == ([], 0)
        said = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
        messages.append({"role": "assistant", "content": said})
        return said

    async with served.client() as client:
        assert "Ana Silva" in await say(client, LISTED)
        assert "Please confirm" in await say(client, "delete the second one")
        assert await say(client, "yes") == "1 row was changed."


async def test_the_client_that_waits_does_the_same(served: Served) -> None:
    def work() -> tuple[Any, list[str], Any]:
        with served.client(openai.OpenAI) as client:
            asked = [{"role": "user", "content": LISTED}]
            first = client.chat.completions.create(model="shop", messages=asked)
            more = [*asked, first.choices[0].message, {"role": "user", "content": "the second one"}]
            second = client.chat.completions.create(model="shop", messages=more)
            models = [model.id for model in client.models.list()]
            with pytest.raises(openai.NotFoundError) as unknown:
                client.chat.completions.create(model="gpt-4o", messages=asked)
            return second.model_extra["orbit"]["metadata"], models, unknown.value

    metadata, models, unknown = await asyncio.to_thread(work)
    assert metadata["tool_execution"]["parameters"] == {"id": 6}
    assert (models, unknown.code) == (["shop"], "model_not_found")


async def test_the_client_gets_calls_in_place_of_answers(served: Served) -> None:
    messages: list[Any] = [{"role": "user", "content": LISTED}]
    asked = {"model": "shop", "messages": messages}
    async with served.client() as client:
        answer = await client.chat.completions.create(**asked, tool_choice="required")
        stream = await client.chat.completions.create(
            **asked, stream=True, extra_headers={"x-orbit-run": "false"}
        )
        chunks = [chunk async for chunk in stream]
        choice = answer.choices[0]
        (call,) = choice.message.tool_calls
        told = next(c.choices[0].delta.tool_calls for c in chunks if c.choices[0].delta.tool_calls)
        assert [(each.index, each.function) for each in told] == [(0, told[0].function)]
        assert told[0].function.arguments == call.function.arguments == '{"city":"Lisbon"}'
        assert chunks[-1].choices[0].finish_reason == choice.finish_reason == "tool_calls"
        result = {"role": "tool", "tool_call_id": call.id, "content": '[{"id": 42}]'}
        messages += [choice.message, result]
        done = await client.chat.completions.create(**asked)
    assert "42" in done.choices[0].message.content


async def test_responses_go_on_from_the_one_before(served: Served) -> None:
    async with served.client() as client:
        first = await client.responses.create(model="shop", input=LISTED)
        assert "Ana Silva" in first.output_text
        assert (first.status, first.usage.total_tokens) == ("completed", 0)
        second = await client.responses.create(
            model="shop", input="delete the second one", previous_response_id=first.id
        )
        assert "Please confirm" in second.output_text
        for _ in range(2):  # the second is a retry
            third = await client.responses.create(
                model="shop", input="yes", previous_response_id=second.id
            )
            assert third.output_text == "1 row was changed."
        branch = await client.responses.create(
            model="shop", input="the third", previous_response_id=first.id
        )
        assert branch.model_extra["orbit"]["metadata"]["tool_execution"]["parameters"] == {"id": 9}
        for unknown in ("resp_" + "0" * 64, "elsewhere"):
            with pytest.raises(openai.NotFoundError) as failure:
                await client.responses.create(
                    model="shop", input="yes", previous_response_id=unknown
                )
            assert failure.value.code == "previous_response_not_found"


async def test_responses_go_on_with_a_list_and_come_as_events(served: Served) -> None:
    async with served.client() as client:
        items: list[Any] = [{"role": "user", "content": LISTED}]
        first = await client.responses.create(model="shop", input=items)
        items += [*first.output, {"role": "user", "content": "delete the second one"}]
        stream = await client.responses.create(model="shop", input=items, stream=True)
        events = [event async for event in stream]
        assert [event.sequence_number for event in events] == list(range(len(events)))
        kinds = list(dict.fromkeys(event.type for event in events))
        assert kinds == [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ]
        whole = events[-1].response
        said = "".join(e.delta for e in events if e.type == "response.output_text.delta")
        assert said == whole.output_text
        items += [*whole.output, {"role": "user", "content": "yes"}]
        async with client.responses.stream(model="shop", input=items) as streaming:
            last = await streaming.get_final_response()
    assert last.output_text == "1 row was changed."


async def test_responses_may_be_calls(served: Served) -> None:
    async with served.client() as client:
        items: list[Any] = [{"role": "user", "content": LISTED}]
        told = await client.responses.create(model="shop", input=items, tool_choice="required")
        (call,) = told.output
        assert (call.type, call.name, call.arguments) == (
            "function_call", "orders_in_city", '{"city":"Lisbon"}',
        )  # fmt: skip
        output = {"type": "function_call_output", "call_id": call.call_id, "output": '[{"id": 42}]'}
        answer = await client.responses.create(model="shop", input=[*items, call, output])
        assert "42" in answer.output_text
        stream = await client.responses.create(
            model="shop", input=items, tool_choice="required", stream=True
        )
        kinds = [event.type async for event in stream]
    assert "response.function_call_arguments.done" in kinds


@pytest.mark.parametrize(
    ("more", "param"),
    [
        ({"background": True}, "background"),
        ({"conversation": "c"}, "conversation"),
        ({"text": {"format": {"type": "json_object"}}}, "text.format"),
        ({"tools": [{"type": "web_search"}]}, "tools"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, "input.0"),
        ({"input": [{"role": "user", "content": [{"type": "input_image"}]}]}, "input"),
        ({"input": []}, "input"),
    ],
)
async def test_what_a_response_cannot_have_is_said(
    served: Served, more: dict[str, Any], param: str
) -> None:
    async with served.client() as client:
        with pytest.raises(openai.BadRequestError) as failure:
            await client.responses.create(**{"model": "shop", "input": "yes", **more})
    assert (failure.value.param, failure.value.code) == (param, "request_invalid")


async def test_what_a_model_reads_and_writes_is_told(tmp_path: Path) -> None:
    said = Reply("The answer is 30: 15% of 200.", "m", tokens=TokenUsage(40, 9))
    keys = await KeyStore.open(f"sqlite:///{tmp_path / 'orbit.db'}", tmp_path / "secret")
    key, _ = await keys.create(NewKey("arithmetic"))
    adapters = Adapters(("arithmetic",))
    adapters.opened(speaking(MeteredChatModel(ScriptedChat([said] * 3), Metrics())))
    async with (
        api_state(adapters, keys, tmp_path) as state,
        served_on_loopback(api_over(state)) as url,
        Served(f"{url}/v1", key).client() as client,
    ):
        asked = [{"role": "user", "content": "What is 15% of 200?"}]
        whole = await client.chat.completions.create(model="arithmetic", messages=asked)
        stream = await client.chat.completions.create(
            model="arithmetic", messages=asked, stream=True, stream_options={"include_usage": True}
        )
        last = [chunk async for chunk in stream][-1]
        response = await client.responses.create(model="arithmetic", input=asked)
    await keys.close()
    assert whole.choices[0].message.content == said.text
    for usage in (whole.usage, last.usage):
        used = usage.prompt_tokens, usage.completion_tokens, usage.total_tokens
        assert used == (40, 9, 49)
    assert (response.usage.input_tokens, response.usage.output_tokens) == (40, 9)


async def test_several_adapters_behind_one_are_gone_on_with(tmp_path: Path) -> None:
    configured = configure_cities(tmp_path)
    async with (
        running(configured.settings, configured.environ) as app,
        served_on_loopback(app) as url,
    ):
        await app.state.api.adapters.every_one_tried()
        key, _ = await app.state.api.keys.create(NewKey("cities"))
        messages: list[Any] = []
        async with Served(f"{url}/v1", key).client() as client:

            async def say(text: str, **more: Any) -> Any:
                messages.append({"role": "user", "content": text})
                answer = await client.chat.completions.create(
                    model="cities", messages=messages, **more
                )
                messages.append(answer.choices[0].message)
                return answer.choices[0].message

            await say("How many bikes were stolen in 2020 in Ottawa?")
            assert (await say("and in 2021?")).content == "121 bikes"
            told = await say("and in 2022?", tool_choice="required")
            (call,) = told.tool_calls
            assert call.function.name == "stolen_in_year"
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "7"})
            done = await client.chat.completions.create(model="cities", messages=messages)
            assert done.choices[0].message.content == "7 bikes"
            messages.append(done.choices[0].message)
            assert (await say("and in 2023?")).content == "123 bikes"
            assert "Please confirm" in (await say("Report a theft at King Street")).content
            done = await say("yes")
    assert "King Street" in done.content
