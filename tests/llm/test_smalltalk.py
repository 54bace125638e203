"""What no template answers, a model may reply to; it is never taken for a tool's result."""

from dataclasses import replace
from datetime import datetime

import pytest

from server.core.chat_messages import Message, Reply
from server.core.streaming import StreamEvent
from server.core.turn import ConversationContext, Intent
from server.errors import ProviderTimedOut, ProviderUnavailable
from server.intents.detector import Detection
from server.library.model import CallPolicy, Library
from server.providers.chat.scripted import Line, ScriptedChat
from tests.llm.adapters import Script, ask, overhear, speaking, stage
from tests.support.deciding import DIVIDE, LIBRARY, PERCENTAGE, table_adapter

ON = {"conversation": True}
HELLO = "Hello! Ask me for a percentage."


def test_a_model_replies_where_the_adapter_wants_it() -> None:
    answer = ask(speaking([HELLO], agent=ON), "hi there")
    assert (answer.content, answer.confidence) == (HELLO, 0.0)
    assert answer.metadata["source"] == "model"
    assert answer.metadata["synthesized"] is True
    assert answer.metadata["template_id"] is None
    assert "tool_execution" not in answer.metadata


def test_without_permission_it_says_what_it_can_do() -> None:
    model = ScriptedChat([HELLO])
    answer = ask(speaking(model), "hi there")
    assert (model.asked, answer.metadata["source"]) == ([], "intent")
    assert "The nearest things I can do" in answer.content


@pytest.mark.parametrize(
    "script",
    [
        [ProviderUnavailable("away")],
        [ProviderTimedOut("slow")],
        ["  "],
        [Line(Reply(HELLO, "m"), delay_s=60)],
        [Line(Reply("Hello", "m"), failure=ProviderUnavailable("it broke off"))],
    ],
)
def test_without_a_reply_it_says_what_it_can_do(script: Script) -> None:
    answer = ask(speaking(script, agent={**ON, "model_timeout": 0.1}), "hi there")
    assert answer.metadata["source"] == "intent"
    assert "The nearest things I can do" in answer.content
    assert stage(answer, "converse")["why"]


def test_it_is_told_what_was_said_and_who_it_is() -> None:
    model = ScriptedChat([HELLO])
    before = (Message("user", "I am Ana."), Message("assistant", "Hello Ana!"))
    adapter = speaking(model, agent={**ON, "system_prompt": "You are a pirate."})
    ask(adapter, "Who am I?", ConversationContext(before))
    system, *rest = model.asked[0].messages
    assert system.content.startswith("You are a pirate. No tool was used for this reply")
    assert PERCENTAGE.description in system.content
    assert rest == [*before, Message("user", "Who am I?")]


def test_of_a_long_conversation_the_latest_is_told() -> None:
    model = ScriptedChat([HELLO])
    before = tuple(Message("user", f"{n} " + "word " * 200) for n in range(20))
    ask(speaking(model, agent=ON), "hi there", ConversationContext(before))
    _, *told, _ = model.asked[0].messages
    assert 1 <= len(told) < 10
    assert told == list(before[-len(told) :])


def test_its_words_leave_as_they_come_and_are_taken_back_when_it_dies() -> None:
    _, heard = overhear(speaking([HELLO], agent=ON), "hi there")
    assert heard[0] == StreamEvent("text", "Hello!")
    assert "".join(one.text for one in heard) == HELLO
    dying = [Line(Reply("Hello", "m"), failure=ProviderUnavailable("it broke off"))]
    answer, heard = overhear(speaking(dying, agent=ON), "hi there")
    assert heard == [StreamEvent("text", "Hello"), StreamEvent("reset", "it broke off")]
    assert answer.metadata["source"] == "intent"


async def chatting(text: str, now: datetime) -> Detection:
    return Detection(Intent("CHAT", 1, "default"), {})


def test_an_intent_without_tools_is_talk() -> None:
    policy = {"intent_tools": {"SUM": "calculate_percentage", "CHAT": []}}
    model = ScriptedChat([HELLO])
    adapter = replace(speaking(model, agent=ON, policy=policy), detect=chatting)
    answer = ask(adapter, "What is 15% of 200?")
    assert (answer.content, answer.metadata["source"]) == (HELLO, "model")
    assert answer.metadata["why"] == "nothing is done for the intent CHAT"


def test_no_model_is_told_what_may_be_sensitive() -> None:
    hidden = replace(PERCENTAGE, policy=CallPolicy(sensitive_params=("value",)))
    library = Library(LIBRARY.domain, {t.id: t for t in (hidden, DIVIDE)})

    class Near:
        """Notes the template with the sensitive parameter as a candidate, and finds nothing."""

        async def decide(self, turn, trace):  # type: ignore[no-untyped-def]
            from server.core.decision import NoMatch

            trace.note("match", {"candidates": [{"template_id": hidden.id}]})
            return NoMatch("nothing is near")

        async def close(self) -> None:
            return None

    model = ScriptedChat([HELLO])
    adapter = replace(table_adapter(library=library), decider=Near())
    ask(speaking(model, adapter, agent=ON), "my card is 4111111111111111")
    assert model.asked == []
