"""What models say to the reformulator: each is asked the same, and none is believed."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from pydantic import SecretStr

from server.conversation.reformulation.reformulator import Reformulator
from server.core.chat_messages import Message, Reply
from server.core.ports import ChatModel
from server.errors import ProviderRejected, ProviderTimedOut, ProviderUnavailable
from server.providers.chat.gemini import GeminiChat, GeminiChatOptions
from server.providers.chat.llama_cpp import LlamaCppChat, LlamaCppOptions
from server.providers.chat.llama_engine import DEFAULT_MODEL
from server.providers.chat.ollama import OllamaChat, OllamaChatOptions
from server.providers.chat.openai import OpenAIChat, OpenAIChatOptions
from server.providers.chat.scripted import Line, ScriptedChat
from server.providers.chat.structured import StructuredChatModel
from tests.conversation.shop import AMBIGUOUS, proposed, reformulation, rules, said
from tests.support import gemini_server, openai_server
from tests.support.local_model import needs_local_model
from tests.support.loopback import serving
from tests.support.ollama_server import ollama_stand_in, words

GOLDEN = ("Check status of order #001", "Order #001 is being shipped.", "Actually, cancel it.")

Speaking = Callable[[str], Any]
"""A context with the model that says the given text."""


@contextmanager
def scripted(text: str) -> Iterator[ChatModel]:
    yield ScriptedChat([text])


@contextmanager
def ollama(text: str) -> Iterator[ChatModel]:
    with ollama_stand_in() as stand_in:
        stand_in.think = words(text)
        yield OllamaChat("llama3.2", OllamaChatOptions(base_url=stand_in.base_url))


@contextmanager
def openai(text: str) -> Iterator[ChatModel]:
    with serving(lambda asked: openai_server.openai(asked, words(text))) as service:
        url, key = f"{service.base_url}/v1/", SecretStr("sk-secret")
        yield OpenAIChat("gpt-4o-mini", OpenAIChatOptions(base_url=url, api_key=key))


@contextmanager
def gemini(text: str) -> Iterator[ChatModel]:
    with serving(lambda asked: gemini_server.gemini(asked, words(text))) as service:
        url, key = f"{service.base_url}/v1beta", SecretStr("sk-secret")
        yield GeminiChat("gemini-2.5-flash", GeminiChatOptions(base_url=url, api_key=key))


@pytest.fixture(
    params=[scripted, ollama, openai, gemini], ids=["scripted", "ollama", "openai", "gemini"]
)
def speaking(request: pytest.FixtureRequest) -> Speaking:
    speaker: Speaking = request.param
    return speaker


def by_model(speaking: Speaking, said_by_model: Any, *texts: str, with_rules: bool = False) -> Any:
    """What comes of a conversation when a model reads it, alone or after the rules."""
    text = said_by_model if isinstance(said_by_model, str) else json.dumps(said_by_model)

    async def run() -> Any:
        with speaking(text) as model:
            structured = StructuredChatModel(model)
            read = rules() if with_rules else None
            reformulator = Reformulator(reformulation(), read=read, model=structured)
            try:
                return await reformulator.process_chat(said(*texts))
            finally:
                await structured.close()

    return asyncio.run(run())


def test_multiturn_cancel_order(speaking: Speaking) -> None:
    reading = {"verb": "cancel_order", "object": "#001"}
    assert by_model(speaking, reading, *GOLDEN) == proposed("cancel_order", "#001")


def test_ambiguous_input(speaking: Speaking) -> None:
    reading = {"verb": "unknown", "object": None}
    assert by_model(speaking, reading, "I'm confused.") == AMBIGUOUS


def test_refund_proposal(speaking: Speaking) -> None:
    reading = {"verb": "refund", "object": "red shoes"}
    wish = "Take the red shoes and give me what I paid."
    assert by_model(speaking, reading, wish) == proposed("refund", "red shoes")


def test_return_proposal(speaking: Speaking) -> None:
    reading = {"verb": "return", "object": "#005"}
    assert by_model(speaking, reading, "Come and collect #005") == proposed("return", "#005")


@pytest.mark.parametrize("intent", list(reformulation().intents))
def test_all_allowed_intents_are_accepted(speaking: Speaking, intent: str) -> None:
    reading = {"verb": intent, "object": "#002"}
    assert by_model(speaking, reading, "Something about #002") == proposed(intent, "#002")


@pytest.mark.parametrize(
    "verb", [" Cancel Order ", "CANCEL-ORDER", "cancel  order", "Cancel_Order\n"]
)
def test_a_verb_counts_in_any_spelling(verb: str) -> None:
    reading = {"verb": verb, "object": "#001"}
    assert by_model(scripted, reading, *GOLDEN) == proposed("cancel_order", "#001")


@pytest.mark.parametrize(
    "reading",
    [
        {"verb": "delete_account", "object": "#001"},
        {"verb": "", "object": None},
        {"verb": "cancel_order; refund", "object": "#001"},
        {"verb": ["cancel_order"], "object": None},
        {"verb": "cancel_order", "object": "#999"},  # nobody has said that
        {"verb": "cancel_order", "object": "the order"},  # names nothing
        {"object": "#001"},
        "I would cancel order #001.",
        "[]",
        "",
    ],
)
def test_what_a_model_makes_up_is_never_proposed(speaking: Speaking, reading: Any) -> None:
    assert by_model(speaking, reading, *GOLDEN) == AMBIGUOUS


@pytest.mark.parametrize(
    "written", ["#001", "order #001", "  the #001 ", "Order number 001", "order_001"]
)
def test_a_target_is_taken_as_the_conversation_has_it(written: str) -> None:
    reading = {"verb": "cancel_order", "object": written}
    unclear = (*GOLDEN[:2], "please get rid of it for me")
    for with_rules in (True, False):
        found = by_model(scripted, reading, *unclear, with_rules=with_rules)
        assert found == proposed("cancel_order", "#001")


@pytest.mark.parametrize("nothing", [None, "", "it", "that one"])
def test_a_model_that_names_no_target_leaves_it_to_what_was_named_last(nothing: Any) -> None:
    reading = {"verb": "cancel_order", "object": nothing}
    unclear = (*GOLDEN[:2], "please get rid of it for me")
    assert by_model(scripted, reading, *unclear) == proposed("cancel_order", None)
    found = by_model(scripted, reading, *unclear, with_rules=True)
    assert found == proposed("cancel_order", "#001")


def test_what_the_customer_has_just_named_wins_over_the_model() -> None:
    reading = {"verb": "cancel_order", "object": "#001"}
    unclear = (*GOLDEN[:2], "rather get rid of #004 for me")
    found = by_model(scripted, reading, *unclear, with_rules=True)
    assert found == proposed("cancel_order", "#004")


def asked(model: ScriptedChat, *texts: str, with_rules: bool = True) -> Any:
    read = rules() if with_rules else None
    reformulator = Reformulator(reformulation(), read=read, model=StructuredChatModel(model))
    return asyncio.run(reformulator.process_chat(said(*texts)))


def test_empty_history_returns_ambiguous_without_asking_a_model() -> None:
    model = ScriptedChat(['{"verb": "cancel_order", "object": "#001"}'])
    assert asked(model, with_rules=False) == AMBIGUOUS
    assert model.asked == []


def test_what_the_rules_know_no_model_is_asked() -> None:
    model = ScriptedChat(['{"verb": "refund", "object": "#001"}'])
    assert asked(model, *GOLDEN) == proposed("cancel_order", "#001")
    assert asked(model, "Don't cancel #001") == AMBIGUOUS
    assert model.asked == []


def test_of_several_targets_a_model_may_say_which_is_meant() -> None:
    model = ScriptedChat(['{"verb": "cancel_order", "object": "#004"}'])
    several = "Cancel #001. Sorry, I meant #004!"
    assert asked(model, several) == proposed("cancel_order", "#004")
    silent = ScriptedChat(['{"verb": "unknown", "object": null}'])
    assert asked(silent, several) == proposed("cancel_order", None)


def test_a_model_is_told_the_intents_and_the_whole_conversation() -> None:
    model = ScriptedChat(['{"verb": "unknown", "object": null}'])
    asked(model, *GOLDEN, with_rules=False)
    (heard,) = model.asked
    instruction, *conversation = heard.messages
    assert instruction == Message("system", reformulation().prompt)
    assert [(m.role, m.content) for m in conversation] == [
        (one["role"], one["content"]) for one in said(*GOLDEN)
    ]


@pytest.mark.parametrize(
    "failure",
    [
        ProviderUnavailable("down"),
        ProviderTimedOut("late"),
        ProviderRejected("nonsense"),
        Line(Reply("{}", "scripted"), delay_s=60),
    ],
    ids=["down", "late", "nonsense", "silent"],
)
def test_a_model_that_fails_leaves_the_rules_alone(
    failure: Any, caplog: pytest.LogCaptureFixture
) -> None:
    written = reformulation()
    impatient = replace(written, model_timeout_s=0.05)
    model = StructuredChatModel(ScriptedChat([failure]))
    reformulator = Reformulator(impatient, read=rules(), model=model)
    history = said("get rid of it for me")
    assert asyncio.run(reformulator.process_chat(history)) == AMBIGUOUS
    assert "reformulating by rules alone" in caplog.text
    assert asyncio.run(reformulator.process_chat(said(*GOLDEN))) == proposed("cancel_order", "#001")


@needs_local_model
def test_the_local_model_alone_proposes_one_of_the_six_or_nothing() -> None:
    patient = replace(reformulation(), model_timeout_s=300)

    async def run() -> list[Any]:
        model = StructuredChatModel(LlamaCppChat(DEFAULT_MODEL, LlamaCppOptions()))
        reformulator = Reformulator(patient, model=model)
        asked = (GOLDEN, ("I'm confused.",), ("I want to return the red shoes",))
        try:
            return [await reformulator.process_chat(said(*texts)) for texts in asked]
        finally:
            await model.close()

    golden, confused, plain = asyncio.run(run())
    assert [outcome["intent"] in (*patient.intents, None) for outcome in (golden, plain)] == [
        True
    ] * 2
    assert (golden["target"] in ("#001", None), plain["target"] in ("red shoes", None)) == (
        True,
        True,
    )
    assert confused["target"] is None  # nobody has named anything


@needs_local_model
def test_the_order_conversation_runs_with_the_local_model_behind_the_rules() -> None:
    async def run() -> list[Any]:
        model = StructuredChatModel(LlamaCppChat(DEFAULT_MODEL, LlamaCppOptions()))
        reformulator = Reformulator(reformulation(), read=rules(), model=model)
        asked = (GOLDEN, ("I want a refund for order #002",), ("Take back the red shoes",))
        try:
            return [await reformulator.process_chat(said(*texts)) for texts in asked]
        finally:
            await model.close()

    golden, refund, left_open = asyncio.run(run())
    assert (golden, refund) == (proposed("cancel_order", "#001"), proposed("refund", "#002"))
    assert left_open["target"] in ("red shoes", None)
