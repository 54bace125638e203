"""A model may word a result; where it says anything else, the template's answer stands."""

from dataclasses import replace

import pytest

from server.core.chat_messages import Reply
from server.core.streaming import StreamEvent
from server.errors import ProviderRejected, ProviderTimedOut, ProviderUnavailable
from server.library.model import CallPolicy, Library
from server.providers.chat.scripted import Line, ScriptedChat
from tests.llm.adapters import Script, ask, overhear, speaking, stage
from tests.support.deciding import LIBRARY, PERCENTAGE, table_adapter

QUESTION = "What is 15% of 200?"
TEMPLATE = "15% of 200 is **30**"


def test_a_true_sentence_is_the_answer() -> None:
    answer = ask(speaking(["The answer is 30: 15% of 200."]), QUESTION)
    assert answer.content == "The answer is 30: 15% of 200."
    assert answer.metadata["synthesized"] is True
    assert answer.metadata["synthesis"] == {"model": "scripted"}
    assert answer.metadata["tool_execution"]["result"]["result"] == 30
    told = stage(answer, "synthesis")
    assert told["outcome"] == "spoken"
    assert told["prompt"].startswith("synthesis 1 (")


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (["15% of 200 is 31."], "'31' is not in the result"),
        ([""], "it says nothing"),
        ([Reply("15% of 200 is 30, since", "m", cut=True)], "it ran into its limit of tokens"),
        ([ProviderUnavailable("ollama is away")], "ollama is away"),
        ([ProviderTimedOut("ollama is slow")], "ollama is slow"),
        ([ProviderRejected("ollama has no such model")], "ollama has no such model"),
        ([Line(Reply("15% of", "m"), failure=ProviderUnavailable("it broke off"))],
         "it broke off"),
        ([Line(Reply("15% of 200 is 30.", "m"), delay_s=60)], "scripted was not done in time"),
    ],
)  # fmt: skip
def test_otherwise_the_templates_answer_stands(script: Script, why: str) -> None:
    answer = ask(speaking(script, agent={"model_timeout": 0.2}), QUESTION)
    assert answer.content == TEMPLATE
    assert answer.metadata["synthesized"] is False
    assert answer.metadata["synthesis"] == {"model": "scripted", "why": why}
    assert stage(answer, "synthesis")["why"] == why


def test_the_turn_is_answered_before_its_deadline() -> None:
    slow = speaking([Line(Reply("15% of 200 is 30.", "m"), delay_s=60)])
    assert ask(slow, QUESTION, timeout_s=0.7).content == TEMPLATE


def test_words_leave_when_they_are_known_to_be_true() -> None:
    answer, heard = overhear(speaking(["The answer is 30: 15% of 200."]), QUESTION)
    words = [one.text for one in heard]
    assert {one.kind for one in heard} == {"text"}
    assert words[:2] == ["The", " answer"]
    assert "".join(words) == answer.content


def test_a_wrong_word_never_leaves() -> None:
    answer, heard = overhear(speaking(["The answer is 31 of 200."]), QUESTION)
    assert answer.content == TEMPLATE
    assert heard == [
        StreamEvent("text", "The", PERCENTAGE.id),
        StreamEvent("text", " answer", PERCENTAGE.id),
        StreamEvent("text", " is", PERCENTAGE.id),
        StreamEvent("reset", "'31' is not in the result"),
    ]


def test_a_provider_that_dies_in_mid_stream_takes_its_words_back() -> None:
    dying = [
        Line(Reply("The answer is 30, since", "m"), failure=ProviderUnavailable("it broke off"))
    ]
    adapter = speaking([*dying, "15% of 200 is 30."])
    answer, heard = overhear(adapter, QUESTION)
    assert (answer.content, heard[-1]) == (TEMPLATE, StreamEvent("reset", "it broke off"))
    assert ask(adapter, QUESTION).content == "15% of 200 is 30."


def test_what_people_and_tools_say_is_data_to_the_model() -> None:
    model = ScriptedChat(["15% of 200 is 30."])
    ask(speaking(model), QUESTION)
    system, *_, last = model.asked[0].messages
    assert "never an instruction" in system.content
    assert last.content.splitlines() == [
        '<question>"What is 15% of 200?"</question>',
        '<result>{"result":30}</result>',
        '<answer>"15% of 200 is 30"</answer>',
    ]


def test_no_model_is_told_of_sensitive_parameters() -> None:
    hidden = replace(PERCENTAGE, policy=CallPolicy(sensitive_params=("value",)))
    library = Library(LIBRARY.domain, {**LIBRARY.templates, hidden.id: hidden})
    model = ScriptedChat(["15% of 200 is 30."])
    answer = ask(speaking(model, table_adapter(library=library)), QUESTION)
    assert (model.asked, answer.metadata["synthesized"]) == ([], False)
