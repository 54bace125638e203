"""How each decision reads as an outcome."""

from server.core.decision import AskFor, Blocked, Call, Clarify, Match, Missing, NoMatch
from server.core.tools import Source, ToolCall
from server.evaluation.outcome import Outcome, outcome_of

DIFF = Match("diff", 0.8, 0.7, "nearest example")
ADD = Match("add", 0.4, 0.6, "second")


def test_a_call_ran_with_its_arguments_and_knows_its_defaults() -> None:
    call = ToolCall(
        "diff",
        "date_time",
        "diff",
        {"date1": "2025-01-01", "date2": "2025-01-02", "unit": "days"},
        {
            "date1": Source("recognizer", (0, 10), "2025-01-01"),
            "date2": Source("recognizer", (11, 21), "2025-01-02"),
            "unit": Source("default"),
        },
    )
    assert outcome_of(Call(DIFF, call), latency_ms=1.5, answer="1 day") == Outcome(
        template="diff",
        called=True,
        confidence=0.8,
        latency_ms=1.5,
        arguments=call.arguments,
        defaulted=frozenset({"unit"}),
        answer="1 day",
        nearest="diff",
    )


def test_a_question_back_chose_the_template_and_ran_nothing() -> None:
    ask = AskFor(DIFF, (Missing("date2"),), {"unit": "days"}, {"unit": Source("default")})
    assert outcome_of(ask, latency_ms=1.0) == Outcome(
        template="diff",
        called=False,
        confidence=0.8,
        latency_ms=1.0,
        arguments={"unit": "days"},
        defaulted=frozenset({"unit"}),
        asked=("date2",),
        nearest="diff",
    )


def test_clarifying_abstaining_and_blocking_choose_nothing() -> None:
    leaning = Outcome(None, called=False, confidence=0.8, latency_ms=1.0, nearest="diff")
    blank = Outcome(None, called=False, confidence=0.0, latency_ms=1.0)
    assert outcome_of(Clarify((DIFF, ADD)), latency_ms=1.0) == leaning
    assert outcome_of(NoMatch("too far", (DIFF, ADD)), latency_ms=1.0) == leaning
    assert outcome_of(NoMatch("too far"), latency_ms=1.0) == blank
    assert outcome_of(Blocked("jailbreak", "No.", 1.0, "regex"), latency_ms=1.0) == blank
