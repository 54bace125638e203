"""The inbox keeps what somebody should look at, for as long as it may, and whose it is."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from server.chat.inbox import note_turn
from server.conversation.inbox import Feedback, Hindsight, InboxStore, InboxTurn
from server.core.chat_messages import Message
from server.core.decision import (
    Answer,
    Blocked,
    Call,
    Clarify,
    Courtesy,
    Decision,
    Match,
    MissingArguments,
    NoMatch,
)
from server.core.tools import ToolCall
from server.core.turn import (
    Caller,
    CompletedCall,
    ConversationContext,
    OfferedChoices,
    PendingQuestion,
    Turn,
)
from server.errors import TurnUnknown
from server.settings.models import InboxSettings
from server.storage.database import Database
from tests.support.deciding import table_adapter

pytestmark = pytest.mark.anyio

T0 = datetime(2025, 1, 1, tzinfo=UTC)
CALLER = Caller("k", "sums")
DECLINED = InboxTurn("k", "sums", "", "s", "r1", "sums", T0, "declined", "what is love")


class Clock:
    now = T0

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
async def clock() -> Clock:
    return Clock()


@pytest.fixture
async def store(tmp_path: Path, clock: Clock) -> AsyncIterator[InboxStore]:
    database = Database.open(f"sqlite:///{tmp_path / 'orbit.db'}")
    opened = InboxStore(database, InboxSettings(max_turns=3), now=clock)
    yield opened
    await opened.close(with_database=True)


async def written(store: InboxStore) -> list[InboxTurn]:
    return await store.turns("sums")


def match(name: str) -> Match:
    return Match(name, 0.9, 0.9, "")


def call(name: str) -> Call:
    return Call(match(name), ToolCall(name, "calculator", "add", {}))


async def test_only_what_somebody_should_look_at_is_shown(store: InboxStore) -> None:
    for number, kind in enumerate(("answered", "asked", "asked_back", "declined", "corrected")):
        store.note(replace(DECLINED, request_id=f"r{number}", kind=kind))  # type: ignore[arg-type]
    assert [turn.kind for turn in await written(store)] == ["asked_back", "declined", "corrected"]
    assert await store.turns("other") == []


@pytest.mark.parametrize("late", [False, True])
async def test_an_opinion_is_noted_whether_the_turn_was_written_yet(
    store: InboxStore, late: bool
) -> None:
    store.note(replace(DECLINED, kind="answered", template_id="add"))
    if late:
        assert await written(store) == []
    await store.mark(CALLER, Feedback("r1", "wrong", "no sum at all", "divide", "s"))
    (turn,) = await written(store)
    assert (turn.verdict, turn.comment, turn.expected) == ("wrong", "no sum at all", "divide")
    await store.mark(CALLER, Feedback("r1", "right"))
    assert await written(store) == []


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(
    ("caller", "feedback"),
    [
        (Caller("other", "sums"), Feedback("r1", "wrong")),
        (Caller("k", "sums", user_id="u"), Feedback("r1", "wrong")),
        (CALLER, Feedback("r2", "wrong")),
        (CALLER, Feedback("r1", "wrong", session_id="t")),
    ],
)
async def test_nobody_has_an_opinion_on_the_turn_of_another(
    store: InboxStore, caller: Caller, feedback: Feedback, late: bool
) -> None:
    store.note(DECLINED)
    if late:
        await written(store)
    with pytest.raises(TurnUnknown):
        await store.mark(caller, feedback)


@pytest.mark.parametrize("late", [False, True])
async def test_no_comment_is_kept_on_words_that_are_not(store: InboxStore, late: bool) -> None:
    store.note(replace(DECLINED, question="", masked=True))
    if late:
        await written(store)
    await store.mark(CALLER, Feedback("r1", "wrong", "my card 4111 was not read"))
    assert [(t.verdict, t.comment) for t in await written(store)] == [("wrong", "")]


async def test_answered_turns_go_first_and_too_many_too(store: InboxStore, clock: Clock) -> None:
    for number in range(5):
        at = T0 + timedelta(minutes=number)
        store.note(replace(DECLINED, request_id=f"d{number}", at=at))
        store.note(replace(DECLINED, request_id=f"a{number}", at=at, kind="answered"))
    await written(store)
    await store.tidy()
    assert [turn.request_id for turn in await written(store)] == ["d2", "d3", "d4"]
    await store.mark(CALLER, Feedback("a4", "right"))
    clock.now = T0 + timedelta(hours=25)
    await store.tidy()
    with pytest.raises(TurnUnknown):
        await store.mark(CALLER, Feedback("a4", "right"))
    assert len(await written(store)) == 3
    clock.now = T0 + timedelta(days=31)
    await store.tidy()
    assert await written(store) == []


async def test_turns_are_forgotten_with_their_conversation_and_dropped(store: InboxStore) -> None:
    store.note(DECLINED)
    store.note(replace(DECLINED, request_id="r2", session_id="other"))
    await store.forget(CALLER, "s")
    (left,) = await written(store)
    assert left.request_id == "r2"
    assert await store.drop([left.number]) == 1
    assert await written(store) == []


@pytest.mark.parametrize(
    ("before", "said", "after"),
    [
        ("asked", Hindsight("asked", "add", "asked_back"), ("asked_back", None)),
        ("answered", Hindsight("answered", "add", "corrected", "divide"), ("corrected", "divide")),
        ("answered", Hindsight("answered", "other", "corrected", "divide"), None),
        ("answered", Hindsight("asked", "add", "asked_back"), None),
    ],
)
async def test_a_turn_says_of_the_one_before_what_is_certain(
    store: InboxStore, before: Any, said: Hindsight, after: tuple[str, str | None] | None
) -> None:
    store.note(replace(DECLINED, kind=before, template_id="add"))
    last = replace(DECLINED, request_id="r2", at=T0 + timedelta(seconds=9), kind="answered")
    store.note(last, said)
    found = [(turn.kind, turn.expected) for turn in await written(store)]
    assert found == ([] if after is None else [after])


ASKED = ConversationContext(asked=PendingQuestion("add", ("b",)))
OFFERED = ConversationContext(options=OfferedChoices(("add", "divide")))
DONE = ConversationContext((Message("user", "a"),), done=(CompletedCall("add"),))


@pytest.mark.parametrize(
    ("context", "decision", "form", "kind", "hindsight"),
    [
        (ASKED, call("add"), "plain", "answered", None),
        (ASKED, call("divide"), "plain", "answered", Hindsight("asked", "add", "asked_back")),
        (ASKED, NoMatch(""), "plain", "declined", Hindsight("asked", "add", "asked_back")),
        (ASKED, Courtesy("thanks", "en"), "plain", "answered", None),
        (OFFERED, call("divide"), "plain", "answered",
         Hindsight("asked_back", "add", "asked_back", "divide")),
        (OFFERED, call("other"), "plain", "answered", None),
        (DONE, call("divide"), "correction", "answered",
         Hindsight("answered", "add", "corrected", "divide")),
        (DONE, call("add"), "correction", "answered", None),
        (DONE, call("divide"), "plain", "answered", None),
        (DONE, NoMatch(""), "correction", "declined", None),
        (DONE, Clarify((match("add"), match("divide"))), "plain", "asked_back", None),
        (DONE, MissingArguments(match("add"), ()), "plain", "asked", None),
    ],
)  # fmt: skip
async def test_what_is_kept_of_a_turn(
    store: InboxStore,
    context: ConversationContext,
    decision: Decision,
    form: str,
    kind: str,
    hindsight: Hindsight | None,
) -> None:
    adapter = replace(table_adapter(), inbox=store)
    turn = Turn("r", "a question", "s", CALLER, T0, context=context)
    note_turn(adapter, turn, Answer("", 0, {}, decision), by=adapter, private=False, form=form)
    noted = store._behind.get(DECLINED.key._replace(request_id="r"))
    assert noted is not None
    assert (noted.turn.kind, noted.turn.question) == (kind, "a question")
    assert noted.turn.follows == bool(context.messages)
    assert noted.hindsight == hindsight


async def test_words_that_may_hold_a_secret_and_what_a_guard_refused_are_not_kept(
    store: InboxStore,
) -> None:
    adapter = replace(table_adapter(), inbox=store)
    turn = Turn("r1", "my card is 4111", "s", CALLER, T0)
    note_turn(adapter, turn, Answer("", 0, {}, NoMatch("")), by=adapter, private=True, form="plain")
    blocked = Answer("", 0, {}, Blocked("price", "No.", 1.0, "regex"))
    other = replace(turn, id="r2")
    note_turn(adapter, other, blocked, by=adapter, private=False, form="")
    noted = store._behind.get(DECLINED.key)
    assert noted is not None
    assert (noted.turn.question, noted.turn.masked) == ("", True)
    assert store._behind.get(DECLINED.key._replace(request_id="r2")) is None
