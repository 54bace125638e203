"""What is right of an answer to a blind question, and how sure a share of few of them is."""

from datetime import UTC, datetime
from typing import Any

import pytest

from server.core.tools import ToolCall
from utils.bench._blind import (
    NOTHING,
    BlindQuestion,
    Done,
    Verdict,
    holds,
    judge,
    read_blind,
)
from utils.bench._figures import CalibrationError, Judged, Share
from utils.bench._nearest import best_threshold

ROWS = [{"name": "Ana", "age": 34}, {"name": "Luc", "age": 27}]


def done(template: str = "add_numbers", result: Any = None, **arguments: Any) -> Done:
    return Done(ToolCall(template, "tool", "operation", arguments), result)


@pytest.mark.parametrize(
    ("found", "expected", "is_held"),
    [
        ({"result": 30.0, "operation": "add", "input": {"a": 5}}, 30, True),
        ({"result": 30, "input": {"a": 5}}, 5, False),
        ({"result": "1,250.50"}, 1250.5, True),
        ({"result": True}, 1, False),
        ({"result": "2026-11-22T07:20:00"}, "2026-11-22", True),
        ({"result": "Monday"}, "Sunday", False),
        ({"result": ROWS}, ROWS, True),
        ({"result": ROWS}, list(reversed(ROWS)), False),
        ({"result": ROWS}, ["Ana", "Luc"], False),
        ({"result": [{"name": "Ana"}, {"name": "Luc"}]}, ["Ana", "Luc"], True),
        ({"result": ROWS}, [["Ana", 34], ["Luc", 27]], True),
        ({"result": ROWS}, [34, 27], True),
        ({"result": {"it": 100, "hr": 45}}, [["it", 100], ["hr", 45]], True),
        ({"result": [ROWS[0]]}, [ROWS[0]], True),
        ({"result": 8000}, [8000], True),
    ],
)
def test_a_result_holds_what_is_expected(found: Any, expected: Any, is_held: bool) -> None:
    assert holds(found, expected) is is_held


def test_silence_is_right_where_nothing_may_run_and_never_wrong() -> None:
    nothing, something = BlindQuestion("hello", None), BlindQuestion("2 + 3", 5)
    assert judge(nothing, NOTHING) is Verdict.RIGHT
    assert judge(something, NOTHING) is Verdict.SILENT
    assert judge(nothing, done(result={"result": 5})) is Verdict.WRONG
    assert judge(something, done(result={"result": 5})) is Verdict.RIGHT
    assert judge(something, done(result={"result": 6})) is Verdict.WRONG


@pytest.mark.parametrize(
    ("args", "given", "verdict"),
    [
        ({"amount": 80, "from": "CHF"}, {"amount": 80, "from_currency": "CHF"}, Verdict.RIGHT),
        (
            {"from": "CHF", "to": "EUR"},
            {"from_currency": "EUR", "to_currency": "CHF"},
            Verdict.WRONG,
        ),
        ({"city": "Bergen"}, {"location": "Bergen, please"}, Verdict.RIGHT),
        ({"city": "Oslo"}, {"location": "Oslo, what will the weather be"}, Verdict.WRONG),
        ({"title": "call the plumber"}, {"title": "plumber"}, Verdict.WRONG),
    ],
)
def test_a_function_is_judged_by_its_arguments(
    args: dict[str, Any], given: dict[str, Any], verdict: Verdict
) -> None:
    question = BlindQuestion("…", {"tool": "currency", "args": args})
    assert judge(question, done("convert_currency", **given)) is verdict
    assert judge(question, done("create_task", **given)) is Verdict.WRONG


def test_what_changes_from_day_to_day_is_worked_out_today() -> None:
    now = datetime.now(UTC).astimezone()
    year = BlindQuestion("what year is it", "2026", relative="str(today.year)")
    assert year.expected() == str(now.year)
    day = BlindQuestion("tomorrow?", "", relative="today+timedelta(days=0)")
    assert not day.nothing_may_run
    assert day.expected() == now.date().isoformat()


def test_a_line_that_is_no_question_is_named(tmp_path: Any) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text('{"ask": "hello", "expect": {"tool": "tea"}}')
    with pytest.raises(SystemExit, match=r"some.jsonl:1: tool 'tea' is not one of weather"):
        read_blind(path)
    path.write_text('\n{"ask": "hello"}')
    with pytest.raises(SystemExit, match=r"some.jsonl:2: no question"):
        read_blind(path)


def test_a_share_has_the_interval_of_wilson() -> None:
    found = Share.of_all([True] * 45 + [False] * 5)
    assert found.value == 0.9
    assert found.interval == pytest.approx((0.7864, 0.9565), abs=1e-4)
    assert Share(0, 0).value is None
    assert Share(0, 0).interval is None
    assert str(Share(0, 0)) == "–"


def test_calibration_is_off_by_the_gap_in_each_bin() -> None:
    judged = [Judged(0.85, at < 6) for at in range(10)] + [Judged(0.15, False)] * 10
    found = CalibrationError.of_all(judged)
    assert found.value == pytest.approx((2.5 + 1.5) / 20)
    assert found.interval is not None
    assert found.interval.low <= found.interval.high
    assert CalibrationError.of_all([]).value is None


def test_the_best_threshold_is_right_of_most_questions() -> None:
    likeness, routed, silent = [0.9, 0.8, 0.8, 0.3], [True, True, False, False], [False] * 4
    assert best_threshold(likeness, routed, silent) == 0.8
    assert best_threshold(likeness, [False] * 4, [True] * 4) > 1
