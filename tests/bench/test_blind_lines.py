"""What is right of an intent, a guard's verdict and a turn of a conversation."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from server.core.decision import Answer, Clarify, Ending, Match, NoMatch, PendingConfirmation
from server.core.tools import ToolCall
from utils.bench import _blind_lines as lines
from utils.bench._blind import Verdict
from utils.bench._blind_values import agrees, is_told, texts_in, value_of

TODAY = date(2026, 3, 1)
MATCH = Match("cancel_order", 0.9, 0.9, "")
HELD = PendingConfirmation(
    MATCH,
    ToolCall("cancel_order", "shop", "cancel", {}),
    *("id", datetime(2026, 3, 1, tzinfo=UTC), "seal", "cancel_order", "#004"),
)


@pytest.mark.parametrize(
    ("name", "expected", "found", "right"),
    [
        ("topic", "החינוך", "חינוך", True),
        ("topic", "הון", "ון", False),
        ("intent", "CHAT", None, False),
        ("operation", {"one_of": ["search", "list"]}, "list", True),
        ("operation", {"one_of": ["search", "list"]}, "count", False),
        ("limit", 5, 5, True),
        ("limit", 1, True, False),
        ("is_statistical", False, None, True),
        ("ministries", ["משרד החוץ", "משרד הבריאות"], ["משרד הבריאות", "משרד החוץ"], True),
        ("ministries", ["משרד החוץ"], ["משרד החוץ", "משרד הבריאות"], False),
        ("comparison_target", "government:36,37", "government:37, 36", True),
        ("comparison_target", "government:36,37", "topic:36,37", False),
        ("who", "ח״כ", 'חַ"כ', True),
        ("date_range", {"start": "{today-30}"}, {"start": "2026-01-30", "end": "x"}, True),
        ("date_range", {"end": "{year-1}-12-31"}, {"end": "2025-12-31T00:00:00"}, True),
        ("date_range", {"end": "{today}"}, {"start": "2026-03-01"}, False),
        (
            "date_range",
            {"start": {"from": "2021-05-01", "to": "2021-07-01"}},
            {"start": "2021-06-21"},
            True,
        ),
        (
            "date_range",
            {"start": {"from": "2021-05-01", "to": "2021-07-01"}},
            {"start": "2021-07-02"},
            False,
        ),
    ],
)
def test_a_field_agrees_with_what_is_expected(
    name: str, expected: Any, found: Any, right: bool
) -> None:
    assert agrees(name, expected, found, TODAY) is right


def test_a_field_stands_in_the_detection_its_entities_or_its_flags() -> None:
    result = {"intent": "CHAT", "entities": {"topic": None}, "route_flags": {"needs_context": True}}
    names = ("intent", "topic", "needs_context", "level")
    assert [value_of(result, name) for name in names] == ["CHAT", None, True, None]


@pytest.mark.parametrize(
    ("words", "told"),
    [("574", True), ("57", False), ("קיץ", True), ("לתיירות", True), ("חורף", False)],
)
def test_words_are_told_by_an_entity_or_an_answer(words: str, told: bool) -> None:
    texts = texts_in({"decision_number": 574, "rest": ["קיץ", {"topic": "תיירות"}], "all": True})
    assert is_told(words, list(texts)) is told


@pytest.mark.parametrize(
    ("expected", "ending", "verdict"),
    [
        ({"proposal": {"intent": "cancel_order", "target": "order 4"}}, HELD, Verdict.RIGHT),
        ({"proposal": {"intent": "cancel_order"}}, HELD, Verdict.RIGHT),
        (
            {"proposal": {"intent": "cancel_order", "target": {"one_of": ["tea", "#4"]}}},
            HELD,
            Verdict.RIGHT,
        ),
        ({"proposal": {"intent": "cancel_order", "target": "tea"}}, HELD, Verdict.WRONG),
        ({"proposal": {"intent": "refund", "target": "#004"}}, HELD, Verdict.WRONG),
        ({"proposal": None}, HELD, Verdict.WRONG),
        ({"done": False}, HELD, Verdict.RIGHT),
        ({"asks": True}, HELD, Verdict.WRONG),
        ({"asks": True}, Clarify((MATCH,)), Verdict.RIGHT),
        ({"asks": True}, NoMatch("nothing fits"), Verdict.SILENT),
        ({"proposal": None, "done": False}, NoMatch("nothing fits"), Verdict.RIGHT),
        ({"proposal": {"intent": "refund"}}, NoMatch("nothing fits"), Verdict.SILENT),
        ({"done": True}, NoMatch("nothing fits"), Verdict.SILENT),
    ],
)
def test_a_turn_is_judged_by_what_it_comes_to(
    expected: dict[str, Any], ending: Ending, verdict: Verdict
) -> None:
    content = "Which one?" if isinstance(ending, Clarify) else "…"
    assert lines.Ending(**expected).judge(Answer(content, 1.0, {}, ending)) is verdict


@pytest.mark.parametrize(
    ("kind", "line", "problem"),
    [
        (lines.GuardLine, '{"ask": "hello"}', "block: Field required"),
        (lines.StudyLine, '{"ask": "hello", "expect": {}}', "a line that expects nothing"),
        (lines.ShopLine, '{"turns": []}', "turns: Tuple should have at least 1 item"),
        (
            lines.HebrewLine,
            '{"ask": "שלום", "expect": {}, "writes": false}',
            "writes: Extra inputs",
        ),
    ],
)
def test_a_line_of_no_such_kind_is_named(
    tmp_path: Path, kind: type[lines.Line], line: str, problem: str
) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text(f"\n{line}", encoding="utf-8")
    with pytest.raises(SystemExit, match=f"some.jsonl:2: .*{problem}"):
        lines.read_lines(path, kind)
