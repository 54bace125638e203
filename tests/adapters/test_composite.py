"""One adapter before several: who answers, who is asked about, and what is said of it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from server.adapters.local import ask_once, open_adapter
from server.chat.adapter import Adapter
from server.cli.check import check_path
from server.cli.options import Configured
from server.core.decision import Answer, Clarify, Courtesy, MissingArguments, NoMatch
from server.core.turn import Caller
from server.evaluation.trial import LibraryTrial
from tests.adapters import city_tools
from tests.adapters.cities import CHILDREN, TORONTO, composite, configure_cities, template
from tests.support.configuring import write_library

pytestmark = pytest.mark.anyio


@dataclass
class Desk:
    """The adapter `cities`, in this process."""

    configured: Configured
    adapter: Adapter

    async def ask(self, text: str, session: str = "s") -> Answer:
        return await ask_once(self.configured.settings, self.adapter, text, session, continues=True)

    async def came_to(self, *texts: str) -> list[tuple[str | None, str]]:
        """Who answers each message of one conversation, and what."""
        answers = [await self.ask(text, str(texts)) for text in texts]
        return [(who(answer), answer.content) for answer in answers]


def who(answer: Answer) -> str | None:
    named = answer.metadata.get("answered_by")
    return None if named is None else str(named["adapter"])


def asked_about(answer: Answer) -> list[tuple[str, str]]:
    return [(each["source"]["label"], each["template_id"]) for each in answer.metadata["options"]]


@asynccontextmanager
async def desk_over(configured: Configured) -> AsyncIterator[Desk]:
    settings = configured.settings
    chosen = next(each for each in settings.adapters if each.name == "cities")
    async with open_adapter(settings, configured.environ, chosen, remembers=True) as opened:
        yield Desk(configured, opened)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with desk_over(configure_cities(tmp_path)) as opened:
        yield opened


async def test_the_adapter_with_a_clear_call_answers_and_is_named(desk: Desk) -> None:
    answer = await desk.ask("What is 20% of 50?")
    assert answer.content == "20% of 50 is **10**"
    assert answer.metadata["answered_by"] == {"adapter": "sums", "label": "sums"}
    assert answer.metadata["template_id"] == "calculate_percentage"
    answer = await desk.ask("How many parks are there?")
    assert (answer.content, answer.metadata["answered_by"]["label"]) == ("12 parks", "Ottawa")


async def test_two_that_could_answer_are_asked_about(desk: Desk) -> None:
    answer = await desk.ask("How many bikes were stolen in 2020?")
    assert isinstance(answer.decision, Clarify)
    assert asked_about(answer) == [("toronto", "toronto_thefts"), ("Ottawa", "stolen_in_year")]
    assert answer.content.startswith("I can answer that from more than one source: toronto or Ott")
    assert "2. **Ottawa**: Count what was stolen in a year" in answer.content
    assert who(answer) is None


@pytest.mark.parametrize(
    ("choice", "answered"),
    [
        ("the second one", ("ottawa", "120 bikes")),
        ("1", ("toronto", "1020 bikes")),
        ("Toronto", ("toronto", "1020 bikes")),
        ("in the capital, please", ("ottawa", "120 bikes")),
        ("never mind", (None, "OK, cancelled.")),
        ("What is 20% of 50?", ("sums", "20% of 50 is **10**")),
    ],
)
async def test_the_choice_is_made_by_place_or_by_source(
    desk: Desk, choice: str, answered: tuple[str | None, str]
) -> None:
    _, chosen = await desk.came_to("How many bikes were stolen in 2020?", choice)
    assert chosen == answered


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        ("How many bikes were stolen in 2020 in Ottawa?", ("ottawa", "120 bikes")),
        ("in Toronto, how many cars were stolen in 2021?", ("toronto", "1021 cars")),
        ("toronto police: cars stolen in 2021", ("toronto", "1021 cars")),
        ("phones stolen in 2013 from the capital", ("ottawa", "113 phones")),
    ],
)
async def test_a_question_names_its_source(
    desk: Desk, question: str, answered: tuple[str, str]
) -> None:
    answer = await desk.ask(question)
    assert (who(answer), answer.content) == answered
    coverage = answer.metadata["coverage"]
    assert [each["text"] for each in coverage if each["as"] == "unread"] == []
    assert "".join(each["text"] for each in coverage).isalnum()


async def test_only_the_named_one_answers(desk: Desk) -> None:
    answer = await desk.ask("How many parks are there in Toronto?")
    assert isinstance(answer.decision, NoMatch)
    assert who(answer) == "toronto"
    asked = answer.trace.to_list()
    assert not any("ottawa" in str(stage["stage"]) and "tool" in stage for stage in asked)


async def test_a_name_that_is_a_value_elsewhere_names_no_source(tmp_path: Path) -> None:
    configured = configure_cities(tmp_path)
    place = {"name": "city", "type": "string", "enum": ["Toronto", "Paris"], "required": True}
    flights = template(
        "flights",
        "flights",
        "Which flights leave for Paris?",
        "flights to Toronto",
        "show flights to Paris",
        description="List flights",
        parameters=[place],
        response_template="{{ result }}",
    )
    write_library(tmp_path / "sums", [flights])
    async with desk_over(configured) as desk:
        answer = "sums", "flights to Toronto"
        assert await desk.came_to("show flights to Toronto") == [answer]
        assert await desk.came_to("Which flights leave for Toronto?") == [answer]


async def test_a_conversation_goes_on_with_who_answered(desk: Desk) -> None:
    said = (
        "How many bikes were stolen in 2020 in Ottawa?",
        "and in 2021?",
        "what is 10% of 50?",
        "and 20%?",
    )
    assert await desk.came_to(*said) == [
        ("ottawa", "120 bikes"),
        ("ottawa", "121 bikes"),
        ("sums", "10% of 50 is **5**"),
        ("sums", "20% of 50 is **10**"),
    ]
    rows, second, first = await desk.came_to(
        "Which thefts are the newest?", "tell me more about the second one", "and the first one?"
    )
    assert rows[0] == "toronto"
    assert [second, first] == [("toronto", "**theft 8**"), ("toronto", "**theft 7**")]


async def test_what_was_asked_is_answered_to_who_asked(desk: Desk) -> None:
    missing = await desk.ask("how many bikes were stolen in Toronto?")
    assert isinstance(missing.decision, MissingArguments)
    assert who(missing) == "toronto"
    assert (await desk.ask("2020")).content == "1020 bikes"


async def test_the_last_call_is_repeated_in_another_source_of_its_topic(desk: Desk) -> None:
    said = (
        "How many bikes were stolen in 2020 in Ottawa?",
        "and in Toronto?",
        "and in 2021 in the capital?",
    )
    assert [answer for _, answer in await desk.came_to(*said)] == [
        "120 bikes",
        "1020 bikes",
        "121 bikes",
    ]


async def test_a_held_call_runs_with_a_yes_in_its_own_adapter(desk: Desk) -> None:
    city_tools.REPORTED.clear()
    held = await desk.ask("report a theft at the harbour")
    assert (who(held), held.metadata["proposal"]["status"]) == ("toronto", "held")
    assert city_tools.REPORTED == []
    done = await desk.ask("yes")
    assert (who(done), done.content) == ("toronto", "reported at harbour")
    assert done.metadata["proposal"]["status"] == "done"
    assert city_tools.REPORTED == ["harbour"]


@pytest.mark.parametrize(
    "question",
    [
        "How many bikes were stolen in 2020 in Toronto and in Ottawa?",
        "compare the bikes stolen in 2020 in Toronto with the capital",
        "Toronto and Ottawa: bikes stolen in 2020",
    ],
)
async def test_two_sources_are_shown_side_by_side(desk: Desk, question: str) -> None:
    answer = await desk.ask(question)
    assert answer.content == "**toronto:** 1020 bikes\n\n**Ottawa:** 120 bikes"
    calls = answer.metadata["calls"]
    assert [(each["answered_by"]["adapter"], each["template_id"]) for each in calls] == [
        ("toronto", "toronto_thefts"),
        ("ottawa", "stolen_in_year"),
    ]
    assert [each["arguments"].keys() for each in calls] == [{"kind", "year"}] * 2


async def test_sources_are_compared_after_the_question(desk: Desk) -> None:
    said = (
        "How many bikes were stolen in 2020 in Ottawa?",
        "compare Toronto and Ottawa",
        "and in 2021?",
    )
    _, *compared = await desk.came_to(*said)
    assert compared == [
        (None, "**toronto:** 1020 bikes\n\n**Ottawa:** 120 bikes"),
        (None, "**toronto:** 1021 bikes\n\n**Ottawa:** 121 bikes"),
    ]


async def test_what_was_compared_can_be_gone_on_with(desk: Desk) -> None:
    said = (
        "bikes stolen in 2020 in Toronto and in Ottawa",
        "and in 2021?",
        "and cars?",
        "and in Toronto in 2013?",
        "and in 2012?",
    )
    _, *then = await desk.came_to(*said)
    assert then == [
        (None, "**toronto:** 1021 bikes\n\n**Ottawa:** 121 bikes"),
        (None, "**toronto:** 1021 cars\n\n**Ottawa:** 121 cars"),
        ("toronto", "1013 cars"),
        ("toronto", "1012 cars"),
    ]


async def test_a_source_without_the_topic_is_named(desk: Desk) -> None:
    answer = await desk.ask("How many parks are there in Toronto and in Ottawa?")
    assert answer.content == (
        "**Ottawa:** 12 parks\n\nThe source **toronto** has no answer to that."
    )
    (unanswered,) = answer.metadata["unanswered"]
    assert (unanswered["adapter"], who(answer)) == ("toronto", "ottawa")


async def test_the_same_id_is_the_same_topic(tmp_path: Path) -> None:
    configured = configure_cities(tmp_path)
    counted = template(
        "parks", "count_parks", "How many parks are there?", "number of parks", "count the parks"
    )
    domain = {"domain": {"name": "toronto police"}}
    write_library(tmp_path / "toronto", [*TORONTO, counted], domain)
    async with desk_over(configured) as desk:
        answer = await desk.ask("How many parks are there in Toronto and in Ottawa?")
        assert [each["answered_by"]["adapter"] for each in answer.metadata["calls"]] == [
            "toronto",
            "ottawa",
        ]


async def test_courtesies_and_declines_are_of_all(desk: Desk) -> None:
    hello = await desk.ask("What can you do?")
    assert isinstance(hello.decision, Courtesy)
    assert "toronto, Ottawa, sums" in hello.content
    declined = await desk.ask("how do I bake sourdough bread?")
    assert isinstance(declined.decision, NoMatch)
    assert {each["source"]["adapter"] for each in declined.metadata["nearest"]} <= {
        "toronto", "ottawa", "sums",
    }  # fmt: skip


async def test_one_that_cannot_be_opened_does_not_stop_the_others(tmp_path: Path) -> None:
    configured = configure_cities(tmp_path)
    (tmp_path / "ottawa" / "domain.yaml").write_text("domain: [")
    async with desk_over(configured) as desk:
        assert await desk.came_to("What is 20% of 50?", "bikes stolen in 2020") == [
            ("sums", "20% of 50 is **10**"),
            ("toronto", "1020 bikes"),
        ]
        answer = await desk.ask("bikes stolen in 2020 in the capital")
        assert answer.content == "The source **Ottawa** can't be reached now."
        assert str(tmp_path) not in str(answer.metadata)
        answer = await desk.ask("bikes stolen in 2020 in the capital and in Toronto")
        assert answer.content == (
            "**toronto:** 1020 bikes\n\nThe source **Ottawa** can't be reached now."
        )


async def test_the_trace_tells_what_each_made_of_the_question(desk: Desk) -> None:
    stages = (await desk.ask("What is 20% of 50?")).trace.to_list()
    sources = next(stage for stage in stages if stage["stage"] == "sources")
    assert sources["answers"] == "sums"
    assert {each["source"] for each in sources["asked"]} == {"toronto", "ottawa", "sums"}
    names = [stage["stage"] for stage in stages]
    assert {"toronto: match", "ottawa: choose", "sums: verify"} <= set(names)


async def test_a_private_candidate_of_one_hides_the_words_of_all(tmp_path: Path) -> None:
    configured = configure_cities(tmp_path)
    unlock = template(
        "unlock",
        "report",
        "Unlock the bike with code ABC",
        "unlock the bike with code XYZ",
        description="Unlock a bike",
        parameters=[{"name": "where", "type": "string", "required": True}],
        sensitive_params=["where"],
    )
    visit = template(
        "visit",
        "flights",
        "Which parks have bikes to unlock in Paris?",
        "parks with bikes to unlock in Rome",
        description="List parks",
        parameters=[{"name": "city", "type": "string", "required": True}],
    )
    write_library(tmp_path / "toronto", [*TORONTO, unlock], {"domain": {"name": "toronto police"}})
    write_library(tmp_path / "sums", [visit])
    async with desk_over(configured) as desk:
        answer = await desk.ask("parks with bikes to unlock in Berlin")
        assert who(answer) == "sums"
        assert "'unlock'" in str(answer.trace.to_list())  # it was a candidate
        assert "Berlin" not in str(answer.trace.to_list())
        assert desk.adapter.conversations is not None
        role = configured.settings.access.roles.names[-1]
        caller = Caller("local", "cities", "local", role)
        context = await desk.adapter.conversations.recall(caller, "s")
        assert "Berlin" not in context.messages[0].content
        assert context.done == ()


async def test_questions_name_templates_with_their_adapter(tmp_path: Path) -> None:
    configured = configure_cities(tmp_path)
    path = tmp_path / "questions.yaml"
    path.write_text(
        "questions:\n"
        "  - {ask: What is 20% of 50?, template: sums/calculate_percentage,"
        " arguments: {value: 50, percentage: 20}}\n"
        "  - {ask: cars stolen in 2013 in Ottawa, template: ottawa/stolen_in_year}\n"
        "  - {ask: bikes stolen in 2013, template: null}\n"
    )
    chosen = configured.settings.adapters[-1]
    trial = LibraryTrial(configured.settings, configured.environ, chosen, path)
    figures = (await trial.measure()).report.to_dict()
    assert (figures["template_accuracy"], figures["abstain_recall"]) == (1.0, 1.0)
    assert (figures["argument_accuracy"], figures["tool_success_rate"]) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("before", "problem"),
    [
        (composite(), ""),
        (
            composite()
            | {"implementation": "retrievers.implementations.intent.IntentHTTPRetriever"},
            "does not ask child_adapters; write implementation: retrievers.implementations.intent."
            "IntentCompositeRetriever",
        ),
        (composite() | {"embedding_provider": "ollama"}, "'embedding_provider' goes with the adap"),
    ],
)
def test_check_names_what_is_wrong_with_it(
    tmp_path: Path, before: Mapping[str, Any], problem: str
) -> None:
    configure_cities(tmp_path, before)
    found = [each for each in check_path(tmp_path / "config.yaml") if each.is_error]
    assert [problem in str(each) for each in found] == ([True] if problem else [])


def test_a_child_is_a_name_or_has_a_label_and_aliases(tmp_path: Path) -> None:
    settings = configure_cities(tmp_path, composite(CHILDREN)).settings
    children = settings.adapters[-1].config.child_adapters
    assert [(c.adapter, c.label, c.aliases) for c in children] == [
        ("toronto", "", ()),
        ("ottawa", "Ottawa", ("capital",)),
    ]
