"""A question that stands alone means the same in the middle of a conversation."""

import json
import random
from collections.abc import Iterator
from functools import cache

import pytest
import yaml

from server.core.decision import Answer, Call, Clarify, MissingArguments
from server.core.json import to_json
from tests.conversations.running import Talks
from tests.examples.running import EXAMPLES, services

pytestmark = pytest.mark.slow

LACKING = (
    "How is the weather?",
    "Convert 100 USD",
    "multiply 12",
    "What is the stock price?",
    "Create a task",
    "400",
)
"""What is answered with a question, so that the next message might be taken for the answer."""


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talks]:
    with services() as address:
        found = Talks(tmp_path_factory.mktemp("alone"), {"DEMO_SERVICES_URL": address})
        yield found
        found.close()


def meaning(answer: Answer) -> object:
    decision = answer.decision
    match decision:
        case Call(_, call):
            return "call", call.template_id, json.loads(to_json(dict(call.arguments)))
        case MissingArguments(match, missing):
            return "ask", match.template_id, [one.name for one in missing]
        case Clarify(options):
            return "offer", [option.template_id for option in options]
    return type(decision).__name__


@cache
def questions() -> list[str]:
    folder = EXAMPLES / "agent-template"
    listed = yaml.safe_load((folder / "questions.yaml").read_text(encoding="utf-8"))
    return [question["ask"] for question in listed["questions"]]


def test_after_any_other_question(talks: Talks) -> None:
    draw = random.Random(8)
    asked = draw.sample(questions(), 40)
    for number, question in enumerate(asked):
        before = [draw.choice(questions()), LACKING[number % len(LACKING)]]
        session = f"after {number}"
        for earlier in before:
            talks.say("intent-agent-example", session, earlier)
        alone = talks.alone("intent-agent-example", question)
        within = talks.say("intent-agent-example", session, question)
        assert meaning(within) == meaning(alone), (before, question)


def test_a_page_of_text_is_no_answer(talks: Talks) -> None:
    page = "in Paris " + "we waited and waited " * 150
    for number, lacking in enumerate(LACKING):
        talks.say("intent-agent-example", f"page {number}", lacking)
        within = talks.say("intent-agent-example", f"page {number}", page)
        assert meaning(within) == meaning(talks.alone("intent-agent-example", page))
        signs = talks.say("intent-agent-example", f"page {number}", "?!")
        assert meaning(signs) == meaning(talks.alone("intent-agent-example", "?!"))
