"""Conversations that a client tells, and of which nothing is kept."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from server.chat.adapter import Adapter
from server.chat.pipeline import run_turn
from server.core.decision import Answer, Call, Decision, NoMatch, Trace
from server.core.transcript import Exchange, Transcript, TranscriptKey
from server.core.turn import Caller, ConversationContext, Turn
from tests.support.deciding import DECISIONS, DIVIDE, call_of, table_adapter

KEY = TranscriptKey(b"s" * 32)


class Listener:
    """Decides by table, and notes what it was asked, with what was known then."""

    def __init__(self, decisions: Mapping[str, Decision]) -> None:
        self.heard: list[tuple[str, ConversationContext]] = []
        self._decisions = decisions

    async def decide(self, turn: Turn, trace: Trace) -> Decision:
        self.heard.append((turn.text, turn.context))
        return self._decisions.get(turn.text, NoMatch(""))

    async def close(self) -> None:
        return None


def answered(adapter: Adapter, *texts: str, runs: bool = True) -> Answer:
    *before, question = texts
    exchanges = tuple(Exchange(text, f"said:{n}") for n, text in enumerate(before))
    moment, now = KEY.start(), datetime(2025, 3, 12, tzinfo=UTC)
    told = Transcript(KEY, exchanges, moment)
    turn = Turn("t", question, moment, Caller("k", adapter.name), now, transcript=told, runs=runs)
    return asyncio.run(run_turn(adapter, turn, timeout_s=5))


def test_the_last_five_questions_are_decided_again() -> None:
    listener = Listener({})
    answered(replace(table_adapter(), decider=listener), *map(str, range(1000)), "now")
    assert [text for text, _ in listener.heard] == ["995", "996", "997", "998", "999", "now"]
    said = [message.content for message in listener.heard[-1][1].messages]
    assert said == ["995", "996", "997", "998", "999"]


def test_what_was_decided_again_was_called_by_nobody() -> None:
    """The division would fail, and its result is not known."""
    listener = Listener(DECISIONS)
    adapter = replace(table_adapter(), decider=listener)
    answer = answered(adapter, "Divide 1 by 0", "What is 15% of 200?", "now")
    known = listener.heard[-1][1]
    assert [(call.template_id, call.arguments, call.value) for call in known.done] == [
        ("divide", {"a": 1, "b": 0}, None),
        ("calculate_percentage", {"value": 200, "percentage": 15}, None),
    ]
    assert [stage["stage"] for stage in answer.trace.to_list()].count("tool") == 0


def test_a_call_that_has_to_be_confirmed_waits_for_nothing_when_it_is_decided_again() -> None:
    policy = replace(DIVIDE.policy, confirm=True)
    adapter = table_adapter()
    templates = {**adapter.library.templates, "divide": replace(DIVIDE, policy=policy)}
    listener = Listener({"divide": call_of(DIVIDE, {"a": 1, "b": 2})})
    library = replace(adapter.library, templates=templates)
    answered(replace(adapter, library=library, decider=listener), "divide", "now")
    known = listener.heard[-1][1]
    assert (known.held, known.done) == (None, ())
    assert known.waiting is not None
    assert known.waiting.arguments == {"a": 1, "b": 2}


def test_a_call_that_the_policy_refuses_is_not_told_to_anybody() -> None:
    call = call_of(DIVIDE, {"a": 1})
    adapter = replace(table_adapter(), decider=Listener({"divide": call}))
    answer = answered(adapter, "divide", runs=False)
    assert isinstance(answer.decision, Call)
    assert answer.metadata["policy"] == {"outcome": "arguments_invalid"}
    assert "tool_calls" not in answer.metadata
