"""Every labelled question means what people mean by it: intent, layer and all entities."""

from typing import Any

import pytest

from tests.intents.support import BOOKINGS, DECISIONS, NOW, STUDY, detector, questions

ALL = [
    pytest.param(pack, question, id=question["ask"] or "nothing")
    for name, pack in (
        ("decisions_he", DECISIONS),
        ("study_en", STUDY),
        ("bookings_en", BOOKINGS),
    )
    for question in questions(name)
]


@pytest.mark.parametrize(("pack", "question"), ALL)
def test_the_question_means_what_is_written_beside_it(pack: Any, question: dict[str, Any]) -> None:
    found = detector(pack).detect(question["ask"], NOW).intent
    got = {"ask": question["ask"], "intent": found.name, "entities": found.entities}
    if "method" in question:
        got["method"] = found.method
    if "route" in question:
        got["route"] = found.route
    assert got == question


@pytest.mark.parametrize("question", questions("decisions_he"), ids=lambda q: q["ask"])
def test_flags_follow_from_the_intent_and_the_operation(question: dict[str, Any]) -> None:
    found = detector(DECISIONS).detect(question["ask"], NOW).result
    operation = question["entities"].get("operation")
    assert found["route_flags"] == {
        "needs_context": question["intent"] == "REFERENCE",
        "is_statistical": operation == "count",
        "is_comparison": operation == "compare",
    }


def test_there_are_hundreds_of_questions_in_each_language() -> None:
    hebrew = {q["ask"] for q in questions("decisions_he")}
    english = {q["ask"] for q in (*questions("study_en"), *questions("bookings_en"))}
    assert (len(hebrew) >= 300, len(english) >= 200) == (True, True)
