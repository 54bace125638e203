"""What is remembered of a turn."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from server.chat.history import updated_context
from server.core.chat_messages import Message
from server.core.decision import (
    Answer,
    Blocked,
    Call,
    Cancelled,
    Clarify,
    Decision,
    Match,
    MissingArguments,
    MissingParameter,
    NoMatch,
    PendingConfirmation,
    ProposalNotExecuted,
)
from server.core.tools import Source, ToolCall
from server.core.turn import (
    Caller,
    CompletedCall,
    ConversationContext,
    OfferedChoices,
    PendingQuestion,
    Turn,
)
from server.library.model import BuiltinExecution, CallPolicy, Domain, Library, Parameter, Template

BEFORE = ConversationContext((Message("user", "a"), Message("assistant", "A")))
TURN = Turn("t", "b", "s", Caller("k", "sums"), datetime(2025, 1, 1, tzinfo=UTC), context=BEFORE)


LIBRARY = Library(Domain("sums"), {})


def answer(decision: Decision, content: str = "B") -> Answer:
    return Answer(content, 0.5, {}, decision)


def test_question_and_answer_follow_what_was_said() -> None:
    after = updated_context(LIBRARY, TURN, answer(NoMatch("")), max_turns=10, private=False)
    assert after.messages == (*BEFORE.messages, Message("user", "b"), Message("assistant", "B"))


def test_words_that_may_hold_a_secret_are_not_kept() -> None:
    asked = replace(TURN, text="my card is 4111", context=ConversationContext())
    after = updated_context(LIBRARY, asked, answer(NoMatch("")), max_turns=10, private=True)
    assert after.messages == (Message("user", "[REDACTED]"), Message("assistant", "B"))


def test_a_question_that_a_guard_refused_leaves_nothing() -> None:
    refused = answer(Blocked("price", "No.", 1.0, "regex"))
    assert updated_context(LIBRARY, TURN, refused, max_turns=10, private=False) == BEFORE


@pytest.mark.parametrize(("turns", "kept"), [(1, ["b", "B"]), (2, ["a", "A", "b", "B"])])
def test_the_window_slides(turns: int, kept: list[str]) -> None:
    after = updated_context(LIBRARY, TURN, answer(NoMatch("")), max_turns=turns, private=False)
    assert [message.content for message in after.messages] == kept


def test_long_messages_are_cut() -> None:
    asked = replace(TURN, text="x" * 9000, context=ConversationContext())
    after = updated_context(
        LIBRARY, asked, answer(NoMatch(""), "y" * 9000), max_turns=10, private=False
    )
    assert [len(message.content) for message in after.messages] == [4000, 4000]


CARD = Parameter("card", "string")
PAY = Template(
    "pay",
    "Pay a bill",
    "function",
    (),
    (Parameter("amount", "number"), CARD, Parameter("currency", "string", default="EUR")),
    BuiltinExecution("calculator", "add"),
    policy=CallPolicy(sensitive_params=("card",)),
)
ADD = replace(PAY, id="add", policy=CallPolicy())
SHOP = Library(Domain("shop"), {"pay": PAY, "add": ADD})
SOURCES = {
    "amount": Source("recognizer", (4, 6), "20"),
    "card": Source("recognizer", (20, 24), "4111"),
    "currency": Source("default"),
}
GIVEN = {"amount": 20, "card": "4111", "currency": "EUR"}


def called(name: str, result: object, **metadata: Any) -> Answer:
    call = ToolCall(name, "calculator", "add", GIVEN, SOURCES)
    execution = {"status": "success", "result": {"result": result}} | metadata
    return Answer("Done.", 1.0, {"tool_execution": execution}, Call(MATCH, call))


MATCH = Match("add", 1.0, 1.0, "")


def after(
    decided: Answer, before: ConversationContext = BEFORE, *, private: bool = False
) -> ConversationContext:
    turn = replace(TURN, text="add 20 with the card 4111", context=before)
    return updated_context(SHOP, turn, decided, max_turns=10, private=private)


def test_a_call_that_ran_is_remembered_without_defaults() -> None:
    (done,) = after(called("add", 25)).done
    leads = {"amount": "add", "card": "card"}
    assert done == CompletedCall("add", {"amount": 20, "card": "4111"}, (), 25, None, leads)


def test_rows_are_remembered_by_their_short_fields_and_only_so_many() -> None:
    rows = [{"id": n, "text": "x" * 200, "tags": ["a"]} for n in range(50)]
    (done,) = after(called("add", rows)).done
    assert done.rows == tuple({"id": n} for n in range(20))


def test_a_single_field_is_a_value_too() -> None:
    (done,) = after(called("add", {"comments": 5})).done
    assert (done.rows, done.value) == (({"comments": 5},), 5)


def test_sensitive_arguments_and_what_came_of_them_are_not_remembered() -> None:
    answer = called("pay", 25)
    match = replace(MATCH, template_id="pay")
    assert isinstance(answer.decision, Call)
    (done,) = after(replace(answer, decision=replace(answer.decision, match=match))).done
    assert done == CompletedCall("pay", {"amount": 20})
    asked = MissingArguments(match, (MissingParameter("currency"),), GIVEN, SOURCES)
    kept = after(Answer("Which?", 1.0, {}, asked)).asked
    assert kept == PendingQuestion(
        "pay", ("currency",), {"amount": 20}, "add 20 with the card 4111"
    )
    hidden = after(Answer("Which?", 1.0, {}, asked), private=True).asked
    assert hidden == PendingQuestion("pay", ("currency",))
    assert after(called("add", 25), private=True).done == ()


def test_what_failed_was_not_done() -> None:
    assert after(called("add", 25, status="error")).done == ()


def test_only_the_latest_calls_are_remembered() -> None:
    before = ConversationContext(done=tuple(CompletedCall(f"t{n}") for n in range(5)))
    assert [done.template_id for done in after(called("add", 1), before).done] == [
        *("t1", "t2", "t3", "t4"), "add",
    ]  # fmt: skip


def test_arguments_as_long_as_a_table_are_not_remembered() -> None:
    long = Call(MATCH, ToolCall("add", "calculator", "add", {"card": "x" * 5000}, {}))
    (done,) = after(replace(called("add", 1), decision=long)).done
    assert done.arguments == {}


def test_what_was_asked_is_kept_for_a_few_messages_that_say_nothing() -> None:
    before = ConversationContext(asked=PendingQuestion("add", ("amount",)))
    tries = []
    for _ in range(3):
        before = after(Answer("What?", 0.0, {}, NoMatch("")), before)
        tries.append(before.asked.tries if before.asked is not None else None)
    assert tries == [2, 3, None]


def test_another_answer_leaves_nothing_asked() -> None:
    before = ConversationContext(
        asked=PendingQuestion("add", ("amount",)), options=OfferedChoices(("add", "pay"))
    )
    context = after(called("add", 25), before)
    assert (context.asked, context.options) == (None, None)
    assert after(Answer("", 1.0, {}, Cancelled()), before).asked is None


def test_what_was_offered_is_remembered_with_the_question() -> None:
    offered = Clarify((MATCH, replace(MATCH, template_id="pay")))
    context = after(Answer("Which?", 0.5, {}, offered))
    assert context.options == OfferedChoices(("add", "pay"), "add 20 with the card 4111")


def test_the_answer_of_another_adapter_leaves_its_words_alone() -> None:
    context = updated_context(None, TURN, called("add", 25), max_turns=10, private=False)
    assert (len(context.messages), context.done) == (4, ())


def test_what_waits_for_a_yes_is_remembered_until_it_does_not() -> None:
    call = ToolCall("add", "calculator", "add", GIVEN, SOURCES)
    held = PendingConfirmation(MATCH, call, "p1", TURN.received_at, "seal", "add")
    first = after(Answer("Shall I?", 1.0, {}, held))
    assert first.waiting == CompletedCall("add", {"amount": 20, "card": "4111"})
    unclear = Answer("Shall I?", 1.0, {}, ProposalNotExecuted("unclear", "p1", held))
    assert after(unclear, first).waiting == first.waiting
    declined = Answer("All right.", 1.0, {}, ProposalNotExecuted("declined", "p1"))
    assert after(declined, first).waiting is None
    assert after(Answer("Shall I?", 1.0, {}, held), private=True).waiting is None


@pytest.mark.parametrize(
    ("listed", "kept", "value"),
    [
        ([{"orders": 60}], ({"orders": 60},), 60),
        ([{"id": 1, "total": 2.5}], ({"id": 1, "total": 2.5},), None),
        ([{"id": 1}, {"id": 2}], ({"id": 1}, {"id": 2}), None),
        ([], (), None),
    ],
)
def test_rows_of_a_database_are_remembered_as_other_rows(
    listed: list[dict[str, Any]], kept: tuple[Any, ...], value: object
) -> None:
    found = {"columns": [], "rows": listed, "row_count": len(listed), "truncated": False}
    call = ToolCall("add", "sql", "query", {}, {})
    execution = {"status": "success", "result": found}
    decided = Answer("Done.", 1.0, {"tool_execution": execution}, Call(MATCH, call))
    (done,) = after(decided, ConversationContext()).done
    assert (done.rows, done.value) == (kept, value)
