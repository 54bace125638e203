"""The real model in process reads arguments, and what it makes up is asked for."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import pytest

from server.core.chat_messages import Message
from server.core.decision import Answer
from server.core.turn import ConversationContext
from server.library.model import BuiltinExecution, Domain, Library, Parameter, Template
from server.providers.chat.llama_cpp import LlamaCppChat, LlamaCppOptions
from server.providers.chat.llama_engine import DEFAULT_MODEL
from tests.llm.adapters import ask, speaking, stage
from tests.llm.test_slot_filling import Asks
from tests.support.deciding import table_adapter
from tests.support.local_model import needs_local_model

pytestmark = needs_local_model

WEATHER = Template(
    id="get_current_weather",
    description="Get current weather conditions for a location",
    kind="function",
    nl_examples=("What is the weather in London?", "How is the weather in Paris today?"),
    parameters=(
        Parameter("location", "string", "City name"),
        Parameter("units", "string", "Units", required=False, enum=("metric", "imperial")),
    ),
    execution=BuiltinExecution("date_time", "now"),
)
LIBRARY = Library(Domain("weather"), {WEATHER.id: WEATHER})
ASKS = Asks(WEATHER, units=("metric", (0, 0)))


@pytest.fixture(scope="module")
def model() -> Iterator[LlamaCppChat]:
    made = LlamaCppChat(DEFAULT_MODEL, LlamaCppOptions(threads=1))
    yield made
    asyncio.run(made.close())


def asked(model: LlamaCppChat, text: str, *said: str) -> Answer:
    context = ConversationContext(tuple(Message("user", one) for one in said))
    adapter = replace(table_adapter(library=LIBRARY), decider=ASKS)
    agent = {"synthesize_response": False, "model_timeout": 300}
    return ask(speaking(model, adapter, agent=agent), text, context, timeout_s=600)


def test_what_was_said_before_is_read(model: LlamaCppChat) -> None:
    answer = asked(model, "How is the weather there?", "I live in Paris")
    assert stage(answer, "fill")["filled"] == {"location": "Paris"}
    assert answer.metadata["arguments"]["location"] == {"kind": "model"}


def test_what_the_model_makes_up_is_asked_for(model: LlamaCppChat) -> None:
    answer = asked(model, "How is the weather?")
    assert [one["name"] for one in answer.metadata["missing"]] == ["location"]


@pytest.mark.parametrize("text", ["How is it?", "And the weather, as usual?"])
def test_no_city_comes_from_nowhere(model: LlamaCppChat, text: str) -> None:
    assert "tool_execution" not in asked(model, text).metadata
