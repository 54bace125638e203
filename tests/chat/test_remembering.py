"""What is remembered of a turn."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from server.chat.remembering import remembered
from server.core.answer import Answer
from server.core.context import Context
from server.core.decision import Blocked, Decision, NoMatch
from server.core.speech import Message
from server.core.turn import Caller, Turn
from server.library.model import Domain, Library

BEFORE = Context((Message("user", "a"), Message("assistant", "A")))
TURN = Turn("t", "b", "s", Caller("k", "sums"), datetime(2025, 1, 1, tzinfo=UTC), context=BEFORE)


LIBRARY = Library(Domain("sums"), {})


def answer(decision: Decision, content: str = "B") -> Answer:
    return Answer(content, 0.5, {}, decision)


def test_question_and_answer_follow_what_was_said() -> None:
    after = remembered(LIBRARY, TURN, answer(NoMatch("")), max_turns=10, private=False)
    assert after.messages == (*BEFORE.messages, Message("user", "b"), Message("assistant", "B"))


def test_words_that_may_hold_a_secret_are_not_kept() -> None:
    asked = replace(TURN, text="my card is 4111", context=Context())
    after = remembered(LIBRARY, asked, answer(NoMatch("")), max_turns=10, private=True)
    assert after.messages == (Message("user", "[REDACTED]"), Message("assistant", "B"))


def test_a_question_that_a_guard_refused_leaves_nothing() -> None:
    refused = answer(Blocked("price", "No.", 1.0, "regex"))
    assert remembered(LIBRARY, TURN, refused, max_turns=10, private=False) == BEFORE


@pytest.mark.parametrize(("turns", "kept"), [(1, ["b", "B"]), (2, ["a", "A", "b", "B"])])
def test_the_window_slides(turns: int, kept: list[str]) -> None:
    after = remembered(LIBRARY, TURN, answer(NoMatch("")), max_turns=turns, private=False)
    assert [message.content for message in after.messages] == kept


def test_long_messages_are_cut() -> None:
    asked = replace(TURN, text="x" * 9000, context=Context())
    after = remembered(LIBRARY, asked, answer(NoMatch(""), "y" * 9000), max_turns=10, private=False)
    assert [len(message.content) for message in after.messages] == [4000, 4000]
