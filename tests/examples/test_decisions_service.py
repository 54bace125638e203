"""The decisions service, and the entities that its questions bring to its templates."""

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from examples.services.decisions import app
from examples.services.decisions_rows import SUBJECTS, TERMS, decisions
from server.settings.documents import read_yaml
from tests.intents.support import DECISIONS, NOW, detector

QUESTIONS = Path(__file__).parents[2] / "examples/intent-templates/gov-decisions/questions.yaml"
DEFAULTS = {"limit": 10, "sort_order": "desc"}

client = TestClient(app)


def get(path: str, **asked: Any) -> Any:
    return client.get(path, params=asked).json()


def test_there_are_a_few_thousand_decisions_in_the_order_of_time() -> None:
    rows = decisions()
    assert len(rows) == 3123
    assert [row["date"] for row in rows] == sorted(row["date"] for row in rows)
    assert {row["government"] for row in rows} == set(TERMS)


def test_a_number_is_used_once_in_a_government() -> None:
    pairs = [(row["government"], row["number"]) for row in decisions()]
    assert len(pairs) == len(set(pairs))


def test_counting() -> None:
    assert (
        get("/decisions/count", topic="בריאות"),
        get("/decisions/count", government=37, topic="חינוך"),
        get("/decisions/count", topic="אין נושא כזה"),
        get("/decisions/count"),
    ) == ({"decisions": 110}, {"decisions": 6}, {"decisions": 0}, {"decisions": 3123})


def test_comparing_two_governments() -> None:
    assert get("/decisions/compare", target="governments:36,37") == {
        "rows": [
            {
                "name": "36",
                "decisions": 188,
                "first": "2021-06-13",
                "last": "2022-12-26",
                "main_topic": "קורונה",
            },
            {
                "name": "37",
                "decisions": 264,
                "first": "2022-12-29",
                "last": "2025-02-25",
                "main_topic": "תחבורה ציבורית",
            },
        ]
    }


def test_what_cannot_be_compared_or_limited_is_refused() -> None:
    compared = client.get("/decisions/compare", params={"target": "cats:1,2"})
    limited = client.get("/decisions", params={"limit": "many"})
    assert (compared.status_code, compared.json(), limited.status_code, limited.json()) == (
        400,
        {
            "message": "target is none of governments, years, topics, ministries, decisions, "
            "each with names behind a colon"
        },
        400,
        {"message": "limit is not a number"},
    )


def test_searching_in_either_order() -> None:
    newest = get("/decisions", government=36, limit=2)
    oldest = get("/decisions", government=36, limit=2, sort="asc")
    assert (newest["total"], [row["date"] for row in newest["decisions"]]) == (
        188,
        ["2022-12-26", "2022-12-23"],
    )
    assert [row["date"] for row in oldest["decisions"]] == ["2021-06-13", "2021-06-16"]


def test_filters_together() -> None:
    asked = {"from": "2022-01-01", "to": "2022-12-31", "ministry": ["משרד התחבורה", "משרד האוצר"]}
    found = get("/decisions", limit=100, **asked)
    assert found["total"] == len(found["decisions"]) > 0
    for row in found["decisions"]:
        assert row["date"].startswith("2022")
        assert row["ministries"] == ["משרד התחבורה", "משרד האוצר"]


def test_topics_and_ministries_are_those_of_the_rule_pack() -> None:
    pack = read_yaml(DECISIONS / "pack.yaml", {}).data
    known = {entity["name"]: set(entity.get("values", ())) for entity in pack["entities"]}
    assert SUBJECTS.keys() <= known["topic"]
    assert {ministry for ministry, *_ in SUBJECTS.values()} <= known["ministries"]


ASKED = [q for q in read_yaml(QUESTIONS, {}).data["questions"] if q["template"] is not None]


@pytest.mark.parametrize("question", ASKED, ids=lambda question: question["ask"])
def test_the_rule_pack_finds_every_argument(question: dict[str, Any]) -> None:
    found = dict(detector(DECISIONS).detect(question["ask"], NOW).intent.entities)
    found.pop("operation", None)
    if question["template"] == "search_decisions":
        found = DEFAULTS | found
    assert found == question["arguments"]


@pytest.mark.parametrize("ask", ["מה?", "שלום, מה שלומך?", "תודה רבה על העזרה"])
def test_small_talk_is_no_query(ask: str) -> None:
    assert detector(DECISIONS).detect(ask, NOW).intent.name == "CLARIFICATION"


@pytest.mark.parametrize("topic", ["מים", "חינוך", "בריאות", "הכינרת", "אין כזה"])
def test_count_list_and_comparison_agree(topic: str) -> None:
    counted = get("/decisions/count", topic=topic)["decisions"]
    listed = get("/decisions", topic=topic, limit=1000)
    compared = get("/decisions/compare", target=f"topics:{topic},דיור")["rows"][0]
    assert (listed["total"], len(listed["decisions"]), compared["decisions"]) == (counted,) * 3


def test_a_topic_is_no_part_of_another_word() -> None:
    rows = get("/decisions", topic="מים", limit=1000)["decisions"]
    assert {row["topic"] for row in rows} == {"מים"}  # and not the חסמים of other titles


def test_a_decision_is_analysed_by_its_fields() -> None:
    (row,) = get("/decisions/analysis", number=574, government=36)["decisions"]
    met = [each["met"] for each in row["requirements"]]
    assert (met, row["met"]) == ([True, True, False, True, False, True], 4)
    assert get("/decisions/analysis", number=99999)["decisions"] == []
