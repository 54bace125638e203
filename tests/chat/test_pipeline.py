"""The order of a turn's stages, and what the pipeline does with what deciders give back."""

import ast
import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import server.chat.pipeline
from server.chat.pipeline import run_turn
from server.core.decision import (
    Answer,
    Decision,
    MissingArguments,
    MissingParameter,
    NoMatch,
    Trace,
)
from server.core.tools import Source
from server.core.turn import Caller, Turn
from server.retrievers.followups.context import FollowUpDecision, Rewriting
from server.retrievers.followups.decider import FollowUpDecider
from tests.intents.support import STUDY, detector
from tests.support.deciding import MATCH, PERCENTAGE, call_of, table_adapter

CHAT = Path(server.chat.pipeline.__file__).parent
STAGES = (
    "load_history", "guard_turn", "answer_reply", "understand_turn", "carry_out", "respond",
    "save_history",
)  # fmt: skip


class Scripted(FollowUpDecider):
    """Decides by the text of a turn, and remembers the texts it was asked about."""

    def __init__(self, decisions: Mapping[str, Decision | FollowUpDecision]) -> None:
        self.asked: list[str] = []
        self._decisions = decisions

    async def decide(self, turn: Turn, trace: Trace) -> Decision | FollowUpDecision:
        self.asked.append(turn.text)
        return self._decisions[turn.text]

    async def close(self) -> None:
        return None


ASKS = MissingArguments(MATCH, (MissingParameter("value"),))
TEXT = "15% of it"


def rewriting(name: str) -> Rewriting:
    return Rewriting(TEXT, (7, 9), name, "result", ASKS)


def percentage(text: str, value: str) -> Decision:
    """15 % of a value that stands in the text."""
    call = call_of(PERCENTAGE, {"value": float(value), "percentage": 15.0})
    at = text.find(value)
    sources = {
        "value": Source("recognizer", (at, at + len(value)), value),
        "percentage": Source("recognizer", (0, 3), "15%"),
    }
    return replace(call, call=replace(call.call, sources=sources))


def answered(decider: Scripted) -> Answer:
    adapter = replace(table_adapter(), decider=decider)
    now = datetime(2025, 3, 12, tzinfo=UTC)
    turn = Turn("t", TEXT, "s", Caller("k", adapter.name), now)
    return asyncio.run(run_turn(adapter, turn, timeout_s=5))


def test_the_first_rewriting_that_is_better_is_the_answer() -> None:
    decider = Scripted(
        {
            TEXT: FollowUpDecision(
                ASKS, form="plain", rewritings=tuple(map(rewriting, ("that", "200", "300")))
            ),
            "15% of that": ASKS,
            "15% of 200": percentage("15% of 200", "200"),
        }
    )
    answer = answered(decider)
    assert decider.asked == [TEXT, "15% of that", "15% of 200"]
    assert answer.content == "15% of 200 is **30**"
    assert answer.metadata["conversation"] == {"as": "result"}
    assert answer.metadata["arguments"] == {
        "value": {"kind": "conversation"},
        "percentage": {"kind": "recognizer", "span": [0, 3], "text": "15%"},
    }


def test_without_a_better_rewriting_the_message_means_what_it_says() -> None:
    decider = Scripted(
        {
            TEXT: FollowUpDecision(ASKS, form="plain", rewritings=(rewriting("that"),)),
            "15% of that": NoMatch("nothing is near"),
        }
    )
    answer = answered(decider)
    assert (answer.decision, "conversation" in answer.metadata) == (ASKS, False)


def test_what_is_rewritten_is_detected_anew() -> None:
    read: list[str] = []
    detect = detector(STUDY)

    async def detected(text: str, now: datetime):  # type: ignore[no-untyped-def]
        read.append(text)
        return detect.detect(text, now)

    decider = Scripted(
        {
            TEXT: FollowUpDecision(ASKS, form="plain", rewritings=(rewriting("200"),)),
            "15% of 200": percentage("15% of 200", "200"),
        }
    )
    adapter = replace(table_adapter(), decider=decider, detect=detected)
    turn = Turn("t", TEXT, "s", Caller("k", adapter.name), datetime(2025, 3, 12, tzinfo=UTC))
    answer = asyncio.run(run_turn(adapter, turn, timeout_s=5))
    assert read == [TEXT, "15% of 200"]
    stages = [stage.name for stage in answer.trace.stages]
    assert stages == ["intent", "intent", "conversation", "tool", "compose"]


def test_the_stages_of_a_question_stand_on_one_page_in_order() -> None:
    """Some stand elsewhere too, for what is not a question, or is one of several."""
    calls = {
        file.name: [
            node.func.id
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        ]
        for file in CHAT.glob("*.py")
    }
    elsewhere = {
        (file, name)
        for file, names in calls.items()
        for name in names
        if file != "pipeline.py" and name in (*STAGES, "detect_intent", "execute_call", "hold_call")
    }
    assert elsewhere == {
        # one call, held or run, and the same for each of several, and for one by its name
        *((file, "execute_call") for file in ("carry_out.py", "several.py", "named_call.py")),
        *((file, "hold_call") for file in ("carry_out.py", "several.py", "named_call.py")),
        ("several.py", "respond"),
        ("named_call.py", "respond"),
        ("named_call.py", "save_history"),
        # a confirmed call is executed where it is claimed, so that it is carried to its end
        ("confirm.py", "execute_call"),
        ("replies.py", "respond"),
        ("replies.py", "save_history"),
        # what a client made or will make itself
        ("decided_calls.py", "detect_intent"),
        ("decided_calls.py", "respond"),
        ("decided_calls.py", "save_history"),
        # the adapter that a guard leads to, those behind one, and what was asked before
        ("question.py", "guard_turn"),
        ("sources.py", "guard_turn"),
        ("transcript.py", "guard_turn"),
        ("transcript.py", "understand_turn"),
        ("understand.py", "detect_intent"),
    }
    page = (CHAT / "pipeline.py").read_text(encoding="utf-8")
    body = page[page.index("async def _answer_turn") : page.index("async def _reworded")]
    places = [body.index(f"{step}(") for step in STAGES]
    assert places == sorted(places)
