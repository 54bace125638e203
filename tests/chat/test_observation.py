"""What turns leave: counts of usage by what they came to, and lines of the log without secrets."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from server.chat.adapter import Adapter
from server.chat.observation import TurnRecord, log_line, observed_turn
from server.chat.pipeline import run_turn
from server.core.chat_messages import Message, TokenUsage
from server.core.coverage import Coverage, CoveredWord
from server.core.decision import (
    Answer,
    Blocked,
    Call,
    DecidedCalls,
    Ending,
    MissingArguments,
    NoMatch,
)
from server.core.token_counts import count_tokens, note_tokens
from server.core.turn import Caller, ConversationContext, PendingQuestion, Turn
from server.errors import OrbitError
from server.library.model import CallPolicy, Library
from server.storage.database import Database
from server.telemetry.decision_log import DecisionLogWriter
from server.telemetry.usage import UsageQuery, UsageStore
from tests.support.deciding import LIBRARY, MATCH, PERCENTAGE, call_of, table_adapter

pytestmark = pytest.mark.anyio

ALL = UsageQuery.read("2020-01-01", "2099-01-01", "key_id,adapter")
CALL = call_of(PERCENTAGE, {"value": 200, "percentage": 15})
SECRET = replace(PERCENTAGE, policy=CallPolicy(sensitive_params=("value",)))
SENSITIVE = table_adapter("cards", Library(LIBRARY.domain, {SECRET.id: SECRET}))


def turn_of(text: str, **more: Any) -> Turn:
    caller = Caller("key-1", "arithmetic")
    return Turn("r1", text, "s1", caller, datetime(2026, 3, 4, tzinfo=UTC), **more)


@pytest.mark.parametrize(
    ("text", "came_to", "line"),
    [
        (
            "What is 15% of 200?",
            {"answered": 1, "tool_calls": 1},
            {"decision": "call", "template": PERCENTAGE.id, "outcomes": ["success"]},
        ),
        (
            "Divide 1 by 0",
            {"failed": 1, "tool_calls": 1, "tool_failures": 1},
            {"decision": "call", "template": "divide", "outcomes": ["error"]},
        ),
        (
            "15% of what?",
            {"asked_back": 1},
            {"decision": "ask_for", "missing": ["value"], "template": PERCENTAGE.id},
        ),
        (
            "either",
            {"asked_back": 1},
            {"decision": "clarify", "options": [MATCH.template_id, "divide"]},
        ),
        ("who are you", {"declined": 1}, {"decision": "no_match", "nearest": [MATCH.template_id]}),
        ("down", {"failed": 1}, {"decision": "failed", "error": "provider_unavailable"}),
        ("slow", {"failed": 1}, {"decision": "failed", "error": "turn_timed_out"}),
        ("bug", {"failed": 1}, {"decision": "failed", "error": "internal_error"}),
    ],
)  # fmt: skip
async def test_each_turn_is_one_line_and_one_count(
    tmp_path: Path, text: str, came_to: Mapping[str, int], line: Mapping[str, Any]
) -> None:
    path = tmp_path / "log.jsonl"
    database = await asyncio.to_thread(Database.open, f"sqlite:///{tmp_path / 'orbit.db'}")
    usage = UsageStore(database, keep_days=1)
    log = DecisionLogWriter(path, max_bytes=10_000, keep=1)
    adapter = replace(table_adapter(), usage=usage, decision_log=log)
    try:
        await run_turn(adapter, turn_of(text), timeout_s=0.2)
    except (OrbitError, RuntimeError):
        assert came_to == {"failed": 1}
    await log.close()
    [row] = await usage.report(ALL)
    await usage.close()
    await database.close()
    [written] = map(json.loads, path.read_text().splitlines())
    assert {name: n for name, n in row.counts.items() if n} == {"turns": 1, **came_to}
    assert written.items() >= {"request_id": "r1", "adapter": "arithmetic", **line}.items()
    failures = f'orbit_turn_failures_total{{adapter="arithmetic",error="{line.get("error")}"}} 1.0'
    assert (failures in adapter.metrics.text().decode()) == ("error" in line)


def line_of(
    ending: Ending, adapter: Adapter, turn: Turn, *, private: bool = False, form: str = ""
) -> dict[str, Any]:
    record = TurnRecord(adapter, turn, "question", Answer("", 0.9, {}, ending))
    record.understood(turn, adapter, private=private, form=form, contribution="")
    return log_line(record, ms=1.0)


@pytest.mark.parametrize(
    "ending",
    [
        CALL,
        DecidedCalls((CALL,)),
        MissingArguments(MATCH, (), {"value": 4111222233334444}),
    ],
)
def test_sensitive_values_and_the_words_of_a_private_question_are_not_written(
    ending: Ending,
) -> None:
    if not isinstance(ending, MissingArguments):
        secret = replace(CALL.call, arguments={"value": 4111222233334444, "percentage": 15})
        call = replace(CALL, call=secret)
        ending = call if isinstance(ending, Call) else DecidedCalls((call,))
    line = line_of(ending, SENSITIVE, turn_of("15% of 4111222233334444"), private=True)
    assert "4111" not in json.dumps(line)
    assert (line["question"], line["masked"]) == ("", True)
    assert "[REDACTED]" in json.dumps(line)


def test_of_a_template_that_is_not_known_all_values_are_hidden() -> None:
    unknown = replace(CALL, call=replace(CALL.call, template_id="gone"))
    line = line_of(unknown, table_adapter(), turn_of("15% of 200"))
    assert line["arguments"] == {"value": "[REDACTED]", "percentage": "[REDACTED]"}


def test_what_a_guard_refused_is_not_kept() -> None:
    blocked = Blocked("weapons", "No.", 1.0, "regex")
    line = line_of(blocked, table_adapter(), turn_of("how to build a bomb"))
    assert (line["question"], line["masked"], line["category"]) == ("", True, "weapons")


def test_words_that_nobody_took_are_counted_by_kind_and_not_shown() -> None:
    words = (CoveredWord(0, 5, "unread", kind="name"), CoveredWord(6, 9, "unread"))
    coverage = Coverage("Quill sea", words)
    line = line_of(NoMatch("", coverage=coverage), table_adapter(), turn_of("x"))
    assert line["unread"] == {"name": 1, "word": 1}


SAID = ConversationContext((Message("user", "hello"),))
ASKED = replace(SAID, asked=PendingQuestion("divide", ("a",)))


@pytest.mark.parametrize(
    ("context", "form", "alone"),
    [
        (ConversationContext(), "", True),
        (ConversationContext(), "continuation", True),
        (SAID, "plain", True),
        (SAID, "fragment", False),
        (SAID, "", False),
        (ASKED, "plain", False),
    ],
)
def test_what_goes_on_with_a_conversation_is_not_alone(
    context: ConversationContext, form: str, alone: bool
) -> None:
    turn = turn_of("and of 300?", context=context)
    assert line_of(CALL, table_adapter(), turn, form=form)["alone"] is alone


def test_who_left_is_counted_and_what_was_never_understood_is_masked() -> None:
    adapter = table_adapter()
    with pytest.raises(asyncio.CancelledError), observed_turn(adapter, turn_of("x"), "question"):
        raise asyncio.CancelledError
    told = 'orbit_turn_failures_total{adapter="arithmetic",error="abandoned"} 1.0'
    assert told in adapter.metrics.text().decode()
    assert log_line(TurnRecord(adapter, turn_of("x"), "question"), ms=1.0)["masked"]


def test_tokens_are_counted_by_everybody_who_counts() -> None:
    with count_tokens() as outer:
        note_tokens(TokenUsage(1, 2))
        with count_tokens() as inner:
            note_tokens(TokenUsage(10, 20))
    assert (inner.prompt, inner.completion) == (10, 20)
    assert (outer.prompt, outer.completion) == (11, 22)
