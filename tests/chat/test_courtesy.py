"""Courtesies are answered from the library itself, before anything is matched."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from server.chat.adapter import Adapter
from server.core.decision import Answer, Courtesy, NoMatch
from server.core.turn import ConversationContext, OfferedChoices, PendingQuestion
from server.library.model import CallPolicy, Domain, Library, ResponseConfig
from server.providers.chat.scripted import ScriptedChat
from server.retrievers.courtesy import courtesy_kinds, with_courtesy
from tests.llm.adapters import ask, speaking
from tests.support.deciding import DIVIDE, LIBRARY, PERCENTAGE, ByTable, table_adapter

DOMAIN = Domain("arithmetic", "Sums of all kinds. Exact ones.")


def adapter_of(library: Library) -> Adapter:
    return replace(table_adapter(library=library), decider=with_courtesy(ByTable(), library))


def library_of(domain: Domain = DOMAIN, **changes: Any) -> Library:
    first = replace(PERCENTAGE, **changes)
    return Library(domain, {first.id: first, DIVIDE.id: DIVIDE})


def shown(answer: Answer) -> Mapping[str, Any]:
    return {name: answer.metadata[name] for name in ("source", "template_id", "courtesy")}


def test_what_it_can_do_is_told_from_the_library() -> None:
    answer = ask(adapter_of(library_of()), "Hello, what can you do?")
    assert answer.content == (
        "I can help with this: Sums of all kinds. For example:\n"
        "- Calculate a percentage of a given value (“What is 15% of 200?”)\n"
        "- Divide one number by another (“Divide 100 by 4”)"
    )
    assert shown(answer) == {
        "source": "intent",
        "template_id": None,
        "courtesy": {"kind": "help", "language": "en"},
    }
    assert (answer.confidence, "tool_execution" in answer.metadata) == (1.0, False)


def test_it_says_that_it_is_a_program_in_the_language_of_the_question() -> None:
    answer = ask(adapter_of(library_of()), "Wer bist du?")
    assert answer.content.startswith(
        "Ich bin **arithmetic**, ein Programm und kein Mensch. Sums of all kinds."
    )


def test_nothing_is_matched_and_the_trace_tells_why() -> None:
    trace = ask(adapter_of(library_of()), "thanks!").trace.to_list()
    assert trace == [{"stage": "courtesy", "ms": 0.0, "kind": "thanks", "language": "en"}]


def test_every_word_of_it_is_shown_as_read() -> None:
    coverage = ask(adapter_of(library_of()), "Hey, what's up?").metadata["coverage"]
    assert [(word["text"], word["as"]) for word in coverage] == [
        ("Hey", "filler"),
        ("what's", "filler"),
        ("up", "filler"),
    ]


def test_a_request_beside_it_goes_first() -> None:
    answer = ask(adapter_of(library_of()), "hello, what is the weather")
    assert isinstance(answer.decision, NoMatch)


def test_examples_are_those_that_the_caller_may_ask() -> None:
    library = library_of(policy=CallPolicy(allowed_roles=("admin",)))
    answer = ask(adapter_of(library), "help")
    assert ("Divide 100 by 4" in answer.content, "15%" in answer.content) == (True, False)


def test_examples_are_in_the_language_of_the_question_where_there_are_such() -> None:
    examples = ("What is 15% of 200?", "Wie viel sind 15 % von 200?")
    adapter = adapter_of(library_of(nl_examples=examples))
    assert "„Wie viel sind 15 % von 200?“" in ask(adapter, "Was kannst du?").content
    assert "“What is 15% of 200?”" in ask(adapter, "What can you do?").content


def test_an_authors_text_comes_first() -> None:
    texts = {"courtesy_hello": {"en": "Welcome to {{ name }}!", "fr": "Bienvenue !"}}
    domain = replace(DOMAIN, response=ResponseConfig("en", ("en", "fr"), texts))
    adapter = adapter_of(library_of(domain))
    said = [ask(adapter, text).content for text in ("hello", "bonjour", "danke")]
    assert said == ["Welcome to arithmetic!", "Bienvenue !", "Gern geschehen."]


def test_a_domain_may_have_none_or_some() -> None:
    off, some = replace(DOMAIN, courtesy=()), replace(DOMAIN, courtesy=("help",))
    said = [
        isinstance(ask(adapter_of(library_of(domain)), text).decision, Courtesy)
        for domain in (off, some)
        for text in ("hello", "help")
    ]
    assert said == [False, False, False, True]


def test_a_template_that_answers_a_courtesy_keeps_it() -> None:
    library = library_of(nl_examples=("hello there", "what's your name"))
    assert courtesy_kinds(library) == ("thanks", "bye", "help")


def test_a_courtesy_may_be_what_was_asked_for() -> None:
    asked = ConversationContext(asked=PendingQuestion(PERCENTAGE.id, ("value",)))
    offered = ConversationContext(options=OfferedChoices((PERCENTAGE.id, DIVIDE.id)))
    for context in (asked, offered):
        answer = ask(adapter_of(LIBRARY), "thanks", context)
        stages = [stage.name for stage in answer.trace.stages]
        assert (stages, type(answer.decision)) == (["match", "courtesy"], Courtesy)


def test_a_model_that_converses_speaks_and_the_text_stands_where_it_fails() -> None:
    on = {"conversation": True}
    adapter = adapter_of(library_of())
    answer = ask(speaking(["Welcome, dear customer!"], adapter, agent=on), "hello")
    assert (answer.content, answer.metadata["source"]) == ("Welcome, dear customer!", "model")
    assert ask(speaking(["  "], adapter, agent=on), "thanks").content == "You're welcome."
    silent = ScriptedChat(["Hi"])
    assert ask(speaking(silent, adapter), "thanks").content == "You're welcome."
    assert silent.asked == []
