"""What an adapter's rule pack adds to a turn, around a retriever that decides by table."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from server.chat.pipeline import run_turn
from server.core.decision import Answer, ClarifyingQuestion, Decision, NoMatch, Trace
from server.core.turn import Caller, Turn
from server.intents.classifier import IntentClassifier
from server.retrievers.implementations.intent.agent import PackQuestionDecider
from tests.intents.support import DECISIONS, STUDY, detector
from tests.support.deciding import table_adapter

NOW = datetime(2025, 3, 12, 22, 30, tzinfo=UTC)
"""Half past midnight on the 13th in Jerusalem."""


class Listening:
    """Decides nothing, and remembers the turns it was given."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []

    async def decide(self, turn: Turn, trace: Trace) -> Decision:
        self.turns.append(turn)
        return NoMatch("nothing is near")

    async def close(self) -> None:
        return None


def ask(question: str, pack: Path | None = DECISIONS) -> tuple[Answer, list[Turn]]:
    listening = Listening()
    detect = None if pack is None else IntentClassifier(detector(pack)).detect
    adapter = replace(table_adapter(), decider=PackQuestionDecider(listening), detect=detect)
    turn = Turn("t", question, "s", Caller("k", adapter.name), NOW)
    return asyncio.run(run_turn(adapter, turn, timeout_s=5)), listening.turns


def test_the_answer_tells_the_result_of_the_pack_and_the_method() -> None:
    answer, _ = ask("כמה החלטות יש בנושא בריאות?")
    assert answer.metadata["intent"] == {
        "method": "keyword",
        "intent_type": "QUERY",
        "entities": {"operation": "count", "topic": "בריאות"},
        "confidence": 1.0,
        "route_flags": {"needs_context": False, "is_statistical": True, "is_comparison": False},
        "explanation": "count operation",
    }


def test_the_trace_has_a_stage_for_it_before_any_other() -> None:
    answer, _ = ask("כמה החלטות יש בנושא בריאות?")
    first = answer.trace.to_list()[0]
    first.pop("ms")
    assert first == {
        "stage": "intent",
        "intent": "QUERY",
        "confidence": 1.0,
        "method": "keyword",
        "evidence": "כמה",
        "entities": {"topic": "בריאות", "operation": "count"},
        "read_from": {"topic": "בריאות"},
        "flags": {"needs_context": False, "is_statistical": True, "is_comparison": False},
        "route": None,
        "explanation": "count operation",
    }


def test_the_retriever_is_given_the_intent_and_where_it_was_read() -> None:
    question = "  כמה  החלטות יש בנושא בְּרִיאוּת של ממשלה 37?"
    _, (turn,) = ask(question)
    assert turn.intent is not None
    places = turn.intent.places
    assert {name: [question[a:b] for a, b in where] for name, where in places.items()} == {
        "government_number": ["ממשלה 37"],
    }
    assert turn.intent.entities["topic"] == "בריאות"


def test_today_is_where_the_pack_is() -> None:
    answer, _ = ask("החלטות מהיום בנושא חינוך")
    today = {"start": "2025-03-13", "end": "2025-03-13"}
    assert answer.metadata["intent"]["entities"]["date_range"] == today


def test_what_is_too_vague_is_asked_about_and_nothing_is_decided() -> None:
    answer, turns = ask("מה?")
    assert turns == []
    assert answer.decision == ClarifyingQuestion(answer.content, 0.3, "Query too short")
    assert answer.content == "השאלה קצרה מדי. באיזה נושא, של איזו ממשלה או של איזה משרד?"
    assert (answer.metadata["template_id"], answer.metadata["intent"]["intent_type"]) == (
        None,
        "CLARIFICATION",
    )


def test_an_earlier_answer_that_nobody_remembers_is_asked_for() -> None:
    answer, turns = ask("נתח את ההחלטה האחרונה ששלחת")
    assert turns == []
    assert answer.content.startswith("איני זוכר תשובות קודמות. לאיזו החלטה הכוונה?")
    assert answer.metadata["intent"]["route_flags"]["needs_context"] is True


def test_a_pack_whose_fallback_asks_nothing_lets_the_retriever_decide() -> None:
    answer, turns = ask("hello there", STUDY)
    assert [turn.intent.name for turn in turns if turn.intent] == ["CHAT"]
    assert answer.metadata["intent"]["method"] == "default"


def test_without_a_pack_there_is_neither_intent_nor_stage() -> None:
    answer, (turn,) = ask("What is 15% of 200?", None)
    assert (turn.intent, "intent" in answer.metadata) == (None, False)
    assert "intent" not in [stage.name for stage in answer.trace.stages]
