"""Whatever comes in, a valid result comes out, always the same, and in linear work."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.intents.support import DECISIONS, STUDY, detector, questions, result

PIECES = [word for q in questions("decisions_he") for word in q["ask"].split()]
HEBREW = st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=14).map(" ".join)
ANY_TEXT = st.text(max_size=200) | HEBREW


@given(ANY_TEXT)
def test_any_text_gives_a_valid_result(text: str) -> None:
    found = result(DECISIONS, text)
    assert list(found) == ["intent_type", "entities", "confidence", "route_flags", "explanation"]
    assert found["intent_type"] in {"QUERY", "EVAL", "CLARIFICATION", "REFERENCE"}
    assert found["confidence"] in {0.3, 0.9, 1.0}
    assert list(found["route_flags"]) == ["needs_context", "is_statistical", "is_comparison"]
    assert all(_valid(name, value) for name, value in found["entities"].items())
    assert json.loads(json.dumps(found)) == found
    found["explanation"].encode()


@given(ANY_TEXT)
def test_the_same_text_gives_the_same_result(text: str) -> None:
    assert (result(DECISIONS, text), result(STUDY, text)) == (
        result(DECISIONS, text),
        result(STUDY, text),
    )


@given(st.text(st.characters(categories=["Cs", "Mn", "Cf", "Co", "Lo", "Nd"]), max_size=60))
def test_odd_characters_are_no_failure(text: str) -> None:
    assert result(DECISIONS, text)["confidence"] != 0.1


@pytest.mark.parametrize(
    "hostile",
    [
        "החלטות " * 15_000,
        "ממשלה 37 " * 12_000,
        "בין 2020 ל-2021 " * 7_000,
        "שלושים ושבע " * 9_000,
        "לפני " * 20_000,
        "א" * 100_000,
        "1" * 100_000,
        "1," * 50_000,
        "\u05b0" * 100_000,
        "a" + "\u0301\u0323" * 50_000,
        "בנושא " * 16_000,
        '"' * 100_000,
        " " * 100_000,
        "ו" * 50_000 + " " + "ה" * 50_000,
        "משרד החינוך והבריאות " * 5_000,
    ],
    ids=lambda text: text[:12],
)
def test_a_hundred_thousand_characters_are_read_to_the_end(hostile: str) -> None:
    assert result(DECISIONS, hostile)["confidence"] != 0.1
    assert result(STUDY, hostile)["confidence"] != 0.1


def _valid(name: str, value: Any) -> bool:
    match name:
        case "government_number":
            return isinstance(value, int) and 20 <= value <= 38
        case "decision_number" | "limit" | "reference_position":
            return isinstance(value, int) and value > 0
        case "topic":
            return isinstance(value, str) and value == value.strip() != ""
        case "ministries":
            return len(value) == len(set(value)) > 0
        case "date_range":
            return list(value) == ["start", "end"] and value["start"] <= value["end"]
        case "operation":
            return value in {"search", "count", "compare", "list"}
        case "comparison_target":
            kind, _, items = value.partition(":")
            return kind.isalpha() and len(items.split(",")) > 1
        case "sort_order":
            return value in {"asc", "desc"}
        case "reference_type":
            return value in {"last", "previous", "specific", "context"}
    return False


def test_detection_says_what_it_was_read_from() -> None:
    found = detector(DECISIONS).detect("תן לי חמש החלטות של הממשלה ה-37 בנושא החינוך")
    assert dict(found.words) == {
        "government_number": "ממשלה ה-37",
        "topic": "החינוך",
        "limit": "חמש החלטות",
    }
