"""What each kind of outcome counts for."""

import asyncio
import json
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.evaluation.outcomes import Outcome
from server.evaluation.questions import Question
from server.evaluation.report import (
    Confusion,
    Mistake,
    Report,
    TemplateRow,
    evaluate,
    score,
    verdict,
)

PERCENT = Question(
    ask="What is 15% of 200?",
    template="percentage",
    arguments={"value": 200, "percentage": 15},
    answer="15% of 200 is **30**",
)
CHAT = Question(ask="what is love", template=None)
SHORT = Question(
    ask="15 percent", template="percentage", arguments={"percentage": 15}, asks=("value",)
)
RIGHT = Outcome(
    template="percentage",
    called=True,
    confidence=0.9,
    latency_ms=2.0,
    arguments={"value": 200.0, "percentage": 15},
    answer="15% of 200 is **30**",
    nearest="percentage",
)
SILENT = Outcome(template=None, called=False, confidence=0.2, latency_ms=4.0, nearest="percentage")
ASKED = replace(
    RIGHT, called=False, arguments={"percentage": 15}, asked=("value",), answer="Of what?"
)


@pytest.mark.parametrize(
    ("question", "outcome", "became"),
    [
        (PERCENT, RIGHT, "right"),
        (PERCENT, replace(RIGHT, arguments={"value": 2}), "wrong"),
        (PERCENT, replace(RIGHT, template="divide"), "wrong"),
        (PERCENT, SILENT, "silent"),
        (PERCENT, ASKED, "asked"),
        (PERCENT, replace(SILENT, clarified=True), "asked"),
        (SHORT, ASKED, "right"),
        (CHAT, SILENT, "right"),
        (CHAT, ASKED, "right"),
        (CHAT, RIGHT, "wrong"),
    ],
)
def test_a_question_back_that_is_not_due_is_no_wrong_call(
    question: Question, outcome: Outcome, became: str
) -> None:
    assert verdict(question, outcome) == became


def figures(question: Question, outcome: Outcome) -> tuple[float | None, ...]:
    """Template, abstention, wrong calls, arguments and answer, for one question."""
    report = score([question], [outcome])
    return (
        report.template_accuracy,
        report.abstain_recall,
        report.wrong_call_rate,
        report.argument_accuracy,
        report.answer_accuracy,
    )


def test_a_right_call_counts_everywhere_but_in_abstention() -> None:
    assert figures(PERCENT, RIGHT) == (1, None, 0, 1, 1)


def test_silence_is_right_when_nothing_fits_and_a_miss_otherwise() -> None:
    assert figures(CHAT, SILENT) == (None, 1, 0, None, None)
    assert figures(PERCENT, SILENT) == (0, None, 0, 0, 0)


def test_a_needless_call_is_a_wrong_call() -> None:
    assert figures(CHAT, RIGHT) == (None, 0, 1, None, None)


def test_asking_back_where_nothing_fits_runs_nothing() -> None:
    assert figures(CHAT, ASKED) == (None, 1, 0, None, None)


def test_another_template_is_a_wrong_call_with_wrong_arguments() -> None:
    assert figures(PERCENT, replace(RIGHT, template="share")) == (0, None, 1, 0, 1)


def test_asking_for_what_the_question_gives_chooses_right_and_argues_wrong() -> None:
    assert figures(PERCENT, ASKED) == (1, None, 0, 0, 0)


def test_asking_for_exactly_what_is_left_out_is_right() -> None:
    assert figures(SHORT, ASKED) == (1, None, 0, 1, None)


def test_calling_with_what_the_question_leaves_out_is_a_wrong_call() -> None:
    assert figures(SHORT, RIGHT) == (1, None, 1, 0, None)


def test_a_default_need_not_be_expected_and_an_invented_argument_is_wrong() -> None:
    more = replace(RIGHT, arguments={**RIGHT.arguments, "unit": "days"})
    assert figures(PERCENT, replace(more, defaulted=frozenset({"unit"})))[3] == 1
    assert figures(PERCENT, more)[3] == 0


def test_a_missing_argument_is_wrong() -> None:
    assert figures(PERCENT, replace(RIGHT, arguments={"value": 200}))[3] == 0


def test_a_report_says_all_of_it() -> None:
    wrong = replace(RIGHT, arguments={"value": 15, "percentage": 15}, answer="?", latency_ms=3.0)
    confused = replace(RIGHT, confidence=0.4, latency_ms=9.0)
    report = score(
        [PERCENT, PERCENT, PERCENT, CHAT, CHAT], [RIGHT, wrong, SILENT, SILENT, confused]
    )
    assert report == Report(
        questions=5,
        template_accuracy=2 / 3,
        abstain_recall=1 / 2,
        wrong_call_rate=1 / 5,
        argument_accuracy=1 / 3,
        answer_accuracy=1 / 3,
        auroc=4.5 / 6,  # the refused question counts: 0.2 beside 0.2 and 0.4
        latency_p50_ms=4.0,
        latency_p99_ms=9.0,
        asked_back_rate=0.0,
        templates=(TemplateRow("percentage", 3, 2, 1, 0, 1, 1),),
        confusions=(
            Confusion(PERCENT.ask, "percentage", None, 0.2, False, "percentage"),
            Confusion(CHAT.ask, None, "percentage", 0.4, True, "percentage"),
        ),
        confusion_counts={("percentage", None): 1, (None, "percentage"): 1},
        argument_mistakes=(
            Mistake(
                PERCENT.ask,
                {"arguments": {"value": 200, "percentage": 15}},
                {"arguments": {"value": 15, "percentage": 15}},
            ),
        ),
        answer_mistakes=(Mistake(PERCENT.ask, "15% of 200 is **30**", "?"),),
    )


def test_a_report_reads_as_json_and_as_text() -> None:
    report = score([PERCENT, CHAT], [SILENT, SILENT])
    assert json.loads(json.dumps(report.to_dict())) == {
        "questions": 2,
        "template_accuracy": 0.0,
        "abstain_recall": 1.0,
        "wrong_call_rate": 0.0,
        "asked_back_rate": 0.0,
        "argument_accuracy": 0.0,
        "answer_accuracy": 0.0,
        "tool_success_rate": None,
        "auroc": 0.5,
        "latency_ms": {"p50": 4.0, "p99": 4.0},
        "templates": [
            {
                "template": "percentage",
                "questions": 1,
                "right": 0,
                "right_arguments": 0,
                "asked_back": 0,
                "silent": 1,
                "taken_from_others": 0,
            }
        ],
        "confusions": [
            {
                "ask": "What is 15% of 200?",
                "expected": "percentage",
                "got": None,
                "confidence": 0.2,
                "called": False,
                "nearest": "percentage",
            }
        ],
        "confusion_counts": [{"expected": "percentage", "got": None, "count": 1}],
        "argument_mistakes": [],
        "answer_mistakes": [],
    }
    assert report.to_text() == (
        "questions                2\n"
        "template_accuracy    0.000  right template, of questions that have one\n"
        "abstain_recall       1.000  nothing ran, of questions that nothing should answer\n"
        "wrong_call_rate      0.000  wrong or needless calls, of all questions\n"
        "asked_back_rate      0.000  asked back without need, of all questions\n"
        "argument_accuracy    0.000  right arguments, of questions that give them\n"
        "answer_accuracy      0.000  right answer, of questions that give one\n"
        "tool_success_rate        –  tools that did their work, of right calls that were made\n"
        "auroc                0.500  confidence tells the two kinds of question apart\n"
        "latency p50            4.0  milliseconds\n"
        "latency p99            4.0  milliseconds\n"
        "\n"
        "template                          asked  right  args  back  silent  took\n"
        "percentage                            1      0     0     0       1     0\n"
        "\n"
        "Another template than was meant\n"
        "  What is 15% of 200?\n"
        "    percentage → nothing (0.20, nearest percentage)"
    )


def test_no_questions_give_no_figures() -> None:
    assert score([], []).to_dict() == {
        "questions": 0,
        "template_accuracy": None,
        "abstain_recall": None,
        "wrong_call_rate": None,
        "asked_back_rate": None,
        "argument_accuracy": None,
        "answer_accuracy": None,
        "tool_success_rate": None,
        "auroc": None,
        "latency_ms": {"p50": None, "p99": None},
        "templates": [],
        "confusions": [],
        "confusion_counts": [],
        "argument_mistakes": [],
        "answer_mistakes": [],
    }


def test_an_outcome_for_each_question_is_needed() -> None:
    with pytest.raises(ValueError, match="shorter"):
        score([PERCENT, CHAT], [RIGHT])


pairs = st.lists(
    st.tuples(st.sampled_from([PERCENT, CHAT, SHORT]), st.sampled_from([RIGHT, SILENT, ASKED])),
    max_size=30,
)


@given(pairs, st.randoms())
def test_figures_are_shares_whatever_the_order(
    asked: list[tuple[Question, Outcome]], random: Random
) -> None:
    report = score([q for q, _ in asked], [o for _, o in asked]).to_dict()
    for name in ("template_accuracy", "abstain_recall", "wrong_call_rate", "auroc"):
        assert report[name] is None or 0 <= report[name] <= 1
    random.shuffle(asked)
    again = score([q for q, _ in asked], [o for _, o in asked]).to_dict()
    lists = {"confusions", "argument_mistakes", "answer_mistakes"}
    assert {k: v for k, v in again.items() if k not in lists} == {
        k: v for k, v in report.items() if k not in lists
    }


def test_questions_are_put_in_order_and_judged_together() -> None:
    heard: list[str] = []

    async def ask(text: str) -> Outcome:
        heard.append(text)
        return RIGHT if text == PERCENT.ask else SILENT

    report = asyncio.run(evaluate(ask, [PERCENT, CHAT]))
    assert (heard, report) == ([PERCENT.ask, CHAT.ask], score([PERCENT, CHAT], [RIGHT, SILENT]))
