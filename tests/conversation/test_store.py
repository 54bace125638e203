"""What the database remembers of conversations, and for whom."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from server.conversation.store import CONVERSATIONS, ConversationStore
from server.core.chat_messages import Message
from server.core.turn import NO_CONTEXT, Caller, ConversationContext
from server.errors import StoreUnavailable
from server.settings.models import ConversationSettings

pytestmark = pytest.mark.anyio

ADA = Caller("ada", "sums")
BOB = Caller("bob", "sums")
SAID = ConversationContext(
    (Message("user", "מה מזג האוויר?"), Message("assistant", "Which **place**?"))
)


@dataclass
class Clock:
    at: datetime = field(default_factory=lambda: datetime(2025, 1, 31, 12, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.at


@asynccontextmanager
async def store(folder: Path, clock: Clock, **settings: float) -> AsyncIterator[ConversationStore]:
    found = ConversationSettings.model_validate(settings)
    opened = ConversationStore.open(url(folder), found, now=clock)
    try:
        yield opened
    finally:
        await opened.close()


def url(folder: Path) -> str:
    return f"sqlite:///{folder / 'orbit.db'}"


def rows(folder: Path) -> list[tuple[str, str]]:
    engine = sa.create_engine(url(folder))
    with engine.connect() as connection:
        found = connection.execute(sa.select(CONVERSATIONS.c.key_id, CONVERSATIONS.c.session_id))
        kept = sorted((row.key_id, row.session_id) for row in found)
    engine.dispose()
    return kept


async def test_the_next_turn_sees_what_is_not_written_yet(tmp_path: Path) -> None:
    async with store(tmp_path, Clock()) as kept:
        await kept.remember(ADA, "kitchen", SAID)
        assert rows(tmp_path) == []
        assert await kept.recall(ADA, "kitchen") == SAID


async def test_of_several_ids_the_first_that_is_kept_counts(tmp_path: Path) -> None:
    other = ConversationContext(SAID.messages[:1])
    clock = Clock()
    async with store(tmp_path, clock, expires_after_h=1) as kept:
        await kept.remember(ADA, "old", other)
    clock.at += timedelta(minutes=59)
    async with store(tmp_path, clock, expires_after_h=1) as kept:
        await kept.remember(ADA, "unwritten", SAID)
        latest = kept.recall_latest
        assert await latest(ADA, ("none", "old", "unwritten")) == ("old", other)
        assert await latest(ADA, ("unwritten", "old")) == ("unwritten", SAID)
        assert await latest(BOB, ("unwritten", "old")) is None
        assert await latest(ADA, ()) is None
        clock.at += timedelta(minutes=2)
        assert await latest(ADA, ("old", "unwritten")) == ("unwritten", SAID)


async def test_a_restart_keeps_conversations(tmp_path: Path) -> None:
    async with store(tmp_path, Clock()) as kept:
        await kept.remember(ADA, "kitchen", NO_CONTEXT)
        await kept.remember(ADA, "kitchen", SAID)
    async with store(tmp_path, Clock()) as kept:
        assert await kept.recall(ADA, "kitchen") == SAID
    assert rows(tmp_path) == [("ada", "kitchen")]


@pytest.mark.parametrize(
    "other",
    [BOB, replace(ADA, user_id="eve"), replace(ADA, adapter="dates")],
    ids=["key", "user", "adapter"],
)
async def test_a_session_of_somebody_else_is_another_and_empty(
    tmp_path: Path, other: Caller
) -> None:
    async with store(tmp_path, Clock()) as kept:
        await kept.remember(ADA, "kitchen", SAID)
        assert await kept.recall(other, "kitchen") == NO_CONTEXT
        await kept.forget(other, "kitchen")
        await kept.remember(other, "kitchen", ConversationContext((Message("user", "mine"),)))
    async with store(tmp_path, Clock()) as kept:
        assert await kept.recall(ADA, "kitchen") == SAID


async def test_what_is_forgotten_is_gone(tmp_path: Path) -> None:
    async with store(tmp_path, Clock()) as kept:
        await kept.remember(ADA, "kitchen", SAID)
    async with store(tmp_path, Clock()) as kept:
        await kept.remember(ADA, "kitchen", SAID)
        await kept.forget(ADA, "kitchen")
        await kept.forget(ADA, "garden")
        assert await kept.recall(ADA, "kitchen") == NO_CONTEXT
    assert rows(tmp_path) == []


async def test_a_conversation_ends_some_time_after_its_last_turn(tmp_path: Path) -> None:
    clock = Clock()
    async with store(tmp_path, clock, expires_after_h=1) as kept:
        await kept.remember(ADA, "old", SAID)
    async with store(tmp_path, clock, expires_after_h=1) as kept:
        clock.at += timedelta(minutes=60)
        assert await kept.recall(ADA, "old") == SAID
        clock.at += timedelta(minutes=1)
        assert await kept.recall(ADA, "old") == NO_CONTEXT
        await kept.remember(BOB, "new", SAID)
    assert rows(tmp_path) == [("bob", "new")]


async def test_a_key_keeps_so_many_and_the_longest_at_rest_go(tmp_path: Path) -> None:
    clock = Clock()
    async with store(tmp_path, clock, max_sessions_per_key=2) as kept:
        for session in ("one", "two", "three", "one"):
            clock.at += timedelta(seconds=1)
            await kept.remember(ADA, session, SAID)
        await kept.remember(BOB, "one", SAID)
    assert rows(tmp_path) == [("ada", "one"), ("ada", "three"), ("bob", "one")]


async def test_what_another_version_wrote_is_begun_anew(tmp_path: Path) -> None:
    async with store(tmp_path, Clock()) as kept:
        await kept.remember(ADA, "kitchen", SAID)
    engine = sa.create_engine(url(tmp_path))
    with engine.begin() as connection:
        connection.execute(CONVERSATIONS.update().values(context='{"says": 1}'))
    engine.dispose()
    async with store(tmp_path, Clock()) as kept:
        assert await kept.recall(ADA, "kitchen") == NO_CONTEXT


async def test_a_database_that_is_gone_is_named(tmp_path: Path) -> None:
    async with store(tmp_path, Clock()) as kept:
        engine = sa.create_engine(url(tmp_path))
        with engine.begin() as connection:
            CONVERSATIONS.drop(connection)
        engine.dispose()
        with pytest.raises(StoreUnavailable, match="no such table"):
            await kept.recall(ADA, "kitchen")
