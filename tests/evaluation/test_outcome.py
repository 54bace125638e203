"""How each decision reads as an outcome."""

from dataclasses import replace

from server.core.decision import (
    Blocked,
    Call,
    Clarify,
    Courtesy,
    Match,
    MissingArguments,
    MissingParameter,
    NoMatch,
)
from server.core.tools import ToolCall
from server.evaluation.outcomes import Outcome, outcome_of
from server.library.model import BuiltinExecution, Parameter, Template

DIFF = Match("diff", 0.8, 0.7, "nearest example")
ADD = Match("add", 0.4, 0.6, "second")
TEMPLATES = {
    "diff": Template(
        id="diff",
        description="",
        kind="function",
        nl_examples=(),
        parameters=(
            Parameter("date1", "date"),
            Parameter("date2", "date"),
            Parameter("unit", "string", required=False, default="days"),
        ),
        execution=BuiltinExecution("date_time", "diff"),
    )
}


def call(unit: str) -> Call:
    dates = {"date1": "2025-01-01", "date2": "2025-01-02"}
    return Call(DIFF, ToolCall("diff", "date_time", "diff", dates | {"unit": unit}))


def test_a_call_ran_with_its_arguments_and_knows_its_defaults() -> None:
    assert outcome_of(call("days"), TEMPLATES, latency_ms=1.5, answer="1 day") == Outcome(
        template="diff",
        called=True,
        confidence=0.8,
        latency_ms=1.5,
        arguments={"date1": "2025-01-01", "date2": "2025-01-02", "unit": "days"},
        defaulted=frozenset({"unit"}),
        answer="1 day",
        nearest="diff",
    )
    assert outcome_of(call("weeks"), TEMPLATES, latency_ms=1.5).defaulted == frozenset()


def test_a_question_back_chose_the_template_and_ran_nothing() -> None:
    ask = MissingArguments(
        DIFF, (MissingParameter("date2"),), {"date1": "2025-01-01", "unit": "days"}
    )
    assert outcome_of(ask, TEMPLATES, latency_ms=1.0) == Outcome(
        template="diff",
        called=False,
        confidence=0.8,
        latency_ms=1.0,
        arguments={"date1": "2025-01-01", "unit": "days"},
        defaulted=frozenset({"unit"}),
        asked=("date2",),
        nearest="diff",
    )


def test_a_courtesy_chooses_nothing() -> None:
    blank = Outcome(None, called=False, confidence=0.0, latency_ms=1.0)
    assert outcome_of(Courtesy("hello", "en"), TEMPLATES, latency_ms=1.0) == blank


def test_clarifying_abstaining_and_blocking_choose_nothing() -> None:
    leaning = Outcome(None, called=False, confidence=0.8, latency_ms=1.0, nearest="diff")
    blank = Outcome(None, called=False, confidence=0.0, latency_ms=1.0)
    clarified = replace(leaning, clarified=True)
    assert outcome_of(Clarify((DIFF, ADD)), TEMPLATES, latency_ms=1.0) == clarified
    assert outcome_of(NoMatch("too far", (DIFF, ADD)), TEMPLATES, latency_ms=1.0) == leaning
    assert outcome_of(NoMatch("too far"), TEMPLATES, latency_ms=1.0) == blank
    assert outcome_of(Blocked("jailbreak", "No.", 1.0, "regex"), TEMPLATES, latency_ms=1.0) == blank
