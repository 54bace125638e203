"""The examples that call services answer what people ask, with data from those services."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest
import yaml

from tests.examples.running import (
    EXAMPLES,
    TODAY,
    Example,
    agent,
    jsonplaceholder,
    now,
    services,
)

pytestmark = pytest.mark.slow

AGENT_QUESTIONS = EXAMPLES / "agent-template" / "questions-http.yaml"
OTHER_QUESTIONS = EXAMPLES / "jsonplaceholder" / "questions.yaml"


@dataclass
class Clock:
    """What day it is for the services: `tomorrow` is counted from the real one."""

    day: date | None = None

    def today(self) -> date:
        return self.day or now()


@pytest.fixture(scope="module", params=["agent", "jsonplaceholder"])
def example(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Example, Clock]]:
    clock = Clock()
    make = {"agent": agent, "jsonplaceholder": jsonplaceholder}[request.param]
    with services(clock.today) as address:
        opened = make(tmp_path_factory.mktemp("example"), address)
        yield request.param, opened, clock
        opened.close()


QUESTIONS = {"agent": AGENT_QUESTIONS, "jsonplaceholder": OTHER_QUESTIONS}


def test_answers_hold_data_of_the_services(example: tuple[str, Example, Clock]) -> None:
    name, opened, clock = example
    clock.day = TODAY
    expected = ANSWERS[name]
    assert {question: opened.ask(question).content for question in expected} == expected


def test_people_are_understood(example: tuple[str, Example, Clock]) -> None:
    name, opened, clock = example
    clock.day = None
    figures = opened.evaluate(QUESTIONS[name]).to_dict()
    assert figures["questions"] >= (120 if name == "agent" else 80)
    assert figures["template_accuracy"] >= 0.9
    assert figures["argument_accuracy"] >= 0.9
    assert figures["wrong_call_rate"] <= 0.02


@pytest.mark.parametrize(
    ("questions", "templates"),
    [
        (AGENT_QUESTIONS, ("agent-template/tools.yaml", "agent-template/http_tools.yaml")),
        (OTHER_QUESTIONS, ("jsonplaceholder/templates.yaml",)),
    ],
)
def test_no_question_is_an_example(questions: Path, templates: tuple[str, ...]) -> None:
    asked = {_folded(q["ask"]) for q in yaml.safe_load(questions.read_text())["questions"]}
    examples = {
        _folded(example)
        for file in templates
        for template in yaml.safe_load((EXAMPLES / file).read_text())["templates"]
        for example in template["nl_examples"]
    }
    assert asked & examples == set()


AGENT_ANSWERS = {
    "What's the weather in London?": (
        "London, United Kingdom: **13.6°C**, partly cloudy (feels like 12.1°C, humidity 58%,"
        " wind 10.4 km/h)."
    ),
    "convert 250 usd to euros": "250 USD is **200 EUR** (1 USD = 0.8 EUR, 2025-06-04).",
    "forecast for Tokyo for the next 3 days": (
        "Forecast for Tokyo, Japan:\n\n"
        "| day | low | high | rain |\n"
        "| --- | --- | --- | --- |\n"
        "| Wed 2025-06-04 | 14.2°C | 22.2°C | 1.5 mm |\n"
        "| Thu 2025-06-05 | 14.7°C | 22.7°C | 3 mm |\n"
        "| Fri 2025-06-06 | 15.2°C | 23.2°C | 4.5 mm |"
    ),
    "weather in Rome this weekend": (
        "Forecast for Rome, Italy:\n\n"
        "| day | low | high | rain |\n"
        "| --- | --- | --- | --- |\n"
        "| Sat 2025-06-07 | 12.9°C | 20.9°C | 1.5 mm |\n"
        "| Sun 2025-06-08 | 13.4°C | 21.4°C | 3 mm |"
    ),
    "how windy is it in London in knots": (
        "London, United Kingdom: **13.6°C**, partly cloudy (feels like 12.1°C, humidity 58%,"
        " wind 5.6 kn)."
    ),
    "weather in London in imperial units": (
        "London, United Kingdom: **56.5°F**, partly cloudy (feels like 53.8°F, humidity 58%,"
        " wind 6.5 mph)."
    ),
    "100 usd in euros and pounds": (
        "100 USD is **80 EUR** (1 USD = 0.8 EUR, 2025-06-04).\n"
        "100 USD is **67.2 GBP** (1 USD = 0.672 GBP, 2025-06-04)."
    ),
    # A Sunday, for which the service has the rates of the Friday before.
    "what was 100 usd in eur on 5 march 2023": (
        "100 USD was **78.51 EUR** (1 USD = 0.78508 EUR, 2023-03-03)."
    ),
    "find museums in Bilbao": (
        "- **Old Bilbao Museum**, Bilbao, Spain: 43.27, -2.94\n"
        "- **New Bilbao Museum**, Bilbao, Spain: 43.28, -2.95\n"
        "- **Central Bilbao Museum**, Bilbao, Spain: 43.29, -2.96\n\n"
        "Map data © OpenStreetMap contributors"
    ),
    "where is the Sagrada Familia": (
        "- **Sagrada Família**, Barcelona, Spain: 41.4036, 2.1744\n\n"
        "Map data © OpenStreetMap contributors"
    ),
    "apple stock price": "APPLE (AAPL.US): **230.5 USD** on 2025-06-04 (low 228.1, high 232.6).",
    "top 2 places named Paris": (
        "- **Paris**, France: 48.85, 2.35 (2138551 people)\n"
        "- **Paris**, United States: 33.66, -95.56 (24171 people)\n\n"
        "Map data © OpenStreetMap contributors"
    ),
    "send a notification to the ops channel: backup failed": "Sent to **ops**: backup failed",
    "create a task: call mom": "Created task 201: **call mom**.",
    "create a task to call mom on 2025-07-01 at 5pm": (
        "Created task 201: **call mom**, due 2025-07-01T17:00:00."
    ),
    "What's the weather in Atlantis?": "I couldn't do that. (I know no place called Atlantis.)",
}


OTHER_ANSWERS = {
    "show user 3": (
        "**Chioma Eze** (Chioma): chioma.eze@example.org, phone 555-0103, chioma.example.org."
    ),
    "where does user 2 live": "Bruno Castell lives at 2 Mill Lane, Flat 2, **Brackwell** 00002.",
    "list the first 2 posts": "1. Notes on a quiet harbour\n2. Notes on the first frost",
    "show post 12": (
        "**In praise of the first frost** (by user 2)\n\nPost 12 says more about the first frost."
    ),
    "how many comments does post 3 have?": "Post 3 has **5** comments.",
    "how many open todos does user 3 have": "User 3 has **13** open to-dos.",
    "comments by reader7@example.org": (
        "| post | name | comment |\n"
        "| --- | --- | --- |\n"
        "| 2 | I see it differently | I see it differently: remark 7. |"
    ),
    'rename post 4 to "Better"': "Post 4 is now called **Better**.",
    "delete post 4": "Post 4 is deleted.",
}


ANSWERS = {"agent": AGENT_ANSWERS, "jsonplaceholder": OTHER_ANSWERS}


def _folded(question: str) -> str:
    return " ".join(question.lower().split()).rstrip(" ?!.")
